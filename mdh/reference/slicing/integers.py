"""C's integer types, and expressions as sums of multiples of loop variables."""

from dataclasses import dataclass

from mdh.ir.syntax import CType


@dataclass(frozen=True, slots=True)
class IntegerType:
    """An integer type of a 64-bit Unix (LP64)."""

    bits: int
    signed: bool

    @property
    def least(self) -> int:
        return -(1 << (self.bits - 1)) if self.signed else 0

    @property
    def greatest(self) -> int:
        return (1 << (self.bits - self.signed)) - 1

    def holds(self, low: int, high: int) -> bool:
        return self.least <= low and high <= self.greatest


INT = IntegerType(32, True)
UNSIGNED = IntegerType(32, False)
LONG = IntegerType(64, True)
SIZE = IntegerType(64, False)
_EXACT = {
    f"{sign}int{bits}_t": IntegerType(bits, sign == "") for sign in ("", "u") for bits in (8, 16, 32, 64)
}
_NAMED = {**_EXACT, "size_t": SIZE, "ptrdiff_t": LONG, "intptr_t": LONG, "uintptr_t": SIZE, "ssize_t": LONG}
_QUALIFIERS = {"const", "static", "register", "volatile", "restrict"}


def integer_type(ctype: CType) -> IntegerType | None:
    """The type; None if it is no integer type or unknown (C11 6.7.2)."""
    words = [w for w in ctype.words if w not in _QUALIFIERS]
    if len(words) == 1 and words[0] in _NAMED:
        return _NAMED[words[0]]
    if not words or any(w not in {"signed", "unsigned", "char", "short", "int", "long"} for w in words):
        return None
    signed = "unsigned" not in words
    if "char" in words:
        return IntegerType(8, signed)
    if "short" in words:
        return IntegerType(16, signed)
    return IntegerType(64 if "long" in words else 32, signed)


def promoted(t: IntegerType) -> IntegerType:
    """C11 6.3.1.1: integers narrower than int become int."""
    return INT if t.bits < 32 else t


def common(a: IntegerType, b: IntegerType) -> IntegerType:
    """The usual arithmetic conversions (C11 6.3.1.8)."""
    a, b = promoted(a), promoted(b)
    if a.bits != b.bits:
        return a if a.bits > b.bits else b
    return IntegerType(a.bits, a.signed and b.signed)


@dataclass(frozen=True, slots=True)
class Form:
    """constant + the sum of coefficient * variable over the enclosing loops, outermost first. Further loops
    have the coefficient 0. Its C type holds every value."""

    constant: int
    coefficients: tuple[int, ...] = ()
    type: IntegerType = INT

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
