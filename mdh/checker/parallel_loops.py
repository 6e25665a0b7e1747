"""S159, K126: loops whose iterations units share (`loop NAME( i ) { … }`), and the stages in them.

The steps of such a loop come before those of each of its stages, and split the dimension that the loop is
there. So all stages give the same iterations to the same unit, which then runs all of them, in all turns of
the loops inside.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

from mdh.checker.holes import unbound_holes
from mdh.checker.loop_launch import loops_in_turns
from mdh.checker.options import no_effect
from mdh.checker.subject import at, listed, nearest
from mdh.diagnostics import Diagnostic, Failed
from mdh.hardware import Layer, Space
from mdh.ir.parallel_loop import LoopPlan, ParallelLoop
from mdh.ir.plan import StagePlan
from mdh.ir.program import Program, Stage
from mdh.ir.turns import Turns
from mdh.machine import Machine
from mdh.poly.parallel_loops import meeting, parallel_loops
from mdh.schedule.canonical import canonical_section
from mdh.schedule.model import (
    Beside,
    Caret,
    Core,
    Hole,
    Library,
    Mem,
    Schedule,
    Section,
    Step,
    TileEntry,
    Unit,
    Within,
)
from mdh.schedule.printer import print_how

NAME, CODE = "S159", "K126"
LAYERS = (Layer.BLK, Layer.THR)
"""Layers whose units may share the iterations of a loop."""


@dataclass(frozen=True)
class Shared:
    """A loop that a schedule has a section of. loop: around the stages that have kernels."""

    loop: ParallelLoop
    section: Section

    @property
    def count(self) -> int:
        return len(self.section.steps)

    @property
    def said(self) -> Section:
        """The section without what is no part of the schedule."""
        steps = tuple(replace(s, comments=(), remark="") for s in self.section.steps)
        return canonical_section(replace(self.section, steps=steps, comments=()))

    def around(self, program: Program, stage: Stage, section: Section) -> tuple[Step, ...]:
        """The steps of the loop and those of a stage in it, which sees `program`."""
        own = section.steps
        head, rest = (own[:1], own[1:]) if own and own[0].label == 0 else ((), own)
        told = any(s.label is not None for s in own)
        place = [d.name for d in stage.dims].index(self.loop.dim_of[stage.name])
        caret = Mem(Caret())
        inputs, outputs = (tuple(caret for _ in of(stage)) for of in (program.inputs, program.outputs))
        lifted = tuple(
            Step(
                n if told else None,
                tuple(s.tiles[0] if d == place else TileEntry(Caret()) for d in range(len(stage.dims))),
                inputs,
                outputs,
                tuple(s.cores[0] if d == place else Core(Caret()) for d in range(len(stage.dims))),
                span=s.span,
            )
            for n, s in enumerate(self.section.steps, start=1)
        )
        return (*head, *lifted, *(_moved(s, self.count) for s in rest))

    def own(self, steps: Sequence[Step]) -> tuple[Step, ...]:
        """The steps of a stage, of what `around` returns."""
        head = 1 if steps and steps[0].label == 0 else 0
        return (*steps[:head], *(_moved(s, -self.count) for s in steps[head + self.count :]))


def _moved(step: Step, count: int) -> Step:
    return step if step.label is None else replace(step, label=step.label + count)


def shared_loops(
    program: Program, schedule: Schedule, default: Schedule | None, *, holes: bool = False
) -> tuple[Shared, ...]:
    """The loops of the program that the schedule has sections of, or the default one, where that has the
    steps of all its stages. holes: steps may have some. Raises Failed. S159: there is no such loop. S154: a
    hole is open. K126: its steps are none of a loop. K110: an attribute has no effect."""
    given = {s.name for s in schedule.sections if not s.derived} | schedule.sharing
    spare = () if default is None else default.loops
    if not schedule.loops and not spare:
        return ()
    known = {x.name: x for x in parallel_loops(program)}
    found: list[Diagnostic] = []
    out: dict[str, Shared] = {}
    others = loops_in_turns(program)
    for section in (s for s in schedule.loops if s.name not in others):
        loop = known.get(str(section.name))
        wrong = list(_unknown(section, known, others) if loop is None else _wrong(loop, section, holes=holes))
        found += wrong
        if loop is not None and not wrong:
            out[loop.name] = Shared(loop, section)
    if found:
        raise Failed(*found)
    for section in spare:
        loop = known[str(section.name)]
        if loop.name not in out and None not in given and given.isdisjoint(loop.stages):
            out[loop.name] = Shared(loop, section)
    return tuple(x for name in known if (x := out.get(name)) is not None)


def left_of(program: Program, loops: Sequence[Shared], *, same: bool) -> tuple[Shared, ...]:
    """The loops around the stages of a program that have kernels. same: it is that of the C. Raises Failed
    K126 where inline stages make iterations depend on one another."""
    if same:
        return tuple(loops)
    names = {s.name for s in program.stages}
    out: list[Shared] = []
    found: list[Diagnostic] = []
    for x in loops:
        dims = {n: d for n, d in x.loop.dim_of.items() if n in names}
        met = meeting(program, dims, x.loop.turns) if dims else None
        if met is not None:
            what = f"iterations {met.first[1]} and {met.second[1]} meet in an element of `{met.buffer}`"
            why = f"with its stages inline, {what}"
            found.append(_unfit(x, why, "give the stage that is inline a kernel"))
        elif not dims:
            found.append(_unfit(x, "none of its stages has a kernel", "leave its section out"))
        else:
            loop = replace(x.loop, stages=tuple(dims), dims=tuple(dims.values()))
            out.append(replace(x, loop=loop))
    if found:
        raise Failed(*found)
    return tuple(out)


def _unknown(
    section: Section, known: Mapping[str, ParallelLoop], others: Mapping[str, Turns]
) -> Iterator[Diagnostic]:
    headline = f"the program has no loop `{str(section.name)[:60]}` around stages"
    counters = {name: x.counter for name, x in known.items()} | {name: x.name for name, x in others.items()}
    loops = ", ".join(f"`loop {name}( {counter} )`" for name, counter in counters.items())
    hint = f"{nearest(str(section.name), counters)} its loops: {loops}".strip()
    if not counters:
        hint = "leave the section out: no loop stands around stages"
    yield Diagnostic(NAME, headline, at(section.span), help=hint)


def _wrong(loop: ParallelLoop, section: Section, *, holes: bool) -> Iterator[Diagnostic]:
    if section.counters != (loop.counter,):
        headline = f"the counter of loop `{loop.name}` is `{loop.counter}`, not {listed(section.counters)}"
        hint = f"write `loop {loop.name}( {loop.counter} )`"
        yield Diagnostic(NAME, headline, at(section.span), help=hint)
        return
    if not holes:
        yield from unbound_holes(section)
    if not section.steps:
        yield _step(loop, section, None, "no steps", "give its iterations to units: (de-)comp( 1 ) ( BLK.x )")
    labels = [s.label for s in section.steps]
    if labels != [None] * len(labels) and labels != list(range(1, len(labels) + 1)):
        hint = "number them 1, 2, … or not at all: those of the stages come behind them"
        yield _step(loop, section, section.steps[0], "labels in another order than its steps", hint)
    size = loop.extent
    for s in section.steps:
        if (len(s.tiles), len(s.cores)) != (1, 1):
            yield _step(loop, section, s, "a step with several entries in a group", "it has one counter")
            return
        (tile,), (core,) = s.tiles, s.cores
        for attr in (*tile.attrs, *core.attrs, *s.attrs):
            yield no_effect(attr, "a step of a loop")
        if isinstance(tile.value, int) and tile.value > size:
            here = at(tile.span or s.span)
            headline = f"tile {tile.value} is larger than the {size} iterations above it"
            yield Diagnostic(CODE, f"loop `{loop.name}`: {headline}", here, help=f"write at most {size}")
            return
        size = tile.value if isinstance(tile.value, int) else size
        if not isinstance(core.value, Hole) and not (
            isinstance(core.value, Unit) and core.value.layer in LAYERS
        ):
            headline = f"loop `{loop.name}` gives iterations to no units"
            hint = "write `BLK.x`, and in a further step `THR.x`; loops over the rest are those of the stages"
            yield Diagnostic(CODE, headline, at(core.span or s.span), help=hint)


def _step(loop: ParallelLoop, section: Section, step: Step | None, what: str, help_: str) -> Diagnostic:
    place = section.span if step is None else step.span
    return Diagnostic(CODE, f"loop `{loop.name}` has {what}", at(place), help=help_)


def _unfit(x: Shared, why: str, help_: str) -> Diagnostic:
    headline = f"units cannot share the iterations of loop `{x.loop.name}`: {why}"
    return Diagnostic(CODE, headline, at(x.section.span), help=help_)


def demand_kernels(loops: Sequence[Shared], sections: dict[str, Section]) -> None:
    """Raises Failed K126 if a stage of a loop is computed `in` another stage, computes another stage, shares
    a launch with one, or is a call of a library. sections: by stage."""
    inside = {name: x for x in loops for name in x.loop.stages}
    found: list[Diagnostic] = []
    for name, section in sections.items():
        how = section.how
        if isinstance(how, Beside) and (name in inside or how.host in inside):
            x = inside.get(name) or inside[how.host]
            headline = f"stage `{name}` shares the launch of `{how.host}`, and loop `{x.loop.name}` has one"
            hint = "leave `beside` out, or the section of the loop"
            found.append(Diagnostic(CODE, headline, at(how.span), help=hint))
        if isinstance(how, Within) and (name in inside or how.reader in inside):
            x = inside.get(name) or inside[how.reader]
            headline = f"stage `{name}` is computed in `{how.reader}`, and loop `{x.loop.name}` shares one"
            hint = "leave `in` out, or the section of the loop"
            found.append(Diagnostic(CODE, headline, at(how.span), help=hint))
        if isinstance(how, Library) and name in inside:
            headline = f"a library computes stage `{name}`, and loop `{inside[name].loop.name}` is one kernel"
            hint = f"leave `{print_how(how)}` out, or the section of the loop"
            found.append(Diagnostic(CODE, headline, at(how.span or section.span), help=hint))
    if found:
        raise Failed(*found)


def fused_away(x: Shared, stage: Stage, section: Section) -> Iterator[Diagnostic]:
    """K126. The stage as its steps see it still has the dimension that the loop is."""
    dim = x.loop.dim_of[stage.name]
    if all(d.name != dim for d in stage.dims):
        span = next((f.span for f in section.fuses if dim in f.names), section.span)
        headline = f"`{dim}` of stage `{stage.name}` is fused, and loop `{x.loop.name}` splits it"
        yield Diagnostic(CODE, headline, at(span), help=f"leave `{dim}` out of the line")


def own_units(x: Shared, plan: StagePlan, machine: Machine) -> Iterator[Diagnostic]:
    """K126. In a loop whose iterations units share, each unit runs a stage alone: the steps of the stage have
    no units besides the lanes of vectors, and stage nothing in memory that units of a GPU share."""
    why = f"in loop `{x.loop.name}` one unit runs the whole stage `{plan.stage.name}`"
    for step in plan.steps[x.count :]:
        for split in step.splits:
            if split.layer not in (None, Layer.VEC):
                headline = f"{why}, whose step gives parts to {split.layer}"
                hint = "write `^`: a loop; the steps of the loop around it say which units there are"
                yield Diagnostic(CODE, headline, at(split.span or step.span), help=hint)
        entries = [(s.buffer, s.region, s.span) for s in step.stagings]
        entries += [(h.buffer, h.region, h.span) for h in step.holdings if h.region is not None]
        for buffer, region, span in entries:
            if region is Space.SM and machine.kind != "cpu":
                headline = f"{why}, and `{buffer}:SM` would be one for all units of a block"
                yield Diagnostic(CODE, headline, at(span or step.span), help=f"hold it in {Space.RM}, or `^`")


def loop_plans(program: Program, loops: Sequence[Shared], plans: Sequence[StagePlan]) -> tuple[LoopPlan, ...]:
    """program: of the stages that have kernels, whose plans these are."""
    numbers = {s.name: n for n, s in enumerate(program.stages)}
    out = []
    for x in loops:
        first, last = (numbers[x.loop.stages[n]] for n in (0, -1))
        splits = [s for step in plans[first].steps[: x.count] for s in step.splits]
        units = prod(s.parts for s in splits if s.layer is not None)
        at = [d.name for d in plans[first].stage.dims].index(x.loop.dims[0])
        part = min(s.tile for s in splits if s.dim == at)
        out.append(LoopPlan(x.loop, first, last, x.count, units, part))
    return tuple(out)
