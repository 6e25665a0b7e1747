"""Stages that work on the same rows, which one kernel can compute: softmax, normalisations, a variance.

A row is told apart by some dimensions of its stage, the kept ones. Stages that reduce it have one result a
row. A last stage, the reader, reads these results, and has dimensions along the row.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod

from mdh.ir.program import DimKind, Program, Stage
from mdh.schedule.default.contraction import find_contraction
from mdh.schedule.default.outline import ScheduleBuilder, attribute
from mdh.schedule.default.shape import Shape
from mdh.schedule.model import Section, Within

Kept = Mapping[int, int]
"""The kept dimensions of a stage, each with the dimension of the reader that it is."""


@dataclass(frozen=True)
class RowStage:
    """A stage of a group. kept: its kept dimensions; the others run along the row."""

    shape: Shape
    kept: Kept

    @property
    def name(self) -> str:
        return self.shape.stage.name

    @cached_property
    def along(self) -> tuple[int, ...]:
        return tuple(d for d, n in enumerate(self.shape.extents) if d not in self.kept and n > 1)

    @property
    def points(self) -> int:
        """Points of a row."""
        return prod(self.shape.extents[d] for d in self.along)


@dataclass(frozen=True)
class RowGroup:
    """inner: the stages that the kernel of `reader` can compute for itself, in the order of the C."""

    reader: RowStage
    inner: tuple[RowStage, ...]

    @property
    def stages(self) -> tuple[RowStage, ...]:
        return (*self.inner, self.reader)

    @property
    def rows(self) -> int:
        return prod(self.reader.shape.extents[d] for d in self.reader.kept)

    def host(self, stage: RowStage) -> RowStage:
        """The stage in which an inner one is computed: the reader if it reads the results, else the one that
        does."""
        readers = [s for s in self.stages if s.shape.stage.read & stage.shape.stage.written]
        return self.reader if self.reader in readers else readers[0]

    def inside(self, host: RowStage) -> tuple[RowStage, ...]:
        """The stages that are computed in one, and in those."""
        mine = [s for s in self.inner if self.host(s) is host]
        return tuple(x for s in mine for x in (*self.inside(s), s))

    def made(self, host: RowStage) -> tuple[str, ...]:
        """The arrays that are computed in a stage."""
        mine = [s.shape.stage.written for s in self.inner if self.host(s) is host]
        return tuple(b for b in host.shape.inputs if any(b in written for written in mine))

    def shared(self, host: RowStage) -> tuple[str, ...]:
        """The arrays of rows that a stage reads and stages inside of it, too: one copy serves them all. None
        that a stage around it has a copy of."""
        around = set[str]() if host is self.reader else set(self.shared(self.host(host)))
        known = around.union(*(s.shape.stage.written for s in self.inner))
        found = (b for b in host.shape.inputs if b not in known)
        return tuple(b for b in found if self._several(host, b))

    def _several(self, host: RowStage, buffer: str) -> bool:
        reading = [s for s in self.inside(host) if buffer in s.shape.stage.read]
        return bool(reading) and all(self._of_row(s, buffer) for s in (*reading, host))

    def _of_row(self, stage: RowStage, buffer: str) -> bool:
        """Whether each of the stage's reads moves with all kept dimensions, and one of them along the row."""
        reads = stage.shape.reads_of(buffer)
        kept = [d for d in stage.kept if stage.shape.extents[d] > 1]
        plain = all(a.affine and all(stage.shape.uses(a, d) for d in kept) for a in reads)
        return plain and any(stage.shape.uses(a, d) for a in reads for d in stage.along)


def row_groups(program: Program, among: Collection[str]) -> tuple[RowGroup, ...]:
    """The groups of the stages of `among`, the last one of the C first. No stage is in two."""
    left, out = set(among), list[RowGroup]()
    for n in reversed(range(len(program.stages))):
        stage = program.stages[n]
        if stage.name not in left or not _plain(program, stage):
            continue
        found = _group(program, n, left)
        if found is not None:
            out.append(found)
            left -= {s.name for s in found.stages}
    return tuple(out)


def _plain(program: Program, stage: Stage) -> bool:
    """Whether the stage is a map or a reduction in any order, and no product of matrices. Those have
    schedules of their own, in which blocks share both factors."""
    if stage.scattered or any(d.kind is DimKind.PS for d in stage.dims):
        return False
    shape = Shape(program, stage)
    return not shape.keeps_order and find_contraction(shape, gpu=True) is None


def _group(program: Program, n: int, left: Collection[str]) -> RowGroup | None:
    """The group whose reader is stage n of the program; None if no stage before it reduces the same rows."""
    shape = Shape(program, program.stages[n])
    for found in _around(program, n, left, None)[1:]:
        if found.shape.of_kind(DimKind.PW):
            rows = frozenset(found.kept.values())
            break
    else:
        return None
    reader, *inner = _around(program, n, left, rows)
    reader = RowStage(shape, {d: d for d in sorted(rows)})
    results = {d for d in shape.of_kind(DimKind.CC) if shape.extents[d] > 1}
    if not reader.along or (shape.of_kind(DimKind.PW) and results - rows):
        return None
    return RowGroup(reader, tuple(RowStage(s.shape, _of(s.kept, rows)) for s in reversed(inner)))


def _of(kept: Kept, rows: Collection[int]) -> Kept:
    return {d: mine for d, mine in kept.items() if mine in rows}


def _around(program: Program, n: int, left: Collection[str], rows: Collection[int] | None) -> list[RowStage]:
    """The reader, and the stages before it that can be computed for it, the last of the C first. Their kept
    dimensions are all that the reader has, too. rows: the kept dimensions that each must have, and that a
    reduction has alone; None: any."""
    shape = Shape(program, program.stages[n])
    found = [RowStage(shape, {d: d for d in shape.of_kind(DimKind.CC)})]
    temps = {b.name for b in program.buffers if b.temp}
    for stage in reversed(program.stages[:n]):
        readers = {s.name for s in program.stages if s.read & stage.written}
        writers = [s for s in program.stages if s.written & stage.written]
        own = stage.written <= temps and len(writers) == 1 and not stage.written & stage.read
        if stage.name not in left or not own or not readers or not _plain(program, stage):
            continue
        if not readers <= {s.name for s in found} or (len(readers) > 1 and found[0].name not in readers):
            # several that are no reader have no place in common
            continue
        one = _seen(program, stage, found)
        if one is not None and _fits(one, rows):
            found.append(one)
    return found


def _fits(one: RowStage, rows: Collection[int] | None) -> bool:
    mine = set(one.kept.values())
    if one.shape.of_kind(DimKind.PW):
        results = {d for d in one.shape.of_kind(DimKind.CC) if one.shape.extents[d] > 1}
        return results <= one.kept.keys() and (rows is None or mine == set(rows))
    return rows is None or mine >= set(rows)


def _seen(program: Program, stage: Stage, readers: Sequence[RowStage]) -> RowStage | None:
    """The stage, and which of its dimensions are dimensions of the reader. None if the readers' subscripts do
    not determine these."""
    shape, kept = Shape(program, stage), dict[int, int]()
    place = {d.name: k for k, d in enumerate(stage.dims)}
    for access in shape.writes:
        named = _named(readers, access.buffer, len(access.index))
        for f, mine in zip(access.index, named, strict=True):
            if f is None:
                return None
            if mine is None or len(f.terms) != 1 or f.const or f.terms[0][1] != 1:
                continue
            d = place[f.terms[0][0]]
            if kept.setdefault(d, mine) != mine:
                return None
    if len(set(kept.values())) < len(kept):
        return None
    return RowStage(shape, kept)


def _named(readers: Sequence[RowStage], buffer: str, rank: int) -> list[int | None]:
    """For each position of an array the dimension of the reader that is its subscript in all reads."""
    out: list[set[int | None]] = [set() for _ in range(rank)]
    for reader in readers:
        place = {d.name: k for k, d in enumerate(reader.shape.stage.dims)}
        for access in reader.shape.reads_of(buffer):
            for k, f in enumerate(access.index):
                alone = f is not None and len(f.terms) == 1 and not f.const and f.terms[0][1] == 1
                name = f.terms[0][0] if f is not None and alone else ""
                out[k].add(reader.kept.get(place.get(name, -1)))
    return [next(iter(s)) if len(s) == 1 else None for s in out]


def side_by_side(group: RowGroup) -> int | None:
    """The kept dimension along which rows are neighbours in memory; None where the elements of a row are."""
    reader = group.reader
    shape, arrays = reader.shape, group.shared(reader)
    accesses = [a for a in shape.reads if a.buffer in arrays] or list(shape.writes)
    found = [shape.contiguous(a) for a in accesses]
    return next((d for d in found if d is not None and d in reader.kept), None)


def fastest_first(stage: RowStage) -> list[int]:
    """The dimensions along the row, the one with the nearest neighbours first."""
    shape = stage.shape

    def near(d: int) -> int:
        steps = (abs(shape.stride(a, d)) for a in (*shape.reads, *shape.writes))
        return min((s for s in steps if s), default=1 << 62)

    return sorted(stage.along, key=lambda d: (near(d), -d))


def inner_section(group: RowGroup, stage: RowStage, outline: ScheduleBuilder, step: int) -> Section:
    """The section of an inner stage, none of whose points is computed twice. step: that of its host."""
    how = Within(group.host(stage).name, step)
    return replace(outline.section(stage.name), how=how, attrs=(attribute("once"),))
