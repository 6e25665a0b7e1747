"""The arguments of kernels: which arrays they write, and values in their types."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from mdh.ir.copy_engine import TensorMap
from mdh.ir.dtype import F32, DType
from mdh.reference.numbers import numpy_dtype
from mdh.target.text import BufferArg, EntryPoint, KernelText


def written_buffers(text: KernelText) -> frozenset[str]:
    """Arguments that some kernel may write, workspaces included."""
    args = (a for k in text.kernels for a in k.args)
    plain = {a.name for a in args if isinstance(a, BufferArg) and not a.readonly}
    return frozenset(plain | {a.buffer for a in args if isinstance(a, TensorMap) and a.written})


def scalar_value(value: Any, dtype: DType) -> Any:
    """A value argument in the type that kernels declare; 16-bit floats are passed as float."""
    held = F32 if dtype.is_float and dtype.bits < 32 else dtype
    # a 16-bit parameter is rounded before the kernel sees it
    typed = np.asarray(value, numpy_dtype(dtype)).astype(numpy_dtype(held))
    return np.asarray(typed)[()]


def ctypes_value(value: Any) -> Any:
    """A value as `scalar_value` gives it, for a function that ctypes calls."""
    return np.ctypeslib.as_ctypes_type(value.dtype)(value.item())


def arguments_of(
    entry: EntryPoint, scalars: Mapping[str, Any], memory: Callable[[str], Any], value: Callable[[Any], Any]
) -> list[Any]:
    """The arguments of a kernel: `memory` of each buffer's name, and `value` of each value. Its tensor maps
    are not among them: they come last."""
    plain = (a for a in entry.args if not isinstance(a, TensorMap))
    return [
        memory(a.name) if isinstance(a, BufferArg) else value(scalar_value(scalars[a.name], a.dtype))
        for a in plain
    ]
