"""Loops that stay loops of the program: time steps, layers. Their turns run one after the other, and each
runs the stages inside.

A loop is held if what stands in it carries values from turn to turn in a way that no stage can, and if what
is left inside has loops of its own. Its counter may stand in values, in conditions, and in subscripts of
arrays that the loop does not write.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from math import prod

from mdh.frontend.pieces import Piece
from mdh.frontend.statements import Statement, used_names
from mdh.ir.expr import loads
from mdh.ir.statement import LoopVar
from mdh.ir.turns import Turns

MOST_TURNS = 1_000_000
"""Turns of loops that are held inside of one another."""
Works = Callable[[Sequence[Statement]], bool]
"""Whether stages can be made of some statements."""


def held(statements: Sequence[Statement], works: Works) -> list[Statement] | None:
    """The statements, with loops held where they must be; None if that does not help, or none must be."""
    out: list[Statement] = []
    for nest in _nests(statements):
        found = _held(nest, works)
        if found is None:
            return None
        out += found
    return None if out == list(statements) else out


def _held(nest: list[Statement], works: Works) -> list[Statement] | None:
    if works(nest):
        return nest
    if not nest[0].loops:
        return None
    loop = nest[0].loops[0]
    mine = replace(loop, held=True)
    inside = [_inside(s, loop, mine) for s in nest]
    if not _may_be_held(inside, mine):
        return None
    out: list[Statement] = []
    for part in _nests(inside):
        found = _held(part, works)
        if found is None:
            return None
        out += found
    return out if works(out) else None


def _nests(statements: Sequence[Statement]) -> Iterator[list[Statement]]:
    """Statements that stand in one loop; others are alone."""
    nest: list[Statement] = []
    for s in statements:
        if nest and s.loops and nest[0].loops[:1] == s.loops[:1] and nest[0].held == s.held:
            nest.append(s)
            continue
        if nest:
            yield nest
        nest = [s]
    if nest:
        yield nest


def _inside(s: Statement, loop: LoopVar, held: LoopVar) -> Statement:
    """The statement in a turn of its outermost loop."""
    uses = tuple(replace(u, loops=tuple(held if v == loop else v for v in u.loops)) for u in s.uses)
    return replace(s, loops=s.loops[1:], held=(*s.held, held), uses=uses)


def _may_be_held(inside: Sequence[Statement], loop: LoopVar) -> bool:
    written = {t.buffer for s in inside for t in s.targets}
    for s in inside:
        for u in s.uses:
            kept = u.load.buffer in written and loop not in u.loops
            # a local has kept what an array held before the loop; or the counter chooses what is written
            named = u.load.buffer in written and loop.name in used_names(u.load.index)
            if kept or named or any(x.buffer in written for i in u.load.index for x in loads(i)):
                return False
    turns = prod(v.extent for v in inside[0].held)
    return any(s.loops for s in inside) and turns <= MOST_TURNS


def turns_of(groups: Sequence[Sequence[Piece]], text: Sequence[Statement]) -> tuple[Turns, ...] | None:
    """The loops around the stages; None if the stages of one do not follow one another."""
    around = [text[g[0].accumulator].held for g in groups]
    out = []
    for loop in dict.fromkeys(v for held in around for v in held):
        numbers = [n for n, held in enumerate(around) if loop in held]
        if len(numbers) != numbers[-1] - numbers[0] + 1:
            return None
        turns = Turns(
            loop.cname, loop.name, loop.extent, numbers[0], numbers[-1], loop.start, loop.step, loop.span
        )
        out.append(turns)
    return tuple(sorted(out, key=lambda x: (x.first, -x.last)))
