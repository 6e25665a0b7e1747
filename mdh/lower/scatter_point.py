"""Scattered outputs inside a block: the block's own copies, updates at a point, the merge of the copies."""

from dataclasses import dataclass, replace
from math import prod

from mdh.decompose.image import image
from mdh.hardware import Layer, Space
from mdh.ir.affine import Affine
from mdh.ir.construct import ZERO, add, conjunction, less, when
from mdh.ir.dtype import I32
from mdh.ir.expr import Expr, Load, Unary
from mdh.ir.kernel import Atomic, Buf, Stmt, Store
from mdh.ir.layout import Axis, row_major
from mdh.ir.plan import StagePlan
from mdh.ir.program import DimKind, combined_where
from mdh.lower.close import fill
from mdh.lower.deal import over_box
from mdh.lower.finish import cast, part_index, store_state
from mdh.lower.fold import identity
from mdh.lower.nest import Nest
from mdh.lower.point import at_point
from mdh.lower.scope import Scope


@dataclass(frozen=True, slots=True)
class Private:
    """A block's own copy of a scattered output; axis None: the dim is data, held whole."""

    buf: Buf
    axes: tuple[Axis | None, ...]


def is_private(plan: StagePlan, buffer: str) -> bool:
    """The schedule holds the output in a memory of the block's own."""
    return any(h.buffer == buffer and h.region is not None for s in plan.steps for h in s.holdings)


def private_copy(nest: Nest, f: int) -> Private | None:
    """The block's copy of fold f's output, where the schedule holds it in SM."""
    o = nest.folds[f].outputs[0]
    if not is_private(nest.plan, o.buffer):
        return None
    inside = frozenset(lv.var for lv in nest.levels.all if lv.layer not in (Layer.BLK, Layer.CLU))
    shape: list[int] = []
    axes: list[Axis | None] = []
    for e, extent in zip(o.index, nest.buffers[o.buffer].shape, strict=True):
        access = nest.access((e,))
        axis = None
        if access is not None:
            axis = image(nest.levels, (Affine(access[0].terms, 0),), [(access[0].const,)], inside)[0]
            axis = replace(axis, packed=False, box=min(axis.extent, extent))
        axes.append(axis)
        shape.append(extent if axis is None else axis.extent)
    strides = row_major(tuple(shape))
    buf = Buf(f"{o.buffer}_SM{f or ''}", Space.SM, nest.folds[f].types[0], tuple(shape), strides, align=16)
    return Private(nest.declare(buf), tuple(axes))


def clear_copies(nest: Nest) -> list[Stmt]:
    """The private copies begin at the identity."""
    out: list[Stmt] = []
    for f, fold in enumerate(nest.folds):
        private = private_copy(nest, f)
        if private is not None:
            out.extend(fill(nest, (private.buf,), identity(fold)))
    return out


def scatter_point(nest: Nest, scope: Scope) -> list[Stmt]:
    """Every fold's update at one point."""
    body: list[Stmt] = []
    for f, fold in enumerate(nest.folds):
        # where one of the conditions fails, the index may lie outside
        conditions, value = combined_where(fold.values[0], fold.op, fold.types[0])
        update = _scatter(nest, f, nest.translate(value, scope), scope)
        tests = [nest.translate(c if holds else Unary("!", c, I32), scope) for c, holds in conditions]
        body.extend(when(conjunction(tests), update))
    return at_point(nest, scope, body)


def _scatter(nest: Nest, f: int, value: Expr, scope: Scope) -> list[Stmt]:
    """One update of the private copy, or of the output itself."""
    o = nest.folds[f].outputs[0]
    private = private_copy(nest, f)
    if private is None:
        index = nest.indices(o.index, scope)
        units = nest.threads * prod(lv.parts for lv in nest.grid_levels(*DimKind))
        return _update(nest, f, _home(nest, f), index, value, shared=units > 1)
    where: list[Expr] = []
    for axis, e in zip(private.axes, o.index, strict=True):
        access = nest.access((e,)) if axis is not None else None
        if axis is None or access is None:
            where.append(nest.translate(e, scope))
        else:
            where.append(nest.expr(axis.local(nest.levels.over(access[0])), scope))
    return _update(nest, f, private.buf, tuple(where), value, shared=nest.threads > 1)


def _home(nest: Nest, f: int) -> Buf:
    """Where fold f's sums of all blocks meet in device memory."""
    name = nest.carried[f][0] if f in nest.carried else nest.folds[f].outputs[0].buffer
    return nest.dm_buf(name)


def _update(
    nest: Nest, f: int, buf: Buf, index: tuple[Expr, ...], value: Expr, *, shared: bool
) -> list[Stmt]:
    """buf[index] takes the value in, in one piece where other units do so at the same time."""
    fold = nest.folds[f]
    assert fold.op is not None
    if shared and not fold.ordered:
        return [Atomic(fold.op.name, buf.name, index, cast(value, buf.dtype))]
    return store_state(nest, fold, (buf,), index, (cast(value, buf.dtype),))


def merge_copies(nest: Nest) -> list[Stmt]:
    """The private copies join those of other blocks."""
    out: list[Stmt] = []
    for f in range(len(nest.folds)):
        private = private_copy(nest, f)
        if private is not None:
            out.extend(_merge(nest, f, private))
    return out


def _merge(nest: Nest, f: int, private: Private) -> list[Stmt]:
    """The block's copy into its part's copy, into the output by atomics, or straight into the output."""
    o = nest.folds[f].outputs[0]
    scope = Scope()

    def join(at: tuple[Expr, ...]) -> list[Stmt]:
        index: list[Expr] = []
        terms: list[Expr] = []
        for axis, c, extent in zip(private.axes, at, nest.buffers[o.buffer].shape, strict=True):
            if axis is None:
                index.append(c)
                continue
            low = nest.expr(axis.low, scope)
            e = c if low == ZERO else add(low, c)
            index.append(e)
            if axis.low.bounds(nest.ranges(scope))[1] + axis.extent > extent:
                terms.append(less(e, extent))
        value = Load(private.buf.name, at, private.buf.dtype)
        if f in nest.partials:
            part = part_index(nest, f, scope)
            return when(conjunction(terms), [Store(nest.partials[f][0], (part, *index), value)])
        several = bool(nest.grid_levels(*DimKind))
        return when(conjunction(terms), _update(nest, f, _home(nest, f), tuple(index), value, shared=several))

    return over_box(nest, private.buf.shape, f"m_{o.buffer}", join)
