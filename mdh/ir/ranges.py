"""Interval analysis: the values that an index expression can take, from the ranges of its variables."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from mdh.ir.affine import Affine, from_expr
from mdh.ir.expr import COMPARISONS, Binary, Call, Cast, Const, Expr, Select, Unary, Var
from mdh.ir.intrinsic import Intrinsic
from mdh.ir.kernel import For, Launch, Let

Range = tuple[int, int]
"""Inclusive (least, most)."""

INT: Range = (-(2**31), 2**31 - 1)
"""The range of C's int."""


def within(r: Range, limits: Range = INT) -> bool:
    return limits[0] <= r[0] and r[1] <= limits[1]


@dataclass(frozen=True, slots=True)
class Known:
    """What is known at a place in a kernel: ranges of variables, and upper limits from the conditions around
    it.

    limits: pairs (f, most), where f is an affine function of variables and f <= most holds here.
    """

    launch: Launch
    names: Mapping[str, Range] = field(default_factory=dict)
    limits: tuple[tuple[Affine, int], ...] = ()

    @staticmethod
    def of(launch: Launch) -> "Known":
        """What is known where a kernel begins: the ranges of open sizes, and of the numbers of turns."""
        limits = tuple((Affine(f.terms).scale(-1), f.const) for f in launch.where)
        return Known(launch, {name: (least, most) for name, least, most in launch.sizes}, limits)

    def within_loop(self, s: For) -> "Known":
        """What is known inside the body of a loop."""
        return self._with(s.var, loop_range(s, self))

    def after(self, s: Let) -> "Known":
        """What is known after a definition. `below` is trusted where the value alone does not show it."""
        r = (0, s.below - 1) if s.below else None
        return self._with(s.name, r if r is not None and not s.dtype.is_float else bounds(s.value, self))

    def holding(self, name: str, r: Range) -> "Known":
        return self._with(name, r)

    def where(self, cond: Expr) -> "Known":
        """What is known where a condition holds: comparisons of affine functions with constants are
        limits."""
        match cond:
            case Binary("&&", left, right, _):
                return self.where(left).where(right)
            case Binary("<", left, Const(int() as n), _):
                f = from_expr(left)
                return self if f is None else replace(self, limits=(*self.limits, (f, n - 1)))
            case _:
                return self

    def _with(self, name: str, r: Range | None) -> "Known":
        names = {n: old for n, old in self.names.items() if n != name}
        return replace(self, names=names if r is None else {**names, name: r})


def loop_range(s: For, known: Known) -> Range | None:
    """The values of the loop's variable; None if unknown. If the last increment overflows int, the value
    after it is included."""
    start, stop, step = (bounds(e, known) for e in (s.start, s.stop, s.step))
    if start is None or stop is None:
        return None
    past = stop[1] - 1 + (step[1] if step is not None else 1)
    last = max(start[0], stop[1] - 1)
    return start[0], last if past <= INT[1] else max(past, last)


def bounds(e: Expr, known: Known) -> Range | None:
    """The range of an integer expression, or None if it depends on data."""
    r = _bounds(e, known)
    if r is None or not known.limits or isinstance(e, Const):
        return r
    f = from_expr(e)
    for limited, most in known.limits:
        rest = None if f is None else limited + f.scale(-1)
        if rest is not None and rest.names < limited.names and rest.names <= known.names.keys():
            # f = limited - rest <= most - rest
            r = r[0], max(r[0], min(r[1], most - rest.bounds(dict(known.names))[0]))
    return r


def _bounds(e: Expr, known: Known) -> Range | None:
    match e:
        case Const(int() as value, _):
            return value, value
        case Var(name, _):
            return known.names.get(name)
        case Call(Intrinsic.BLOCK_ID, (Const(int() as axis), *_), _):
            return 0, known.launch.grid[axis] - 1
        case Call(Intrinsic.THREAD_ID, (Const(int() as axis), *_), _):
            return 0, known.launch.block[axis] - 1
        case Call(Intrinsic.IOTA, (Const(int() as n), *_), _):
            return 0, n - 1
        case Call(Intrinsic.IMIN | Intrinsic.IMAX as fn, (a, b), _):
            p, q = bounds(a, known), bounds(b, known)
            either = min if fn is Intrinsic.IMIN else max
            return None if p is None or q is None else (either(p[0], q[0]), either(p[1], q[1]))
        case Cast(arg, dtype) if not dtype.is_float and not arg.dtype.is_float:
            inner = bounds(arg, known)
            return inner if inner is not None and within(inner, _limits(dtype.kind, dtype.bits)) else None
        case Unary("-", arg, _):
            inner = bounds(arg, known)
            return None if inner is None else (-inner[1], -inner[0])
        case Select(_, then, other, dtype) if not dtype.is_float:
            return _either(bounds(then, known), bounds(other, known))
        case Binary(op, _, _, _) if op in COMPARISONS:
            return 0, 1
        case Binary(op, left, right, dtype) if not dtype.is_float:
            return arithmetic(op, bounds(left, known), bounds(right, known))
        case _:
            return None


def _either(a: Range | None, b: Range | None) -> Range | None:
    return None if a is None or b is None else (min(a[0], b[0]), max(a[1], b[1]))


def _limits(kind: str, bits: int) -> Range:
    return (0, 2**bits - 1) if kind == "uint" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


def arithmetic(op: str, a: Range | None, b: Range | None) -> Range | None:
    """The range of `x op y` for x and y in the given ranges, as unbounded integers; None if unknown."""
    if op == "%" and b is not None and b[0] > 0:
        if a is not None and a[0] >= 0:
            return 0, min(a[1], b[1] - 1)
        return 1 - b[1], b[1] - 1
    if a is None or b is None:
        return None
    match op:
        case "+":
            return a[0] + b[0], a[1] + b[1]
        case "-":
            return a[0] - b[1], a[1] - b[0]
        case "*":
            corners = [x * y for x in a for y in b]
            return min(corners), max(corners)
        case "/" if b[0] > 0:
            corners = [_truncated(x, y) for x in a for y in b]
            return min(corners), max(corners)
        case "&" if a[0] >= 0 and b[0] >= 0:
            return 0, min(a[1], b[1])
        case "|" | "^" if a[0] >= 0 and b[0] >= 0:
            return 0, (1 << max(a[1], b[1]).bit_length()) - 1
        case _:
            return None


def _truncated(x: int, y: int) -> int:
    return x // y if x >= 0 else -(-x // y)
