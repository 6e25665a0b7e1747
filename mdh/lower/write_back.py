"""Results that wait in shared memory are stored by all threads together: neighbours side by side, wide."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from mdh.hardware import Space
from mdh.ir.affine import Affine
from mdh.ir.construct import ZERO, digit
from mdh.ir.expr import Const, Expr
from mdh.ir.kernel import Buf, Move, Store
from mdh.ir.program import DimKind, Output
from mdh.lower.finish import stated_width, stored
from mdh.lower.nest import Nest
from mdh.lower.scope import Region, Scope

VECTOR_BYTES = 16


def at_coordinates(nest: Nest, region: Region, coordinates: tuple[Expr, ...], scope: Scope) -> Scope:
    """`scope` where the region's variables are the digits of its element at `coordinates`. Threads take
    elements that are not their own there."""
    values: dict[str, Expr] = {}
    for axis, extent, c in zip(region.axes, region.bufs[0].shape, coordinates, strict=True):
        whole = _whole(nest, axis)
        if whole is not None:
            # what every index and guard makes of the digits is the coordinate that they come from
            values |= {var: c if var == whole else ZERO for var, _ in axis}
            continue
        values |= {var: digit(c, radix, nest.levels.of_var(var).parts, extent) for var, radix in axis}
    return of_any_thread(scope, values)


def of_any_thread(scope: Scope, values: Mapping[str, Expr]) -> Scope:
    """`scope` where variables stand for digits of elements of other threads. Copies in a thread's registers
    that depend on them are not those elements'."""
    foreign = (
        key
        for key, held in scope.live.items()
        if held.buf.space is Space.RM and any(axis.low.names & values.keys() for axis in held.axes)
    )
    live = dict(scope.live)
    for key in foreign:
        del live[key]
    return replace(scope, live=live).with_values(values)


def _whole(nest: Nest, axis: Sequence[tuple[str, int]]) -> str | None:
    """The variable of an axis that alone may stand for all of them: the others differ from it by their
    radixes, wherever they occur."""
    first = next((var for var, radix in axis if radix == 1), None)
    every = (*nest.levels.index, *(g.offset for g in nest.levels.guards))
    alike = first is not None and all(
        e.coefficient(var) == radix * e.coefficient(first) for e in every for var, radix in axis
    )
    return first if alike else None


def width(nest: Nest, region: Region, scope: Scope) -> int:
    """Elements that one access may store: they lie together on both sides, aligned, and exist together."""
    fold = nest.folds[region.fold]
    outermost = nest.regions_of(region.fold)[0] is region
    if fold.op is not None or not outermost or not region.axes:
        return 1
    return min(_width(nest, region, o, b, scope) for o, b in zip(fold.outputs, region.bufs, strict=True))


def wide_stores(
    nest: Nest, region: Region, coordinates: tuple[Expr, ...], lanes: int, scope: Scope
) -> list[Move]:
    """The `lanes` elements of each output from `coordinates` on; `scope` is the one there."""
    out = []
    for o, b in zip(nest.folds[region.fold].outputs, region.bufs, strict=True):
        where = nest.indices(o.index, scope)
        hints = stored(nest, Store(o.buffer, where, Const(0, b.dtype)))
        out.append(Move(o.buffer, where, b.name, coordinates, lanes, cache=hints.cache))
    return out


def _width(nest: Nest, region: Region, o: Output, buf: Buf, scope: Scope) -> int:
    access = nest.access(o.index)
    memory = nest.dm_buf(o.buffer)
    if access is None or buf.dtype != memory.dtype or buf.swizzle or buf.strides[-1] != 1:
        return 1
    *others, last = (nest.levels.over(e) for e in access)
    mine = frozenset(v for v, _ in region.axes[-1])
    if not mine or any(e.names & mine for e in others) or not _dense(last, region):
        return 1
    rows = [*memory.strides[:-1], *buf.strides[:-1], buf.shape[-1], *_starts(last, mine)]
    for g in nest.guards(scope, nest.dims(DimKind.CC, DimKind.PS)):
        if g.offset.names & mine:
            if not _dense(g.offset, region):
                return 1
            rows += [g.divisor, *_starts(g.offset, mine)]
    lanes = min(VECTOR_BYTES // buf.dtype.bytes, stated_width(nest, o.buffer) or VECTOR_BYTES)
    while lanes > 1 and any(n % lanes for n in rows):
        lanes //= 2
    return lanes


def _dense(e: Affine, region: Region) -> bool:
    """One step along the region's last dim is a step of 1."""
    return all(e.coefficient(v) == radix for v, radix in region.axes[-1])


def _starts(e: Affine, mine: frozenset[str]) -> list[int]:
    return [e.const, *(c for v, c in e.terms if v not in mine)]
