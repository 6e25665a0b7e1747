"""Everything that `mdh explain` says about a checked schedule, as one value."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from math import prod
from typing import Any

from mdh.cost.tensor import tensor_peak
from mdh.cost.work import computed_stages, peak_of, plan_bytes, plan_operations
from mdh.hardware import Space
from mdh.ir.inlining import InlineStage
from mdh.ir.kernel import Module
from mdh.ir.parallel_loop import LoopPlan
from mdh.ir.plan import Plan, StagePlan
from mdh.ir.program import Program
from mdh.ir.turns import Turns, named_loops
from mdh.ir.wavefronts import Wavefronts
from mdh.poly.parallel_loops import parallel_loops
from mdh.poly.wavefronts import wavefronts
from mdh.report.calls import call_text
from mdh.report.entries import Entries, entries_of
from mdh.report.loops import LoopRow, loop_rows
from mdh.report.resources import Resources, resources_of
from mdh.report.traffic import traffic_of
from mdh.report.transfer import Transfer
from mdh.target.emit import entry_names

LAYERS = (Space.DM, Space.SM, Space.RM)


@dataclass(frozen=True, slots=True)
class LayerRow:
    """Bytes asked of a memory layer and operations for each; intensity 0 where nothing moves."""

    layer: str
    bytes: int
    intensity: float


@dataclass(frozen=True)
class StageReport:
    """bound: seconds that arithmetic and compulsory DM bytes take at the machine's peak speeds. atoms: on
    tensor cores. Where the machine's file does not have their speed, arithmetic_bound is 0. call: the library
    that computes the stage, in words; there are no loops, moves and resources then."""

    entries: Entries
    loops: tuple[LoopRow, ...]
    moves: tuple[Transfer, ...]
    layers: tuple[LayerRow, ...]
    operations: int
    compulsory: int
    resources: tuple[Resources, ...]
    arithmetic_bound: float
    memory_bound: float
    atoms: bool = False
    call: str = ""


@dataclass(frozen=True, slots=True)
class LoopAround:
    """A loop around stages, whose turns run one after another: how often it runs, and the names of the stages
    inside. counter: C's variable. launch: what the schedule says of its launches."""

    name: str
    turns: int
    stages: tuple[str, ...]
    counter: str = ""
    launch: str = ""


@dataclass(frozen=True, slots=True)
class SharedLoop:
    """A loop of the C whose iterations units share, or may share (no `units`). counter: C's variable. part:
    iterations of a unit, which runs all turns of the stages for them."""

    name: str
    counter: str
    iterations: int
    stages: tuple[str, ...]
    units: int = 0
    part: int = 0


@dataclass(frozen=True, slots=True)
class FrontRow:
    """Two loops of the C that run as wavefronts, or may (no `units`). counters: C's variables. factor: turn t
    of the outer loop runs iteration i of the inner one at the time factor * t + i. band: turns of the outer
    loop that run together, part: those of a unit. bands: of all turns. times: wavefronts of a
    band, or of a strip, if it has several."""

    name: str
    counters: tuple[str, str]
    turns: int
    stages: tuple[str, ...]
    factor: int
    band: int = 0
    bands: int = 0
    times: int = 0
    units: int = 0
    part: int = 0
    strips: int = 1


@dataclass(frozen=True, slots=True)
class InlineRow:
    """A stage that its readers compute. points: how many it has. computed: how many are computed instead, the
    kernel's own ones included; conditions may make it fewer (`at_most`). kept: it has a kernel too."""

    name: str
    readers: tuple[str, ...]
    points: int
    computed: int
    at_most: bool
    kept: bool


@dataclass(frozen=True, slots=True)
class InnerRow:
    """A stage that the kernel of `reader` computes at its step `step`. points: how many it has. computed: how
    many are computed, at most. loops: of the box that is computed each time. host: the stage that it is
    reduced in one pass with, if it is."""

    name: str
    reader: str
    step: int
    points: int
    computed: int
    loops: tuple[LoopRow, ...]
    host: str = ""


@dataclass(frozen=True)
class Explanation:
    """stages: what is said of one counts for one turn of the loops around it. launches: the stages of each
    launch that several share, in the order of their blocks. notes: what the kernel text begins with."""

    program: str
    machine: str
    target: str
    stages: tuple[StageReport, ...]
    loops: tuple[LoopAround, ...] = ()
    inline: tuple[InlineRow, ...] = ()
    inner: tuple[InnerRow, ...] = ()
    shared: tuple[SharedLoop, ...] = ()
    fronts: tuple[FrontRow, ...] = ()
    launches: tuple[tuple[str, ...], ...] = ()
    notes: tuple[str, ...] = ()


def shareable(program: Program) -> tuple[SharedLoop, ...]:
    """The loops that a schedule may let units share."""
    return tuple(SharedLoop(x.name, x.counter, x.extent, x.stages) for x in parallel_loops(program))


def skewable(program: Program) -> tuple[FrontRow, ...]:
    """The loops that a schedule may run as wavefronts."""
    return tuple(_front(program, w) for w in wavefronts(program))


def _front(program: Program, w: Wavefronts) -> FrontRow:
    names = tuple(s.name for s in program.stages[w.first : w.last + 1])
    return FrontRow(w.name, w.counters, w.trips, names, w.factor)


def explain_program(program: Program) -> tuple[Entries, ...]:
    """What is known without a schedule: the entries of every stage."""
    only = len(program.stages) == 1
    return tuple(entries_of(program, stage, only=only) for stage in program.stages)


def explain_plan(plan: Plan, module: Module) -> Explanation:
    stages = tuple(_stage(plan, stage, _kernels(plan, stage, module)) for stage in plan.stages)
    names = [s.name for s in plan.computed.stages]
    loops = tuple(_around(name, x, names) for name, x in _in_turns(plan.computed).items())
    inline = tuple(map(_inline, plan.inline))
    inner = tuple(row for stage in plan.stages for row in _inner(stage))
    shared = tuple(map(_shared, plan.loops))
    fronts = tuple(
        replace(
            _front(plan.computed, x.fronts), factor=x.factor, band=x.band, bands=x.bands, times=x.times,
            units=x.blocks * x.threads, part=x.part, strips=x.strip_count,
        )
        for x in plan.fronts
    )  # fmt: skip
    launches = tuple(tuple(names[n] for n in launch) for launch in plan.launches if len(launch) > 1)
    return Explanation(
        plan.program.name, plan.machine.name, plan.target, stages, loops, inline, inner, shared, fronts,
        launches, module.notes,
    )  # fmt: skip


def _in_turns(program: Program) -> dict[str, Turns]:
    return named_loops(program.loops, (x.name for x in parallel_loops(program)))


def _around(name: str, x: Turns, names: Sequence[str]) -> LoopAround:
    return LoopAround(name, x.trips, tuple(names[x.first : x.last + 1]), x.name, str(x.launch or ""))


def _shared(x: LoopPlan) -> SharedLoop:
    loop = x.loop
    return SharedLoop(loop.name, loop.counter, loop.extent, loop.stages, x.units, x.part)


def _inner(plan: StagePlan) -> list[InnerRow]:
    """The stages inside of a kernel, in the order in which they are computed."""
    out = list[InnerRow]()
    for x in plan.inner:
        points = prod(d.extent for d in x.stage.dims)
        step = plan.steps[x.step].label
        host = "" if x.stage.carried is None else x.stage.carried.host
        row = InnerRow(x.stage.name, plan.stage.name, step, points, x.computed, loop_rows(x.plan), host)
        out += [*_inner(x.plan), row]
    return out


def _inline(one: InlineStage) -> InlineRow:
    at_most = any(r.conds or r.place.terms for r in one.reads)
    return InlineRow(one.name, one.readers, one.points, one.computed, at_most, one.kept)


def stage_of(plan: Plan, kernel: str) -> StagePlan:
    """The stage that a kernel computes, or whose parts it starts or combines. kernel: its `stage`."""
    owners = [s for s in plan.stages if f"{kernel}_".startswith(f"{s.stage.name}_")]
    return max(owners, key=lambda s: len(s.stage.name))


def _kernels(plan: Plan, stage: StagePlan, module: Module) -> tuple[Resources, ...]:
    """In launch order, under their names in the text."""
    out = []
    host = next(launch[0] for launch in plan.launches for n in launch if plan.stages[n] is stage)
    shared = "" if plan.stages[host] is stage else plan.stages[host].stage.name
    for kernel, entry in zip(module.kernels, entry_names(module), strict=True):
        if not kernel.twin and (stage_of(plan, kernel.stage) is stage or kernel.stage == shared):
            found = resources_of(kernel, entry, plan.machine)
            out.append(replace(found, own=kernel.stage in (stage.stage.name, shared)))
    return tuple(out)


def _stage(plan: Plan, stage: StagePlan, kernels: tuple[Resources, ...]) -> StageReport:
    ops, called = plan_operations(stage), stage.call is not None
    moves = () if called else traffic_of(plan, stage)
    compulsory = plan_bytes(stage)
    layers = []
    for layer in LAYERS:
        moved = sum(m.total for m in moves if m.crosses(layer))
        layers.append(LayerRow(layer, moved, ops / moved if moved else 0.0))
    atoms = None if stage.atoms is None else stage.steps[stage.atoms].product
    unknown = atoms is not None and not tensor_peak(plan.machine, atoms.atom.left)
    allowed = plan.program.allowed
    peak = peak_of(plan.machine, *computed_stages(stage), tensor_cores=atoms is not None, allowed=allowed)
    return StageReport(
        entries_of(stage.program, stage.stage, only=plan.alone, fused=stage.fused),
        () if called else loop_rows(stage),
        moves,
        tuple(layers),
        ops,
        compulsory,
        () if called else kernels,
        ops / peak if peak and not unknown else 0.0,
        compulsory / plan.machine.bandwidth if plan.machine.bandwidth else 0.0,
        stage.atoms is not None,
        "" if stage.call is None else call_text(stage.call),
    )


def as_json(value: Explanation) -> dict[str, Any]:
    """The value as plain data for `--json`, with derived numbers."""
    out = asdict(value)
    for stage, report in zip(out["stages"], value.stages, strict=True):
        for row, move in zip(stage["moves"], report.moves, strict=True):
            row["total"] = move.total
        for row, kernel in zip(stage["resources"], report.resources, strict=True):
            row["threads"], row["blocks"] = kernel.threads, kernel.blocks
    return out
