"""Staged copies: what they move, where it lies on both sides, what is outside, and how wide accesses are."""

from dataclasses import dataclass, replace

from mdh.decompose.multicast import Sharing
from mdh.hardware import Engine, Space
from mdh.ir.affine import Affine
from mdh.ir.construct import ZERO, at_least, conjunction, digit, div, less, mod, shifted
from mdh.ir.expr import Expr
from mdh.ir.layout import Axis
from mdh.ir.plan import Staging
from mdh.ir.tile import Boxes
from mdh.lower.nest import Nest
from mdh.lower.open_edges import all_exist, within_open
from mdh.lower.overread import Overread, Slack, no_overread, overread
from mdh.lower.scope import Instance, Key, Point, Scope

VECTOR_BYTES = 16
VECTOR_LANES = 16
"""Elements of OpenCL's longest vectors."""


@dataclass(frozen=True, slots=True)
class StagedCopy:
    """One staged access group: `dst` receives what `src` holds of `buffer`.

    offset: where the copied part begins in the buffer of `dst`, by dim; empty: at its start. boxes: in which
    the copy engine copies it. sharing: with other blocks of the cluster. ended: the dim along which the loop
    over the copy ends where the array does.
    """

    staging: Staging
    key: Key
    dst: Instance
    src: Instance
    offset: tuple[int, ...] = ()
    boxes: Boxes | None = None
    sharing: Sharing | None = None
    ended: int | None = None

    def into(self, slot: Affine) -> "StagedCopy":
        """The copy into one of the slots of `dst`."""
        return replace(self, dst=replace(self.dst, slot=slot))


def addresses(
    nest: Nest, copy: StagedCopy, coordinates: list[Expr], scope: Scope
) -> tuple[tuple[Expr, ...], tuple[Expr, ...]]:
    """(index in dst, index in src) of the element at the instance's coordinates."""
    offset = copy.offset or (0,) * len(coordinates)
    dst = [shifted(c, n) for c, n in zip(coordinates, offset, strict=True)]
    axes = zip(copy.dst.axes, copy.src.axes, coordinates, strict=True)
    src = [_source_index(nest, axis, source, c, scope) for axis, source, c in axes]
    if copy.src.span:
        src = [div(src[-1], copy.src.span), *src[:-1], mod(src[-1], copy.src.span)]
    slots = [() if i.slot is None else (nest.expr(i.slot, scope),) for i in (copy.dst, copy.src)]
    return (*slots[0], *dst), (*slots[1], *src)


def _source_index(nest: Nest, axis: Axis, source: Axis, c: Expr, scope: Scope) -> Expr:
    """The index along the source's axis of the element at coordinate c of `axis`."""
    # digits of the coordinate stand for the variables that the tile runs over
    digits = {name: digit(c, radix, parts, axis.points) for name, parts, _, radix in axis.variables}
    if source.packed and not axis.packed:
        return nest.expr(source.local(Affine()), scope.with_values(digits))
    pace = None if source.packed else axis.pace
    if pace is not None:
        where = source.local(axis.low + Affine.of({"@c": pace}))
        return nest.expr(where, scope.with_values({"@c": c}))
    inside = Affine.of({name: coefficient for name, _, coefficient, _ in axis.variables})
    return nest.expr(source.local(axis.low + inside), scope.with_values(digits))


def in_bounds(
    nest: Nest, copy: StagedCopy, where: tuple[Expr, ...], scope: Scope
) -> tuple[Expr | None, Slack]:
    """The condition that an index lies in the copy's source (`where`: in the source's own coordinates), None
    where that is proven; and the slack of buffers without which it is not."""
    ranges = nest.ranges(scope)
    terms: list[Expr] = []
    past = _overread(nest, copy, scope)
    axes = zip(copy.dst.axes, copy.src.axes, where[len(where) - len(copy.dst.axes) :], strict=True)
    for k, (axis, source, e) in enumerate(axes):
        if source.packed:
            continue
        size = source.extent
        known = copy.src.buf.open[k] if copy.src.buf.open else None
        low, high = source.local(axis.low).bounds(ranges)
        reach = axis.extent - 1
        if axis.packed:
            reach = sum(abs(c) * (parts - 1) for _, parts, c, _ in axis.variables)
        if low < 0:
            terms.append(at_least(e, 0))
        if known is not None:
            if k == copy.ended:
                continue
            whole = all_exist(nest, copy.key, k, known, scope)
            if not whole and not within_open(nest, axis.low, reach, known, scope):
                terms.append(less(e, known.expr))
            continue
        further = past if high + reach < size else past.along(k, high + reach - size + 1)
        if further is None:
            terms.append(less(e, size))
        else:
            past = further
    return conjunction(terms), past.slack


def _overread(nest: Nest, copy: StagedCopy, scope: Scope) -> Overread:
    """What a thread's own copy of a copy may read past its source's edge."""
    if copy.dst.buf.space is not Space.RM or not isinstance(scope.leaf, Point):
        return no_overread(nest)
    return overread(nest, copy.src, copy.key[1], nest.guards(scope), nest.declarations.slack)


def lanes_of(nest: Nest, copy: StagedCopy, scope: Scope) -> int:
    """Widest vector of a copy: contiguous on both sides, and proven aligned (GPU) at every start."""
    dst, src = copy.dst, copy.src
    k = len(dst.axes) - 1
    if k < 0 or src.axes[k].packed or dst.axes[k].packed:
        return 1
    if dst.buf.strides[-1] != 1 or src.buf.strides[-1] != 1:
        return 1
    size = dst.buf.dtype.bytes
    whole = nest.cpu and not dst.buf.swizzle  # the chunks of a swizzle stay whole, what is wider does not
    fitting = (nest.machine.vector_bytes if whole else VECTOR_BYTES) // size
    widest = copy.staging.vec or max(1, min(fitting, VECTOR_LANES))
    if copy.staging.engine == Engine.ASYNC and copy.staging.vec is None:
        widest = VECTOR_BYTES // size
    n = widest
    while n > 1 and not _aligned(nest, copy, n, scope):
        n //= 2
    return n


def _aligned(nest: Nest, copy: StagedCopy, n: int, scope: Scope) -> bool:
    dst, src = copy.dst, copy.src
    k = len(dst.axes) - 1
    if dst.axes[k].extent % n:
        return False
    inside = in_bounds(nest, copy, (ZERO,) * (k + 1), scope)[0] is None
    if nest.cpu:
        return inside
    # with aligned starts, an edge at a multiple has each vector on one side
    edge = src.buf.open[k] if src.buf.open else None
    if not inside and (src.axes[k].extent if edge is None else edge.divisor) % n:
        return False
    if copy.offset and copy.offset[k] % n:
        return False
    fixed = {v: Affine((), c) for v, c in scope.fixed.items()}
    low = src.axes[k].local(dst.axes[k].low).substitute(fixed)
    starts = [low.const, *(c for _, c in low.terms)]
    rows = [*dst.buf.strides[:-1], *src.buf.strides[:-1]]
    return all(x % n == 0 for x in (*starts, *rows))
