"""Division by a value that a loop does not change: its reciprocal is computed in front of the loop, once.

A division on a GPU is a dozen instructions and a branch, and compilers repeat them for every element. With
r = 1 / y correctly rounded, q = x * r and q + (x - q * y) * r is the correctly rounded quotient (Markstein,
"Computation of elementary functions on the IBM RISC System/6000 processor", 1990, theorem 8.1). That needs r
to be neither subnormal nor infinite, so a very small or large divisor is scaled by a power of two first. A
divisor below 1 is doubled: x * r may be a unit larger than the quotient, and infinite where that is not.

Requires: floats need not keep to the letter. Guarantees: the same quotients, infinities, zeros and NaN; the
last place may differ where x is so small that x - q * y is not exact (below 2^-100 in f32, 2^-960 in f64),
and where the quotient is subnormal.
"""

from collections.abc import Iterator
from dataclasses import replace

from mdh.hardware import Space
from mdh.ir.copy_engine import Await
from mdh.ir.dtype import F32, F64, DType
from mdh.ir.expr import Binary, Call, Const, Expr, Load, Select, Var, children, map_children, walk
from mdh.ir.intrinsic import OF_WARP, Intrinsic
from mdh.ir.kernel import AwaitKernels, Barrier, Buf, For, If, Let, Stmt, Wait, While
from mdh.ir.names import fresh
from mdh.ir.walk import (
    allocated,
    bodies,
    declared_by,
    expressions,
    map_expressions,
    statements,
    trips,
    with_bodies,
    writes,
)

FEWEST = 4
"""Divisions that a reciprocal must serve."""
SCALES = {F32: (2.0**100, 2.0**64), F64: (2.0**1000, 2.0**512)}
"""By type: the largest divisor that is not scaled, 1 / the smallest one; and what scales."""


def divide_by_reciprocals(body: tuple[Stmt, ...], bufs: dict[str, Buf], names: set[str]) -> tuple[Stmt, ...]:
    """bufs: of device and shared memory; names: in use, new ones are added."""
    return _walk(body, {**bufs, **allocated(body)}, names)


def _walk(body: tuple[Stmt, ...], bufs: dict[str, Buf], names: set[str]) -> tuple[Stmt, ...]:
    out: list[Stmt] = []
    for s in body:
        found = {d: _named(d, names) for d in _divisors(s, bufs)} if isinstance(s, For) else {}
        out.extend(let for lets in found.values() for let in lets)
        done = _replaced(s, found) if isinstance(s, For) and found else s
        out.append(with_bodies(done, lambda b: _walk(b, bufs, names)))
    return tuple(out)


def _divisors(loop: For, bufs: dict[str, Buf]) -> list[Expr]:
    """What the loop divides floats by often enough, and does not change."""
    inside = list(statements((loop,)))
    declared = {name for s in inside if (name := declared_by(s)) is not None}
    changed = writes(loop) | {n for s in inside for n in writes(s)}
    # others' writes arrive at these
    waits = any(isinstance(s, Barrier | Wait | Await | AwaitKernels | While) for s in inside)
    found: dict[Expr, None] = {}
    for divisor, often, surely in _divisions((loop,), 1, surely=True):
        parts = list(walk(divisor))
        fixed = not any(
            (isinstance(e, Var) and e.name in declared)
            or (isinstance(e, Load) and (e.buffer in declared or e.buffer in changed))
            or (isinstance(e, Call) and e.fn in OF_WARP)
            for e in parts
        )
        loads = [e for e in parts if isinstance(e, Load)]
        held = all(_held(e, bufs) for e in loads)
        if fixed and often >= FEWEST and (held or (surely and not waits)):
            found[divisor] = None
    return list(found)


def _held(e: Load, bufs: dict[str, Buf]) -> bool:
    """Whether the element is a register that is there wherever its array is."""
    buf = bufs.get(e.buffer)
    return buf is not None and buf.space is Space.RM and all(isinstance(i, Const) for i in e.index)


def _divisions(body: tuple[Stmt, ...], often: int, *, surely: bool) -> Iterator[tuple[Expr, int, bool]]:
    """Divisors of floats in the statements, how often each divides (at least), and whether it surely does."""
    for s in body:
        for e in expressions(s):
            yield from ((d, often, surely and always) for d, always in _of(e, always=True))
        count, here = often, surely
        if isinstance(s, For):
            known = trips(s)
            count, here = often * (FEWEST if known is None else known), surely and bool(known)
        elif isinstance(s, If | While):
            here = False
        for inner in bodies(s):
            yield from _divisions(inner, count, surely=here)


def _of(e: Expr, *, always: bool) -> Iterator[tuple[Expr, bool]]:
    """Divisors in an expression, and whether it evaluates them whatever its conditions say."""
    match e:
        case Binary("/", _, d, dtype) if dtype in SCALES and not isinstance(d, Const):
            yield d, always
    first = children(e)[:1]
    for child in children(e):
        asked = isinstance(e, Select) or (isinstance(e, Binary) and e.op in ("&&", "||"))
        yield from _of(child, always=always and not (asked and child not in first))


def _named(d: Expr, names: set[str]) -> tuple[Let, Let, Let, Let]:
    """The divisor, its scale, itself scaled, and the reciprocal of that."""
    dtype: DType = d.dtype
    most, factor = SCALES[dtype]
    given = Let(fresh("divisor", names), d, dtype)
    divisor = Var(given.name, dtype)

    def number(value: float) -> Const:
        return Const(value, dtype)

    size = Call("fabs", (divisor,), dtype)
    large = Select(Binary(">", size, number(most), dtype), number(1 / factor), number(1.0), dtype)
    usual = Select(Binary("<", size, number(1.0), dtype), number(2.0), large, dtype)
    small = Select(Binary("<", size, number(1 / most), dtype), number(factor), usual, dtype)
    scale = Let(fresh("scale", names), small, dtype)
    scaled = Let(fresh("scaled", names), Binary("*", divisor, Var(scale.name, dtype), dtype), dtype)
    inverse = Binary("/", number(1.0), Var(scaled.name, dtype), dtype)
    return given, scale, scaled, Let(fresh("reciprocal", names), inverse, dtype)


def _replaced(s: For, found: dict[Expr, tuple[Let, Let, Let, Let]]) -> For:
    def on(e: Expr) -> Expr:
        match e:
            case Binary("/", x, d, dtype) if dtype in SCALES and d in found:
                scale, scaled, inverse = (Var(let.name, dtype) for let in found[d][1:])
                return Call(Intrinsic.DIVIDED, (on(x), scaled, inverse, scale), dtype)
        return map_children(e, on)

    def through(body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        return tuple(map_expressions(with_bodies(t, through), on) for t in body)

    return replace(s, body=through(s.body))
