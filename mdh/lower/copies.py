"""Stagings: copies of an input's part into shared memory or registers.

Shared memory is filled by all threads of the block together: the part's elements are dealt to threads in the
order of the source, so that neighbours read neighbours, as wide as alignment and contiguity are proven.
Registers are filled by each thread for itself.
"""

from dataclasses import dataclass, replace
from fractions import Fraction

from mdh.decompose.image import image
from mdh.hardware import Engine, Space
from mdh.ir.affine import Affine
from mdh.ir.dtype import I32
from mdh.ir.expr import Binary, Const, Expr, Var, loads
from mdh.ir.kernel import SWIZZLE_LINE, Alloc, Buf, For, ForKind, Let, Move, Stmt
from mdh.ir.layout import Axis, Level, strides_for
from mdh.ir.plan import PlanStep, Staging
from mdh.lower.instance import Instance
from mdh.lower.nest import Key, Nest, Scope, conjunction, dm_buf, key_of
from mdh.lower.past import Past
from mdh.lower.spread import deal, wrap

VECTOR_BYTES = 16
VECTOR_LANES = 16
"""Elements of OpenCL's longest vectors."""


@dataclass(frozen=True, slots=True)
class Copy:
    """One staged access group: `dst` receives what `src` holds of `buffer`.

    offset: where the copied part begins in the buffer of `dst`, by dim; empty: at its start.
    """

    staging: Staging
    key: Key
    dst: Instance
    src: Instance
    offset: tuple[int, ...] = ()


def plan_copies(nest: Nest, step: PlanStep, scope: Scope, slots: int = 1) -> list[Copy]:
    """The copies that stand at a step's point, and the instances they make (one a group of accesses)."""
    out = []
    for staging in step.stagings:
        # on a CPU nothing copies into SM while the work-item computes
        deep = 1 if nest.cpu and staging.region == Space.SM else slots
        for key, shifts in _groups(nest, staging.buffer).items():
            out.append(_copy(nest, staging, key, shifts, scope, deep))
    return out


def _groups(nest: Nest, buffer: str) -> dict[Key, list[tuple[int, ...]]]:
    """Affine accesses of the stage to a buffer, grouped by linear part, with their constants."""
    groups: dict[Key, list[tuple[int, ...]]] = {}
    for e in nest.stage.expressions():
        for load in loads(e):
            index = nest.access(load.index) if load.buffer == buffer else None
            if index is not None:
                groups.setdefault(key_of(buffer, index), []).append(tuple(i.const for i in index))
    return groups


def _copy(
    nest: Nest, staging: Staging, key: Key, shifts: list[tuple[int, ...]], scope: Scope, slots: int
) -> Copy:
    loops = {it.var for it in nest.items[scope.position :] if isinstance(it, Level)}
    shared = {lv.var for lv in nest.thread_levels()} if staging.region == Space.SM else set()
    inside = frozenset(loops | shared)
    axes = image(nest.levels, key[1], shifts, inside)
    shape = tuple(a.extent for a in axes)
    space = Space(staging.region)
    strides = strides_for(shape, staging.layout, staging.pad)
    dtype = nest.buffers[staging.buffer].dtype
    if space is Space.SM:
        full = shape if slots == 1 else (slots, *shape)
        size = 1 + sum((n - 1) * s for n, s in zip(shape, strides, strict=True))
        # a swizzle moves 16-byte chunks inside lines, so that slots are whole lines
        unit = max(1, (SWIZZLE_LINE if staging.swizzle else VECTOR_BYTES) // dtype.bytes)
        whole = -(-size // unit) * unit
        buf = Buf(f"{staging.buffer}_SM{_suffix(nest, key)}{_depth(nest, scope, key)}", space, dtype, full,
                  strides if slots == 1 else (whole, *strides), align=VECTOR_BYTES,
                  swizzle=staging.swizzle)  # fmt: skip
        piped = (b for b in nest.wanted.get(buf.name, ()) if (b.shape[1:], b.strides[1:]) == (shape, strides))
        known = next(piped, None)
        if slots == 1 and known is not None:
            # the last, shorter part of a pipelined loop goes through the pipeline's first slot
            src = scope.live.get(key) or Instance(dm_buf(nest.buffers[staging.buffer], readonly=True))
            return Copy(staging, key, Instance(known, axes, Affine()), src)
        buf = nest.declare(buf)
    else:
        size = 1 + sum((n - 1) * s for n, s in zip(shape, strides, strict=True))
        full, steps = (shape, strides) if slots == 1 else ((slots, *shape), (size, *strides))
        buf = Buf(nest.fresh(f"{staging.buffer}_RM"), space, dtype, full, steps, align=16)
    src = scope.live.get(key) or Instance(dm_buf(nest.buffers[staging.buffer], readonly=True))
    return Copy(staging, key, Instance(buf, axes), src)


def _suffix(nest: Nest, key: Key) -> str:
    """Access groups of one buffer after the first are told apart by number."""
    order = list(_groups(nest, key[0]))
    n = order.index(key)
    return "" if n == 0 else f"{n + 1}"


def _depth(nest: Nest, scope: Scope, key: Key) -> str:
    """Shared copies of shared copies (packing at two levels) get a name of their own."""
    src = scope.live.get(key)
    return "" if src is None or src.buf.space is not Space.SM else "2"


def emit_copy(nest: Nest, copy: Copy, scope: Scope) -> list[Stmt]:
    """Statements that fill the instance; the live instances of `scope` are those outside the copy."""
    if copy.dst.buf.space is Space.SM and not nest.cpu and nest.threads > 1:
        return _cooperative(nest, copy, scope)
    return _private(nest, copy, scope)


# -- one thread --------------------------------------------------------------------------------


def _private(nest: Nest, copy: Copy, scope: Scope) -> list[Stmt]:
    """A loop nest over the instance's coordinates, in the order of its storage, unrolled for registers."""
    assert copy.dst.axes is not None
    dst = copy.dst.buf
    kind = ForKind.UNROLL if dst.space is Space.RM else ForKind.SEQ
    shape = tuple(a.extent for a in copy.dst.axes)
    names = [nest.fresh(f"c_{copy.staging.buffer}{k}") for k in range(len(shape))]
    lanes = _lanes(nest, copy, scope)
    order = sorted(range(len(shape)), key=lambda k: -copy.dst.buf.strides[k + (len(dst.shape) - len(shape))])
    coordinates: list[Expr] = []
    for k, name in enumerate(names):
        coordinates.append(Var(name) if shape[k] > 1 else Const(0, I32))
    body: tuple[Stmt, ...] = (_move(nest, copy, coordinates, lanes, scope),)
    for k in reversed(order):
        if shape[k] == 1:
            continue
        step = lanes if k == len(shape) - 1 else 1
        if step == shape[k]:
            body = (Let(names[k], Const(0, I32)), *body) if len(body) == 1 else body
            continue
        body = (For(names[k], Const(0, I32), Const(shape[k], I32), Const(step, I32), body, kind),)
    return list(body)


def _move(nest: Nest, copy: Copy, coordinates: list[Expr], lanes: int, scope: Scope) -> Stmt:
    """dst[coordinates] = the program element there, zero where it is outside of the buffer."""
    assert copy.dst.axes is not None
    dst_index, src_index = addresses(nest, copy, coordinates, scope)
    pred = in_bounds(nest, copy, src_index, scope)
    return Move(
        copy.dst.buf.name, dst_index, copy.src.buf.name, src_index, lanes,
        copy.staging.engine, copy.staging.cache, pred, exact=copy.staging.vec is not None,
    )  # fmt: skip


def addresses(
    nest: Nest, copy: Copy, coordinates: list[Expr], scope: Scope
) -> tuple[tuple[Expr, ...], tuple[Expr, ...]]:
    """(index in dst, index in src) of the element at the instance's coordinates."""
    assert copy.dst.axes is not None
    dst: list[Expr] = []
    src: list[Expr] = []
    for k, (axis, c) in enumerate(zip(copy.dst.axes, coordinates, strict=True)):
        dst.append(moved(c, copy.offset[k]) if copy.offset else c)
        values = dict(scope.values)
        apart = axis.packed and copy.src.axes is not None and copy.src.axes[k].packed
        pace = None if apart else _pace(axis)
        if pace is not None:
            where = axis.low + Affine.of({"@c": pace})
            values["@c"] = c
        else:
            where = axis.low
            for name, parts, coefficient, radix in axis.variables:
                values[name] = _digit(c, parts, radix, axis.extent)
                where = where + Affine.of({name: coefficient})
        inner = replace(scope, values=values)
        if copy.src.axes is None:
            src.append(nest.expr(where, inner))
        else:
            source = copy.src.axes[k]
            if source.packed and not axis.packed:
                src.append(_packed_source(nest, source, axis.variables, c, scope))
            else:
                src.append(nest.expr(source.local(where), inner))
    if copy.src.slot is not None:
        src.insert(0, nest.expr(copy.src.slot, scope))
    if copy.dst.slot is not None:
        dst.insert(0, nest.expr(copy.dst.slot, scope))
    return tuple(dst), tuple(src)


def _pace(axis: Axis) -> int | None:
    """What one step along the axis adds to the index, where it is the same everywhere: digits, put together
    again, are the coordinate that they were taken from."""
    if not axis.packed:
        return 1
    paces = {Fraction(coefficient, radix) for _, _, coefficient, radix in axis.variables}
    found = paces.pop() if len(paces) == 1 else None
    return None if found is None or found.denominator > 1 else int(found)


def moved(e: Expr, n: int) -> Expr:
    """The index e + n, folded where e is a constant."""
    if n == 0:
        return e
    return Const(int(e.value) + n, I32) if isinstance(e, Const) else Binary("+", e, Const(n, I32), I32)


def _packed_source(
    nest: Nest, source: Axis, variables: tuple[tuple[str, int, int, int], ...], c: Expr, scope: Scope
) -> Expr:
    """Index in a packed source of coordinate c of a dense box: digits of c stand for the inside variables."""
    values = dict(scope.values)
    extent = 1
    for _, parts, _, _ in variables:
        extent *= parts
    for name, parts, _, radix in variables:
        values[name] = _digit(c, parts, radix, extent)
    return nest.expr(source.local(Affine()), replace(scope, values=values))


def _digit(c: Expr, parts: int, radix: int, extent: int) -> Expr:
    """(c / radix) mod parts."""
    out = c if radix == 1 else Binary("/", c, Const(radix, I32), I32)
    return out if parts * radix >= extent else Binary("%", out, Const(parts, I32), I32)


def in_bounds(nest: Nest, copy: Copy, where: tuple[Expr, ...], scope: Scope) -> Expr | None:
    """The condition that an index lies in the copy's source (`where`: in the source's own coordinates), None
    where that is proven."""
    assert copy.dst.axes is not None
    ranges = nest.ranges(scope)
    shape = nest.buffers[copy.staging.buffer].shape
    terms: list[Expr] = []
    where = where[-len(shape) :] if shape else ()
    past = _past(nest, copy, scope)
    for k, (axis, n, e) in enumerate(zip(copy.dst.axes, shape, where, strict=True)):
        size, start = n, axis.low
        if copy.src.axes is not None:
            source = copy.src.axes[k]
            if source.packed:
                continue
            size, start = source.extent, source.local(axis.low)
        low, high = start.bounds(ranges)
        reach = axis.extent - 1
        if axis.packed:
            reach = sum(abs(c) * (parts - 1) for _, parts, c, _ in axis.variables)
        if low < 0:
            terms.append(Binary(">=", e, Const(0, I32), I32))
        if high + reach >= size and not past.allows(k, high + reach - size + 1):
            terms.append(Binary("<", e, Const(size, I32), I32))
    past.settle()
    return conjunction(terms)


def _past(nest: Nest, copy: Copy, scope: Scope) -> Past:
    """What a thread's own copy of a copy may read past its source's edge."""
    if copy.dst.buf.space is not Space.RM or nest.leaf is not None:
        return Past(nest, None)
    return Past(nest, copy.src, copy.key[1], nest.guards(scope))


def _lanes(nest: Nest, copy: Copy, scope: Scope) -> int:
    """Widest vector of a copy: contiguous on both sides, and proven aligned (GPU) at every start."""
    dst, src = copy.dst, copy.src
    assert dst.axes is not None
    k = len(dst.axes) - 1
    if k < 0 or (src.axes is not None and src.axes[k].packed) or dst.axes[k].packed:
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


def _aligned(nest: Nest, copy: Copy, n: int, scope: Scope) -> bool:
    dst, src = copy.dst, copy.src
    assert dst.axes is not None
    k = len(dst.axes) - 1
    if dst.axes[k].extent % n:
        return False
    inside = in_bounds(nest, copy, (Const(0, I32),) * (k + 1), scope) is None
    if nest.cpu:
        return inside
    # with aligned starts, an edge at a multiple has each vector on one side
    if not inside and (src.axes[k].extent if src.axes else nest.buffers[copy.staging.buffer].shape[k]) % n:
        return False
    if copy.offset and copy.offset[k] % n:
        return False
    low = dst.axes[k].low
    if src.axes is not None:
        low = src.axes[k].local(low)
    fixed = {v: Affine((), c) for v, c in scope.fixed.items()}
    low = low.substitute(fixed)
    starts = [low.const, *(c for _, c in low.terms)]
    rows = [*dst.buf.strides[:-1], *src.buf.strides[:-1]]
    return all(x % n == 0 for x in (*starts, *rows))


# -- all threads of the block ------------------------------------------------------------------


def _cooperative(nest: Nest, copy: Copy, scope: Scope) -> list[Stmt]:
    """Elements in source order, `lanes` at a time, dealt to the block's threads."""
    counts, width, lanes = copy_shape(nest, copy, scope)
    dealt = deal(nest, counts, f"c_{copy.staging.buffer}")
    coordinates = list(dealt.coordinates)
    if width > 1:
        coordinates[-1] = _times(coordinates[-1], width)
    if width > lanes:
        return wrap(dealt, _transposing(nest, copy, coordinates, width, scope))
    return wrap(dealt, [_move(nest, copy, coordinates, lanes, scope)])


def copy_shape(nest: Nest, copy: Copy, scope: Scope) -> tuple[list[int], int, int]:
    """(accesses per dim, elements a load, elements a store) of a copy that all threads share."""
    assert copy.dst.axes is not None
    shape = [a.extent for a in copy.dst.axes]
    lanes = _lanes(nest, copy, scope)
    gather = _gather_lanes(nest, copy, scope) if lanes == 1 and copy.staging.engine == Engine.PLAIN else 1
    width = max(lanes, gather)
    return ([*shape[:-1], shape[-1] // width] if shape else []), width, lanes


def _times(e: Expr, n: int) -> Expr:
    return Const(e.value * n, I32) if isinstance(e, Const) else Binary("*", e, Const(n, I32), I32)


def _gather_lanes(nest: Nest, copy: Copy, scope: Scope) -> int:
    """Vector width of the loads of a transposing copy, whose stores go one by one."""
    if copy.dst.buf.strides[-1] == 1 or copy.src.buf.space is not Space.DM or not copy.dst.axes:
        return 1
    straight = replace(
        copy.dst.buf, strides=strides_for(copy.dst.buf.shape, tuple(range(len(copy.dst.buf.shape))))
    )
    shadow = replace(
        copy, dst=replace(copy.dst, buf=replace(straight, strides=(*(0,) * (len(straight.shape) - 1), 1)))
    )
    return _lanes(nest, shadow, scope)


def _transposing(nest: Nest, copy: Copy, coordinates: list[Expr], lanes: int, scope: Scope) -> list[Stmt]:
    """A vector load into registers, then one store an element."""
    held = Buf(
        nest.fresh(f"{copy.staging.buffer}_row"), Space.RM, copy.dst.buf.dtype, (lanes,), (1,), align=16
    )
    dst, src = addresses(nest, copy, coordinates, scope)
    pred = in_bounds(nest, copy, src, scope)
    zero = (Const(0, I32),)
    out: list[Stmt] = [
        Alloc(held),
        Move(held.name, zero, copy.src.buf.name, src, lanes, Engine.PLAIN, copy.staging.cache, pred),
    ]
    var = nest.fresh("lane")
    last = Binary("+", dst[-1], Var(var), I32)
    store = Move(copy.dst.buf.name, (*dst[:-1], last), held.name, (Var(var),))
    out.append(For(var, Const(0, I32), Const(lanes, I32), Const(1, I32), (store,), ForKind.UNROLL))
    return out
