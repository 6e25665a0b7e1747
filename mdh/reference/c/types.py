"""C's scalar types on a 64-bit Unix machine, and their conversions (C11 6.2.5, 6.3.1)."""

from collections import Counter
from dataclasses import dataclass

from mdh.ir.syntax import CType


@dataclass(frozen=True, slots=True)
class Type:
    """A scalar type. rank: C11 6.3.1.1 for integers, the order of 6.3.1.8 for floats. wide: the result of an
    operation on 16-bit floats, which is computed in float and rounded by the next assignment or cast
    (5.2.4.2.2)."""

    name: str
    bits: int
    rank: int
    signed: bool = True
    real: bool = False
    wide: bool = False

    @property
    def low(self) -> int:
        return -(1 << (self.bits - 1)) if self.signed else 0

    @property
    def high(self) -> int:
        return (1 << (self.bits - self.signed)) - 1

    def holds(self, low: int, high: int) -> bool:
        """Are the integers from `low` to `high` values of this integer type?"""
        return self.low <= low and high <= self.high


I8, U8 = Type("signed char", 8, 1), Type("unsigned char", 8, 1, signed=False)
I16, U16 = Type("short", 16, 2), Type("unsigned short", 16, 2, signed=False)
INT, UINT = Type("int", 32, 3), Type("unsigned int", 32, 3, signed=False)
LONG, ULONG = Type("long", 64, 4), Type("unsigned long", 64, 4, signed=False)
LLONG, ULLONG = Type("long long", 64, 5), Type("unsigned long long", 64, 5, signed=False)
HALF = Type("_Float16", 16, 1, real=True)
HALF_WIDE = Type("_Float16", 16, 1, real=True, wide=True)
BRAIN = Type("__bf16", 16, 1, real=True)
BRAIN_WIDE = Type("__bf16", 16, 1, real=True, wide=True)
E4M3 = Type("fp8_e4m3", 8, 0, real=True)
E5M2 = Type("fp8_e5m2", 8, 0, real=True)
"""The structs of mdh.h, as the numbers that their bits stand for."""
FLOAT = Type("float", 32, 2, real=True)
DOUBLE = Type("double", 64, 3, real=True)

_NAMED = {
    "int8_t": I8, "int16_t": I16, "int32_t": INT, "int64_t": LONG, "uint8_t": U8, "uint16_t": U16,
    "uint32_t": UINT, "uint64_t": ULONG, "size_t": ULONG, "ssize_t": LONG, "ptrdiff_t": LONG,
    "intptr_t": LONG, "uintptr_t": ULONG, "intmax_t": LONG, "uintmax_t": ULONG,
    # the front end reads bool as int
    "bool": INT, "_Bool": INT,
    "_Float16": HALF, "__bf16": BRAIN, "float": FLOAT, "double": DOUBLE,
    "__fp8_e4m3": E4M3, "__fp8_e5m2": E5M2,
}  # fmt: skip
_SIZES: dict[tuple[str, int], tuple[Type, Type]] = {
    ("char", 0): (I8, U8), ("short", 0): (I16, U16), ("", 0): (INT, UINT), ("", 1): (LONG, ULONG),
    ("", 2): (LLONG, ULLONG),
}  # fmt: skip
_QUALIFIERS = {"const", "volatile", "static", "register", "extern", "inline", "restrict"}


class UnknownTypeError(Exception):
    """Specifier words that name no scalar type."""


def type_of(ctype: CType) -> Type:
    """The type of specifier words, in any order (C11 6.7.2)."""
    words = Counter(w for w in ctype.words if w not in _QUALIFIERS)
    if len(words) == 1:
        word = next(iter(words))
        if words[word] == 1 and word in _NAMED:
            return _NAMED[word]
    longs = words.pop("long", 0)
    unsigned = words.pop("unsigned", 0)
    words.pop("signed", 0)
    if words["char"] == 0:
        words.pop("int", 0)
    size = " ".join(w for w in words if words[w])
    pair = _SIZES.get((size, longs))
    if pair is None:
        raise UnknownTypeError(" ".join(ctype.words))
    return pair[1] if unsigned else pair[0]


def promoted(t: Type) -> Type:
    """C11 6.3.1.1: integers narrower than int become int."""
    return INT if not t.real and t.rank < INT.rank else t


def common(a: Type, b: Type) -> Type:
    """C11 6.3.1.8, the usual arithmetic conversions."""
    if a.real or b.real:
        return _common_real(a, b)
    a, b = promoted(a), promoted(b)
    if a.signed == b.signed:
        return a if a.rank >= b.rank else b
    signed, unsigned = (a, b) if a.signed else (b, a)
    if unsigned.rank >= signed.rank:
        return unsigned
    if signed.bits > unsigned.bits:
        return signed
    return ULLONG if signed is LLONG else ULONG


def _common_real(a: Type, b: Type) -> Type:
    if not (a.real and b.real):
        return a if a.real else b
    if a.rank != b.rank:
        return a if a.rank > b.rank else b
    # only float holds the values of both 16-bit formats
    return FLOAT if a.name != b.name else a


def computed(t: Type) -> Type:
    """The type of the result of an operation on two values of type `t`."""
    return {HALF: HALF_WIDE, BRAIN: BRAIN_WIDE}.get(t, t)


def stored(t: Type) -> Type:
    """The type of an object that holds a `t`."""
    return {HALF_WIDE: HALF, BRAIN_WIDE: BRAIN}.get(t, t)
