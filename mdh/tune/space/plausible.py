"""Cheap rejection: what can be said against a point from its values alone, much faster than the checker.

Only reasons for which the checker would refuse the point too: K106 (layers nest outer to inner in code
order), K150 (copies go inward), S122 (conditions, where all their names are known).
"""

from collections.abc import Mapping
from dataclasses import dataclass

from mdh.diagnostics import Failed
from mdh.schedule.hole_values import memory_entry
from mdh.schedule.model import CORE_LAYERS, REGIONS, Hole, Mem, Place, Section, Where
from mdh.schedule.names import region_of
from mdh.schedule.where import evaluate, names_of
from mdh.tune.space.domains import LOOP
from mdh.tune.space.exact import Joint
from mdh.tune.values import Value


@dataclass(frozen=True)
class Plausible:
    """Asks of one point what the sections and conditions of the template leave to ask."""

    joint: Joint
    sections: tuple[Section, ...]
    names: Mapping[str, int]
    constants: Mapping[str, int]

    def __call__(self, values: Mapping[int, Value]) -> bool:
        return (
            all(self._holds(where, values) for section in self.sections for where in section.wheres)
            and self._nested(values)
            and all(self._inward(section, values) for section in self.sections)
        )

    def _holds(self, where: Where, values: Mapping[int, Value]) -> bool:
        """True also where the condition has no value: the checker says why."""
        known = dict(self.constants)
        for name in names_of(where.condition):
            if name.hole:
                value = values.get(self.names.get(name.text, -1))
                if not isinstance(value, int):
                    return True
                known[name.text] = value
        try:
            return bool(evaluate(where.condition, known))
        except (Failed, KeyError):
            return True

    def amended(self, values: Mapping[int, Value]) -> dict[int, Value]:
        """Near the point: a loop where an open entry splits over a layer that is out of place there, `^`
        where an open entry would copy outward."""
        out = dict(values)
        for (stage, s), splits in self._splits(values).items():
            before = self._deepest(stage, s, out)
            for depth, core in splits:
                if depth < before and core is not None:
                    out[core] = LOOP
        for section in self.sections:
            nearest: dict[int, int] = {}
            for s in _code_order(section):
                step = section.steps[s]
                for buffer, mem in enumerate((*step.inputs, *step.outputs)):
                    region = self._region(mem, out)
                    rank = REGIONS.index(region) if region in ("DM", "SM", "RM") else REGIONS.index("RM")
                    if rank < nearest.get(buffer, 0) and isinstance(mem.value, Hole):
                        out[self.names[mem.value.name or ""]] = "^"
                    elif region in ("DM", "SM", "RM"):
                        nearest[buffer] = rank
        return out

    def _deepest(self, stage: int, step: int, values: Mapping[int, Value]) -> int:
        """The deepest layer of the steps outside of a step."""
        order = _code_order(self.sections[stage])
        outside = order[: order.index(step)]
        splits = self._splits(values)
        return max((d for s in outside for d, _ in splits.get((stage, s), ())), default=-1)

    def _nested(self, values: Mapping[int, Value]) -> bool:
        """K106, of steps as a whole."""
        depths = self._splits(values)
        for stage, section in enumerate(self.sections):
            deepest = -1
            for s in _code_order(section):
                here = [depth for depth, _ in depths.get((stage, s), ())]
                if here:
                    if min(here) < deepest:
                        return False
                    deepest = max(here)
        return True

    def _splits(self, values: Mapping[int, Value]) -> dict[tuple[int, int], list[tuple[int, int | None]]]:
        """(stage, step) -> depth of the layer and variable of each entry that is split over one."""
        out: dict[tuple[int, int], list[tuple[int, int | None]]] = {}
        for chain in self.joint.chains:
            tile = chain.extent
            for s, entry in enumerate(chain.entries):
                size = entry.fixed if entry.tile is None else values[entry.tile]
                size = tile if size is None else min(int(size), tile)
                layer = entry.choices[0].layer if entry.core is None else _layer(values[entry.core])
                if layer is not None and size < tile:
                    out.setdefault((chain.stage, s), []).append((CORE_LAYERS.index(layer), entry.core))
                tile = size
        return out

    def _inward(self, section: Section, values: Mapping[int, Value]) -> bool:
        """K150, of regions."""
        nearest: dict[int, int] = {}
        for s in _code_order(section):
            step = section.steps[s]
            for buffer, mem in enumerate((*step.inputs, *step.outputs)):
                region = self._region(mem, values)
                if region in ("DM", "SM", "RM"):
                    rank = REGIONS.index(region)
                    if rank < nearest.get(buffer, 0):
                        return False
                    nearest[buffer] = rank
        return True

    def _region(self, mem: Mem, values: Mapping[int, Value]) -> str | None:
        entry = mem.value
        if isinstance(entry, Hole):
            found = memory_entry(values[self.names[entry.name or ""]])
            entry = found if isinstance(found, Place) else entry
        if not isinstance(entry, Place):
            return None
        region = entry.region
        if isinstance(region, Hole):
            region = str(values[self.names[region.name or ""]])
        return region_of(region)


def _layer(word: Value) -> str | None:
    layer = str(word).partition(".")[0]
    return layer if layer in CORE_LAYERS else None


def _code_order(section: Section) -> list[int]:
    steps = section.steps
    return sorted(range(len(steps)), key=lambda s: s if steps[s].label is None else steps[s].label or 0)
