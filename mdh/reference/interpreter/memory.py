"""Arrays as the interpreter reads and writes them: flat and in C's order."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mdh.reference.c.types import Type, stored
from mdh.reference.interpreter.arithmetic import Value

SMALL = 1 << 20
"""The most elements that are copied into a list. Elements of larger arrays are read when needed."""


class Overlay:
    """An unchanged array and what was written over it."""

    __slots__ = ("convert", "flat", "written")

    def __init__(self, flat: NDArray[Any], *, real: bool) -> None:
        self.flat = flat
        self.convert: type[float] | type[int] = float if real else int
        self.written: dict[int, Value] = {}

    def __getitem__(self, k: int) -> Value:
        if k in self.written:
            return self.written[k]
        return self.convert(self.flat[k])

    def __setitem__(self, k: int, value: Value) -> None:
        self.written[k] = value


@dataclass(frozen=True, slots=True)
class ArrayObject:
    """An array. extents: of every dimension. given: what a parameter points to; None for arrays of the
    function."""

    name: str
    type: Type
    extents: tuple[int, ...]
    data: Any
    given: NDArray[Any] | None = None


def of_array(name: str, t: Type, extents: tuple[int, ...], given: NDArray[Any], *, lazy: bool) -> ArrayObject:
    """A parameter. `given` keeps its contents."""
    flat = np.ascontiguousarray(given).reshape(-1)
    if lazy or flat.size > SMALL:
        return ArrayObject(name, t, extents, Overlay(flat, real=t.real), given)
    # 16-bit floats have no exact Python number of their own
    plain = flat.astype(np.float64) if t.real else flat
    return ArrayObject(name, t, extents, plain.tolist(), given)


def poison(t: Type) -> Value:
    """The contents of an object that was never assigned: a value that no right program shows."""
    return float("nan") if stored(t).real else int.from_bytes(bytes([0xA5]) * (t.bits // 8)) & t.high
