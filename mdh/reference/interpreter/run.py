"""The function run once: arrays given, arrays left."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mdh.ir.syntax import Function
from mdh.reference.interpreter.arithmetic import Arithmetic
from mdh.reference.interpreter.exact import ExactArithmetic
from mdh.reference.interpreter.memory import Memory, Overlay
from mdh.reference.interpreter.scope import Machine
from mdh.reference.interpreter.statements import Chosen, Statements

Arrays = Mapping[str, NDArray[Any]]
LIMIT = 1 << 40


def interpret(
    function: Function, arrays: Arrays, scalars: Mapping[str, Any], *, limit: int = LIMIT
) -> dict[str, NDArray[Any]]:
    """Every array parameter as the C function leaves it, bit for bit; the given arrays stay as they are.

    arrays: by parameter name, as many elements as the C says, of the C type's numpy type. scalars: every
    scalar parameter. Raises Failed A130 (a subscript outside its array), A131 (an integer divided by zero),
    EndlessLoop (more than `limit` iterations).
    """
    ran = execute(function, arrays, scalars, ExactArithmetic(), None, limit)
    return {name: _contents(memory) for name, memory in ran.parameters.items()}


def execute(
    function: Function, arrays: Arrays, scalars: Mapping[str, Any], arithmetic: Arithmetic,
    only: Chosen | None, limit: int,
) -> Statements:  # fmt: skip
    """The translated function after it has run."""
    machine = Machine(arithmetic, left=[limit])
    translated = Statements(machine, arrays, scalars, only)
    run: Callable[[], None] = translated.function(function)
    run()
    return translated


def _contents(memory: Memory) -> NDArray[Any]:
    given = memory.given
    assert given is not None
    if not isinstance(memory.data, Overlay):
        return np.array(memory.data, np.float64 if memory.type.real else given.dtype).astype(
            given.dtype
        ).reshape(given.shape)
    out = given.copy()
    flat = out.reshape(-1)
    for k, value in memory.data.written.items():
        flat[k] = value
    return out
