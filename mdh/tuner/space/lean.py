"""What the values of a point say of a stage before anything is bound: its splits, copies and regions.

A lean plan has no text, attributes or axes, and the loops of a step in no particular order. That is enough to
ask what the checker asks of layers and memory, of which it is a lower bound.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from mdh.decompose.tiles import decompose
from mdh.hardware import Layer, Space
from mdh.ir.plan import Grid, Holding, PlanStep, Split, StagePlan, Staging
from mdh.ir.program import DimKind, Program, Stage
from mdh.ir.tile import Copy, Hold
from mdh.machine import Machine
from mdh.results.trial import Value
from mdh.schedule.hole_values import memory_entry
from mdh.schedule.model import Hole, Mem, Place, Section
from mdh.schedule.names import region_of
from mdh.tuner.space.chain import Chain

HELD = (Space.SM, Space.RM)
UNSURE = (Layer.MMA, Layer.WGP)
"""Layers whose units hold registers together."""


@dataclass(frozen=True)
class Lean:
    """One stage. chains: of its dimensions. names: variables by name. machine: as the target sees it."""

    program: Program
    stage: Stage
    section: Section
    chains: tuple[Chain, ...]
    names: Mapping[str, int]
    machine: Machine
    target: str

    def plan(self, values: Mapping[int, Value]) -> StagePlan:
        inputs, outputs = self.program.inputs(self.stage), self.program.outputs(self.stage)
        steps: list[PlanStep] = []
        tiles = tuple(c.extent for c in self.chains)
        for s, step in enumerate(self.section.steps):
            parents, splits = tiles, []
            for d, chain in enumerate(self.chains):
                entry = chain.entries[s]
                size = entry.fixed if entry.tile is None else values[entry.tile]
                size = parents[d] if size is None or size == "^" else min(int(size), parents[d])
                word = entry.choices[0].layer if entry.core is None else values[entry.core]
                layer = Layer.named(str(word).partition(".")[0])
                split = layer if size < parents[d] else None
                splits.append(Split(d, parents[d], size, split, 0, d))
            tiles = tuple(x.tile for x in splits)
            if step.label == 0 and s == 0:
                continue
            label = len(steps) + 1 if step.label is None else step.label
            stagings = tuple(Staging(*held) for held in self._held(inputs, step.inputs, values))
            holdings = tuple(Holding(*held) for held in self._held(outputs, step.outputs, values))
            steps.append(PlanStep(s, label, tuple(splits), stagings, holdings))
        last = tuple(Split(d, t, 1, None, 0, d) for d, t in enumerate(tiles))
        steps.append(PlanStep(len(steps) + 1, len(steps) + 1, last, (), ()))
        order = tuple(sorted(range(len(steps)), key=lambda i: steps[i].label))
        return StagePlan(self.stage, tuple(steps), order, Grid(), ((),) * len(self.stage.results))

    def _held(
        self, buffers: tuple[str, ...], mems: tuple[Mem, ...], values: Mapping[int, Value]
    ) -> Iterator[tuple[str, Space, tuple[int, ...]]]:
        for buffer, mem in zip(buffers, mems, strict=True):
            region = self.region(mem, values)
            if region is not None and region in HELD:
                yield buffer, region, tuple(range(len(self.program.buffer_of[buffer].shape)))

    def region(self, mem: Mem, values: Mapping[int, Value]) -> Space | None:
        """What a memory entry names; None for `^`."""
        entry = mem.value
        if isinstance(entry, Hole):
            found = memory_entry(values[self.names[entry.name or ""]])
            entry = found if isinstance(found, Place) else entry
        if not isinstance(entry, Place):
            return None
        if isinstance(entry.region, Hole):
            return region_of(str(values[self.names[entry.region.name or ""]]))
        return entry.region

    def clustered(self, plan: StagePlan) -> bool:
        """K163: the blocks of a cluster are no more than the machine has."""
        return plan.units(Layer.CLU) == 1 or 1 < self.machine.cluster >= plan.units(Layer.BLK)

    def meeting(self, plan: StagePlan) -> int:
        """K140: the last place in code order where blocks share a reduction; no region may open up to it.

        -1 where they share none.
        """
        shared = [
            n
            for n, i in enumerate(plan.code_order)
            for x in plan.steps[i].splits
            if x.layer in (Layer.CLU, Layer.BLK) and self.stage.dims[x.dim].kind is DimKind.PW
        ]
        return max(shared, default=-1)

    def visible(self, plan: StagePlan) -> bool:
        """K140."""
        return not any(plan.steps[i].holdings for i in plan.code_order[: self.meeting(plan) + 1])

    def excess(self, plan: StagePlan) -> list[Copy | Hold]:
        """K152, K153: what lies in a region that is too small for all that lies there; the largest first."""
        cores = [core for step in self.section.steps for core in step.cores]
        if any(a.name == "cyclic" for core in cores for a in core.attrs):
            return []
        tiles = decompose(self.program, plan, cpu=self.machine.kind == "cpu")
        found = [node for node in tiles.kept if node.step is not None]
        limits = {Space.SM: self.machine.shared_per_block, Space.RM: 4 * self.machine.registers_per_thread}
        if any(x.layer in UNSURE for step in plan.steps for x in step.splits):
            del limits[Space.RM]
        taken = {space: sum(n.tile.bytes for n in found if n.tile.space is space) for space in HELD}
        over = [n for n in found if taken[n.tile.space] > limits.get(n.tile.space, taken[n.tile.space])]
        return sorted(over, key=lambda n: -n.tile.bytes)
