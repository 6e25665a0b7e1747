"""`@roles(…, turns)`: teams of warp groups take the tiles of a block by turns.

The teams go through the tiles in their order: with two, one computes every other tile. A token says to each
team that it is its turn. A team passes the turn on when it has issued the last atoms of its tile, and then
finishes and stores its results while the next one computes. So slots are used in the order of the tiles, and
a team that awaits one knows that all earlier slots have been filled: no phase of a token is mistaken for the
one two phases earlier or later.
"""

from mdh.ir.construct import ZERO, add, div, mod
from mdh.ir.copy_engine import Arrive, Await
from mdh.ir.dtype import I32, U32
from mdh.ir.expr import Binary, Call, Cast, Const, Expr, Load, Var
from mdh.ir.intrinsic import Intrinsic
from mdh.ir.kernel import Alloc, Let, Stmt, Store
from mdh.lower.declarations import TeamTurns
from mdh.lower.nest import Nest


def in_order(nest: Nest, body: list[Stmt]) -> list[Stmt]:
    """`body`, which uses all slots of a tile, when the teams of all earlier tiles have used theirs."""
    if nest.plan.teams == 1:
        return body
    teams = nest.plan.teams
    turns = nest.declarations.turns(teams)
    # the phase before the first one has ended, so that the first team begins
    rounds = _unsigned("/", _unsigned("+", _number(turns), teams - 1), teams)
    parity = _unsigned("%", _unsigned("+", rounds, 1), 2)
    following = mod(add(nest.team, 1), teams)
    return [Await(turns.token.name, (nest.team,), parity), *body, Arrive(turns.token.name, (following,))]


def begin_turns(nest: Nest) -> list[Stmt]:
    """Before a team's first tile."""
    teams = nest.plan.teams
    if teams == 1:
        return []
    turns = nest.declarations.turns(teams)
    # of the warp's first lane, so that the compiler knows that it is the same for all
    number = Call(Intrinsic.SHFL, (div(Var(nest.tid), nest.threads), ZERO), I32)
    return [Let(turns.team, number, below=teams), Alloc(turns.tile, Cast(nest.team, U32))]


def turn_of(nest: Nest, body: list[Stmt]) -> list[Stmt]:
    """What a team does for a tile: the turns of slots begin where those of the tiles before end."""
    if nest.plan.teams == 1:
        return body
    turns = nest.declarations.turns(nest.plan.teams)
    out: list[Stmt] = []
    for ring in nest.declarations.rings.values():
        out.append(Let(ring.first, _unsigned("*", _number(turns), ring.each)))
        out.append(Store(ring.turn.name, (), Var(ring.first, U32)))
    return [*out, *body, Store(turns.tile.name, (), _unsigned("+", _number(turns), nest.plan.teams))]


def _number(turns: TeamTurns) -> Expr:
    return Load(turns.tile.name, (), U32)


def _unsigned(op: str, e: Expr, n: int) -> Expr:
    return Binary(op, e, Const(n, U32), U32)
