"""What is done with nests whose dependences no stages keep: arrays of their own for values at different times
(`frontend.renaming`), and loops that stay loops of the program, as time steps and layers do.

Turns of such a loop run one after the other, and each runs the stages inside. A loop is held if what stands
in it carries values from turn to turn in a way that no stage can, and if what is left inside has loops of its
own. Its counter may stand in values, in conditions, and in subscripts that are read.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

from mdh.frontend.pieces import Piece
from mdh.frontend.renaming import renamed, spread
from mdh.frontend.statements import Array, Statement, used_names
from mdh.ir.expr import loads
from mdh.ir.statement import LoopVar
from mdh.ir.turns import Turns

MOST_TURNS = 1_000_000
"""Turns of loops that are held inside of one another."""
Arrays = Mapping[str, Array]
Works = Callable[[Sequence[Statement], Arrays], bool]
"""Whether stages can be made of some statements."""


@dataclass
class Repair:
    """The state of a repair. arrays: with those that it has added; works: asks for a proof."""

    arrays: dict[str, Array]
    taken: set[str]
    works: Works


def repaired(statements: Sequence[Statement], repair: Repair) -> list[Statement] | None:
    """The statements with each nest repaired that needs it; None if one cannot be."""
    return _each(spread(statements), (), repair)


def _each(
    statements: Sequence[Statement], others: Sequence[Statement], repair: Repair
) -> list[Statement] | None:
    """others: statements outside that run later, or in a later turn."""
    out: list[Statement] = []
    parts = list(_nests(statements))
    for n, nest in enumerate(parts):
        # in a loop of the program, what stands in front runs in the next turn
        near = parts if nest[0].held else parts[n + 1 :]
        around = [s for part in near if part is not nest for s in part]
        found = _nest(nest, [*around, *others], repair)
        if found is None:
            return None
        out += found
    return out


def _nest(nest: list[Statement], others: Sequence[Statement], repair: Repair) -> list[Statement] | None:
    if repair.works(nest, repair.arrays):
        return nest
    if not nest[0].loops:
        return None
    new = renamed(nest, others, repair.arrays, repair.taken)
    if new is not None and repair.works(new.statements, new.arrays):
        repair.arrays = new.arrays
        return new.statements
    loop = nest[0].loops[0]
    held = replace(loop, held=True)
    inside = [_inside(s, loop, held) for s in nest]
    if not _may_be_held(inside, held):
        return None
    out = _each(inside, others, repair)
    return out if out is not None and repair.works(out, repair.arrays) else None


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
            # a local has kept what an array held before the loop
            kept = u.load.buffer in written and loop not in u.loops
            chosen = u.write and loop.name in used_names(u.load.index)
            if kept or chosen or any(x.buffer in written for i in u.load.index for x in loads(i)):
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
