"""What the values of a point say of a stage, and whether the checker would refuse it for that.

An outline is a stage plan without text, attributes or axes, and with the loops of a step in no particular
order. It is a second reading of the schedule because the checker's takes ten times as long, and a search asks
about many points that are not legal. The checker's own functions are asked about the outline: K106 (nesting
of layers), K140 (what blocks share), K150 (copies go inward), K163 (clusters). For K152 and K153 (capacity)
its tile tree holds at most what the checker counts, since it has no padding, slots or scratch. K114 (numbers
of loops) and S122 (conditions) are asked of the values.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from mdh.checker.footprint import WORD, taken
from mdh.checker.loops import by_layer
from mdh.checker.rules.copies import outward
from mdh.checker.rules.launch import clusters_fit
from mdh.checker.rules.layers import misplaced
from mdh.checker.rules.visibility import unshared
from mdh.decompose.tiles import decompose
from mdh.hardware import Layer, Space
from mdh.ir.plan import Grid, Holding, PlanStep, Split, StagePlan, Staging
from mdh.ir.program import Program, Stage
from mdh.ir.tile import Copy, Hold
from mdh.machine import Machine
from mdh.results.trial import Value
from mdh.schedule.hole_values import memory_entry
from mdh.schedule.model import BufferPlace, Hole, Mem, Section, Where
from mdh.schedule.names import region_of
from mdh.schedule.where import names_of
from mdh.tuner.space.chain import Chain, ChainStep
from mdh.tuner.space.conditions import holds
from mdh.tuner.space.domains import LOOP
from mdh.tuner.space.ladder import code_order

HELD = (Space.SM, Space.RM)


@dataclass(frozen=True)
class StageOutline:
    """One stage. chains: of its dimensions. names: variables by name. constants: the program's, for
    conditions. machine: as the target sees it."""

    program: Program
    stage: Stage
    section: Section
    chains: tuple[Chain, ...]
    names: Mapping[str, int]
    constants: Mapping[str, int]
    machine: Machine

    def plausible(self, values: Mapping[int, Value]) -> bool:
        """False where the checker would refuse the point."""
        if not all(self._holds(where, values) for where in self.section.wheres):
            return False
        plan = self.plan(values)
        return not (
            any(misplaced(plan))
            or any(self._repeated(values))
            or not clusters_fit(plan, self.machine)
            or any(unshared(plan))
            or any(any(outward(regions)) for _, regions in self._entries(values))
            or self._excess(plan)
        )

    def amend(self, out: dict[int, Value]) -> None:
        """Changes the values where open entries make the point implausible: to a loop where a layer is out of
        place or a cluster too large, to another loop where a number is repeated, to `^` where a copy would go
        outward, where blocks would share a region, and where more is held than there is room for."""
        plan = self.plan(out)
        for loop, _ in misplaced(plan):
            core = self.chains[loop.dim].entries[plan.steps[loop.step].number].core
            if core is not None:
                out[core] = LOOP
        for entry, free in self._repeated(out):
            if entry.core is not None and free:
                out[entry.core] = free
        for layer in (Layer.BLK, Layer.CLU):
            if not clusters_fit(self.plan(out), self.machine):
                entries = (e for chain in self.chains for e in chain.entries)
                out.update({e.core: LOOP for e in entries if e.core is not None and e.layer(out) is layer})
        for mems, regions in self._entries(out):
            for n, _, _ in outward(regions):
                self._stays(mems[n], out)
        plan = self.plan(out)
        for _, i, holding in unshared(plan):
            self._stays(self._entry(plan.steps[i], holding.buffer), out)
        while over := self._excess(plan := self.plan(out)):
            if not any(self._stays(self._entry(plan.steps[n.step or 0], n.tile.buffer), out) for n in over):
                break

    def plan(self, values: Mapping[int, Value]) -> StagePlan:
        """The outline. The number of a step is its place in the section."""
        inputs, outputs = self.program.inputs(self.stage), self.program.outputs(self.stage)
        steps: list[PlanStep] = []
        tiles = tuple(c.extent for c in self.chains)
        for s, step in enumerate(self.section.steps):
            parents, splits = tiles, []
            for d, chain in enumerate(self.chains):
                size = chain.entries[s].size(values, parents[d])
                layer = chain.entries[s].layer(values) if size < parents[d] else None
                splits.append(Split(d, parents[d], size, layer, 0, d))
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
        return StagePlan(
            self.program, self.stage, tuple(steps), order, Grid(), ((),) * len(self.stage.results)
        )

    def _held(
        self, buffers: tuple[str, ...], mems: tuple[Mem, ...], values: Mapping[int, Value]
    ) -> Iterator[tuple[str, Space, tuple[int, ...]]]:
        for buffer, mem in zip(buffers, mems, strict=True):
            region = self._region(mem, values)
            if region in HELD:
                yield buffer, region, tuple(range(len(self.program.buffer_of[buffer].shape)))

    def _entries(self, values: Mapping[int, Value]) -> Iterator[tuple[tuple[Mem, ...], list[Space | None]]]:
        """For each buffer its entries in code order and the regions that they name."""
        steps = [self.section.steps[s] for s in code_order(self.section)]
        for mems in zip(*((*step.inputs, *step.outputs) for step in steps), strict=True):
            yield mems, [self._region(mem, values) for mem in mems]

    def _entry(self, step: PlanStep, buffer: str) -> Mem:
        written = self.section.steps[step.number]
        buffers = (*self.program.inputs(self.stage), *self.program.outputs(self.stage))
        return (*written.inputs, *written.outputs)[buffers.index(buffer)]

    def _region(self, mem: Mem, values: Mapping[int, Value]) -> Space | None:
        """The region of the device that a memory entry names; None for `^`."""
        entry = mem.value
        if isinstance(entry, Hole):
            found = memory_entry(values[self.names[entry.name or ""]])
            entry = found if isinstance(found, BufferPlace) else entry
        if not isinstance(entry, BufferPlace):
            return None
        region = entry.region
        if isinstance(region, Hole):
            region = region_of(str(values[self.names[region.name or ""]])) or region
        return region if isinstance(region, Space) and region is not Space.HM else None

    def _stays(self, mem: Mem, out: dict[int, Value]) -> bool:
        """`^` in an entry, where that is open."""
        if isinstance(mem.value, Hole):
            out[self.names[mem.value.name or ""]] = "^"
        return isinstance(mem.value, Hole)

    def _excess(self, plan: StagePlan) -> list[Copy | Hold]:
        """What lies in a region that is too small for all that lies there; the largest first."""
        if self._cyclic:
            return []
        tiles = decompose(self.program, plan, cpu=self.machine.kind == "cpu")
        found = [node for node in tiles.kept if node.step is not None]
        left = {Space.SM: self.machine.shared_per_block, Space.RM: WORD * self.machine.registers_per_thread}
        for node in found:
            left[node.tile.space] -= taken(node.tile)
        full = [space for space, amount in left.items() if amount < 0]
        if Space.RM in full and any(by_layer(plan, Layer.WGP, Layer.MMA)):
            full.remove(Space.RM)  # their units hold registers together
        return sorted((n for n in found if n.tile.space in full), key=lambda n: -n.tile.bytes)

    @cached_property
    def _cyclic(self) -> bool:
        return any(a.name == "cyclic" for step in self.section.steps for c in step.cores for a in c.attrs)

    @cached_property
    def _numbered(self) -> tuple[list[ChainStep], ...]:
        """Of each step with more than one of them, the entries that are, or may be, loops with a number. Of
        an entry that is wholly open the number is a variable of its own."""
        steps = zip(*(chain.entries for chain in self.chains), strict=True)
        loops = ([e for e in step if any(_number(c.word) for c in e.choices)] for step in steps)
        return tuple(entries for entries in loops if len(entries) > 1)

    def _repeated(self, values: Mapping[int, Value]) -> Iterator[tuple[ChainStep, str | None]]:
        """Each entry whose loop has the number of another entry of its step, with a free loop of its set."""
        for entries in self._numbered:
            used: set[str] = set()
            for entry in sorted(entries, key=lambda e: e.core is not None):
                word = entry.choices[0].word if entry.core is None else str(values[entry.core])
                if _number(word) and word in used:
                    others = (c.word for c in entry.choices if _number(c.word) and c.word not in used)
                    free = next(others, None)
                    yield entry, free
                    word = free or word
                used.add(word)

    def _holds(self, where: Where, values: Mapping[int, Value]) -> bool:
        """True also where a hole has a word or no value: the checker says why."""
        of = ((n.text, values.get(self.names.get(n.text, -1))) for n in names_of(where.condition) if n.hole)
        return holds(where, {**self.constants, **{name: v for name, v in of if v is not None}})


def _number(word: str) -> bool:
    """True for `FOR.2`."""
    return word.startswith("FOR.")
