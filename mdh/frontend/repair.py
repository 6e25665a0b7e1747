"""What is done with nests whose dependences no stages keep: arrays of their own for values at different times
(`frontend.renaming`), loops of their own for parts of a nest (`frontend.parts`), and loops that stay loops of
the program, as time steps and layers do (`frontend.turning`).

Turns of such a loop run one after the other, and each runs the stages inside. A loop is held if what stands
in it carries values from turn to turn in a way that no stage can, and if what is left inside has loops of its
own. Its counter may stand in values, in conditions, and in subscripts.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod

from mdh.frontend.blocking import blocks_of, in_blocks
from mdh.frontend.dependences import MOST_SORTED
from mdh.frontend.parts import parts_of
from mdh.frontend.pieces import Piece
from mdh.frontend.records import without_records
from mdh.frontend.renaming import changed_loads, renamed, spread
from mdh.frontend.statements import Array, Assign, Statement, in_text_order, turns_around
from mdh.frontend.turning import (
    LoopChoice,
    choices,
    chosen_by_data,
    cut_at_counters,
    in_turns,
    without_implied,
    writes_inside,
)
from mdh.ir.affine import Affine
from mdh.ir.clauses import exact_clauses
from mdh.ir.dtype import I32
from mdh.ir.expr import Const, Expr, Load, Var
from mdh.ir.names import fresh
from mdh.ir.statement import LoopVar
from mdh.ir.turns import MOST_TURNS, Turns

Arrays = Mapping[str, Array]
Works = Callable[[Sequence[Statement], Arrays], bool]
"""Whether stages can be made of some statements."""


@dataclass
class Repair:
    """The state of a repair. every: statement of the text. arrays: with those that it has added. works: asks
    for a proof. turns: names of loops of the program. points: whether a stage may be a single point in turns
    of all its loops, which then may be many. copies: whether arrays were added for values at other times."""

    every: Sequence[Statement]
    arrays: dict[str, Array]
    taken: set[str]
    works: Works
    turns: set[str] = field(default_factory=set)
    points: bool = False
    copies: bool = False


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


def _nest(
    nest: list[Statement], others: Sequence[Statement], repair: Repair, *, whole: bool = True
) -> list[Statement] | None:
    """whole: no statement besides the nest's stands between them in the text."""
    if repair.works(nest, repair.arrays):
        return nest
    if not nest[0].loops:
        return None
    if whole and all(map(in_text_order, nest)):
        new = renamed(nest, others, repair.arrays, repair.taken)
        if new is not None and repair.works(new.statements, new.arrays):
            repair.arrays, repair.copies = new.arrays, True
            return new.statements
    parts = parts_of(nest)
    if len(parts) > 1:
        known, turns = repair.arrays, set(repair.turns)
        found = _each_part(parts, others, repair)
        if found is not None:
            return found
        # a part may be none of stages by itself: `y = x[i]`, of which only the last one counts
        repair.arrays, repair.turns = known, turns
    return _cut(nest, repair) or _in_turns(nest, others, repair)


def _each_part(
    parts: Sequence[list[Statement]], others: Sequence[Statement], repair: Repair
) -> list[Statement] | None:
    """The parts in loops of their own."""
    out: list[Statement] = []
    for n, part in enumerate(parts):
        near = [s for m, p in enumerate(parts) if m > n or (m < n and part[0].held) for s in p]
        found = _nest(part, [*near, *others], repair, whole=False)
        if found is None:
            return None
        out += found
        # a loop of the program that another part has too gets another name there
        repair.turns |= {h.turns.name for s in found for h in s.held}
    return out if repair.works(out, repair.arrays) else None


def _cut(nest: list[Statement], repair: Repair) -> list[Statement] | None:
    """The nest with its loops split at rows that counters of the program choose."""
    cut = cut_at_counters(nest)
    if len(cut) == len(nest):
        return None
    return cut if repair.works(cut, repair.arrays) else None


def _in_turns(nest: list[Statement], others: Sequence[Statement], repair: Repair) -> list[Statement] | None:
    """The nest in turns of one of its loops, or in turns of the outermost one and of loops inside."""
    known = repair.arrays
    few = len(nest) <= MOST_SORTED
    for choice in choices(nest) if few else ():
        inside = _turned(nest, choice, repair)
        if inside is not None:
            body = [s for part in parts_of(inside) for s in part]
            if repair.works(body, repair.arrays):
                return _in_blocks(nest, choice, repair) or list(map(without_implied, body))
        repair.arrays = known
    inside = _turned(nest, next(choices(nest)), repair)
    out = None if inside is None else _each(inside, others, repair)
    return out if out is not None and repair.works(out, repair.arrays) else None


def _in_blocks(nest: list[Statement], choice: LoopChoice, repair: Repair) -> list[Statement] | None:
    """The nest in blocks of turns; None if nothing can wait for the end of a block."""
    name, known = choice.turns.cname, repair.arrays
    blocks = blocks_of(choice.turns, fresh(f"{name}_block", repair.taken), fresh(name, repair.taken))
    if blocks is None or any(s.held for s in nest):
        return None
    if choice.shared is not None:
        nest = _without_turns(nest, choice.shared, repair)
    found = in_blocks(nest, choice, blocks, [fresh(f"{name}_sum", repair.taken) for _ in nest])
    if found is not None:
        near, far = (list(map(without_implied, some)) for some in found)
        body = [*(s for part in parts_of(near) for s in part), *far]
        if all(writes_inside(s, repair.arrays) for s in body) and repair.works(body, repair.arrays):
            return body
    repair.arrays = known
    return None


def _turned(nest: list[Statement], choice: LoopChoice, repair: Repair) -> list[Statement] | None:
    """The statements in turns of the chosen loop; None if it may not be a loop of the program."""
    turns = choice.turns
    if choice.shared is not None:
        nest = _without_turns(nest, choice.shared, repair)
    if choice.shared is None or turns.name in repair.turns:
        turns = replace(turns, name=fresh(turns.cname, repair.taken))
    inside = [
        in_turns(s, loop, turns, shift)
        for s, loop, shift in zip(nest, choice.loops, choice.shifts, strict=True)
    ]
    whole = all(s is not None for s in inside)
    found = without_records([s for s in inside if s is not None])
    whole = whole and all(writes_inside(s, repair.arrays) for s in found)
    return found if whole and _may_be_held(found, turns, points=repair.points) else None


def _without_turns(inside: list[Statement], loop: LoopVar, repair: Repair) -> list[Statement]:
    """The statements with one element for all turns of what each turn has its own element of: a local of the
    loop's body. Nothing outside of the loop may use it."""
    mine = {s.origin for s in inside}
    outside = {u.load.buffer for s in repair.every if s.origin not in mine for u in s.uses}
    for name in sorted({t.buffer for s in inside for t in s.targets} - outside):
        array = repair.arrays[name]
        uses = [u for s in inside for u in s.uses if u.load.buffer == name]
        own = Var(loop.name)
        at = [k for k in range(len(array.shape or ())) if all(u.load.index[k] == own for u in uses)]
        if not array.temp or not at:
            continue
        shape = tuple(n for k, n in enumerate(array.shape or ()) if k != at[0]) or (1,)
        new = fresh(f"{name}_turn", repair.taken)
        repair.arrays = {**repair.arrays, new: replace(array, name=new, shape=shape)}
        inside = [changed_loads(s, _dropped(name, new, at[0])) for s in inside]
    return inside


def _dropped(name: str, new: str, at: int) -> Callable[[Expr], Expr]:
    """Loads of array `name` as those of array `new`, without subscript number `at`."""

    def change(e: Expr) -> Expr:
        if not isinstance(e, Load) or e.buffer != name:
            return e
        index = tuple(i for k, i in enumerate(e.index) if k != at) or (Const(0, I32),)
        return replace(e, buffer=new, index=index)

    return change


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


def _may_be_held(inside: Sequence[Statement], turns: LoopVar, *, points: bool) -> bool:
    written = {t.buffer for s in inside for t in s.targets}
    for s in inside:
        loop = s.held[-1].was
        for u in s.uses:
            # a local has kept what an array held before the loop
            kept = u.load.buffer in written and loop not in u.loops
            if kept:
                return False
    count = prod(h.turns.extent for h in inside[0].held)
    data = any(chosen_by_data(s, turns) for s in inside)
    # wavefronts launch fewer kernels than there are turns
    few = points or (any(s.loops for s in inside) and count <= MOST_TURNS)
    return few and not data


def _common_conditions(inside: Sequence[Statement], turns: Mapping[str, int]) -> list[Affine]:
    """What is >= 0 in all turns in which one of the statements changes anything. turns: their numbers."""
    out: list[Affine] | None = None
    for s in inside:
        clauses = [exact_clauses((c,), turns) for c in s.conds] if isinstance(s, Assign) else []
        own = [f for c in clauses if c is not None and len(c) == 1 for f in c[0] if f.names <= turns.keys()]
        out = own if out is None else [f for f in out if f in own]
    return out or []


def turns_of(groups: Sequence[Sequence[Piece]], text: Sequence[Statement]) -> tuple[Turns, ...] | None:
    """The loops around the stages; None if the stages of one do not follow one another."""
    around = [turns_around(text[g[0].accumulator]) for g in groups]
    every = {h.inner: h.rest for s in text for h in s.held if h.block > 1}
    out = []
    for loop in dict.fromkeys(v for held in around for v in held):
        numbers = [n for n, held in enumerate(around) if loop in held]
        if len(numbers) != numbers[-1] - numbers[0] + 1:
            return None
        inside = [text[m.number] for n in numbers for p in groups[n] for m in p.members]
        outer = {v.name: v.extent for v in around[numbers[0]][: around[numbers[0]].index(loop) + 1]}
        where = [f for f in (every.get(loop.name),) if f is not None]
        where += [f for f in _common_conditions(inside, outer) if f.coefficient(loop.name)]
        turns = Turns(
            loop.cname, loop.name, loop.extent, numbers[0], numbers[-1], loop.start, loop.step, loop.span,
            tuple(dict.fromkeys(where)),
        )  # fmt: skip
        out.append(turns)
    return tuple(sorted(out, key=lambda x: (x.first, -x.last)))
