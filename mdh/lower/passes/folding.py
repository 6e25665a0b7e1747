"""Values computed as far as they are known: elements of constant arrays, and what zeros and ones leave."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from mdh.frontend.typing_rules import binary, convert
from mdh.ir.dtype import DType
from mdh.ir.expr import Binary, Call, Cast, Const, Expr, Load, Select, Unary, Var, children, map_children
from mdh.ir.kernel import Buf

ByTurn = Callable[[Const], Expr]
"""A value in each turn of a loop, by the value of the loop's variable."""


@dataclass(frozen=True, slots=True)
class Folding:
    """constants: constant arrays by name. strict: floats keep to the letter (0 * NaN is NaN). integers: what
    has been computed of whole numbers."""

    constants: Mapping[str, Buf]
    strict: bool
    integers: dict[tuple[str, float, str, float, str], Expr] = field(default_factory=dict)

    def folded(self, e: Expr) -> Expr:
        """The value with everything computed that is known."""
        return self._node(map_children(e, self.folded))

    def by_turn(self, e: Expr, var: str) -> ByTurn:
        """The same for each value of a variable, as substituting and folding would give it. What does not
        name the variable is folded once."""
        return self._turning(e, var) or self._fixed(e)

    def _fixed(self, e: Expr) -> ByTurn:
        fixed = self.folded(e)
        return lambda value: fixed

    def _parts(self, each: tuple[Expr, ...], var: str) -> tuple[ByTurn, ...]:
        """Of several values, by turn. Empty if none of them names the variable."""
        found = [self._turning(e, var) for e in each]
        if not any(found):
            return ()
        return tuple(f or self._fixed(e) for f, e in zip(found, each, strict=True))

    def _turning(self, e: Expr, var: str) -> ByTurn | None:
        """None for a value that does not name the variable."""
        if isinstance(e, Var):
            return (lambda value: value) if e.name == var else None
        parts, node = self._parts(children(e), var), self._node
        if not parts:
            return None
        match e:
            case Load(buffer, _, dtype, 1) if buffer in self.constants:
                return self._turning_element(buffer, parts, dtype)
            case Load(buffer, _, dtype, lanes):
                return lambda value: Load(buffer, tuple([p(value) for p in parts]), dtype, lanes)
            case Binary(op, _, _, dtype):
                left, right = parts
                return lambda value: self._binary(op, left(value), right(value), dtype)
            case Unary(op, _, dtype):
                (arg,) = parts
                return lambda value: node(Unary(op, arg(value), dtype))
            case Cast(_, dtype):
                (arg,) = parts
                return lambda value: node(Cast(arg(value), dtype))
            case Select(_, _, _, dtype):
                cond, then, other = parts
                return lambda value: node(Select(cond(value), then(value), other(value), dtype))
            case Call(fn, _, dtype):
                return lambda value: node(Call(fn, tuple([p(value) for p in parts]), dtype))
        return None

    def _turning_element(self, buffer: str, parts: tuple[ByTurn, ...], dtype: DType) -> ByTurn:
        def element(value: Const) -> Expr:
            at = tuple([p(value) for p in parts])
            known = [int(i.value) for i in at if type(i) is Const]
            return self._element(buffer, known, dtype) if len(known) == len(at) else Load(buffer, at, dtype)

        return element

    def _node(self, e: Expr) -> Expr:
        """The value, whose parts are folded."""
        match e:
            case Load(buffer, index, dtype, 1) if buffer in self.constants:
                at = [int(i.value) for i in index if isinstance(i, Const)]
                return self._element(buffer, at, dtype) if len(at) == len(index) else e
            case Cast(Const() as value, dtype):
                return convert(value, dtype)
            case Select(Const(value), then, other, _):
                return then if value else other
            case Unary("-", Const(value), dtype) if dtype.is_float:
                return Const(-value, dtype)
            case Binary(op, a, b, dtype):
                return self._binary(op, a, b, dtype, e)
            case _:
                return e

    def _integer(self, op: str, a: Const, b: Const) -> Expr:
        """Indices are computed again and again."""
        key = (op, a.value, a.dtype.name, b.value, b.dtype.name)
        if key not in self.integers:
            self.integers[key] = binary(op, a, b)
        return self.integers[key]

    def _element(self, buffer: str, at: list[int], dtype: DType) -> Expr:
        buf = self.constants[buffer]
        assert buf.values is not None
        return Const(buf.values[sum(i * s for i, s in zip(at, buf.strides, strict=True))], dtype)

    def _binary(self, op: str, a: Expr, b: Expr, t: DType, whole: Binary | None = None) -> Expr:
        """Of folded operands: integers, products with 0 and 1, sums with 0. whole: the operation, if there is
        one already."""
        if isinstance(a, Const) or isinstance(b, Const):
            known = self._known(op, a, b, t)
            if known is not None:
                return known
        return whole or Binary(op, a, b, t)

    def _known(self, op: str, a: Expr, b: Expr, t: DType) -> Expr | None:
        if isinstance(a, Const) and isinstance(b, Const) and not (a.dtype.is_float or b.dtype.is_float):
            return self._integer(op, a, b) if op not in ("/", "%") or b.value else None
        exact = self.strict and t.is_float
        match op:
            case "*" if _is(a, 1):
                return b if b.dtype == t else None
            case "*" | "/" if _is(b, 1):
                return a if a.dtype == t else None
            case "*" if not exact and (_is(a, 0) or _is(b, 0)):
                return Const(0.0 if t.is_float else 0, t)
            case "+" if not exact and _is(a, 0):
                return b if b.dtype == t else None
            case "+" | "-" if not exact and _is(b, 0):
                return a if a.dtype == t else None
        return None


def _is(e: Expr, value: int) -> bool:
    return isinstance(e, Const) and e.value == value
