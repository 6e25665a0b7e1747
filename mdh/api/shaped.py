"""Calls that leave out sizes and results, on arrays of types and shapes that were seen before.

Types and shapes decide the sizes of a call, and so the variant that serves it and what is allocated. All that
is worked out once and found again by a key of them. A call then costs little more than its launch. Where
arrays lie, their strides and their types of elements are looked at in each call, as in any other one.
"""

import sys
from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any

import numpy as np

from mdh.api.keys import numbers_of
from mdh.api.passing import LEFT_OUT
from mdh.api.variant import Variant
from mdh.device.addresses import library_of
from mdh.device.arrays import new_array
from mdh.reference.numbers import numpy_dtype

MOST_SHAPES = 256
"""The most keys that are kept of a kernel, and of all einsums."""
Key = tuple[tuple[type, Any], ...]
_ARRAYS = {"torch": "Tensor", "cupy": "ndarray"}
"""The types of arrays of other libraries whose `shape` is surely that of their memory."""


def key_of(args: Sequence[Any]) -> Key:
    """The type and shape of each argument."""
    return tuple([(type(a), getattr(a, "shape", None)) for a in args])


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
        self._variant, program = variant, variant.program
        left = [n for n, value in zip(program.params, placed, strict=True) if value is LEFT_OUT]
        numbers = {
            name: value
            for name, value in zip(program.params, placed, strict=True)
            if name not in given and value is not LEFT_OUT
        }
        order = [*given, *numbers, *left]
        arrays = [name for name in program.params if name in program.buffer_of]
        self._numbers = tuple(numbers.values())
        self._all, self._arrays = _picker(order, program.params), _picker([*given, *left], arrays)
        # known beforehand, if no number is an argument; and only new results are surely apart from the rest
        plain = variant.binder.written & {*arrays} <= {*left} and {*arrays} == {*given, *left}
        self._ready = numbers_of(self._numbers) if plain else None
        inputs = (given.index(name) for name in program.params if name in given)
        self._example = next(i for i in inputs if hasattr(args[i], "shape"))
        example, buffers = args[self._example], [program.buffer_of[name] for name in left]
        self._make = [_maker(example, b.shape, numpy_dtype(b.dtype)) for b in buffers]

    def __call__(self, args: tuple[Any, ...]) -> Any:
        """The results of a call. Raises Failed A1xx, D1xx."""
        example, variant = args[self._example], self._variant
        made = [make(example) for make in self._make]
        if self._ready is not None and variant.launched(self._arrays((*args, *made)), self._ready):
            return made[0] if len(made) == 1 else tuple(made)
        args = self._all((*args, *self._numbers, *made))
        variant.run(args)
        return variant.outputs_of(args)


def _picker(given: Sequence[str], wanted: Sequence[str]) -> Callable[[tuple[Any, ...]], tuple[Any, ...]]:
    """What brings values in the order of the names `given` into that of the names `wanted`."""
    places = [given.index(name) for name in wanted]
    if places == list(range(len(given))):
        return _same
    return itemgetter(*places) if len(places) > 1 else lambda values: (values[places[0]],)


def _same(values: tuple[Any, ...]) -> tuple[Any, ...]:
    return values


def _maker(example: Any, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Callable[[Any], Any]:
    """What makes a result of this shape where an array like the example lies."""
    if type(example) is np.ndarray:
        return lambda array: np.empty(shape, dtype)
    if library_of(type(example)) == "torch":
        torch: Any = sys.modules["torch"]
        empty, kind = torch.empty, getattr(torch, dtype.name)
        return lambda array: empty(shape, dtype=kind, device=array.device)
    return lambda array: new_array(array, shape, dtype)
