"""Stages to kernels: a nest, and the small stages that start or combine what its blocks compute."""

from collections.abc import Container, Iterable
from dataclasses import dataclass, replace
from math import prod

from mdh.checker.footprint import shared_bytes, store_bytes
from mdh.decompose.regions import computing
from mdh.decompose.tiles import decompose
from mdh.hardware import Combine
from mdh.ir.dtype import I32
from mdh.ir.expr import Expr, Load, Var, walk
from mdh.ir.kernel import Kernel, Stmt, Workspace
from mdh.ir.plan import StagePlan
from mdh.ir.program import Buffer, Dim, DimKind, Output, Program, Stage, component
from mdh.lower.carried import carried_tiles
from mdh.lower.declarations import Declarations
from mdh.lower.emit import emit_block
from mdh.lower.finish import grid_reduction_levels, needs_carry, reduction_loops
from mdh.lower.fold import Fold, identity
from mdh.lower.inner import inner_nests
from mdh.lower.kernel_of import kernel_of
from mdh.lower.names import Names
from mdh.lower.nest import Nest, dm_buf
from mdh.lower.passes.table import Observer, unobserved
from mdh.lower.regions import make_regions
from mdh.lower.scope import POINT, Atoms, Leaf, Role
from mdh.lower.simple_plan import simple_plan
from mdh.lower.stream import with_stream
from mdh.machine import Machine


@dataclass(frozen=True)
class Context:
    """What a stage's lowering needs of the plan. program: as the stage sees it. observe: sees every kernel
    between the passes."""

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
        buffers = {b.name: b for b in (*self.program.buffers, *extra)}
        inside = self.names.inside(plan.stage) | {lv.var for lv in tiles.levels.all}
        declarations = Declarations(self.names, inside)
        tid = declarations.fresh("tid")
        taken = 0 if cpu else shared_bytes(plan, tiles, cpu=False) + store_bytes(self.program, plan, tiles)
        room = 0 if cpu else self.machine.shared_per_block - taken
        nest = Nest(
            name,
            self.program,
            plan,
            self.machine,
            self.target,
            folds,
            tiles,
            buffers,
            declarations,
            tid,
            room,
        )
        nest = replace(nest, regions=make_regions(nest)) if regions else nest
        nest = replace(nest, states=carried_tiles(nest))
        return replace(nest, inner=inner_nests(nest))


@dataclass(frozen=True, slots=True)
class Built:
    """Kernels of a stage in launch order, and the workspaces they need."""

    kernels: tuple[Kernel, ...] = ()
    workspaces: tuple[Workspace, ...] = ()

    def __add__(self, later: "Built") -> "Built":
        return Built((*self.kernels, *later.kernels), (*self.workspaces, *later.workspaces))


def workspaces(buffers: Iterable[Buffer], zero: Container[str] = ()) -> Built:
    """Device memory for buffers of the lowering's own. zero: names of those that begin as zeros."""
    return Built((), tuple(Workspace(dm_buf(b, readonly=False), zero=b.name in zero) for b in buffers))


def build(context: Context, nest: Nest, leaf: Leaf = POINT) -> Built:
    """The kernel of a nest. leaf: what stands inside of its loops."""
    if nest.plan.roles is None:
        return finished(context, nest, emit_block(nest, leaf))
    math, load = (replace(nest, role=role) for role in (Role.MATH, Role.LOAD))
    bodies = emit_block(math, leaf), emit_block(load, leaf)
    kernel, more = kernel_of(nest, bodies[0], context.observe, bodies[1])
    return Built((kernel,), more)


def finished(context: Context, nest: Nest, body: list[Stmt]) -> Built:
    """The kernel of a nest whose body is made."""
    kernel, more = kernel_of(nest, body, context.observe)
    return Built((kernel,), more)


def kernel_name(program: Program, stage: Stage) -> str:
    return program.name if len(program.stages) == 1 else f"{program.name}_{stage.name}"


def lower_nest(context: Context, name: str, plan: StagePlan, folds: tuple[Fold, ...]) -> Built:
    """Maps and reductions, split as the plan says, with the kernels that start or combine their parts."""
    nest = context.nest(name, plan, folds)
    leaf: Leaf = POINT if plan.atoms is None else Atoms(computing(nest.items, plan.steps))
    partials: dict[int, tuple[Buffer, ...]] = {}
    carried: dict[int, tuple[Buffer, ...]] = {}
    before, after = Built(), Built()
    for f, fold in enumerate(folds):
        if fold.op is None:
            continue
        outer = nest.regions_of(f)[0].opens
        blocks = prod(lv.parts for lv in grid_reduction_levels(nest, f))
        if blocks > 1 and Combine.ATOMIC in plan.combines[f]:
            before += start_stage(context, f"{name}_start", plan.stage, fold)
        elif blocks > 1:
            partials[f] = _state_buffers(nest, f, f"{name}_part{f or ''}", blocks)
            if Combine.TICKET not in plan.combines[f]:
                after += combine_stage(context, f"{name}_combine", plan, fold, partials[f], blocks)
        elif f not in nest.clustered and reduction_loops(nest, outer) and needs_carry(fold, nest.buffers):
            carried[f] = _state_buffers(nest, f, f"{name}_state{f or ''}", 0)
    if plan.streamed:
        nest, own = with_stream(nest)
        before += workspaces(own, {b.name for b in own if b.dtype == I32})
    extra = tuple(b for group in (*partials.values(), *carried.values()) for b in group)
    nest = replace(
        nest,
        buffers={**nest.buffers, **{b.name: b for b in extra}},
        partials={f: tuple(b.name for b in g) for f, g in partials.items()},
        carried={f: tuple(b.name for b in g) for f, g in carried.items()},
    )
    return before + workspaces(extra) + build(context, nest, leaf) + after


def _state_buffers(nest: Nest, f: int, stem: str, parts: int) -> tuple[Buffer, ...]:
    """One workspace a state component: the output's shape, behind a dim of parts where blocks split."""
    fold = nest.folds[f]
    shape = nest.buffers[fold.outputs[0].buffer].shape
    full = (parts, *shape) if parts else shape
    workspace = nest.declarations.workspace
    return tuple(
        Buffer(workspace(stem + fold.suffix(c)), t, full, temp=True) for c, t in enumerate(fold.types)
    )


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
    plan = simple_plan(context.program, small, context.machine)
    # the outputs are stored here, with the hints that the schedule gives them
    entries = tuple(replace(h, region=None) for step in whole.steps for h in step.holdings)
    plan = replace(plan, steps=(*plan.steps[:-1], replace(plan.steps[-1], holdings=entries)))
    return build(context, context.nest(context.names.kernel(name), plan, (total,), parts))


def start_stage(context: Context, name: str, stage: Stage, fold: Fold) -> Built:
    """Starting values in the outputs before blocks add to them atomically, but where memory holds them."""
    start = fold.starts[0] if fold.starts[0] is not None else identity(fold)[0]
    built = Built()
    for o in fold.outputs:
        if not (isinstance(start, Load) and start.buffer == o.buffer and start.index == o.index):
            built += map_stage(context, name, stage, _along(stage, o), o.buffer, o.index, start)
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
    plan = simple_plan(context.program, small, context.machine)
    return build(context, context.nest(context.names.kernel(name), plan, (fold,), extra))
