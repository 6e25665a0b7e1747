"""C's integer types, and expressions as sums of multiples of loop variables."""

from dataclasses import dataclass

from mdh.ir.syntax import CType
from mdh.reference.c.types import INT, Type, UnknownTypeError, type_of


def integer_type(ctype: CType) -> Type | None:
    """None for a type that is not an integer's, or is not known."""
    try:
        found = type_of(ctype)
    except UnknownTypeError:
        return None
    return None if found.real else found


@dataclass(frozen=True, slots=True)
class Form:
    """constant + the sum of coefficient * variable over the enclosing loops, outermost first. Further loops
    have the coefficient 0. Its C type holds every value."""

    constant: int
    coefficients: tuple[int, ...] = ()
    type: Type = INT

    @property
    def fixed(self) -> bool:
        return not any(self.coefficients)

    def at(self, loop: int) -> int:
        return self.coefficients[loop] if loop < len(self.coefficients) else 0


def plus(a: Form, b: Form, sign: int) -> tuple[int, tuple[int, ...]]:
    """a + sign * b."""
    length = max(len(a.coefficients), len(b.coefficients))
    return a.constant + sign * b.constant, tuple(a.at(k) + sign * b.at(k) for k in range(length))


def times(a: Form, b: Form) -> tuple[int, tuple[int, ...]] | None:
    """a * b where one of them is a constant."""
    if a.fixed:
        a, b = b, a
    if not b.fixed:
        return None
    return a.constant * b.constant, tuple(c * b.constant for c in a.coefficients)
