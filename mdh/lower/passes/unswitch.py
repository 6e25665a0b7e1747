"""Loop unswitching: moves a branch out of a loop whose iterations all take the same side of it.

Compilers leave such a branch in the loop. Then the loads of an iteration wait for the iteration before: a
second kernel that adds 16 partial results at an edge would take 16 times the latency of memory.

Requires: nothing. Guarantees: the same accesses in the same order; no sequential loop whose only statement is
a branch that all its iterations take, or none.
"""

from dataclasses import replace

from mdh.ir.expr import Call, Expr, Load, Var, walk
from mdh.ir.kernel import For, ForKind, If, Stmt
from mdh.ir.walk import rewritten


def unswitch(body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
    """`body` with its loops' own branches before them, inner loops first."""
    return rewritten(body, _unswitched)


def _unswitched(s: Stmt) -> Stmt:
    match s:
        case For(var=turn, kind=ForKind.SEQ, body=(If(cond, then, ()),)) if _fixed(cond, turn):
            return If(cond, (replace(s, body=then),))
    return s


def _fixed(cond: Expr, turn: str) -> bool:
    """No part of it varies by turn, reads memory, as a loop of no turns would not, or asks other lanes."""
    return not any(isinstance(n, Load | Call) or (isinstance(n, Var) and n.name == turn) for n in walk(cond))
