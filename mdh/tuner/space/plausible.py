"""Cheap rejection: what can be said against a point from its values alone, much faster than the checker.

Only reasons for which the checker would refuse the point too: K106 (layers nest outer to inner in code
order), K114 (loops of a step have different numbers), K140 (blocks share no region), K150 (copies go inward),
K152 and K153 (capacity of shared memory and registers, from below), K163 (blocks of a cluster), S122
(conditions, where all their names are known).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from mdh.diagnostics import Failed
from mdh.hardware import Layer, Space
from mdh.ir.plan import StagePlan
from mdh.results.trial import Value
from mdh.schedule.model import Hole, Section, Where
from mdh.schedule.where import evaluate, names_of
from mdh.tuner.space.chain import Entry
from mdh.tuner.space.domains import LOOP
from mdh.tuner.space.exact import Joint
from mdh.tuner.space.lean import Lean
from mdh.tuner.space.memory import code_order

COPIED = (Space.DM, Space.SM, Space.RM)
"""Regions that copies go through."""


@dataclass(frozen=True)
class Plausible:
    """Asks of one point what the sections and conditions of the template leave to ask."""

    joint: Joint
    sections: tuple[Section, ...]
    names: Mapping[str, int]
    constants: Mapping[str, int]
    stages: tuple[Lean, ...]

    def __call__(self, values: Mapping[int, Value]) -> bool:
        return (
            all(self._holds(where, values) for section in self.sections for where in section.wheres)
            and self._nested(values)
            and self._numbered(values)
            and all(self._inward(lean, values) and _roomy(lean, lean.plan(values)) for lean in self.stages)
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
        where an open entry would copy outward, holds what blocks share, or takes more than there is."""
        out = dict(values)
        for (stage, s), splits in self._splits(values).items():
            before = self._deepest(stage, s, out)
            for depth, core in splits:
                if depth < before and core is not None:
                    out[core] = LOOP
        self._renumbered(out)
        for lean in self.stages:
            self._unclustered(lean, out)
            self._turned_inward(lean, out)
            plan = lean.plan(out)
            for i in plan.code_order[: lean.meeting(plan) + 1]:
                for holding in plan.steps[i].holdings:
                    self._left_out(lean, plan.steps[i].number, holding.buffer, out)
            while over := lean.excess(plan := lean.plan(out)):
                if not any(
                    self._left_out(lean, plan.steps[n.step or 0].number, n.tile.buffer, out) for n in over
                ):
                    break
        return out

    @cached_property
    def _loops(self) -> tuple[tuple[Entry, ...], ...]:
        """Of each step with more than one of them, the entries that are, or may be, loops with a number."""
        steps: dict[tuple[int, int], list[Entry]] = {}
        for chain in self.joint.chains:
            for s, entry in enumerate(chain.entries):
                if any(_number(choice.word) for choice in entry.choices):
                    steps.setdefault((chain.stage, s), []).append(entry)
        return tuple(tuple(entries) for entries in steps.values() if len(entries) > 1)

    def _numbered(self, values: Mapping[int, Value]) -> bool:
        """K114."""
        for entries in self._loops:
            words = [word for entry in entries if _number(word := _word(entry, values))]
            if len(set(words)) < len(words):
                return False
        return True

    def _renumbered(self, out: dict[int, Value]) -> None:
        """Another loop of its set where an open entry repeats the number of another entry."""
        for entries in self._loops:
            taken = {_word(entry, out) for entry in entries if entry.core is None}
            for entry in entries:
                if entry.core is None or not _number(word := _word(entry, out)):
                    continue
                if word in taken:
                    free = (c.word for c in entry.choices if _number(c.word) and c.word not in taken)
                    out[entry.core] = word = next(free, word)
                taken.add(word)

    def _unclustered(self, lean: Lean, out: dict[int, Value]) -> None:
        """Loops for blocks of a cluster that are too many, and for clusters that the machine has not."""
        for layer in (Layer.BLK, Layer.CLU):
            if lean.clustered(lean.plan(out)):
                return
            for chain in lean.chains:
                for core in (e.core for e in chain.entries if e.core is not None):
                    if _layer(out[core]) == layer:
                        out[core] = LOOP

    def _turned_inward(self, lean: Lean, out: dict[int, Value]) -> None:
        nearest: dict[int, int] = {}
        for s in code_order(lean.section):
            step = lean.section.steps[s]
            for buffer, mem in enumerate((*step.inputs, *step.outputs)):
                region = lean.region(mem, out)
                rank = region.depth if region in COPIED else Space.RM.depth
                if rank < nearest.get(buffer, 0) and isinstance(mem.value, Hole):
                    out[self.names[mem.value.name or ""]] = "^"
                elif region in COPIED:
                    nearest[buffer] = rank

    def _left_out(self, lean: Lean, s: int, buffer: str, out: dict[int, Value]) -> bool:
        """`^` in the entry of a buffer, where that is open."""
        step = lean.section.steps[s]
        buffers = (*lean.program.inputs(lean.stage), *lean.program.outputs(lean.stage))
        entry = (*step.inputs, *step.outputs)[buffers.index(buffer)].value
        if isinstance(entry, Hole):
            out[self.names[entry.name or ""]] = "^"
        return isinstance(entry, Hole)

    def _deepest(self, stage: int, step: int, values: Mapping[int, Value]) -> int:
        """The deepest layer of the steps outside of a step."""
        order = code_order(self.sections[stage])
        outside = order[: order.index(step)]
        splits = self._splits(values)
        return max((d for s in outside for d, _ in splits.get((stage, s), ())), default=-1)

    def _nested(self, values: Mapping[int, Value]) -> bool:
        """K106, of steps as a whole."""
        depths = self._splits(values)
        for stage, section in enumerate(self.sections):
            deepest = -1
            for s in code_order(section):
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
                    out.setdefault((chain.stage, s), []).append((layer.depth, entry.core))
                tile = size
        return out

    def _inward(self, lean: Lean, values: Mapping[int, Value]) -> bool:
        """K150, of regions."""
        nearest: dict[int, int] = {}
        for s in code_order(lean.section):
            step = lean.section.steps[s]
            for buffer, mem in enumerate((*step.inputs, *step.outputs)):
                region = lean.region(mem, values)
                if region in COPIED:
                    rank = region.depth
                    if rank < nearest.get(buffer, 0):
                        return False
                    nearest[buffer] = rank
        return True


def _roomy(lean: Lean, plan: StagePlan) -> bool:
    """K163, K140, K152, K153."""
    return lean.clustered(plan) and lean.visible(plan) and not lean.excess(plan)


def _word(entry: Entry, values: Mapping[int, Value]) -> str:
    return entry.choices[0].word if entry.core is None else str(values[entry.core])


def _number(word: str) -> bool:
    """True for `FOR.2`; of a loop whose entry is wholly open the number is a variable of its own."""
    return word.startswith("FOR.")


def _layer(word: Value) -> Layer | None:
    return Layer.named(str(word).partition(".")[0])
