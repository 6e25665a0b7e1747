"""Runs a function once: takes arrays and returns arrays."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mdh.ir.syntax import Function
from mdh.reference.error import Bounded
from mdh.reference.interpreter.arithmetic import ScalarArithmetic, Value
from mdh.reference.interpreter.bounded import BoundedScalarArithmetic
from mdh.reference.interpreter.carried import error_of, value_of
from mdh.reference.interpreter.chosen import Chosen
from mdh.reference.interpreter.memory import ArrayObject, Overlay
from mdh.reference.interpreter.scope import ExecutionState
from mdh.reference.interpreter.statements import Statements

Array = NDArray[Any]
LIMIT = 1 << 40
"""More iterations than any function needs."""


@dataclass(frozen=True, slots=True)
class Elements:
    """The written elements of an array: flat indices in order, values, and allowed errors (None: none)."""

    index: Array
    value: Array
    bound: Array | None


def interpret_bounded(
    function: Function, arrays: Mapping[str, Array], scalars: Mapping[str, Any], *,
    strict: bool = False, limit: int = LIMIT,
) -> dict[str, Bounded]:  # fmt: skip
    """The arrays that the function assigns to, with the error that an implementation may make at each.
    Elements whose every operation is exact in its type carry no bound.

    arrays: by parameter name, as many elements as the C says, of the C type's numpy type; they stay as they
    are. scalars: every scalar parameter. strict: --strict-fp. Raises Failed A130 (a subscript outside its
    array), A131 (an integer divided by zero), EndlessLoop (more than `limit` iterations), and Undecided where
    the way of the program depends on rounding.
    """
    ran = execute(function, arrays, scalars, BoundedScalarArithmetic(strict=strict), None, limit)
    out = {}
    for name in sorted(ran.written & ran.parameters.keys()):
        memory = ran.parameters[name]
        assert memory.given is not None
        wide = np.float64 if memory.type.real else memory.given.dtype
        if isinstance(memory.data, Overlay):
            found = _elements(memory)
            value, bound = memory.given.astype(wide).reshape(-1), np.zeros(memory.given.size)
            value[found.index] = found.value
            if found.bound is not None:
                bound[found.index] = found.bound
        else:
            value, bound = _arrays(memory.data, wide)
        shape = memory.given.shape
        out[name] = Bounded(value.reshape(shape), bound.reshape(shape) if bound.any() else None)
    return out


def interpret_elements(
    function: Function, arrays: Mapping[str, Array], scalars: Mapping[str, Any], *, only: Chosen,
    strict: bool = False, limit: int = LIMIT,
) -> dict[str, Elements]:  # fmt: skip
    """The same for the iterations that `only` chooses. Returns the elements of each array that they write.
    Only arrays that are read are copied."""
    ran = execute(function, arrays, scalars, BoundedScalarArithmetic(strict=strict), only, limit)
    return {name: _elements(ran.parameters[name]) for name in sorted(ran.written & ran.parameters.keys())}


def execute(
    function: Function, arrays: Mapping[str, Array], scalars: Mapping[str, Any], arithmetic: ScalarArithmetic,
    only: Chosen | None, limit: int,
) -> Statements:  # fmt: skip
    """Translates the function, runs it, and returns the translation."""
    translated = Statements(ExecutionState(arithmetic, left=[limit]), arrays, scalars, only)
    translated.function(function)()
    return translated


def _elements(memory: ArrayObject) -> Elements:
    assert isinstance(memory.data, Overlay) and memory.given is not None
    index = sorted(memory.data.written)
    wide = np.float64 if memory.type.real else memory.given.dtype
    value, bound = _arrays([memory.data.written[k] for k in index], wide)
    return Elements(np.array(index, np.int64), value, bound if bound.any() else None)


def _arrays(values: list[Value], dtype: Any) -> tuple[Array, Array]:
    """(values, errors)."""
    if np.dtype(dtype).kind != "f":
        return np.array(values, dtype), np.zeros(len(values))
    return np.array([value_of(v) for v in values], dtype), np.array([error_of(v) for v in values], np.float64)
