"""Plan to Module: every stage becomes one kernel, and the small stages that start and combine its parts."""

from collections.abc import Sequence
from dataclasses import replace

from mdh.hardware import CacheHint
from mdh.ir.kernel import Module
from mdh.ir.numerics import numerics_of
from mdh.ir.parallel_loop import LoopPlan
from mdh.ir.plan import Plan, StagePlan, inner_arrays
from mdh.ir.program import DimKind
from mdh.ir.shared_launch import loops_around
from mdh.ir.turns import Turns, around
from mdh.ir.verify import verify
from mdh.ir.wavefronts import FrontPlan
from mdh.language import LANGUAGES
from mdh.lower.beside import beside
from mdh.lower.fold import folds_of
from mdh.lower.library import lower_call
from mdh.lower.names import Names, names_of
from mdh.lower.parallel_loop import in_one_kernel, without_inner
from mdh.lower.passes.table import Observer, unobserved
from mdh.lower.scan import lower_scan
from mdh.lower.scatter import lower_scatter
from mdh.lower.stages import Built, Context, kernel_name, lower_nest, workspaces
from mdh.lower.swaps import Launch, with_swaps
from mdh.lower.wavefronts import around_wavefronts, in_wavefronts


def lower(plan: Plan, observe: Observer = unobserved) -> Module:
    """The kernels of a checked plan, in launch order. observe: sees every kernel between the passes."""
    names = names_of(plan)
    built = workspaces(b for b in plan.computed.buffers if b.temp)
    stages: list[tuple[str, Built]] = []
    for stage in plan.stages:
        context = Context(stage.program, plan.machine, plan.target, names, observe)
        own = names.kernel(kernel_name(plan.computed, stage.stage))
        made = lower_stage(context, own, stage)
        inner = inner_arrays(stage)
        assert not any(b.name in inner for k in made.kernels for b in k.buffers), "it is in no memory"
        stages.append((own, made))
    each, loops, notes = _launches(plan, names, observe, stages)
    for made in each:
        built += made
    module = Module(
        plan.program.name, plan.target, plan.machine.name, built.kernels, built.workspaces,
        plan.program.params, notes=(*_left_out(plan), *notes), numerics=numerics_of(plan),
        loops=around(loops, [len(made.kernels) for made in each]),
        libraries=tuple(sorted({s.call.library for s in plan.stages if s.call is not None})),
    )  # fmt: skip
    verify(module)
    return module


def _launches(
    plan: Plan, names: Names, observe: Observer, stages: Sequence[tuple[str, Built]]
) -> tuple[list[Built], tuple[Turns, ...], tuple[str, ...]]:
    """Returns the kernels of each launch in order, the loops around launches, and remarks for the user.
    stages: for each stage the name of its main kernel, and its kernels."""
    each: list[Launch] = []
    for launch in plan.launches:
        members = [stages[n] for n in launch]
        built = members[0][1]
        if len(members) > 1:
            built = beside(plan.computed, members, names.kernel(f"{members[0][0]}_beside"))
        each.append((launch, built))
    loops = loops_around(plan.computed.loops, plan.launches)
    first = {launch[0]: k for k, launch in enumerate(plan.launches)}
    joined: list[LoopPlan | FrontPlan] = [*plan.loops, *plan.fronts]
    for x in sorted(joined, key=lambda x: first[x.first], reverse=True):
        here, last = first[x.first], first[x.last]
        mine = [built for _, built in each[here : last + 1]]
        kernels, spaces = [m.kernels for m in mine], tuple(w for m in mine for w in m.workspaces)
        if isinstance(x, LoopPlan):
            name = names.kernel(f"{plan.computed.name}_{x.loop.name}")
            whole = in_one_kernel(plan, x, name, kernels)
            loops = without_inner(loops, replace(x, first=here, last=last))
        else:
            assert not spaces, "units share no memory of a stage's own"
            name = names.kernel(f"{plan.computed.name}_{x.fronts.name}")
            whole, turns = in_wavefronts(plan, x, name, kernels)
            loops = around_wavefronts(loops, x, turns, here, last)
        each[here : last + 1] = [(tuple(range(x.first, x.last + 1)), Built((whole,), spaces))]
    each, loops, notes = with_swaps(plan, names, observe, each, loops)
    return [built for _, built in each], loops, notes


def _left_out(plan: Plan) -> tuple[str, ...]:
    """What the schedule says, and the language cannot."""
    language, notes = LANGUAGES[plan.target], []
    steps = [step for stage in plan.stages for step in stage.steps]
    lost = set() if language.load_hints else {s.cache for step in steps for s in step.stagings}
    lost |= set() if language.store_hints else {h.cache for step in steps for h in step.holdings}
    if lost - {CacheHint.DEFAULT}:
        what = "has none for loads" if language.store_hints else "has no cache hints"
        notes.append(f"@cache is left out: {language.title} {what}")
    limited = any(stage.grid.occupancy and not stage.grid.persistent for stage in plan.stages)
    if limited and not language.launch_bounds:
        notes.append(f"@occupancy is left out: {language.title} has no launch bounds")
    return tuple(notes)


def lower_stage(context: Context, name: str, plan: StagePlan) -> Built:
    """One stage: by its class, a nest, a scan or a scatter. name: of its kernel."""
    if plan.call is not None:
        return lower_call(context, name, plan, plan.call)
    if plan.stage.scattered:
        return lower_scatter(context, name, plan)
    if any(d.kind is DimKind.PS for d in plan.stage.dims):
        return lower_scan(context, name, plan)
    return lower_nest(context, name, plan, folds_of(plan.stage, context.program.turns))
