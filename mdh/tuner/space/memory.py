"""The ladders of a schedule: for each buffer of a stage, its memory holes that no name ties to others."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from mdh.hardware import Space
from mdh.results.trial import Value
from mdh.schedule.hole_values import memory_entry
from mdh.schedule.model import BufferPlace, Hole, Mem, Section
from mdh.schedule.names import region_of
from mdh.tuner.space.ladder import Ladder, Rung


@dataclass(frozen=True, slots=True)
class Memory:
    """index: variables by name. domains: the values of each. alone: those with one place and no group."""

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
                return self._open(hole, lambda value: depth_of(str(value)))
            case BufferPlace(_, str() as region, _):
                return Rung(None, (region,), (depth_of(region),))
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


def depth_of(region: str | None) -> int | None:
    """The depth of a region; None for an entry that names none."""
    name = None if region is None else region_of(region)
    return None if name in (None, Space.HM) else name.depth


def _depth_of_entry(value: Value) -> int | None:
    entry = memory_entry(value)
    return (
        depth_of(entry.region) if isinstance(entry, BufferPlace) and isinstance(entry.region, str) else None
    )
