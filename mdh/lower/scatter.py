"""Scattered outputs (histograms): the output's index is data, so units meet by atomic updates.

`C:SM` privatises the output: every block counts in its own copy, which is merged once. Blocks that split the
loops merge by atomics in device memory, or (`kernel`) through one copy a block and a second kernel. An output
stored narrower than its sums are held is summed in a workspace of the wider type and converted once.
"""

from dataclasses import replace
from math import prod

from mdh.hardware import Combine
from mdh.ir.dtype import I32, DType
from mdh.ir.expr import Expr, Load, Var, without_casts
from mdh.ir.plan import StagePlan
from mdh.ir.program import Buffer, Dim, DimKind, Output, Stage, component
from mdh.lower.emit import emit_block
from mdh.lower.finish import block_reduction_levels, cast
from mdh.lower.fold import Fold, folds_of, identity
from mdh.lower.scatter_point import clear_copies, is_private, merge_copies
from mdh.lower.scope import Scatter
from mdh.lower.stages import Built, Context, combine_stage, finished, map_stage, workspaces


def lower_scatter(context: Context, name: str, plan: StagePlan) -> Built:
    """Start values, the scattering kernel, and the second kernel that adds the blocks' copies."""
    folds = folds_of(plan.stage)
    nest = context.nest(name, plan, folds, regions=False)
    blocks = prod(lv.parts for lv in block_reduction_levels(nest))
    before, after = Built(), Built()
    states: list[Buffer] = []
    partials: dict[int, tuple[str, ...]] = {}
    carried: dict[int, tuple[str, ...]] = {}

    def state(stem: str, t: DType, shape: tuple[int, ...]) -> Buffer:
        states.append(Buffer(nest.declarations.workspace(f"{name}_{stem}"), t, shape, temp=True))
        return states[-1]

    for f, fold in enumerate(folds):
        t = fold.types[0]
        target = nest.buffers[fold.outputs[0].buffer]
        dims, flat = _whole(context, plan.stage, target, fold)
        keep = _starts_from_memory(fold)
        if blocks > 1 and Combine.KERNEL in plan.combines[f] and is_private(plan, target.name):
            part = state(f"part{f or ''}", t, (blocks, *target.shape))
            partials[f] = (part.name,)
            whole = replace(plan, stage=replace(plan.stage, dims=dims, lets=(), results=()))
            after += combine_stage(context, f"{name}_combine", whole, flat, (part,), blocks)
            continue
        index = flat.outputs[0].index
        if target.dtype != t:
            wide = state(f"state{f or ''}", t, target.shape)
            carried[f] = (wide.name,)
            total = Load(wide.name, index, t)
            after += map_stage(
                context, f"{name}_finish", plan.stage, dims, target.name, index, total, (wide,)
            )
            target, keep = wide, False
        if not keep:
            value = cast(flat.starts[0] or identity(fold)[0], target.dtype)
            extra = (target,) if target.temp else ()
            before += map_stage(context, f"{name}_start", plan.stage, dims, target.name, index, value, extra)
    buffers = {**nest.buffers, **{b.name: b for b in states}}
    nest = replace(nest, buffers=buffers, partials=partials, carried=carried)
    body = [*clear_copies(nest), *emit_block(nest, Scatter()), *merge_copies(nest)]
    return workspaces(states) + before + finished(context, nest, body) + after


def _whole(context: Context, stage: Stage, target: Buffer, fold: Fold) -> tuple[tuple[Dim, ...], Fold]:
    """Dims that run over the whole output, and the fold written over them."""
    dims = tuple(Dim(context.names.dim(f"b{k}", stage), n, DimKind.CC) for k, n in enumerate(target.shape))
    index = tuple(Var(d.name, I32) for d in dims)
    t = fold.types[0]
    starts: tuple[Expr | None, ...] = fold.starts
    if _starts_from_memory(fold):
        starts = (cast(Load(target.name, index, target.dtype), t),)
    out = Output(target.name, index, Var(component(0), t))
    return dims, replace(fold, starts=starts, outputs=(out,))


def _starts_from_memory(fold: Fold) -> bool:
    start = None if fold.starts[0] is None else without_casts(fold.starts[0])
    return isinstance(start, Load) and start.buffer == fold.outputs[0].buffer
