"""Wide accesses on GPUs: unrolled loops over contiguous elements load and store 2 or 4 elements at once.

Requires: VEC loops already turned into unrolled ones; buffers with proven alignment (`Buf.align`).
Guarantees: every widened access is contiguous and aligned for every value of the surrounding
variables. Scalar code between the accesses is unchanged, it works on rows held in registers. A guard around
the body becomes one a vector, where it is proven to say the same of all elements: an edge at a multiple of
the width has each aligned vector on one side.
"""

from collections.abc import Iterator
from dataclasses import replace

from mdh.hardware import CacheHint, Engine, Space
from mdh.ir.affine import Affine, from_expr, offset
from mdh.ir.dtype import I32
from mdh.ir.expr import (
    Binary,
    Const,
    Expr,
    Load,
    Select,
    Var,
    children,
    loads,
    map_children,
    substitute,
    walk,
)
from mdh.ir.kernel import Alloc, Buf, Comment, For, ForKind, If, Let, Move, Stmt, Store
from mdh.ir.names import fresh
from mdh.ir.walk import (
    BufferElement,
    allocated,
    expressions,
    loaded,
    map_expressions,
    statements,
    stored,
    with_bodies,
)
from mdh.lower.passes.simplify import fold

MOST_TRIPS = 64
MOST_LANES = 8
WIDEST = 16
"""Bytes of the widest access of a thread."""


def widen(
    body: tuple[Stmt, ...], bufs: dict[str, Buf], names: set[str], guarded: frozenset[str] = frozenset()
) -> tuple[Stmt, ...]:
    """`bufs`: DM and SM buffers by name; `names`: names in use, new ones are added; `guarded`: buffers that
    are read beyond their ends but for the conditions around the reads."""
    return _walk(body, {**bufs, **allocated(body)}, names, guarded)


def _walk(
    body: tuple[Stmt, ...], bufs: dict[str, Buf], names: set[str], guarded: frozenset[str]
) -> tuple[Stmt, ...]:
    out: list[Stmt] = []
    for s in body:
        if isinstance(s, For) and s.kind is ForKind.UNROLL and s.factor == 0:
            # a step's comment inside ends a search for wide loads, not one for the stores that it asks for
            asked = any(isinstance(t, Store) and t.vec for t in statements(s.body))
            said = [t for t in s.body if isinstance(t, Comment)] if asked else []
            plain = replace(s, body=tuple(t for t in s.body if t not in said))
            new = wide_loop(plain, bufs, names, guarded)
            if new is not None:
                out.extend((*said, *new))
                continue
        out.append(with_bodies(s, lambda b: _walk(b, bufs, names, guarded)))
    return tuple(out)


def wide_loop(
    loop: For, bufs: dict[str, Buf], names: set[str], guarded: frozenset[str] = frozenset()
) -> list[Stmt] | None:
    """An unrolled loop with wide accesses, None where it has none. guarded: as of `widen`."""
    n = _trips(loop)
    if not n:
        return None
    match loop.body:
        case (If(cond, then, ()),) if _simple(then) and not any(loads(cond)):
            most = _same_side(cond, loop.var, n)
            new = _widened(replace(loop, body=then), n, bufs, names, guarded, most) if most > 1 else None
            return None if new is None else _behind(cond, loop.var, new)
        case body if _simple(body):
            return _widened(loop, n, bufs, names, guarded)
    return None


def _same_side(cond: Expr, var: str, n: int) -> int:
    """Elements of the widest vectors of which the condition says the same, at every start of a loop of n."""
    lanes = WIDEST
    while lanes > 1 and not (n % lanes == 0 and _one_answer(cond, var, n, lanes)):
        lanes //= 2
    return lanes


def _one_answer(cond: Expr, var: str, n: int, lanes: int) -> bool:
    match cond:
        case Binary("&&", a, b, _):
            return _one_answer(a, var, n, lanes) and _one_answer(b, var, n, lanes)
        case Binary("<" | ">=", e, Const(int() as bound), _):
            past = [_affine(substitute(e, {var: Const(k, I32)})).shift(-bound) for k in range(n)]
            vectors = [past[k : k + lanes] for k in range(0, n, lanes)]
            return all(_run(v, lanes) or all(x == v[0] for x in v) for v in vectors)
    return all(x != Var(var, x.dtype) for x in walk(cond) if isinstance(x, Var))


def _behind(cond: Expr, var: str, new: list[Stmt]) -> list[Stmt]:
    """A widened loop, or what is left of one that is a single vector, with its guard."""
    match new:
        case [For() as loop] if loop.var == var:
            return [replace(loop, body=(If(cond, loop.body),))]
    return [If(fold(substitute(cond, {var: Const(0, I32)})), tuple(new))]


def _trips(s: For) -> int:
    match s.start, s.stop, s.step:
        case Const(0), Const(n), Const(1) if isinstance(n, int) and 2 <= n <= MOST_TRIPS:
            return n
    return 0


def _simple(body: tuple[Stmt, ...]) -> bool:
    """Scalar statements only: no branches, loops, atomics."""
    return all(map(_scalar, body))


def _scalar(s: Stmt) -> bool:
    match s:
        case Let() | Store(lanes=1) | Move(lanes=1, pred=None, engine=Engine.PLAIN, exact=False):
            return True
    return False


def _widened(
    loop: For, n: int, bufs: dict[str, Buf], names: set[str], guarded: frozenset[str], most: int = WIDEST
) -> list[Stmt] | None:
    """The loop over scalar statements with accesses of `most` elements at most. A row is read before any
    condition inside of a value is asked."""
    surely = set(_surely(loop.body))
    reads = [a for a in _reads(loop.body) if _memory(bufs, a)]
    reads = [a for a in reads if a.buffer not in guarded or a in surely]
    stores = [a for a in _writes(loop.body) if _memory(bufs, a)]
    if {a.buffer for a in reads} & {a.buffer for a in stores}:
        reads = []
    stated = {BufferElement(s.buffer, s.index): s.vec for s in loop.body if isinstance(s, Store) and s.vec}
    wide: dict[BufferElement, int] = {}
    for a in (*reads, *stores):
        lanes = _lanes(a, bufs[a.buffer], loop.var, n, min(most, stated.get(a, MOST_LANES)))
        if lanes > 1:
            wide[a] = lanes
    if asked := [lanes for a, lanes in wide.items() if a in stated]:
        wide = {a: lanes for a, lanes in wide.items() if lanes >= max(asked)}
        wide = dict.fromkeys(wide, max(asked))
    if not wide:
        return None
    lanes = min(wide.values())
    if _only_registers_move(loop, n, lanes, wide, bufs):
        return _moves(loop, n, lanes)
    return _rows(loop, n, lanes, wide, bufs, names)


def _memory(bufs: dict[str, Buf], a: BufferElement) -> bool:
    buf = bufs.get(a.buffer)
    return buf is not None and buf.space is not Space.RM and buf.lanes == 1 and not buf.volatile


def _reads(body: tuple[Stmt, ...]) -> list[BufferElement]:
    return list(dict.fromkeys(a for s in body for a in loaded(s)))


def _surely(body: tuple[Stmt, ...]) -> Iterator[BufferElement]:
    """What statements read whatever the conditions inside of their values say."""
    for s in body:
        if isinstance(s, Move):
            yield BufferElement(s.src, s.src_index)
        for e in expressions(s):
            yield from _outside_conditions(e)


def _outside_conditions(e: Expr) -> Iterator[BufferElement]:
    match e:
        case Select(cond, _, _, _):
            yield from _outside_conditions(cond)
        case Binary("&&" | "||", first, _, _):
            yield from _outside_conditions(first)
        case _:
            if isinstance(e, Load):
                yield BufferElement(e.buffer, e.index)
            for child in children(e):
                yield from _outside_conditions(child)


def _writes(body: tuple[Stmt, ...]) -> list[BufferElement]:
    return [a for s in body for a in stored(s)]


def _lanes(a: BufferElement, buf: Buf, var: str, n: int, most: int) -> int:
    """Widest access: neighbours in the loop are neighbours in memory, and every start is aligned."""
    flat = [_flat(a, buf, var, k) for k in range(n)]
    lanes = max(1, min(WIDEST // buf.dtype.bytes, most, buf.align // buf.dtype.bytes))
    while lanes > 1:
        if n % lanes == 0 and all(_run(flat[k : k + lanes], lanes) for k in range(0, n, lanes)):
            return lanes
        lanes //= 2
    return 1


def _run(flat: list[Affine], lanes: int) -> bool:
    first = flat[0]
    if any(x != first.shift(i) for i, x in enumerate(flat)):
        return False
    return first.divided(lanes) is not None


def _flat(a: BufferElement, buf: Buf, var: str, k: int) -> Affine:
    """Element offset with the loop variable at k; what is not affine counts as a variable of its own."""
    value: dict[str, Expr] = {var: Const(k, I32)}
    return offset([_affine(substitute(i, value)) for i in a.index], buf.strides)


def _affine(e: Expr) -> Affine:
    whole = from_expr(e)
    if whole is not None:
        return whole
    match e:
        case Binary("+", x, y, _):
            return _affine(x) + _affine(y)
        case Binary("-", x, y, _):
            return _affine(x) + _affine(y).scale(-1)
        case Binary("*", x, Const(c, _), _) if isinstance(c, int):
            return _affine(x).scale(c)
        case Binary("/" | "%" as op, Const(p, _), Const(q, _), _) if isinstance(p, int) and isinstance(
            q, int
        ):
            return Affine((), p // q if op == "/" else p % q)
    return Affine.var(repr(e))


def _only_registers_move(
    loop: For, n: int, lanes: int, wide: dict[BufferElement, int], bufs: dict[str, Buf]
) -> bool:
    """One copy between memory and an aligned register array in the same order: no row is needed."""
    match loop.body:
        case (Move(dst, dst_index, src, src_index),):
            both = BufferElement(dst, dst_index), BufferElement(src, src_index)
        case (Store(dst, dst_index, Load(src, src_index, t, 1), 1),) if t == bufs[dst].dtype:
            both = BufferElement(dst, dst_index), BufferElement(src, src_index)
        case _:
            return False
    return all(a in wide or _register_run(loop, n, lanes, a, bufs) for a in both)


def _register_run(loop: For, n: int, lanes: int, a: BufferElement, bufs: dict[str, Buf]) -> bool:
    buf = bufs[a.buffer]
    if buf.space is not Space.RM or buf.align < WIDEST or buf.lanes != 1:
        return False
    flat = [_flat(a, buf, loop.var, k) for k in range(n)]
    return all(_run(flat[k : k + lanes], lanes) for k in range(0, n, lanes))


def _moves(loop: For, n: int, lanes: int) -> list[Stmt]:
    s = loop.body[0]
    if isinstance(s, Store):
        assert isinstance(s.value, Load)
        s = Move(s.buffer, s.index, s.value.buffer, s.value.index, 1, Engine.PLAIN, s.cache)
    assert isinstance(s, Move)
    return _stepped(loop, n, lanes, (replace(s, lanes=lanes),))


def _stepped(loop: For, n: int, lanes: int, body: tuple[Stmt, ...]) -> list[Stmt]:
    if n == lanes:
        zero: dict[str, Expr] = {loop.var: Const(0, I32)}
        return [map_expressions(s, lambda e: substitute(e, zero)) for s in body]
    return [replace(loop, step=Const(lanes, I32), body=body)]


def _rows(
    loop: For, n: int, lanes: int, wide: dict[BufferElement, int], bufs: dict[str, Buf], names: set[str]
) -> list[Stmt]:
    """Rows in registers before and after an unrolled loop over the lanes."""
    lane = fresh("lane", names)
    rows = {
        a: Buf(fresh(f"{a.buffer}_row", names), Space.RM, bufs[a.buffer].dtype, (lanes,), (1,), align=WIDEST)
        for a in wide
    }
    zero = (Const(0, I32),)
    read, written = _reads(loop.body), _writes(loop.body)
    before: list[Stmt] = [Alloc(r) for r in rows.values()]
    for a, row in rows.items():
        if a in read:
            before.append(Move(row.name, zero, a.buffer, a.index, lanes, cache=_read_cache(loop.body, a)))
    inner = tuple(_on_rows(s, rows, loop.var, lane) for s in loop.body)
    after = [
        Move(a.buffer, a.index, row.name, zero, lanes, cache=_cache(loop.body, a))
        for a, row in rows.items()
        if a in written
    ]
    turn = For(lane, Const(0, I32), Const(lanes, I32), Const(1, I32), inner, ForKind.UNROLL)
    return [replace(loop, step=Const(lanes, I32), body=(*before, turn, *after))]


def _read_cache(body: tuple[Stmt, ...], a: BufferElement) -> CacheHint:
    moves = (s for s in body if isinstance(s, Move) and BufferElement(s.src, s.src_index) == a)
    return next((s.cache for s in moves), CacheHint.DEFAULT)


def _cache(body: tuple[Stmt, ...], a: BufferElement) -> CacheHint:
    return next((s.cache for s in body if isinstance(s, Store) and s.buffer == a.buffer), CacheHint.DEFAULT)


def _on_rows(s: Stmt, rows: dict[BufferElement, Buf], var: str, lane: str) -> Stmt:
    """The statement of one lane, whose wide accesses are to rows."""
    at = (Var(lane),)

    def swap(e: Expr) -> Expr:
        match e:
            case Load(buffer, index, dtype) if (row := rows.get(BufferElement(buffer, index))) is not None:
                return Load(row.name, at, dtype)
            case Var(name) if name == var:
                return Binary("+", Var(var), Var(lane), I32)
        return map_children(e, swap)

    target = next((rows[a] for a in stored(s) if a in rows), None)
    if isinstance(s, Move) and (row := rows.get(BufferElement(s.src, s.src_index))) is not None:
        s = replace(s, src=row.name, src_index=at)
    s = map_expressions(s, swap)
    match s:
        case Store() if target is not None:
            return replace(s, buffer=target.name, index=at, cache=CacheHint.DEFAULT)
        case Move() if target is not None:
            return replace(s, dst=target.name, dst_index=at)
    return s
