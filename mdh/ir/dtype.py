"""Scalar types of the C subset and C's rules for mixing them."""

from dataclasses import dataclass
from typing import Literal

Kind = Literal["int", "uint", "float"]


@dataclass(frozen=True, slots=True)
class DType:
    """A scalar type: `name` as mdh prints it (`f32`), its kind and its width in bits."""

    name: str
    kind: Kind
    bits: int

    @property
    def bytes(self) -> int:
        return self.bits // 8

    @property
    def is_float(self) -> bool:
        return self.kind == "float"

    def __str__(self) -> str:
        return self.name


F8E4M3 = DType("f8e4m3", "float", 8)
F8E5M2 = DType("f8e5m2", "float", 8)
F16 = DType("f16", "float", 16)
BF16 = DType("bf16", "float", 16)
F32 = DType("f32", "float", 32)
F64 = DType("f64", "float", 64)
I8 = DType("i8", "int", 8)
I16 = DType("i16", "int", 16)
I32 = DType("i32", "int", 32)
I64 = DType("i64", "int", 64)
U8 = DType("u8", "uint", 8)
U16 = DType("u16", "uint", 16)
U32 = DType("u32", "uint", 32)
U64 = DType("u64", "uint", 64)
TF32 = DType("tf32", "float", 32)
"""An f32 with 11 significant bits, the others zero. Factors of atoms alone have this type, nothing in C."""

ALL = (F8E4M3, F8E5M2, F16, BF16, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64)
BY_NAME = {t.name: t for t in ALL}
EIGHTHS = (F8E4M3, F8E5M2)
"""Floats of 8 bits. In C they are structs: a program converts them by functions and computes with floats. A
conversion to one saturates: what is too large, an infinity too, becomes the largest finite number."""
NARROW = (*EIGHTHS, F16, BF16)
"""Floats that values are stored in, and that are computed in f32."""


def integer_range(t: DType) -> tuple[int, int]:
    """Inclusive least and greatest value of an integer type."""
    return (0, 2**t.bits - 1) if t.kind == "uint" else (-(2 ** (t.bits - 1)), 2 ** (t.bits - 1) - 1)


def promote_integer(t: DType) -> DType:
    """C11 6.3.1.1: integers narrower than int become int."""
    return I32 if not t.is_float and t.bits < 32 else t


def common(a: DType, b: DType) -> DType:
    """C11 6.3.1.8, the usual arithmetic conversions (different narrow floats mix to f32)."""
    if a.is_float or b.is_float:
        floats = [t for t in (a, b) if t.is_float]
        if len(floats) == 2 and floats[0] != floats[1]:
            wide = max(floats, key=lambda t: t.bits)
            return F32 if wide in NARROW else wide
        return floats[0]
    a, b = promote_integer(a), promote_integer(b)
    if a.bits != b.bits:
        return a if a.bits > b.bits else b
    return a if a.kind == "uint" else b


def accumulator(t: DType) -> DType:
    """The type partial results of a reduction are held in: f32 for narrow floats, else the output's own."""
    return F32 if t in NARROW else t
