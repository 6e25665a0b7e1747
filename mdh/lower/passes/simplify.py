"""What says nothing: sums with 0, numbers made of their digits, definitions of constants, loops of one turn,
branches that do the same.

Requires: names that hide no other. Guarantees: the same accesses in the same order; no definition of an
integer constant; no loop (but VEC ones) that is known to run once; no branch between equal statements.
"""

from collections import Counter
from dataclasses import replace

from mdh.ir.dtype import I32
from mdh.ir.expr import Binary, Call, Const, Expr, map_children
from mdh.ir.intrinsic import Intrinsic
from mdh.ir.kernel import Alloc, For, ForKind, If, Launch, Let, Stmt
from mdh.ir.ranges import Known, bounds
from mdh.ir.walk import declared_by, map_expressions, statements, substitute_in, with_bodies


def simplify(body: tuple[Stmt, ...], launch: Launch) -> tuple[Stmt, ...]:
    """`body` with less in it; `launch` says which blocks there are."""
    declared = Counter(n for s in statements(body) if (n := declared_by(s)) is not None)
    return _body(body, Known.of(launch), declared)


def _body(body: tuple[Stmt, ...], known: Known, declared: Counter[str]) -> tuple[Stmt, ...]:
    out: list[Stmt] = []
    rest = list(body)
    while rest:
        s = map_expressions(rest.pop(0), fold)
        match s:
            case Let(name, Const(int()) as value, dtype) if not dtype.is_float:
                rest = list(substitute_in(tuple(rest), {name: value}))
            case For() if s.kind is not ForKind.VEC and _once(s, known):
                rest = [*_turn(s, declared), *rest]
            case If(_, then, orelse) if orelse:
                then, orelse = _body(then, known, declared), _body(orelse, known, declared)
                out.extend(
                    then if then == orelse and not _opens(then) else (replace(s, then=then, orelse=orelse),)
                )
            case _:
                out.append(with_bodies(s, lambda b: _body(b, known, declared)))
    return tuple(out)


def _once(s: For, known: Known) -> bool:
    """Starts below its end, and is past it a step on."""
    start, stop, step = (bounds(e, known) for e in (s.start, s.stop, s.step))
    if start is None or stop is None or step is None:
        return False
    return start[1] < stop[0] and start[0] + step[0] >= stop[1]


def _turn(s: For, declared: Counter[str]) -> tuple[Stmt, ...]:
    """The only turn: in braces where what it declares has a namesake elsewhere."""
    if isinstance(s.start, Const):
        body = substitute_in(s.body, {s.var: s.start})
    else:
        body = (Let(s.var, s.start), *s.body)
    alone = all(declared[n] == 1 for t in body if (n := declared_by(t)) is not None)
    return body if alone else (If(Const(1, I32), body),)


def _opens(body: tuple[Stmt, ...]) -> bool:
    return any(isinstance(s, Let | Alloc) for s in body)


def fold(e: Expr) -> Expr:
    """Integer arithmetic with 0, with 1 and between constants, done."""
    e = map_children(e, fold)
    match e:
        case Binary("+" | "-" | "*", Const(int() as a), Const(int() as b), t) if t == I32:
            n = a + b if e.op == "+" else a - b if e.op == "-" else a * b
            return Const(n, I32) if abs(n) < 2**31 else e
        case Binary("/" | "%", Const(int() as a), Const(int() as b), t) if t == I32 and a >= 0 and b > 0:
            return Const(a // b if e.op == "/" else a % b, I32)
        case Call(Intrinsic.IMIN | Intrinsic.IMAX, (Const(int() as a), Const(int() as b)), t) if t == I32:
            return Const(min(a, b) if e.fn == Intrinsic.IMIN else max(a, b), I32)
        case Binary("+", Const(0), x, t) | Binary("+" | "-", x, Const(0), t) if t == I32 and x.dtype == I32:
            return x
        case Binary("*" | "/", x, Const(1), t) if t == I32 and x.dtype == I32:
            return x
        case Binary("+", _, _, t) if t == I32:
            return _rejoined(e)
        case _:
            return e


def _rejoined(e: Expr) -> Expr:
    """A sum in which x / n * n and x % n stand for x, x itself a remainder in one of the two or not."""
    terms = _terms(e)
    for k, low in enumerate(terms):
        match low:
            case Binary("%", x, Const(int() as n), _) if n > 0:
                whole = next((j for j, high in enumerate(terms) if _multiple(high, x, n)), None)
                if whole is not None:
                    high = terms[whole]
                    assert isinstance(high, Binary) and isinstance(high.left, Binary)
                    terms[whole] = high.left.left
                    del terms[k]
                    return fold(_sum(terms))
            case _:
                pass
    return e


def _multiple(e: Expr, x: Expr, n: int) -> bool:
    """Is it x / n * n, or the same of a remainder of x by a multiple of n (which has the same x % n)?"""
    match e:
        case Binary("*", Binary("/", y, Const(a), _), Const(b), _) if a == b == n:
            return y == x or _remainder(y, x, n)
        case _:
            return False


def _remainder(y: Expr, x: Expr, n: int) -> bool:
    match y:
        case Binary("%", z, Const(int() as m), _):
            return z == x and m > 0 and m % n == 0
        case _:
            return False


def _terms(e: Expr) -> list[Expr]:
    if isinstance(e, Binary) and e.op == "+" and e.dtype == I32:
        return [*_terms(e.left), *_terms(e.right)]
    return [e]


def _sum(terms: list[Expr]) -> Expr:
    out, *rest = terms
    for t in rest:
        out = Binary("+", out, t, I32)
    return out
