"""Vector lanes: a VEC loop becomes statements on vectors (OpenCL on a CPU), or an unrolled loop.

Requires: VEC loops contain no loops and no barriers; their variable has coefficient 0 or 1 in the address of
what it vectorises. Guarantees: no VEC loop is left. Register buffers whose every access is a whole vector
become arrays of vectors, which the compiler keeps in vector registers.
"""

from dataclasses import dataclass, replace

from mdh.hardware import Space
from mdh.ir.affine import Affine, from_expr, offset, to_expr
from mdh.ir.dtype import I32, NARROW
from mdh.ir.expr import (
    COMPARISONS,
    Binary,
    Call,
    Cast,
    Const,
    Expr,
    Load,
    Select,
    Unary,
    Var,
    substitute,
    walk,
)
from mdh.ir.intrinsic import Intrinsic
from mdh.ir.kernel import Alloc, Buf, Comment, For, ForKind, If, Let, Stmt, Store
from mdh.ir.names import unused
from mdh.ir.walk import allocated, bodies, loaded, reads, rewritten, statements, stored, with_bodies, writes
from mdh.lower.passes.some_lanes import NotVector, some_lanes

CALLED = 32
"""Bytes. How wider vectors are handed to a function depends on what both sides were compiled for: PoCL's
library and kernels disagree, with wrong results."""


def vectorise(
    body: tuple[Stmt, ...], bufs: dict[str, Buf], names: set[str], *, wide: bool, guarded: frozenset[str]
) -> tuple[Stmt, ...]:
    """Replace VEC loops.

    `bufs`: every DM and SM buffer by name; `names`: those in use; `wide`: the target has vector types;
    `guarded`: buffers that are read beyond their ends but for the conditions around the reads.
    """
    if not wide:
        return rewritten(body, _scalar)
    held = {n: b for n, b in allocated(body).items() if b.space is Space.RM}
    kernel = _Kernel({**bufs, **held}, _candidates(body, held), names, guarded)
    while bad := _failures(body, kernel):
        kernel = replace(kernel, vectors={n: k for n, k in kernel.vectors.items() if n not in bad})
    return _rewrite(body, kernel)


@dataclass(frozen=True, slots=True)
class _Kernel:
    """vectors: the register buffers that are arrays of vectors, with the lanes of one."""

    bufs: dict[str, Buf]
    vectors: dict[str, int]
    names: set[str]
    guarded: frozenset[str]


def _scalar(s: Stmt) -> Stmt:
    return replace(s, kind=ForKind.UNROLL) if isinstance(s, For) and s.kind is ForKind.VEC else s


def _candidates(body: tuple[Stmt, ...], held: dict[str, Buf]) -> dict[str, int]:
    """Register buffers that a VEC loop indexes, with the loop's lane count; scalar accesses rule one out."""
    found: dict[str, int] = {}
    for s in statements(body):
        if isinstance(s, For) and s.kind is ForKind.VEC and isinstance(s.stop, Const):
            for name in _touched(s.body):
                if name in held and _varies(s, name):
                    # loops over fewer lanes read some of those of a vector, if they do so at all
                    found[name] = max(int(s.stop.value), found.get(name, 0))
    outside = _outside(body)
    return {n: k for n, k in found.items() if k > 1 and n not in outside}


def _touched(body: tuple[Stmt, ...]) -> set[str]:
    out: set[str] = set()
    for s in statements(body):
        out |= reads(s) | writes(s)
    return out


def _varies(loop: For, name: str) -> bool:
    """The loop's variable is in an index of the buffer."""
    found = (a for s in statements(loop.body) for a in (*loaded(s), *stored(s)) if a.buffer == name)
    return any(isinstance(n, Var) and n.name == loop.var for a in found for i in a.index for n in walk(i))


def _outside(body: tuple[Stmt, ...]) -> set[str]:
    """Buffers accessed by statements that are in no VEC loop."""
    out: set[str] = set()
    for s in body:
        if isinstance(s, For) and s.kind is ForKind.VEC:
            continue
        inner = bodies(s)
        out |= {n for b in inner for n in _outside(b)} if inner else _touched((s,))
    return out


def _failures(body: tuple[Stmt, ...], kernel: _Kernel) -> set[str]:
    """Vector buffers that some VEC loop would have to access lane by lane."""
    bad: set[str] = set()
    for s in statements(body):
        if isinstance(s, For) and s.kind is ForKind.VEC:
            try:
                _replaced(s, kernel)
            except NotVector:
                bad |= _touched(s.body) & kernel.vectors.keys()
    return bad


def _rewrite(body: tuple[Stmt, ...], kernel: _Kernel) -> tuple[Stmt, ...]:
    out: list[Stmt] = []
    for s in body:
        match s:
            case Alloc(buf, init) if buf.name in kernel.vectors:
                out.append(Alloc(_vector_buf(buf, kernel.vectors[buf.name]), init))
            case For(kind=ForKind.VEC):
                try:
                    out.extend(_replaced(s, kernel))
                except NotVector:
                    out.append(replace(s, kind=ForKind.UNROLL))
            case _:
                out.append(with_bodies(s, lambda b: _rewrite(b, kernel)))
    return tuple(out)


def _vector_buf(buf: Buf, n: int) -> Buf:
    """`buf` as an array of vectors, addressed by vector number in storage order."""
    return Buf(buf.name, buf.space, buf.dtype, (-(-buf.elements // n),), (1,), lanes=n)


# -- one VEC loop ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Loop:
    var: str
    lanes: int
    kernel: _Kernel


def _replaced(loop: For, kernel: _Kernel) -> tuple[Stmt, ...]:
    """What stands for the loop: statements on vectors, or on some lanes of wider ones."""
    assert isinstance(loop.stop, Const)
    n = int(loop.stop.value)
    if any(kernel.vectors.get(name, 0) > n for name in _touched(loop.body)):
        return some_lanes(loop, kernel.bufs, kernel.vectors)
    if n not in (2, 4, 8, 16):
        raise NotVector
    stores = sum(isinstance(s, Store) for s in statements(loop.body))
    return _statements(loop.body, _Loop(loop.var, n, kernel), {}, keep=stores > 1)


def _statements(
    body: tuple[Stmt, ...], loop: _Loop, lets: dict[str, Expr], *, keep: bool
) -> tuple[Stmt, ...]:
    """keep: locals are held in vectors, because stores between definition and use change memory."""
    out: list[Stmt] = []
    for s in body:
        match s:
            case Comment():
                out.append(s)
            case Let(name, value, dtype) if keep:
                new = _expr(substitute(value, lets), loop)
                fresh = unused(f"{name}_v", loop.kernel.names)
                row = Buf(fresh, Space.RM, dtype, (1,), (1,), lanes=loop.lanes)
                out.extend((Alloc(row), Store(row.name, (Const(0, I32),), new)))
                lets = {**lets, name: Load(row.name, (Const(0, I32),), dtype, loop.lanes)}
            case Let(name, value, _):
                lets = {**lets, name: substitute(value, lets)}
            case Store(buffer, index, value, 1, cache):
                value = substitute(value, lets)
                _, first = _address(loop, buffer, tuple(substitute(i, lets) for i in index), 1)
                new = _expr(value, loop)
                lanes = 1 if buffer in loop.kernel.vectors else loop.lanes
                out.append(Store(buffer, first, new, lanes, cache))
            case If(cond, then, orelse):
                cond = substitute(cond, lets)
                if _depends(cond, loop):
                    raise NotVector
                sides = (_statements(b, loop, lets, keep=keep) for b in (then, orelse))
                out.append(If(cond, *sides))
            case _:
                raise NotVector
    return tuple(out)


def _address(loop: _Loop, buffer: str, index: tuple[Expr, ...], want: int) -> tuple[int, tuple[Expr, ...]]:
    """(coefficient of the lane in the address, index of lane 0); refuses what is neither 0 nor 1."""
    buf = loop.kernel.bufs.get(buffer)
    if buf is None or buf.dtype in NARROW or buf.swizzle:
        raise NotVector
    coefficient = 0
    parts: list[Affine | None] = []
    for i, stride in zip(index, buf.strides, strict=True):
        aff = from_expr(i)
        parts.append(aff)
        if aff is None:
            if _depends(i, loop):
                raise NotVector
            continue
        coefficient += aff.coefficient(loop.var) * stride
    if coefficient not in (0, 1) or coefficient < want:
        raise NotVector
    zero: dict[str, Expr] = {loop.var: Const(0, Var("").dtype)}
    first = tuple(
        substitute(i, zero) if a is None else to_expr(a.substitute({loop.var: Affine()}))
        for i, a in zip(index, parts, strict=True)
    )
    if buffer in loop.kernel.vectors:
        if coefficient != 1:
            raise NotVector
        return coefficient, (_vector_number(loop, buf, parts),)
    return coefficient, first


def _vector_number(loop: _Loop, buf: Buf, parts: list[Affine | None]) -> Expr:
    index = [a for a in parts if a is not None]
    n = loop.kernel.vectors[buf.name]
    if len(index) < len(parts) or n != loop.lanes:
        raise NotVector
    number = offset(index, buf.strides).substitute({loop.var: Affine()}).divided(n)
    if number is None:
        raise NotVector
    return to_expr(number)


def _depends(e: Expr, loop: _Loop) -> bool:
    return any(
        (isinstance(n, Var) and n.name == loop.var)
        or (isinstance(n, Load) and (n.lanes > 1 or n.buffer in loop.kernel.vectors))
        for n in walk(e)
    )


def _conditional(e: Expr, loop: _Loop) -> bool:
    """A vector form would do for all lanes what C does only where a condition holds: divide integers by what
    may be 0, or read beyond an array."""
    for n in walk(e):
        match n:
            case Load(buffer) if buffer in loop.kernel.guarded:
                return True
            case Binary("/" | "%", _, right, dtype) if not dtype.is_float:
                if not (isinstance(right, Const) and right.value):
                    return True
    return False


def _expr(e: Expr, loop: _Loop, *, mask: bool = False) -> Expr:
    """The vector form of a value; lanes that do not depend on the lane variable stay scalar."""
    match e:
        case Const():
            return e
        case Var(name, dtype):
            return Call(Intrinsic.IOTA, (Const(loop.lanes, I32),), dtype) if name == loop.var else e
        case Load(lanes=n) if n > 1:
            return e
        case Load(buffer, index, dtype, _):
            coefficient, first = _address(loop, buffer, index, 0)
            return Load(buffer, first, dtype, loop.lanes if coefficient else 1)
        case Unary(op, arg, t):
            if op == "!" and not mask and _depends(e, loop):
                raise NotVector
            return Unary(op, _expr(arg, loop, mask=mask), t)
        case Binary(op, a, b, t):
            if op in COMPARISONS and not mask and _depends(e, loop):
                raise NotVector
            if op in ("<<", ">>") and not _shifts(a, b, loop):
                raise NotVector
            if op in ("&&", "||") and _conditional(b, loop):
                raise NotVector
            deeper = mask and op in ("&&", "||")
            return Binary(op, _expr(a, loop, mask=deeper), _expr(b, loop, mask=deeper), t)
        case Select(cond, then, other, t):
            if _conditional(then, loop) or _conditional(other, loop):
                raise NotVector
            if _depends(cond, loop) and not _mask_fits(cond, t.bits):
                raise NotVector
            return Select(_expr(cond, loop, mask=True), _expr(then, loop), _expr(other, loop), t)
        case Cast(arg, t):
            _fits_call(loop, e, (arg,))
            return Cast(_expr(arg, loop), t)
        case Call(fn, args, t):
            _fits_call(loop, e, args)
            return Call(fn, tuple(_expr(a, loop) for a in args), t)


def _shifts(a: Expr, by: Expr, loop: _Loop) -> bool:
    """OpenCL shifts no scalar by a vector, and PoCL not at all by counts of another width."""
    return not _depends(by, loop) or (_depends(a, loop) and by.dtype.bits == a.dtype.bits)


def _fits_call(loop: _Loop, result: Expr, args: tuple[Expr, ...]) -> None:
    """Built-in functions, conversions included, take and return vectors of at most CALLED bytes."""
    if any(v.dtype.bytes * loop.lanes > CALLED for v in (result, *args)) and _depends(result, loop):
        raise NotVector


def _mask_fits(cond: Expr, bits: int) -> bool:
    """Comparisons of operands as wide as what they select, joined by && || ! only."""
    match cond:
        case Binary("&&" | "||", a, b, _):
            return _mask_fits(a, bits) and _mask_fits(b, bits)
        case Unary("!", a, _):
            return _mask_fits(a, bits)
        case Binary(op, a, _, _) if op in COMPARISONS:
            return a.dtype.bits == bits
        case _:
            return False
