"""Scattered outputs (histograms): the output's index is data, so units meet by atomic updates.

`C:SM` privatises the output: every block counts in its own copy, which is merged once. Blocks that split the
loops merge by atomics in device memory, or (`kernel`) through one copy a block and a second kernel. An output
stored narrower than its sums are held is summed in a workspace of the wider type and converted once.
"""

from dataclasses import dataclass, replace

from mdh.decompose.image import image
from mdh.hardware import Combine, Layer, Space
from mdh.ir.affine import Affine
from mdh.ir.dtype import I32
from mdh.ir.expr import Binary, Const, Expr, Load, Unary, Var, without_casts
from mdh.ir.kernel import Atomic, Buf, For, If, Stmt, Store, Workspace
from mdh.ir.layout import Axis, strides_for
from mdh.ir.plan import StagePlan
from mdh.ir.program import Buffer, Dim, DimKind, Output, Stage, combined_where, component
from mdh.lower.close import fill, wrap_rounds
from mdh.lower.emit import at_point, emit_block
from mdh.lower.finish import block_reduction_levels, cast, part_index, store_state
from mdh.lower.fold import Fold, folds_of, identity
from mdh.lower.kernel_of import kernel_of
from mdh.lower.nest import Nest, Scope, conjunction
from mdh.lower.spread import deal
from mdh.lower.stages import Built, Context, combine_stage, map_stage, workspace_buf


@dataclass(frozen=True, slots=True)
class Private:
    """A block's own copy of a scattered output; axis None: the dim is data, held whole."""

    buf: Buf
    axes: tuple[Axis | None, ...]


def lower_scatter(context: Context, name: str, plan: StagePlan) -> Built:
    """Start values, the scattering kernel, and the second kernel that adds the blocks' copies."""
    folds = folds_of(plan.stage)
    nest = context.nest(name, plan, folds, regions=False)
    blocks = 1
    for lv in block_reduction_levels(nest):
        blocks *= lv.parts
    built = Built([], [])
    after = Built([], [])
    partials: dict[int, tuple[str, ...]] = {}
    carried: dict[int, tuple[str, ...]] = {}
    for f, fold in enumerate(folds):
        target = nest.buffers[fold.outputs[0].buffer]
        dims, flat = _whole(context, plan.stage, target, fold)
        keep = _starts_from_memory(fold)
        copied = blocks > 1 and Combine.KERNEL in plan.combines[f] and _is_private(plan, target.name)
        if copied:
            part = Buffer(
                nest.workspace(f"{name}_part{f or ''}"), fold.types[0], (blocks, *target.shape), temp=True
            )
            partials[f] = (part.name,)
            nest = replace(nest, buffers={**nest.buffers, part.name: part})
            built.workspaces.append(Workspace(workspace_buf(part)))
            whole = replace(plan, stage=replace(plan.stage, dims=dims, lets=(), results=()))
            after.add(combine_stage(context, f"{name}_combine", whole, flat, (part,), blocks))
            continue
        index = flat.outputs[0].index
        if target.dtype != fold.types[0]:
            state = Buffer(nest.workspace(f"{name}_state{f or ''}"), fold.types[0], target.shape, temp=True)
            carried[f] = (state.name,)
            nest = replace(nest, buffers={**nest.buffers, state.name: state})
            built.workspaces.append(Workspace(workspace_buf(state)))
            total = Load(state.name, index, state.dtype)
            after.add(
                map_stage(context, f"{name}_finish", plan.stage, dims, target.name, index, total, (state,))
            )
            target, keep = state, False
        if not keep:
            value = cast(flat.starts[0] or identity(fold)[0], target.dtype)
            extra = (target,) if target.temp else ()
            built.add(map_stage(context, f"{name}_start", plan.stage, dims, target.name, index, value, extra))
    nest = replace(nest, partials=partials, carried=carried)
    kernel, more = kernel_of(nest, context.program, context.observe, scatter_body)
    built.kernels.append(kernel)
    built.workspaces.extend(more)
    built.add(after)
    return built


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


def _is_private(plan: StagePlan, buffer: str) -> bool:
    return any(h.buffer == buffer and h.region is not None for s in plan.steps for h in s.holdings)


def private_copy(nest: Nest, f: int) -> Private | None:
    """The block's copy of fold f's output, where the schedule holds it in SM."""
    o = nest.folds[f].outputs[0]
    if not _is_private(nest.plan, o.buffer):
        return None
    inside = frozenset(lv.var for lv in nest.levels.all if lv.layer not in (Layer.BLK, Layer.CLU))
    shape: list[int] = []
    axes: list[Axis | None] = []
    for e, extent in zip(o.index, nest.buffers[o.buffer].shape, strict=True):
        access = nest.access((e,))
        if access is None:
            axes.append(None)
            shape.append(extent)
            continue
        axis = image(nest.levels, (Affine(access[0].terms, 0),), [(access[0].const,)], inside)[0]
        axes.append(replace(axis, packed=False, box=min(axis.extent, extent)))
        shape.append(axes[-1].extent if axes[-1] is not None else extent)
    strides = strides_for(tuple(shape), tuple(range(len(shape))))
    buf = Buf(f"{o.buffer}_SM{f or ''}", Space.SM, nest.folds[f].types[0], tuple(shape), strides, align=16)
    return Private(nest.declare(buf), tuple(axes))


def scatter_body(nest: Nest) -> list[Stmt]:
    """Clear the private copies, scatter, merge."""
    out: list[Stmt] = []
    for f, fold in enumerate(nest.folds):
        private = private_copy(nest, f)
        if private is not None:
            out.extend(fill(nest, (private.buf,), identity(fold)))
    out.extend(emit_block(replace(nest, leaf=scatter_leaf, leaf_at=len(nest.items))))
    for f in range(len(nest.folds)):
        private = private_copy(nest, f)
        if private is not None:
            out.extend(_merge(nest, f, private))
    return out


def scatter_leaf(nest: Nest, scope: Scope) -> list[Stmt]:
    """Every fold's update at one point."""
    body: list[Stmt] = []
    for f, fold in enumerate(nest.folds):
        # where one of the conditions fails, the index may lie outside
        conditions, value = combined_where(fold.values[0], fold.op, fold.types[0])
        update = _scatter(nest, f, nest.translate(value, scope), scope)
        tests = [nest.translate(c if holds else Unary("!", c, I32), scope) for c, holds in conditions]
        cond = conjunction(tests)
        body.extend(update if cond is None else [If(cond, tuple(update))])
    return at_point(nest, scope, body)


def _scatter(nest: Nest, f: int, value: Expr, scope: Scope) -> list[Stmt]:
    """One update of the private copy, or of the output itself."""
    o = nest.folds[f].outputs[0]
    private = private_copy(nest, f)
    if private is None:
        index = tuple(nest.translate(e, scope) for e in o.index)
        return _update(nest, f, _home(nest, f), index, value, shared=_units(nest) > 1)
    where: list[Expr] = []
    for axis, e in zip(private.axes, o.index, strict=True):
        access = nest.access((e,)) if axis is not None else None
        if axis is None or access is None:
            where.append(nest.translate(e, scope))
        else:
            where.append(nest.expr(axis.local(nest.over_levels(access[0])), scope))
    return _update(nest, f, private.buf.name, tuple(where), value, shared=nest.threads > 1, buf=private.buf)


def _home(nest: Nest, f: int) -> str:
    """Where fold f's sums of all blocks meet in device memory."""
    return nest.carried[f][0] if f in nest.carried else nest.folds[f].outputs[0].buffer


def _units(nest: Nest) -> int:
    n = nest.threads
    for lv in nest.levels.all:
        if lv.layer in (Layer.BLK, Layer.CLU):
            n *= lv.parts
    return n


def _update(
    nest: Nest,
    f: int,
    name: str,
    index: tuple[Expr, ...],
    value: Expr,
    *,
    shared: bool,
    buf: Buf | None = None,
) -> list[Stmt]:
    fold = nest.folds[f]
    assert fold.op is not None
    dtype = buf.dtype if buf is not None else nest.buffers[name].dtype
    if shared and not fold.ordered:
        return [Atomic(fold.op.name, name, index, cast(value, dtype))]
    held = buf or Buf(name, Space.DM, dtype, nest.buffers[name].shape, (0,) * len(index))
    return store_state(nest, fold, (held,), index, (cast(value, dtype),))


def _merge(nest: Nest, f: int, private: Private) -> list[Stmt]:
    """The block's copy into its part's copy, into the output by atomics, or straight into the output."""
    fold = nest.folds[f]
    o = fold.outputs[0]
    shape = list(private.buf.shape)
    cooperative = nest.threads > 1
    dealt = deal(nest, shape, f"m_{o.buffer}") if cooperative else None
    names = [nest.fresh(f"m_{o.buffer}{k}") for k in range(len(shape))]
    at: tuple[Expr, ...] = dealt.coordinates if dealt is not None else tuple(Var(n) for n in names)
    index: list[Expr] = []
    terms: list[Expr] = []
    scope = Scope()
    for axis, c, extent in zip(private.axes, at, nest.buffers[o.buffer].shape, strict=True):
        if axis is None:
            index.append(c)
            continue
        low = nest.expr(axis.low, scope)
        e = c if isinstance(low, Const) and low.value == 0 else Binary("+", low, c, I32)
        index.append(e)
        if axis.low.bounds(nest.ranges(scope))[1] + axis.extent > extent:
            terms.append(Binary("<", e, Const(extent, I32), I32))
    value = Load(private.buf.name, at, private.buf.dtype)
    if f in nest.partials:
        body: list[Stmt] = [Store(nest.partials[f][0], (part_index(nest, f, scope), *index), value)]
    else:
        body = _update(nest, f, _home(nest, f), tuple(index), value, shared=_blocks_share(nest))
    cond = conjunction(terms)
    if cond is not None:
        body = [If(cond, tuple(body))]
    if dealt is not None:
        return wrap_rounds(dealt.counter, dealt.rounds, dealt.guard, (*dealt.lets, *body))
    inner = tuple(body)
    for name, n in zip(reversed(names), reversed(shape), strict=True):
        inner = (For(name, Const(0, I32), Const(n, I32), Const(1, I32), inner),)
    return list(inner)


def _blocks_share(nest: Nest) -> bool:
    return any(lv.layer in (Layer.BLK, Layer.CLU) for lv in nest.levels.all)
