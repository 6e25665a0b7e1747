"""Affine integer functions of named variables. All index functions but gathers have this form."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from mdh.ir.dtype import I32, DType, integer_range
from mdh.ir.expr import Binary, Cast, Const, Expr, Unary, Var, walk


@dataclass(frozen=True, slots=True)
class Affine:
    """const + sum of coefficient * variable. Terms are sorted by name; no coefficient is zero."""

    terms: tuple[tuple[str, int], ...] = ()
    const: int = 0

    @staticmethod
    def of(terms: dict[str, int], const: int = 0) -> "Affine":
        return Affine(tuple(sorted((n, c) for n, c in terms.items() if c)), const)

    @staticmethod
    def var(name: str) -> "Affine":
        return Affine(((name, 1),), 0)

    def coefficient(self, name: str) -> int:
        return dict(self.terms).get(name, 0)

    @property
    def names(self) -> frozenset[str]:
        return frozenset(n for n, _ in self.terms)

    def __add__(self, other: "Affine") -> "Affine":
        if not other.terms:
            return self.shift(other.const)
        terms = dict(self.terms)
        for name, c in other.terms:
            terms[name] = terms.get(name, 0) + c
        return Affine.of(terms, self.const + other.const)

    def scale(self, k: int) -> "Affine":
        return self if k == 1 else Affine.of({n: c * k for n, c in self.terms}, self.const * k)

    def shift(self, k: int) -> "Affine":
        return Affine(self.terms, self.const + k)

    def divided(self, n: int) -> "Affine | None":
        """self / n, None where it is not a multiple of n for all values of the variables."""
        if self.const % n or any(c % n for _, c in self.terms):
            return None
        return Affine(tuple((v, c // n) for v, c in self.terms), self.const // n)

    def substitute(self, values: "dict[str, Affine]") -> "Affine":
        out = Affine((), self.const)
        for name, c in self.terms:
            out = out + values.get(name, Affine.var(name)).scale(c)
        return out

    def bounds(self, ranges: Mapping[str, tuple[int, int]]) -> tuple[int, int]:
        """Inclusive (min, max), where each variable lies in its inclusive range."""
        lo = hi = self.const
        for name, c in self.terms:
            a, b = ranges[name]
            lo += min(c * a, c * b)
            hi += max(c * a, c * b)
        return lo, hi

    def evaluate(self, point: Mapping[str, int]) -> int:
        return self.const + sum(c * point[n] for n, c in self.terms)


def offset(index: Iterable[Affine], strides: Iterable[int]) -> Affine:
    """How far from its first element the element of a buffer lies."""
    return sum((f.scale(stride) for f, stride in zip(index, strides, strict=True)), Affine())


def from_expr(e: Expr) -> Affine | None:
    """The affine form of an integer expression, or None if it is not affine."""
    match e:
        case Const(value, _) if isinstance(value, int):
            return Affine((), value)
        case Var(name, dtype) if not dtype.is_float:
            return Affine.var(name)
        case Cast(arg, dtype) if not dtype.is_float and dtype.bits >= 32:
            return from_expr(arg)
        case Unary("-", arg, _):
            inner = from_expr(arg)
            return None if inner is None else inner.scale(-1)
        case Binary("+" | "-" as op, left, right, _):
            a, b = from_expr(left), from_expr(right)
            if a is None or b is None:
                return None
            return a + b.scale(1 if op == "+" else -1)
        case Binary("*", left, right, _):
            a, b = from_expr(left), from_expr(right)
            if a is None or b is None or (a.terms and b.terms):
                return None
            return a.scale(b.const) if not b.terms else b.scale(a.const)
        case _:
            return None


def exact_form(e: Expr, ranges: Mapping[str, tuple[int, int]]) -> Affine | None:
    """Like `from_expr`, but None where a step overflows its type for variables within the inclusive `ranges`.

    Signed operations do not overflow in valid C. Conversions and unsigned operations may, and then wrap.
    """
    for part in walk(e):
        widened = isinstance(part, Cast) and holds_all(part.dtype, part.arg.dtype)
        if (
            widened
            or isinstance(part, Const | Var)
            or not (isinstance(part, Cast) or part.dtype.kind == "uint")
        ):
            continue
        form = from_expr(part)
        if form is None or not form.names <= ranges.keys():
            return None
        low, high = integer_range(part.dtype)
        least, most = form.bounds(ranges)
        if least < low or most > high:
            return None
    return from_expr(e)


def holds_all(t: DType, other: DType) -> bool:
    """Whether every value of type `other` is a value of type `t`."""
    if t.is_float or other.is_float:
        return False
    (low, high), (least, most) = integer_range(t), integer_range(other)
    return low <= least and most <= high


def to_expr(a: Affine, dtype: DType = I32) -> Expr:
    """The expression of an affine function: positive terms first, largest coefficient first."""
    out: Expr | None = None
    for name, c in sorted(a.terms, key=lambda t: (t[1] < 0, -abs(t[1]), t[0])):
        term: Expr = Var(name, dtype)
        if abs(c) != 1:
            term = Binary("*", term, Const(abs(c), dtype), dtype)
        if out is None:
            out = term if c > 0 else Unary("-", term, dtype)
        else:
            out = Binary("+" if c > 0 else "-", out, term, dtype)
    if out is None:
        return Const(a.const, dtype)
    if a.const:
        out = Binary("+" if a.const > 0 else "-", out, Const(abs(a.const), dtype), dtype)
    return out
