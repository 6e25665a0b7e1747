"""Types of numbers and C's rules for mixing them, on numpy's types. No part of mdh is used."""

from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Kind = np.dtype[Any] | str
"""A type, or what literals alone have: INTEGER or FLOAT."""
INTEGER, FLOAT = "integer literal", "float literal"
F16, F32, F64 = np.dtype("float16"), np.dtype("float32"), np.dtype("float64")
BF16 = np.dtype(ml_dtypes.bfloat16)
I32, I64 = np.dtype("int32"), np.dtype("int64")
NAMES: dict[str, np.dtype[Any]] = {
    "double": F64, "float": F32, "half": F16, "float64": F64, "float32": F32, "float16": F16,
    "bfloat16": BF16,
    "int": I32, "int8": np.dtype("int8"), "int16": np.dtype("int16"), "int32": I32, "int64": I64,
    "byte": np.dtype("uint8"), "uint8": np.dtype("uint8"), "uint16": np.dtype("uint16"),
    "uint32": np.dtype("uint32"), "uint64": np.dtype("uint64"),
}  # fmt: skip
"""The types that a program names."""
_DIGITS = {F16: 11, BF16: 8, F32: 24, F64: 53}


class RefusedError(Exception):
    """The program is wrong. codes: those that say so, of which the reader reports one."""

    def __init__(self, *codes: str) -> None:
        super().__init__(*codes)
        self.codes = codes


class DoubtfulError(Exception):
    """What the program computes is not defined, or depends on how numbers are rounded."""


def is_float(k: Kind) -> bool:
    return k == FLOAT if isinstance(k, str) else k in _DIGITS


def rounding(t: np.dtype[Any]) -> float:
    """The relative error of a number in this type."""
    return float(2.0 ** (1 - _DIGITS[t])) if t in _DIGITS else 0.0


def computed(t: np.dtype[Any]) -> np.dtype[Any]:
    """The type in which numbers of a type are computed."""
    return F32 if t in (F16, BF16) else t


def promoted(k: Kind) -> Kind:
    """C11 6.3.1.1: integers narrower than int become int."""
    return I32 if not isinstance(k, str) and k not in _DIGITS and k.itemsize < 4 else k


def common(a: Kind, b: Kind) -> Kind:
    """C11 6.3.1.8. Literals take the other type; a float literal makes a float of an integer."""
    if isinstance(a, str) and isinstance(b, str):
        return FLOAT if FLOAT in (a, b) else INTEGER
    if isinstance(a, str):
        return F32 if a == FLOAT and not is_float(b) else promoted(b)
    if isinstance(b, str):
        return common(b, a)
    if is_float(a) and is_float(b):
        if a != b and {a, b} == {F16, BF16}:
            return F32
        return max(a, b, key=lambda t: t.itemsize)
    if is_float(a) or is_float(b):
        return a if is_float(a) else b
    a, b = sorted((_promoted(a), _promoted(b)), key=lambda t: (t.itemsize, t.kind == "u"))
    return b


def _promoted(t: np.dtype[Any]) -> np.dtype[Any]:
    found = promoted(t)
    assert not isinstance(found, str)
    return found


def shared(a: np.dtype[Any], b: np.dtype[Any]) -> np.dtype[Any]:
    """The common type of two types in which numbers are computed."""
    found = common(a, b)
    assert not isinstance(found, str)
    return found


def converted(x: Array, t: np.dtype[Any], error: float = 0.0) -> Array:
    """C's conversion. error: of the numbers. Raises DoubtfulError where C does not say what comes out."""
    if x.dtype == t:
        return x
    if x.dtype in _DIGITS and t not in _DIGITS:
        limits = np.iinfo(t)
        if error or (np.trunc(x) < limits.min).any() or (np.trunc(x).astype(F64) > limits.max).any():
            raise DoubtfulError
    with np.errstate(all="ignore"):
        return x.astype(t)


def sums_exactly(total: Array, values: Array, t: np.dtype[Any]) -> bool:
    """Whether sums of these values are exact in any order. total: of their magnitudes."""
    if t not in _DIGITS:
        return True
    scale = next((s for s in (1.0, 2.0, 16.0, 256.0) if (np.mod(values.astype(F64) * s, 1) == 0).all()), 0.0)
    return bool(scale) and bool((total * scale < 2.0 ** _DIGITS[t]).all())


def draw(rng: np.random.Generator, t: np.dtype[Any], shape: tuple[int, ...], most: int = 3) -> Array:
    """Small whole numbers; of floats, some halves."""
    values = rng.integers(0 if t.kind == "u" else -most, most + 1, shape)
    if is_float(t) and rng.random() < 0.3:
        return (values / 2).astype(t)
    return np.asarray(values).astype(t)
