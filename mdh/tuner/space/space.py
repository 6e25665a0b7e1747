"""The space of one schedule with holes, for a program on a machine."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from random import Random

from mdh.checker.entries import RM_ATTRS, SM_ATTRS
from mdh.checker.fusing import stage_in, view_of
from mdh.checker.inlining import staged
from mdh.checker.parallel_loops import shared_loops
from mdh.checker.run import check
from mdh.diagnostics import Failed
from mdh.hardware import THREADED, Space
from mdh.ir.plan import Plan
from mdh.ir.program import Program
from mdh.language import LANGUAGES
from mdh.machine import Machine
from mdh.results.trial import Value
from mdh.results.variable import Point, Variable
from mdh.schedule.binding import bind
from mdh.schedule.holes import section_holes
from mdh.schedule.model import (
    Attr,
    BufferPlace,
    Core,
    ForEntry,
    Hole,
    How,
    Mem,
    Schedule,
    Section,
    Step,
    TileEntry,
    Unit,
    Within,
)
from mdh.tuner.space.domains import LOOP, core_layers
from mdh.tuner.space.engines import without_unused
from mdh.tuner.space.exact import Joint
from mdh.tuner.space.ladder import Ladder
from mdh.tuner.space.outline import StageOutline

PATIENCE = 50
"""Draws that are rejected before points are amended instead."""


@dataclass(frozen=True, slots=True)
class Loops:
    """Open core entries of one step, by their variables, that may be loops.

    order: the variable that says how they nest (None: a single one). positions: the FOR numbers they get.
    """

    order: int | None
    cores: tuple[int, ...]
    stage: str
    step: int
    positions: tuple[int, ...]

    def sequence(self, point: Point) -> tuple[int, ...]:
        """The entries that the point makes loops, from outside."""
        if self.order is None:
            return ()
        places = [int(n) for n in str(point[self.order]).split(",")]
        return tuple(c for _, c in sorted(zip(places, self.cores, strict=True)) if point[c] == LOOP)

    def words(self, point: Point) -> dict[int, str]:
        """The spelling of each that the point makes a loop."""
        places = range(len(self.cores))
        if self.order is not None:
            places = [int(n) - 1 for n in str(point[self.order]).split(",")]  # type: ignore[assignment]
        spelled = {c: f"FOR.{self.positions[p]}" for c, p in zip(self.cores, places, strict=True)}
        return {c: word for c, word in spelled.items() if point[c] == LOOP}


@dataclass(frozen=True)
class ExactSpace:
    """Every choice of values that is structurally legal: tiles, sets, shared names, units of the layers and
    how they nest (by bands, see `make.nested`), regions from outside in.

    variables: in the order of their first places. What else makes a schedule legal (conditions of too many
    combinations, capacity, nesting inside of a band, dependences) is asked of single points, by `plan`.
    template: the schedule, each hole named after its variable. constants: the program's, for conditions.
    """

    program: Program
    machine: Machine
    target: str
    deterministic: bool
    variables: tuple[Variable, ...]
    template: Schedule
    constants: tuple[tuple[str, int], ...]
    joint: Joint
    loops: tuple[Loops, ...] = ()

    @property
    def count(self) -> int:
        """Structurally legal points, exactly."""
        return self.joint.count

    @property
    def counted(self) -> tuple[str, ...]:
        """The rules that hold in every point, in words; what else there is to a legal schedule is asked of
        single points."""
        rules = ["tiles, sets and shared names", "units and axes of layers"]
        if self.joint.nestings:
            bands = self.joint.nestings[0].bands
            known = core_layers(self.machine, self.target)
            shown = (" ".join(layer for layer in band if layer in known) for band in bands)
            rules.append(f"nesting of layers ({' > '.join(shown)})")
        if any(isinstance(group, Ladder) for group in self.joint.groups):
            rules.append("copies inward")
        if self.joint.conditions:
            rules.append("conditions")
        return tuple(rules)

    @property
    def raw(self) -> int:
        """The product of all domains, constraints aside."""
        return prod(len(variable.values) for variable in self.variables)

    def unrank(self, rank: int) -> Point:
        """The point of a rank from 0 to count - 1; a bijection."""
        if not 0 <= rank < self.count:
            raise IndexError(f"rank {rank} of {self.count}")
        return self._point(self.joint.unrank(rank))

    def rank(self, point: Point) -> int | None:
        """The inverse; None for what is no structurally legal point."""
        return self.joint.rank(dict(enumerate(point)))

    def draw(self, rng: Random) -> Point:
        """A structurally legal point, uniformly. Requires count > 0."""
        return self.unrank(rng.randrange(self.count))

    def plausible(self, point: Point) -> bool:
        """False where the checker would refuse the point for reasons that its values alone show; cheap."""
        values = dict(enumerate(point))
        if any(isinstance(v, str) and (v == How.INLINE or v.startswith(("in ", "library("))) for v in point):
            # the outlines are those of stages with kernels
            return True
        return all(outline.plausible(values) for outline in self._outlines)

    def amended(self, point: Point) -> Point:
        """A plausible point near this one, where amending its values gives one; else the point itself."""
        values = dict(enumerate(point))
        for outline in self._outlines:
            outline.amend(values)
        near = self._point(values)
        return near if self.rank(near) is not None else point

    def normal(self, point: Point) -> tuple[object, ...]:
        """Equal for points that say the same program in ways that their values alone show: how loops nest
        matters among the entries that are loops."""
        out: list[object] = list(point)
        for loops in self.loops:
            if loops.order is not None:
                out[loops.order] = loops.sequence(point)
        return tuple(out)

    def draw_legal(self, rng: Random, tries: int = 2000, after: int = 0) -> tuple[Point, Plan] | None:
        """A legal point and its plan; None where none was found in so many draws. after: the draws before
        them that found none.

        Uniform where one draw in PATIENCE is plausible; where layers and regions are so open that fewer are,
        a point near a drawn one that is.
        """
        for n in range(after, after + tries):
            point = self.draw(rng)
            if not self.plausible(point):
                if n < PATIENCE:
                    continue
                point = self.amended(point)
            plan = self.plan(point)
            if isinstance(plan, Plan):
                return point, plan
        return None

    @cached_property
    def _outlines(self) -> tuple[StageOutline, ...]:
        """One a stage with a kernel. What stands inside of one is judged by the checker alone."""
        names = {v.name.removeprefix("?"): i for i, v in enumerate(self.variables)}
        machine = LANGUAGES[self.target].seen(self.machine)
        whole = staged(self.program, self.template, self.machine, None)
        out = []
        loops = shared_loops(self.program, self.template, None, holes=True)
        around = {name: x for x in loops for name in x.loop.stages}
        counted = [(x, y) for x, y in whole.kernels if not isinstance(y.how, Within) or section_holes(y)]
        for s, (stage, section) in enumerate(counted):
            if isinstance(section.how, Within):
                continue
            view = view_of(whole.program, stage, section)
            mine = stage_in(view, stage.name)
            dims = self.joint.dimensions(s, len(mine.dims))
            constants = dict(self.constants)
            loop = around.get(stage.name)
            steps = section.steps if loop is None else loop.around(view, mine, section)
            every = replace(section, steps=steps)
            out.append(StageOutline(view, mine, every, dims, names, constants, machine))
        return tuple(out)

    def nearest(self, wish: Sequence[Value | None]) -> Point:
        """A structurally legal point near a wished one; earlier dimensions come closest. None: no wish, which
        leaves a tile as large as the tile above. A legal wish is returned as it is. Requires count > 0."""
        wishes = {i: v for i, v in enumerate(wish) if v is not None}
        return self._point(self.joint.nearest(wishes))

    def schedule(self, point: Point) -> Schedule:
        """The schedule with the values of the point in its holes. Raises Failed S122 where a condition does
        not hold."""
        spelled = list(point)
        for loops in self.loops:
            for core, word in loops.words(point).items():
                spelled[core] = word
        hidden = {loops.order for loops in self.loops}
        values = {
            v.name.removeprefix("?"): spelled[i] for i, v in enumerate(self.variables) if i not in hidden
        }
        bound = bind(self.template, values, dict(self.constants))
        return replace(bound, sections=tuple(map(_without_idle, self.template.sections, bound.sections)))

    def plan(self, point: Point) -> Plan | Failed:
        """The checked plan, or why the point is not legal."""
        try:
            return check(
                self.program,
                self.schedule(point),
                self.machine,
                self.target,
                deterministic=self.deterministic,
            )
        except Failed as failed:
            return failed

    def _point(self, values: dict[int, Value]) -> Point:
        return tuple(values[i] for i in range(len(self.variables)))


def _without_idle(template: Section, bound: Section) -> Section:
    """The bound section without attributes that the value of a hole leaves without effect. `?@pad(4)` pads if
    the entry is staged, and has no effect if it is `^`; the checker would refuse it there (K110). Only
    entries that are holes in the template lose attributes."""
    return replace(bound, steps=tuple(map(_step, template.steps, bound.steps)))


def _step(template: Step, bound: Step) -> Step:
    inputs = tuple(map(without_unused, template.inputs, map(_input, template.inputs, bound.inputs)))
    outputs = tuple(map(without_unused, template.outputs, bound.outputs))
    step = replace(
        bound, inputs=inputs, outputs=outputs, cores=tuple(map(_core, template.cores, bound.cores))
    )
    open_inputs = any(isinstance(m.value, Hole) or _open_region(m) for m in template.inputs)
    open_loops = any(isinstance(t.value, Hole) for t in template.tiles)
    open_loops = open_loops or any(isinstance(c.value, Hole) for c in template.cores)
    idle: set[str] = set()
    if open_inputs and not any(_staged(m) for m in inputs):
        idle.add("stages")
    if open_loops and not any(map(_loops, step.tiles, step.cores)):
        idle |= {"stages", "unroll"}
    return replace(step, attrs=tuple(a for a in step.attrs if a.name not in idle))


def _input(template: Mem, bound: Mem) -> Mem:
    if not isinstance(template.value, Hole) and not _open_region(template):
        return bound
    place = bound.value
    if not isinstance(place, BufferPlace) or place.region not in (Space.SM, Space.RM):
        return replace(bound, attrs=())
    kept = SM_ATTRS if place.region == Space.SM else RM_ATTRS
    return replace(bound, attrs=_among(bound.attrs, kept))


def _core(template: Core, bound: Core) -> Core:
    dealt = isinstance(bound.value, Unit) and bound.value.layer in THREADED
    if not isinstance(template.value, Hole) or dealt:
        return bound
    return replace(bound, attrs=_among(bound.attrs, ()))


def _open_region(mem: Mem) -> bool:
    return isinstance(mem.value, BufferPlace) and isinstance(mem.value.region, Hole)


def _staged(mem: Mem) -> bool:
    return isinstance(mem.value, BufferPlace) and mem.value.region in (Space.SM, Space.RM)


def _loops(tile: TileEntry, core: Core) -> bool:
    """Whether this is a sequential loop, even of one part."""
    return isinstance(tile.value, int) and (
        isinstance(core.value, ForEntry) or not isinstance(core.value, Unit)
    )


def _among(attrs: tuple[Attr, ...], names: tuple[str, ...]) -> tuple[Attr, ...]:
    return tuple(a for a in attrs if a.name in names)
