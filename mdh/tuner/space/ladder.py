"""The memory entries of one buffer, step after step: K150 (copies go inward), in a form that can be counted.

A ladder is a walk through the steps in code order. Its state is the innermost region so far, so the legal
choices are counted and ranked step by step, without listing their combinations.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from mdh.hardware import Space
from mdh.results.trial import Value
from mdh.schedule.hole_values import memory_entry
from mdh.schedule.model import BufferPlace, Hole, Mem, Section
from mdh.schedule.names import region_of

OUTERMOST = Space.DM.depth
"""The region in which every buffer starts."""


@dataclass(frozen=True, slots=True)
class Rung:
    """The entry of one step. variable: None for a fixed entry, which has a single value.

    depths: for each value, the depth of the region that it names; None if it names none (`^`).
    """

    variable: int | None
    values: tuple[Value, ...]
    depths: tuple[int | None, ...]


@dataclass(frozen=True)
class Ladder:
    """A group of variables (see `free.VariableGroup`) that are chosen together, in code order."""

    rungs: tuple[Rung, ...]
    ways: tuple[tuple[int, ...], ...] = field(init=False)
    """For each rung and region so far, the number of choices of this and all later rungs."""

    def __post_init__(self) -> None:
        ways = [(1,) * len(Space)]
        for rung in reversed(self.rungs):
            ahead = ways[-1]
            afters = (tuple(_after(depth, d) for d in rung.depths) for depth in range(len(Space)))
            ways.append(tuple(sum(ahead[a] for a in after if a is not None) for after in afters))
        object.__setattr__(self, "ways", tuple(reversed(ways)))

    @property
    def variables(self) -> tuple[int, ...]:
        return tuple(r.variable for r in self.rungs if r.variable is not None)

    @property
    def count(self) -> int:
        return self.ways[0][OUTERMOST]

    @property
    def columns(self) -> tuple[tuple[Value, ...], ...]:
        """For each variable, the values that it has in some choice."""
        reached = {OUTERMOST}
        out = []
        for n, rung in enumerate(self.rungs):
            steps = [
                (value, after)
                for value, d in zip(rung.values, rung.depths, strict=True)
                for before in reached
                if (after := _after(before, d)) is not None and self.ways[n + 1][after]
            ]
            reached = {after for _, after in steps}
            if rung.variable is not None:
                out.append(tuple(dict.fromkeys(value for value, _ in steps)))
        return tuple(out)

    def unrank(self, rank: int) -> tuple[Value, ...]:
        """The values of the variables in the choice of a rank below `count`."""
        depth, out = OUTERMOST, []
        for n, rung in enumerate(self.rungs):
            place, depth, rank = self._place(n, depth, rank)
            if rung.variable is not None:
                out.append(rung.values[place])
        return tuple(out)

    def _place(self, n: int, depth: int, rank: int) -> tuple[int, int, int]:
        """Finds a rank among the choices from the n-th rung on: the number of its value there, the region
        after it, and the rank among the choices that continue from there."""
        for place, d in enumerate(self.rungs[n].depths):
            after = _after(depth, d)
            ways = 0 if after is None else self.ways[n + 1][after]
            if after is not None and rank < ways:
                return place, after, rank
            rank -= ways
        raise IndexError("a rank beyond the choices")

    def rank(self, row: tuple[Value | None, ...]) -> int | None:
        """The inverse of `unrank`; None for a row that is no choice."""
        depth, rank, given = OUTERMOST, 0, iter(row)
        for n, rung in enumerate(self.rungs):
            wanted = rung.values[0] if rung.variable is None else next(given)
            if wanted not in rung.values:
                return None
            place = rung.values.index(wanted)
            for d in rung.depths[:place]:
                after = _after(depth, d)
                rank += 0 if after is None else self.ways[n + 1][after]
            after = _after(depth, rung.depths[place])
            if after is None or not self.ways[n + 1][after]:
                return None
            depth = after
        return rank

    def nearest(self, wish: Mapping[int, Value]) -> tuple[Value, ...]:
        """A choice with the fewest values that differ from the wished ones. Requires count > 0."""
        best: dict[int, tuple[int, tuple[Value, ...]]] = {OUTERMOST: (0, ())}
        for n, rung in enumerate(self.rungs):
            following: dict[int, tuple[int, tuple[Value, ...]]] = {}
            for before, (cost, row) in best.items():
                for value, d in zip(rung.values, rung.depths, strict=True):
                    after = _after(before, d)
                    if after is None or not self.ways[n + 1][after]:
                        continue
                    far, longer = cost, row
                    if rung.variable is not None:
                        far += wish.get(rung.variable, value) != value
                        longer = (*row, value)
                    if after not in following or far < following[after][0]:
                        following[after] = far, longer
            best = following
        return min(best.values(), key=lambda found: found[0])[1]


def _after(before: int, depth: int | None) -> int | None:
    """The innermost region after an entry; None if it would go outward."""
    if depth is None:
        return before
    return None if depth < before else depth


@dataclass(frozen=True, slots=True)
class Memory:
    """The ladders of a schedule: for each buffer of a stage, its memory holes that no name ties to others.

    index: variables by name. domains: the values of each. alone: those with one place and no group."""

    index: Mapping[str, int]
    domains: Mapping[int, tuple[Value, ...]]
    alone: Callable[[int], bool]

    def ladders(self, section: Section) -> tuple[Ladder, ...]:
        """The ladders with a variable and a legal choice. The checker reports fixed entries that go
        outward."""
        steps = [section.steps[s] for s in code_order(section)]
        buffers = zip(*((*step.inputs, *step.outputs) for step in steps), strict=True)
        found = (Ladder(tuple(r for r in map(self._rung, mems) if r is not None)) for mems in buffers)
        return tuple(ladder for ladder in found if ladder.variables and ladder.count)

    def _rung(self, mem: Mem) -> Rung | None:
        match mem.value:
            case Hole() as hole:
                return self._open(hole, _depth_of_entry)
            case BufferPlace(_, Hole() as hole, _):
                return self._open(hole, lambda value: _depth_of(str(value)))
            case BufferPlace(_, str() as region, _):
                return Rung(None, (region,), (_depth_of(region),))
            case _:
                return None

    def _open(self, hole: Hole, depth: Callable[[Value], int | None]) -> Rung | None:
        variable = self.index[hole.name or ""]
        if not self.alone(variable):
            return None
        values = self.domains[variable]
        return Rung(variable, values, tuple(map(depth, values)))


def code_order(section: Section) -> list[int]:
    """The steps in code order, outermost loops first."""
    steps = section.steps
    return sorted(range(len(steps)), key=lambda s: s if steps[s].label is None else steps[s].label or 0)


def _depth_of(region: str | None) -> int | None:
    """The depth of a region; None for an entry that names none."""
    name = None if region is None else region_of(region)
    return None if name in (None, Space.HM) else name.depth


def _depth_of_entry(value: Value) -> int | None:
    entry = memory_entry(value)
    return (
        _depth_of(entry.region) if isinstance(entry, BufferPlace) and isinstance(entry.region, str) else None
    )
