"""Stagings: copies of an input's part into shared memory or registers.

Shared memory is filled by all threads of the block together: the part's elements are dealt to threads in the
order of the source, so that neighbours read neighbours, as wide as alignment and contiguity are proven.
Registers are filled by each thread for itself.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from mdh.decompose.multicast import sharing_of
from mdh.hardware import Engine, Space
from mdh.ir.affine import Affine
from mdh.ir.construct import (
    ZERO,
    add,
    loop,
    scaled,
    sub,
)
from mdh.ir.expr import Const, Expr, Var
from mdh.ir.kernel import Alloc, Buf, ForKind, Let, Move, Stmt, Store
from mdh.ir.layout import row_major
from mdh.ir.plan import Staging
from mdh.ir.program import DimKind
from mdh.ir.tile import BOX_LINE
from mdh.ir.tile import Copy as Node
from mdh.lower.deal import deal, wrap
from mdh.lower.nest import Nest, dm_buf
from mdh.lower.open_edges import clamped
from mdh.lower.scope import Instance, Scope, whole
from mdh.lower.staged_copy import VECTOR_BYTES, StagedCopy, addresses, in_bounds, lanes_of

WORDS = (4, 8, 16)
"""Bytes that one instruction moves."""


def plan_copies(nest: Nest, number: int, scope: Scope, *, pipelined: bool = False) -> list[StagedCopy]:
    """The copies of the step with this number, and the instances they make: one for each copy of the tile
    tree. pipelined: the instances have all of their slots."""
    out = []
    count: Counter[tuple[str, Space]] = Counter()
    for node in nest.tiles.copies:
        if node.step == number:
            place = (node.tile.buffer, node.tile.space)
            count[place] += 1
            staging = next(s for s in nest.plan.steps[number].stagings if (s.buffer, s.region) == place)
            if node.tile.buffer in nest.states:
                state = nest.states[node.tile.buffer]
                out.append(StagedCopy(staging, (node.tile.buffer, node.linear), state, state))
                continue
            slots = node.tile.slots if pipelined else 1
            out.append(_copy(nest, node, staging, scope, slots, count[place]))
    return out


def _copy(nest: Nest, node: Node, staging: Staging, scope: Scope, slots: int, number: int) -> StagedCopy:
    """number: among the copies of the buffer at this place, which are told apart by it."""
    tile = node.tile
    key = (tile.buffer, node.linear)
    dtype = nest.buffers[tile.buffer].dtype
    src = scope.live.get(key) or whole(dm_buf(nest.buffers[tile.buffer], readonly=True))
    shape, strides = tile.shape, tile.strides
    if tile.span:
        shape = (shape[-1] // tile.span, *shape[:-1], tile.span)
        strides = row_major(shape)
    if slots > 1:
        shape = (slots, *shape)
        strides = (tile.bytes // tile.slots // dtype.bytes, *strides)
    if tile.space is not Space.SM:
        buf = Buf(nest.fresh(f"{tile.buffer}_RM"), tile.space, dtype, shape, strides, align=VECTOR_BYTES)
        return StagedCopy(staging, key, Instance(buf, tile.axes), src)
    # copies of copies in shared memory (packing at two levels) have names of their own
    alike = [n for n in nest.tiles.copies if (n.step, n.tile.buffer) == (node.step, tile.buffer)]
    again = "" if src.buf.space is not Space.SM else "2" if len(alike) == 1 else "_again"
    suffix = f"{number if number > 1 else ''}{again}"
    stage = f"_{nest.stage.name}" if nest.within else ""
    name = f"{tile.buffer}{stage}_SM{suffix}"
    piped = nest.declarations.with_slots(name, shape, strides) if slots == 1 else None
    if piped is not None:
        # the last, shorter part of a pipelined loop goes through the pipeline's first slot
        return StagedCopy(staging, key, Instance(piped, tile.axes, Affine()), src)
    boxed = staging.engine is Engine.TMA
    align = BOX_LINE * (tile.swizzle or VECTOR_BYTES) if boxed else VECTOR_BYTES
    buf = Buf(name, tile.space, dtype, shape, strides, align=align, swizzle=tile.swizzle)
    instance = Instance(nest.declare(buf), tile.axes, span=tile.span)
    sharing = sharing_of(nest.plan, nest.tiles, node) if staging.multicast else None
    return StagedCopy(staging, key, instance, src, boxes=tile.boxes if boxed else None, sharing=sharing)


def emit_copy(nest: Nest, copy: StagedCopy, scope: Scope) -> list[Stmt]:
    """Statements that fill the instance; the live instances of `scope` are those outside the copy."""
    if copy.dst.buf.space is Space.SM and not nest.cpu and nest.threads > 1:
        return _cooperative(nest, copy, scope)
    return _private(nest, copy, scope)


# -- one thread --------------------------------------------------------------------------------


def _private(nest: Nest, copy: StagedCopy, scope: Scope) -> list[Stmt]:
    """A loop nest over the instance's coordinates, in the order of its storage, unrolled for registers."""
    plain = nest.cpu and copy.dst.buf.space is Space.SM and copy.dst.slot is None and not copy.offset
    cut = _cut_by_open(nest, copy, scope) if plain else None
    if cut is not None:
        return _ended(nest, copy, cut, scope)
    names, shape = _coordinates(nest, copy)
    return _loops(nest, copy, scope, names, dict(enumerate(shape)))


def _coordinates(nest: Nest, copy: StagedCopy) -> tuple[list[str], tuple[int, ...]]:
    """(variables, extents) of a copy's coordinates."""
    shape = tuple(a.extent for a in copy.dst.axes)
    return [nest.fresh(f"c_{copy.staging.buffer}{k}") for k in range(len(shape))], shape


def _cut_by_open(nest: Nest, copy: StagedCopy, scope: Scope) -> int | None:
    """The only dim along which the copy may leave its source, if an open size ends that, and rows of the
    copy are whole."""
    cuts = [
        k
        for k, known in enumerate(copy.src.buf.open[: len(copy.dst.axes) - 1])
        if known is not None and copy.dst.axes[k].pace == 1 and not copy.dst.axes[k].packed
    ]
    for k in cuts:
        ended = replace(copy, ended=k)
        where = (ZERO,) * len(copy.dst.axes)
        if in_bounds(nest, copy, where, scope)[0] is not None:
            return k if in_bounds(nest, ended, where, scope)[0] is None else None
    return None


def _ended(nest: Nest, copy: StagedCopy, cut: int, scope: Scope) -> list[Stmt]:
    """The copy up to where the array ends along `cut`, and zeros behind it. None read those along a reduced
    dimension, whose loops end there, too: they are left out."""
    axis, known = copy.dst.axes[cut], copy.src.buf.open[cut]
    assert known is not None
    low = nest.expr(axis.low, scope)
    rows = nest.fresh(f"rows_{copy.staging.buffer}")
    let = Let(rows, clamped(sub(known.expr, low), axis.extent))
    names, shape = _coordinates(nest, copy)
    inside = _loops(nest, replace(copy, ended=cut), scope, names, {**dict(enumerate(shape)), cut: Var(rows)})
    named = copy.key[1][cut].names
    if all(n.isdecimal() and nest.stage.dims[int(n)].kind is DimKind.PW for n in named):
        return [let, *inside]
    more, _ = _coordinates(nest, copy)
    index = tuple(
        Var(n) if extent > 1 or k == cut else ZERO
        for k, (n, extent) in enumerate(zip(more, shape, strict=True))
    )
    body: tuple[Stmt, ...] = (Store(copy.dst.buf.name, index, Const(0, copy.dst.buf.dtype)),)
    for k in reversed(_storage_order(copy)):
        if k == cut:
            body = (loop(more[k], shape[k], body, start=Var(rows)),)
        elif shape[k] > 1:
            body = (loop(more[k], shape[k], body),)
    return [let, *inside, *body]


def _storage_order(copy: StagedCopy) -> list[int]:
    dst, rank = copy.dst.buf, len(copy.dst.axes)
    return sorted(range(rank), key=lambda k: -dst.strides[k + len(dst.shape) - rank])


def _loops(
    nest: Nest, copy: StagedCopy, scope: Scope, names: list[str], stops: Mapping[int, Expr | int]
) -> list[Stmt]:
    """Loops over the coordinates up to `stops`."""
    dst = copy.dst.buf
    kind = ForKind.UNROLL if dst.space is Space.RM else ForKind.SEQ
    lanes = lanes_of(nest, copy, scope)
    coordinates: list[Expr] = [Var(name) if stops[k] != 1 else ZERO for k, name in enumerate(names)]
    body: tuple[Stmt, ...] = (_move(nest, copy, coordinates, lanes, scope),)
    for k in reversed(_storage_order(copy)):
        if stops[k] == 1:
            continue
        step = lanes if k == len(names) - 1 else 1
        if step == stops[k]:
            body = (Let(names[k], ZERO), *body)
        else:
            body = (loop(names[k], stops[k], body, kind, step=step),)
    return list(body)


def _move(nest: Nest, copy: StagedCopy, coordinates: list[Expr], lanes: int, scope: Scope) -> Stmt:
    """dst[coordinates] = the program element there, zero where it is outside of the buffer."""
    dst_index, src_index = addresses(nest, copy, coordinates, scope)
    pred, slack = in_bounds(nest, copy, src_index, scope)
    nest.declarations.extend(slack)
    return Move(
        copy.dst.buf.name, dst_index, copy.src.buf.name, src_index, lanes,
        copy.staging.engine, copy.staging.cache, pred, exact=copy.staging.vec is not None,
    )  # fmt: skip


# -- all threads of the block ------------------------------------------------------------------


def _cooperative(nest: Nest, copy: StagedCopy, scope: Scope) -> list[Stmt]:
    """Elements in source order, `lanes` at a time, dealt to the block's threads."""
    counts, width, lanes = copy_shape(nest, copy, scope)
    dealt = deal(nest, counts, f"c_{copy.staging.buffer}")
    coordinates = list(dealt.coordinates)
    if max(width, lanes) > 1:
        coordinates[-1] = scaled(coordinates[-1], max(width, lanes))
    if width < lanes:
        return wrap(dealt, _gathering(nest, copy, coordinates, lanes, scope))
    if width > lanes:
        return wrap(dealt, _transposing(nest, copy, coordinates, width, scope))
    return wrap(dealt, [_move(nest, copy, coordinates, lanes, scope)])


def copy_shape(nest: Nest, copy: StagedCopy, scope: Scope) -> tuple[list[int], int, int]:
    """(accesses per dim, elements a load, elements a store) of a copy that all threads share."""
    shape = [a.extent for a in copy.dst.axes]
    width = lanes = lanes_of(nest, copy, scope)
    if lanes == 1 and copy.staging.engine == Engine.PLAIN:
        width = _gather_lanes(nest, copy, scope)
        lanes = _short_row(copy) if width == 1 else 1
    together = max(width, lanes)
    return ([*shape[:-1], shape[-1] // together] if shape else []), width, lanes


def _short_row(copy: StagedCopy) -> int:
    """Elements of a row of the copy that one access stores as a whole, such as the few channels of an image;
    1: none. They are loaded one by one, as they begin anywhere."""
    dst, vec = copy.dst, copy.staging.vec
    if not dst.axes or dst.axes[-1].packed or dst.buf.strides[-1] != 1 or vec is not None:
        return 1
    row = dst.axes[-1].extent
    whole = row * dst.buf.dtype.bytes in WORDS and not any(n % row for n in dst.buf.strides[:-1])
    return row if whole else 1


def _gather_lanes(nest: Nest, copy: StagedCopy, scope: Scope) -> int:
    """Vector width of the loads of a transposing copy, whose stores go one by one."""
    if copy.dst.buf.strides[-1] == 1 or copy.src.buf.space is not Space.DM or not copy.dst.axes:
        return 1
    dst = copy.dst
    row = replace(dst.buf, strides=(*(0,) * (len(dst.buf.shape) - 1), 1))
    return lanes_of(nest, replace(copy, dst=replace(dst, buf=row)), scope)


def _gathering(nest: Nest, copy: StagedCopy, coordinates: list[Expr], lanes: int, scope: Scope) -> list[Stmt]:
    """One load an element into registers, then a vector store."""
    name, var = nest.fresh(f"{copy.staging.buffer}_row"), nest.fresh("lane")
    held = Buf(name, Space.RM, copy.dst.buf.dtype, (lanes,), (1,), align=VECTOR_BYTES)
    dst, _ = addresses(nest, copy, coordinates, scope)
    _, src = addresses(nest, copy, [*coordinates[:-1], shifted_by(coordinates[-1], var)], scope)
    pred, _ = in_bounds(nest, copy, src, scope)
    load = Move(held.name, (Var(var),), copy.src.buf.name, src, 1, Engine.PLAIN, copy.staging.cache, pred)
    every = loop(var, lanes, (load,), ForKind.UNROLL)
    return [Alloc(held), every, Move(copy.dst.buf.name, dst, held.name, (ZERO,), lanes)]


def shifted_by(e: Expr, var: str) -> Expr:
    """e + var."""
    return Var(var) if e == ZERO else add(e, Var(var))


def _transposing(
    nest: Nest, copy: StagedCopy, coordinates: list[Expr], lanes: int, scope: Scope
) -> list[Stmt]:
    """A vector load into registers, then one store an element."""
    name = nest.fresh(f"{copy.staging.buffer}_row")
    held = Buf(name, Space.RM, copy.dst.buf.dtype, (lanes,), (1,), align=VECTOR_BYTES)
    dst, src = addresses(nest, copy, coordinates, scope)
    pred, _ = in_bounds(nest, copy, src, scope)
    zero = (ZERO,)
    out: list[Stmt] = [
        Alloc(held),
        Move(held.name, zero, copy.src.buf.name, src, lanes, Engine.PLAIN, copy.staging.cache, pred),
    ]
    var = nest.fresh("lane")
    store = Move(copy.dst.buf.name, (*dst[:-1], add(dst[-1], Var(var))), held.name, (Var(var),))
    return [*out, loop(var, lanes, (store,), ForKind.UNROLL)]
