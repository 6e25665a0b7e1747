"""Calls that leave out sizes and results, on arrays of types and shapes that were seen before.

Types and shapes decide the sizes of a call, and so the variant that serves it and what is allocated. All that
is worked out once and found again by a key of them. A call then costs little more than its launch. Where
arrays lie, their strides and their types of elements are looked at in each call, as in any other one.
"""

import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mdh.api.keys import picker
from mdh.api.passing import LEFT_OUT
from mdh.api.variant import Variant
from mdh.device.addresses import library_of
from mdh.device.arrays import new_array
from mdh.reference.numbers import numpy_dtype

MOST_SHAPES = 256
"""The most keys that are kept of a kernel, and of all einsums."""
Key = tuple[Any, ...]
_ARRAYS = {"torch": "Tensor", "cupy": "ndarray"}
"""The types of arrays of other libraries whose `shape` is surely that of their memory."""


def key_of(args: Sequence[Any], numbers: bool) -> Key:
    """The type and shape of each argument, and where `numbers` says so the values of integers."""
    facts = [(type(a), getattr(a, "shape", None)) for a in args]
    return (*facts, *[a for a in args if type(a) is int]) if numbers else tuple(facts)


def is_plain(args: Sequence[Any]) -> bool:
    """Whether the key of these arguments tells all that their shapes decide, and there is an array."""
    arrays = [a for a in args if type(a) not in (int, float)]
    return bool(arrays) and all(type(a) is np.ndarray or _is_foreign(type(a)) for a in arrays)


def _is_foreign(kind: type) -> bool:
    library = library_of(kind)
    return library in _ARRAYS and kind is getattr(sys.modules[library], _ARRAYS[library], None)


class Shaped:
    """The calls of one key. given: the parameters that the arguments are. placed: arguments as `in_order`
    returns them. Requires that an array is among the arguments."""

    def __init__(
        self, variant: Variant, given: Sequence[str], args: Sequence[Any], placed: Sequence[Any]
    ) -> None:
        self._run, program = variant.run, variant.program
        left = [n for n, value in zip(program.params, placed, strict=True) if value is LEFT_OUT]
        numbers = {
            name: value
            for name, value in zip(program.params, placed, strict=True)
            if name not in given and value is not LEFT_OUT
        }
        order = [*given, *numbers, *left]
        self._numbers = tuple(numbers.values())
        self._in_order = picker([order.index(name) for name in program.params], len(order))
        inputs = (given.index(name) for name in program.params if name in given)
        self._example = next(i for i in inputs if hasattr(args[i], "shape"))
        example, buffers = args[self._example], [program.buffer_of[name] for name in left]
        self._make = [_maker(example, b.shape, numpy_dtype(b.dtype)) for b in buffers]

    def __call__(self, args: tuple[Any, ...]) -> Any:
        """The results of a call. Raises Failed A1xx, D1xx."""
        example = args[self._example]
        return self._run(self._in_order((*args, *self._numbers, *[make(example) for make in self._make])))


def _maker(example: Any, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Callable[[Any], Any]:
    """What makes a result of this shape where an array like the example lies."""
    if type(example) is np.ndarray:
        return lambda array: np.empty(shape, dtype)
    if library_of(type(example)) == "torch":
        torch: Any = sys.modules["torch"]
        empty, kind = torch.empty, getattr(torch, dtype.name)
        return lambda array: empty(shape, dtype=kind, device=array.device)
    return lambda array: new_array(array, shape, dtype)
