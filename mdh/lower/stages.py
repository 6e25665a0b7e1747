"""Stages to kernels: a nest, and the small stages that start or combine what its blocks compute."""

from dataclasses import dataclass, replace
from math import prod

from mdh.checker.footprint import shared_bytes
from mdh.decompose.regions import computing
from mdh.decompose.tiles import decompose
from mdh.hardware import Combine, Space
from mdh.ir.dtype import I32
from mdh.ir.expr import Expr, Load, Var, walk
from mdh.ir.kernel import Buf, Kernel, Workspace
from mdh.ir.layout import strides_for
from mdh.ir.names import unused
from mdh.ir.plan import StagePlan
from mdh.ir.program import Buffer, Dim, DimKind, Output, Program, Stage, component
from mdh.lower.atoms import emit_atoms
from mdh.lower.finish import grid_reduction_levels, needs_carry, reduction_loops
from mdh.lower.fold import Fold, identity
from mdh.lower.kernel_of import kernel_of
from mdh.lower.names import Names
from mdh.lower.nest import Nest
from mdh.lower.passes.table import Observer, unobserved
from mdh.lower.regions import make_regions
from mdh.lower.simple_plan import simple_plan
from mdh.machine import Machine


@dataclass(frozen=True)
class Context:
    """What every stage's lowering needs of the plan. observe: sees every kernel between the passes."""

    program: Program
    machine: Machine
    target: str
    names: Names
    observe: Observer = unobserved

    def nest(
        self,
        name: str,
        plan: StagePlan,
        folds: tuple[Fold, ...],
        extra: tuple[Buffer, ...] = (),
        *,
        regions: bool = True,
    ) -> Nest:
        """A nest with its levels and code order, and the regions of partial results that the plan opens."""
        cpu = self.machine.kind == "cpu"
        # the lowering's own plans have no tile tree yet
        tiles = plan.decomposed or decompose(self.program, plan, cpu=cpu, taken=self.names.memory)
        names = self.names.inside(plan.stage) | {lv.var for lv in tiles.levels.all}
        buffers = {b.name: b for b in (*self.program.buffers, *extra)}
        nest = Nest(
            name, plan.stage, plan, self.machine, self.target, folds, tiles.levels, tiles.order, buffers,
            self.program.sizes, names, unused("tid", names), self.names,
        )  # fmt: skip
        names.add(nest.tid)
        if not nest.cpu:
            used = shared_bytes(plan, tiles, cpu=False)
            nest = replace(nest, room=self.machine.shared_per_block - used)
        return replace(nest, regions=make_regions(nest)) if regions else nest


@dataclass
class Built:
    """Kernels of a stage in launch order, and the workspaces they need."""

    kernels: list[Kernel]
    workspaces: list[Workspace]

    def add(self, other: "Built") -> None:
        self.kernels.extend(other.kernels)
        self.workspaces.extend(other.workspaces)


def kernel_name(program: Program, stage: Stage) -> str:
    return program.name if len(program.stages) == 1 else f"{program.name}_{stage.name}"


def lower_nest(context: Context, name: str, plan: StagePlan, folds: tuple[Fold, ...]) -> Built:
    """Maps and reductions, split as the plan says, with the kernels that start or combine their parts."""
    nest = context.nest(name, plan, folds)
    if plan.atoms is not None:
        nest = replace(nest, leaf=emit_atoms, leaf_at=computing(nest.items, plan.steps))
    partials: dict[int, tuple[Buffer, ...]] = {}
    carried: dict[int, tuple[Buffer, ...]] = {}
    before = Built([], [])
    after = Built([], [])
    for f, fold in enumerate(folds):
        if fold.op is None:
            continue
        outer = next(r for r in nest.regions if r.fold == f).opens
        blocks = prod(lv.parts for lv in grid_reduction_levels(nest, f))
        if blocks > 1 and Combine.ATOMIC in plan.combines[f]:
            before.add(start_stage(context, f"{name}_start", plan.stage, fold))
        elif blocks > 1:
            partials[f] = _state_buffers(nest, f, f"{name}_part{f or ''}", blocks)
            if Combine.TICKET not in plan.combines[f]:
                after.add(combine_stage(context, f"{name}_combine", plan, fold, partials[f], blocks))
        elif f not in nest.clustered and reduction_loops(nest, outer) and needs_carry(fold, nest.buffers):
            carried[f] = _state_buffers(nest, f, f"{name}_state{f or ''}", 0)
    extra = tuple(b for group in (*partials.values(), *carried.values()) for b in group)
    nest = replace(
        nest,
        buffers={**nest.buffers, **{b.name: b for b in extra}},
        partials={f: tuple(b.name for b in g) for f, g in partials.items()},
        carried={f: tuple(b.name for b in g) for f, g in carried.items()},
    )
    kernel, more = kernel_of(nest, context.program, context.observe)
    built = Built(before.kernels, [*before.workspaces, *(Workspace(workspace_buf(b)) for b in extra), *more])
    built.kernels.append(kernel)
    built.add(after)
    return built


def _state_buffers(nest: Nest, f: int, stem: str, parts: int) -> tuple[Buffer, ...]:
    """One workspace a state component: the output's shape, behind a dim of parts where blocks split."""
    fold = nest.folds[f]
    shape = nest.buffers[fold.outputs[0].buffer].shape
    full = (parts, *shape) if parts else shape
    suffixes = ("", "_pos", *(f"_value{i}" for i in range(1, len(fold.types))))
    names = [nest.workspace(stem + s) for s, _ in zip(suffixes, fold.types, strict=False)]
    return tuple(Buffer(n, t, full, temp=True) for n, t in zip(names, fold.types, strict=True))


def workspace_buf(b: Buffer) -> Buf:
    return Buf(b.name, Space.DM, b.dtype, b.shape, strides_for(b.shape, tuple(range(len(b.shape)))), align=16)


def combine_stage(
    context: Context, name: str, whole: StagePlan, fold: Fold, parts: tuple[Buffer, ...], count: int
) -> Built:
    """The second kernel of a reduction split over blocks: itself an MDH over (cc dims, part)."""
    stage = whole.stage
    part = context.names.dim("part", stage)
    dims = (*_along(stage, fold.outputs[0]), Dim(part, count, DimKind.PW))
    index: tuple[Expr, ...] = (Var(part, I32), *fold.outputs[0].index)
    values = tuple(Load(b.name, index, t) for b, t in zip(parts, fold.types, strict=True))
    total = replace(fold, values=values, factor=None)
    small = replace(stage, name=f"{stage.name}_combine", dims=dims, lets=(), results=())
    plan = simple_plan(small, context.machine)
    # the outputs are stored here, with the hints that the schedule gives them
    entries = tuple(replace(h, region=None) for step in whole.steps for h in step.holdings)
    plan = replace(plan, steps=(*plan.steps[:-1], replace(plan.steps[-1], holdings=entries)))
    nest = context.nest(context.names.kernel(name), plan, (total,), parts)
    kernel, more = kernel_of(nest, context.program, context.observe)
    return Built([kernel], more)


def start_stage(context: Context, name: str, stage: Stage, fold: Fold) -> Built:
    """Starting values in the outputs before blocks add to them atomically, but where memory holds them."""
    start = fold.starts[0] if fold.starts[0] is not None else identity(fold)[0]
    built = Built([], [])
    for o in fold.outputs:
        if not (isinstance(start, Load) and start.buffer == o.buffer and start.index == o.index):
            built.add(map_stage(context, name, stage, _along(stage, o), o.buffer, o.index, start))
    return built


def _along(stage: Stage, output: Output) -> tuple[Dim, ...]:
    """The dims of the result, those along which the output lies last: small stages' threads go over them."""
    last = {v.name for v in walk(output.index[-1]) if isinstance(v, Var)} if output.index else set()
    return tuple(sorted((d for d in stage.dims if d.kind is DimKind.CC), key=lambda d: d.name in last))


def map_stage(
    context: Context,
    name: str,
    stage: Stage,
    dims: tuple[Dim, ...],
    buffer: str,
    index: tuple[Expr, ...],
    value: Expr,
    extra: tuple[Buffer, ...] = (),
) -> Built:
    """buffer[index] = value over cc dims, as a kernel of its own; `extra`: workspaces that it names."""
    t = value.dtype
    fold = Fold(None, (value,), (None,), (t,), (Output(buffer, index, Var(component(0), t)),), (0,))
    small = replace(stage, name=f"{stage.name}_start", dims=dims, lets=(), results=())
    plan = simple_plan(small, context.machine)
    nest = context.nest(context.names.kernel(name), plan, (fold,), extra)
    kernel, more = kernel_of(nest, context.program, context.observe)
    return Built([kernel], more)
