"""Translates expressions to forms: sums of multiples of loop variables, under C's integer rules."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from mdh.diagnostics import Failed
from mdh.ir.syntax import Conversion, CType, Expression, Infix, Name, Number, Prefix
from mdh.reference.c.integers import COMPARE, Undecided, integer_operation
from mdh.reference.c.literals import number
from mdh.reference.c.types import INT, Type, UnknownTypeError, common, promoted, type_of


def integer_type(ctype: CType) -> Type | None:
    """None for a type that is not an integer's, or is not known."""
    try:
        found = type_of(ctype)
    except UnknownTypeError:
        return None
    return None if found.real else found


@dataclass(frozen=True, slots=True)
class AffineForm:
    """constant + the sum of coefficient * variable over the enclosing loops, outermost first. Further loops
    have the coefficient 0. Its C type holds every value."""

    constant: int
    coefficients: tuple[int, ...] = ()
    type: Type = INT

    @property
    def fixed(self) -> bool:
        return not any(self.coefficients)

    @property
    def loops(self) -> tuple[int, ...]:
        """The loops that it depends on, the greatest coefficient first."""
        used = [k for k, c in enumerate(self.coefficients) if c]
        return tuple(sorted(used, key=lambda k: -abs(self.coefficients[k])))

    def at(self, loop: int) -> int:
        return self.coefficients[loop] if loop < len(self.coefficients) else 0


def plus(a: AffineForm, b: AffineForm, sign: int) -> tuple[int, tuple[int, ...]]:
    """a + sign * b."""
    length = max(len(a.coefficients), len(b.coefficients))
    return a.constant + sign * b.constant, tuple(a.at(k) + sign * b.at(k) for k in range(length))


def times(a: AffineForm, b: AffineForm) -> tuple[int, tuple[int, ...]] | None:
    """a * b where one of them is a constant."""
    if a.fixed:
        a, b = b, a
    if not b.fixed:
        return None
    return a.constant * b.constant, tuple(c * b.constant for c in a.coefficients)


Meaning = Callable[[str], AffineForm | None]
"""The meaning of a name at the place of the expression; None if it is not such a sum."""


def form_of(expr: Expression, meaning: Meaning, loops: Sequence[range]) -> AffineForm | None:
    """The form of an expression; None if it is not known to have one. loops: the values of the enclosing
    loops' variables."""
    match expr:
        case Number(text):
            return literal(text)
        case Name(name):
            return meaning(name)
        case Prefix("+" | "-" | "~" as op, operand):
            inner = form_of(operand, meaning, loops)
            if inner is None:
                return None
            kind = promoted(inner.type)
            if op == "+":
                return AffineForm(inner.constant, inner.coefficients, kind)
            off = -1 if op == "~" else 0
            return fitting(off - inner.constant, tuple(-c for c in inner.coefficients), kind, loops)
        case Infix(op, left, right):
            a, b = form_of(left, meaning, loops), form_of(right, meaning, loops)
            return None if a is None or b is None else _combined(op, a, b, loops)
        case Conversion(ctype, operand):
            inner, to = form_of(operand, meaning, loops), integer_type(ctype)
            if inner is None or to is None:
                return None
            return fitting(inner.constant, inner.coefficients, to, loops)
        case _:
            return None


def literal(text: str) -> AffineForm | None:
    """An integer literal with its type; None for others."""
    try:
        kind, value = number(text)
    except (ValueError, KeyError):
        return None
    return None if kind.real else AffineForm(int(value), (), kind)


def hull(constant: int, coefficients: Sequence[int], loops: Sequence[range]) -> tuple[int, int]:
    """The least and the greatest value, for loops that run at all."""
    low = high = constant
    for c, values in zip(coefficients, loops, strict=False):
        if c and len(values):
            ends = c * values[0], c * values[-1]
            low, high = low + min(ends), high + max(ends)
    return low, high


def fitting(
    constant: int, coefficients: tuple[int, ...], kind: Type, loops: Sequence[range]
) -> AffineForm | None:
    """The form in type `kind`. A constant wraps; anything else that may wrap is no form."""
    if not any(coefficients):
        wrapped = (constant - kind.low) % (1 << kind.bits) + kind.low
        return AffineForm(wrapped, (), kind)
    if not kind.holds(*hull(constant, coefficients, loops)):
        return None
    return AffineForm(constant, coefficients, kind)


def _combined(op: str, a: AffineForm, b: AffineForm, loops: Sequence[range]) -> AffineForm | None:
    kind = promoted(a.type) if op in ("<<", ">>") else common(a.type, b.type)
    a_in, b_in = (fitting(x.constant, x.coefficients, kind, loops) for x in (a, b))
    if a_in is None or b_in is None or op in ("&&", "||"):
        return None
    match op:
        case _ if a_in.fixed and b_in.fixed:
            # the count of a shift is not converted
            count = b if op in ("<<", ">>") else b_in
            try:
                value = integer_operation(op, kind, None)(a_in.constant, count.constant)
            except (Failed, Undecided):
                return None
            return AffineForm(value, (), INT if op in COMPARE else kind)
        case "+" | "-":
            return fitting(*plus(a_in, b_in, 1 if op == "+" else -1), kind, loops)
        case "*":
            product = times(a_in, b_in)
            return None if product is None else fitting(*product, kind, loops)
        case _:
            return None
