"""How two schedules differ, step by step: which steps match, and what changed in them.

Steps are aligned like sequences: of all pairings that keep the order, the one whose steps have the most in
common is taken. A step that has too little in common with every other one was added or removed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from mdh.schedule.canonical import canonical
from mdh.schedule.model import (
    Attr,
    BufferPlace,
    Caret,
    Core,
    ForEntry,
    How,
    Mem,
    Schedule,
    Section,
    Step,
    TileEntry,
    Unit,
)
from mdh.schedule.printer import print_attr, print_condition, print_entry, print_fuse, print_stage, print_step

What = Literal["tile", "region", "layer", "attribute", "place"]
ALIKE = 0.4
"""The least share of content that two steps must have in common to match."""
_NO_NAMES: Mapping[str, "StageNames"] = {}


@dataclass(frozen=True, slots=True)
class StageNames:
    """The names of a stage's dimensions, and of the entries of the second group: inputs, then outputs."""

    dims: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Change:
    """One entry that differs. what: `tile`, `region` (where a buffer's part lies, and its layout), `layer`
    (who works on the parts), `attribute`, or `place` (the number before the colon). subject: the dimension or
    buffer; empty for the step as a whole. before, after: the entry as each schedule spells it; empty if it
    has none."""

    what: What
    subject: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class StepChange:
    """One step that differs. before, after: the 1-based numbers of the two steps in their texts; None if the
    step was added or removed. text: a step that was added or removed, on one line."""

    before: int | None
    after: int | None
    changes: tuple[Change, ...]
    text: str = ""


@dataclass(frozen=True, slots=True)
class SectionChange:
    """What differs in the section of one stage. stage: its name; empty for a program's only stage. steps:
    those that differ. gone, come: lines that only the first or only the second schedule has: conditions, and
    which dimensions are one. equal: the number of steps that are the same in both. dims: the number of
    dimensions of the steps of each, before any are fused; 0 if there are no steps."""

    stage: str
    steps: tuple[StepChange, ...]
    gone: tuple[str, ...] = ()
    come: tuple[str, ...] = ()
    equal: int = 0
    dims: tuple[int, int] = (0, 0)
    foreign: bool = False

    @property
    def alien(self) -> bool:
        """Whether the two belong to different programs."""
        return self.foreign or (self.dims[0] != self.dims[1] and 0 not in self.dims)

    @property
    def lone(self) -> bool:
        """Whether one of the schedules has no steps for the stage."""
        return (self.dims[0] == 0) != (self.dims[1] == 0)

    @property
    def same(self) -> bool:
        return not (self.steps or self.gone or self.come)


def differences(
    before: Schedule, after: Schedule, names: Mapping[str, StageNames] = _NO_NAMES
) -> tuple[SectionChange, ...]:
    """All sections of both, in the first one's order, equal ones included. Attributes without effect,
    comments and header lines do not count. names: of the stages, by the section's name (empty for the only
    one). Without them dimensions have numbers, and buffers the names that the schedules use."""
    left, right = _sections(before), _sections(after)
    if any(s.how is not How.KERNEL for s in (*left, *right)):
        # stages read other arrays then
        names = _NO_NAMES
    if len(left) == len(right) == 1:
        # the name of a program's only stage is optional
        return (_section(left[0], right[0], names),)
    old, new = ({s.name or "": s for s in sections} for sections in (left, right))
    if any(
        several and "" not in several and [*single] == [""] for several, single in ((old, new), (new, old))
    ):
        return (_foreign(left, right),)
    blank = Section("", (), ())
    order = [*old, *(name for name in new if name not in old)]
    return tuple(_section(old.get(name, blank), new.get(name, blank), names) for name in order)


def _sections(schedule: Schedule) -> tuple[Section, ...]:
    """Those of stages, and those of loops, whose names cannot be ones of stages."""
    schedule = canonical(schedule)
    names = (f"loop {s.name}{'( … )' if len(s.counters) > 1 else ''}" for s in schedule.loops)
    loops = (replace(s, name=n, counters=()) for s, n in zip(schedule.loops, names, strict=True))
    return (*loops, *schedule.sections)


def _foreign(before: Sequence[Section], after: Sequence[Section]) -> SectionChange:
    """The change between schedules of different programs, in which no steps match."""
    gone, come = ([(n, s) for part in parts for n, s in enumerate(part.steps)] for parts in (before, after))
    removed = [StepChange(_number(n), None, (), print_step(s)) for n, s in gone]
    added = [StepChange(None, _number(n), (), print_step(s)) for n, s in come]
    old, new = (max((len(s.tiles) for _, s in steps), default=0) for steps in (gone, come))
    return SectionChange("", (*removed, *added), dims=(old, new), foreign=True)


def _section(before: Section, after: Section, names: Mapping[str, StageNames]) -> SectionChange:
    stage = before.name or after.name or ""
    first, second = _placed(before.steps), _placed(after.steps)
    words = _fused(names[stage], before.groups) if stage in names else _spoken((*first, *second))
    loops, others = _loops(first), _loops(second)
    steps: list[StepChange] = []
    equal = 0
    for i, j in _aligned(before, after, first, second):
        if i is None or j is None:
            step = first[i] if i is not None else second[j or 0]
            steps.append(StepChange(_number(i), _number(j), (), print_step(step)))
        elif changes := tuple(_changes(first[i], second[j], words, alike=loops[i] == others[j])):
            steps.append(StepChange(_number(i), _number(j), changes))
        else:
            equal += 1
    old, new = (_lines(s) for s in (before, after))
    gone, come = (tuple(c for c in a if c not in b) for a, b in ((old, new), (new, old)))
    old_dims, new_dims = (
        max((len(s.tiles) for s in part), default=0) + sum(len(g) - 1 for g in whole.groups if part)
        for part, whole in ((first, before), (second, after))
    )
    return SectionChange(stage, tuple(steps), gone, come, equal, (old_dims, new_dims))


def _lines(section: Section) -> list[str]:
    """The lines of a section that are no steps."""
    conditions = (f"where {print_condition(w.condition)}" for w in section.wheres)
    how = [print_stage(section)] if section.how is not How.KERNEL or section.derived else []
    return [*how, *map(print_fuse, section.fuses), *conditions]


def _fused(names: StageNames, groups: Sequence[tuple[str, ...]]) -> StageNames:
    """The names with those of fused dimensions, each where the first of its group stood."""
    dims = list(names.dims)
    for group in groups:
        first = next((n for n in dims if n in group), None)
        dims = ["_".join(group) if n == first else n for n in dims if n == first or n not in group]
    return replace(names, dims=tuple(dims))


def _aligned(
    before: Section, after: Section, first: Sequence[Step], second: Sequence[Step]
) -> list[tuple[int | None, int | None]]:
    """Like `aligned`. Steps over other dimensions have nothing in common."""
    if before.groups == after.groups:
        return aligned(first, second)
    return [*((n, None) for n in range(len(first))), *((None, n) for n in range(len(second)))]


def _placed(steps: Sequence[Step]) -> tuple[Step, ...]:
    """The steps without labels, if the labels only number them in text order."""
    labels = [s.label for s in steps]
    told = any(n is None for n in labels) or labels != sorted(n for n in labels if n is not None)
    return tuple(steps) if told else tuple(replace(s, label=None) for s in steps)


def _loops(steps: Sequence[Step]) -> list[tuple[int, ...]]:
    """For each step, the dimensions that it splits into loops, from outside in: `FOR.n` first, inherited ones
    too, then those without a number."""
    numbers: dict[int, int] = {}
    out = []
    for step in steps:
        order: list[tuple[float, int]] = []
        for dim, (tile, core) in enumerate(zip(step.tiles, step.cores, strict=False)):
            match core.value:
                case ForEntry(number):
                    numbers[dim] = number
                case Caret():
                    pass
                case _:
                    numbers.pop(dim, None)
                    continue
            if not isinstance(tile.value, Caret):
                order.append((numbers.get(dim, float("inf")), dim))
        out.append(tuple(dim for _, dim in sorted(order)))
    return out


def _number(index: int | None) -> int | None:
    return None if index is None else index + 1


def aligned(before: Sequence[Step], after: Sequence[Step]) -> list[tuple[int | None, int | None]]:
    """Pairs of 0-based indices in order. None on one side: the step has no counterpart."""
    rows, columns = len(before), len(after)
    alike = [[likeness(a, b) for b in after] for a in before]
    # best[i][j] is for the steps from i and from j on
    best = [[0.0] * (columns + 1) for _ in range(rows + 1)]
    for i in reversed(range(rows)):
        for j in reversed(range(columns)):
            paired = alike[i][j] + best[i + 1][j + 1] if alike[i][j] >= ALIKE else 0.0
            best[i][j] = max(paired, best[i + 1][j], best[i][j + 1])
    out: list[tuple[int | None, int | None]] = []
    i = j = 0
    while i < rows and j < columns:
        if alike[i][j] >= ALIKE and best[i][j] == alike[i][j] + best[i + 1][j + 1]:
            out.append((i, j))
            i, j = i + 1, j + 1
        elif best[i][j] == best[i + 1][j]:
            out.append((i, None))
            i += 1
        else:
            out.append((None, j))
            j += 1
    return [*out, *((n, None) for n in range(i, rows)), *((None, n) for n in range(j, columns))]


def likeness(a: Step, b: Step) -> float:
    """The share of the content of both steps that they have in common, from 0 to 1. It is 0 if they have
    different numbers of dimensions or buffers."""
    if (len(a.tiles), len(a.inputs), len(a.outputs)) != (len(b.tiles), len(b.inputs), len(b.outputs)):
        return 0.0
    common = sum(_core_likeness(x, y) for x, y in zip(a.cores, b.cores, strict=True))
    common += sum(_tile_likeness(x, y) for x, y in zip(a.tiles, b.tiles, strict=True))
    held = zip((*a.inputs, *a.outputs), (*b.inputs, *b.outputs), strict=True)
    common += sum(_mem_likeness(x, y) for x, y in held)
    common += sum(x.name == y.name for x in a.attrs for y in b.attrs)
    return 2.0 * common / (_said(a) + _said(b))


def _said(step: Step) -> float:
    """The most that another step can have in common with this one."""
    moved = sum(not isinstance(m.value, Caret) for m in (*step.inputs, *step.outputs))
    split = sum(not isinstance(t.value, Caret) for t in step.tiles)
    worked = sum(not isinstance(c.value, Caret) for c in step.cores)
    return max(1.0, 2.0 * (moved + split + worked) + len(step.attrs))


def _tile_likeness(a: TileEntry, b: TileEntry) -> float:
    if isinstance(a.value, Caret) or isinstance(b.value, Caret):
        return 0.0
    return 2.0 if a.value == b.value else 1.5


def _mem_likeness(a: Mem, b: Mem) -> float:
    if isinstance(a.value, Caret) or isinstance(b.value, Caret):
        return 0.0
    if a.value == b.value:
        return 2.0
    both = isinstance(a.value, BufferPlace) and isinstance(b.value, BufferPlace)
    return 1.5 if not both or getattr(a.value, "region", 0) == getattr(b.value, "region", 1) else 0.5


def _core_likeness(a: Core, b: Core) -> float:
    match a.value, b.value:
        case (Caret(), _) | (_, Caret()):
            return 0.0
        case x, y if x == y:
            return 2.0
        case Unit(layer=x), Unit(layer=y):
            return 1.5 if x == y else 0.5
        case ForEntry(), ForEntry():
            return 1.5
        case (ForEntry(), Unit()) | (Unit(), ForEntry()):
            return 0.5
        case _:
            return 1.0


def _changes(a: Step, b: Step, names: StageNames, *, alike: bool) -> list[Change]:
    """The entries that differ. alike: both steps loop over the same dimensions in the same order, however
    they are spelled."""
    out: list[Change] = []
    if a.label != b.label:
        before, after = ("" if s.label is None else str(s.label) for s in (a, b))
        out.append(Change("place", "", before, after))
    for name, x, y in zip(names.dims, a.tiles, b.tiles, strict=True):
        out.extend(_entry("tile", name, x, y))
    buffers = (*names.inputs, *names.outputs)
    for name, m, n in zip(buffers, (*a.inputs, *a.outputs), (*b.inputs, *b.outputs), strict=True):
        out.extend(_entry("region", name, m, n))
    for name, x, y, c, d in zip(names.dims, a.tiles, b.tiles, a.cores, b.cores, strict=True):
        loops = all(isinstance(x.value, ForEntry | Caret) for x in (c, d))
        # a loop over a dimension that is not split does not exist
        idle = any(isinstance(t.value, Caret) for t in (x, y))
        same = loops and (alike or idle)
        out.extend(_attributes(name, c.attrs, d.attrs) if same else _entry("layer", name, c, d))
    out.extend(_attributes("", a.attrs, b.attrs))
    return out


def _entry(what: What, name: str, a: TileEntry | Mem | Core, b: TileEntry | Mem | Core) -> list[Change]:
    # the buffer's name is the change's subject already
    before, after = (print_entry(e).removeprefix(f"{name}:") for e in (a, b))
    own = [] if before == after else [Change(what, name, before, after)]
    return [*own, *_attributes(name, a.attrs, b.attrs)]


def _attributes(subject: str, a: Sequence[Attr], b: Sequence[Attr]) -> list[Change]:
    old, new = ({attr.name: print_attr(attr) for attr in attrs} for attrs in (a, b))
    order = [*old, *(name for name in new if name not in old)]
    pairs = [(old.get(name, ""), new.get(name, "")) for name in order]
    return [Change("attribute", subject, x, y) for x, y in pairs if x != y]


def _spoken(steps: Sequence[Step]) -> StageNames:
    """Names from the schedules alone: numbers for dimensions; buffers have names where a step has them."""
    widest = max(steps, key=lambda s: (len(s.tiles), len(s.inputs), len(s.outputs)), default=None)
    if widest is None:
        return StageNames((), (), ())
    alike = [
        s for s in steps if len(s.inputs) == len(widest.inputs) and len(s.outputs) == len(widest.outputs)
    ]
    ins = _buffers([s.inputs for s in alike], "input")
    outs = _buffers([s.outputs for s in alike], "output")
    return StageNames(tuple(f"dim {n + 1}" for n in range(len(widest.tiles))), ins, outs)


def _buffers(rows: Sequence[tuple[Mem, ...]], kind: str) -> tuple[str, ...]:
    width = len(rows[0])
    spoken: dict[int, str] = {}
    for row in rows:
        for n, mem in enumerate(row):
            if isinstance(mem.value, BufferPlace):
                spoken.setdefault(n, mem.value.buffer)
    return tuple(spoken.get(n, f"{kind} {n + 1}" if width > 1 else f"the {kind}") for n in range(width))
