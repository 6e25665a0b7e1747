"""Marks of arrays: all that decides whether kernels can take them as they are, read in a fraction of a
microsecond.

Every call of a kernel reads the marks of its arrays. Arrays of equal marks have the same memory, type, shape
and layout, so that calls on them are one call. Marks that are new are judged. Whatever is not plainly right
has no address here: `mdh.device.arrays` then looks closer, and says what is wrong.
"""

import ctypes
import struct
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from math import prod
from typing import Any, Protocol

import numpy as np

from mdh.device.arrays import packed_strides

Marks = tuple[Any, ...]
"""Of several arrays."""
Stream = Callable[[], tuple[int]]
"""The stream that a library of arrays works on now, in the calling thread."""
HOST = -1
"""The number of the device of host memory."""
_FORMS = 32
"""Forms of tensors that are kept."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """The array that a kernel takes: in row-major order, on the device `number`, at a multiple of `align`
    bytes."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    written: bool
    number: int
    align: int

    @property
    def nbytes(self) -> int:
        return prod(self.shape) * self.dtype.itemsize


class ArraysOfType(Protocol):
    """How arrays of one type are looked at, for what a kernel takes."""

    def marks(self, arrays: Sequence[Any]) -> Marks | None:
        """None where one is of another type, or its methods raise."""

    def addresses(self, marks: Marks) -> list[int] | None:
        """Of the arrays of some marks; None if they are not as wanted."""


# numpy's own attributes take a microsecond for an address, and make objects for the flags. So the fields of
# the array object are read instead. numpy's binary interface fixes their order: data, rank, dimensions,
# strides, base, descr, flags (PyArrayObject_fields of numpy/ndarraytypes.h).
_fields = struct.Struct(f"{object.__basicsize__}xP{struct.calcsize('iPPP')}xPi").unpack_from
_MEMORY = (ctypes.c_char * sys.maxsize).from_address(0)
"""All memory of this process. An object's `id` is its place there."""
_CONTIGUOUS, _ALIGNED, _WRITEABLE = 0x1, 0x100, 0x400
"""NPY_ARRAY_C_CONTIGUOUS, _ALIGNED, _WRITEABLE."""


class _Numpy:
    """Marks: address, type, flags and shape of the last array, then the marks of the others."""

    def __init__(self, wanted: Sequence[Wanted]) -> None:
        self._wanted = wanted

    def marks(self, arrays: Sequence[Any]) -> Marks | None:
        found: Marks = ()
        for a in arrays:
            if type(a) is not np.ndarray:
                return None
            found = (_fields(_MEMORY, id(a)), a.shape, found)
        return found

    def addresses(self, marks: Marks) -> list[int] | None:
        out: list[int] = []
        for one in reversed(self._wanted):
            (address, descr, flags), shape, marks = marks
            needed = _CONTIGUOUS | _ALIGNED | (_WRITEABLE if one.written else 0)
            if descr != id(one.dtype) or flags & needed != needed or shape != one.shape:
                return None
            out.append(address)
        return out[::-1]


def _readable() -> bool:
    """Whether the fields lie where they are expected: on CPython, with every numpy so far."""
    if sys.implementation.name != "cpython":
        return False
    one = np.zeros((3, 5), np.float32)
    two = one[:, ::2]
    two.flags.writeable = False
    every = _CONTIGUOUS | _ALIGNED | _WRITEABLE
    whole, gaps = _fields(_MEMORY, id(one)), _fields(_MEMORY, id(two))
    place = one.ctypes.data, id(one.dtype)
    return whole[:2] == gaps[:2] == place and (whole[2] & every, gaps[2] & every) == (every, _ALIGNED)


_READABLE = _readable()


class _Cupy:
    """Marks: those of each array."""

    def __init__(self, kind: type, wanted: Sequence[Wanted]) -> None:
        self._kind: Any = kind
        self._wanted = wanted

    def marks(self, arrays: Sequence[Any]) -> Marks | None:
        found: list[Any] = []
        for a in arrays:
            if type(a) is not self._kind:
                return None
            data = a.data
            # strides, since flags take five times as long
            found.append((data.ptr, data.device_id, a.dtype, a.shape, a.strides))
        return tuple(found)

    def addresses(self, marks: Marks) -> list[int] | None:
        out: list[int] = []
        for (address, number, dtype, shape, strides), one in zip(marks, self._wanted, strict=True):
            if (number, dtype, shape) != (one.number, one.dtype, one.shape) or address % one.align:
                return None
            packed = packed_strides(shape, dtype.itemsize)
            if any(n != 1 and s != p for n, s, p in zip(shape, strides, packed, strict=True)):
                return None
            out.append(int(address))
        return out


class _Form:
    """All but the addresses of some tensors. right: whether a kernel takes such tensors."""

    def __init__(self, right: bool) -> None:
        self.right = right


class _Torch:
    """Marks: addresses, then the form of all.

    Reading what makes up a form takes torch half a microsecond for each tensor. So the form that the last
    tensors had is recognised by torch's own guards, by which compiled functions tell whether they serve a
    call.
    """

    def __init__(self, kind: type, wanted: Sequence[Wanted]) -> None:
        self._kind, self._wanted = kind, wanted
        self._forms: dict[tuple[Any, ...], _Form] = {}
        self._last: tuple[Callable[..., bool], _Form] = lambda *tensors: False, _Form(False)

    def marks(self, arrays: Sequence[Any]) -> Marks | None:
        guard, form = self._last
        try:
            if not guard(*arrays):
                if any(type(a) is not self._kind for a in arrays):
                    return None
                form = self._form(arrays)
            return *[a.data_ptr() for a in arrays], form
        except Exception:  # torch raises various errors for tensors without memory
            return None

    def addresses(self, marks: Marks) -> list[int] | None:
        *out, form = marks
        fit = form.right and all(p and not p % one.align for p, one in zip(out, self._wanted, strict=True))
        return out if fit else None

    def _form(self, tensors: Sequence[Any]) -> _Form:
        each = tuple(
            [(t.dtype, t.shape, t.device, t.is_contiguous(), t.is_neg(), t.requires_grad) for t in tensors]
        )
        form = self._forms.get(each)
        if form is not None:
            guards = _guards()
            self._last = self._last if guards is None else (guards(*tensors).check, form)
            return form
        while len(self._forms) >= _FORMS:
            del self._forms[next(iter(self._forms))]
        right = all(_is_right(*one, wanted) for one, wanted in zip(each, self._wanted, strict=True))
        return self._forms.setdefault(each, _Form(right))


def _is_right(
    dtype: Any, shape: Any, device: Any, contiguous: bool, negative: bool, graph: bool, wanted: Wanted
) -> bool:
    """negative: whether its memory holds the negatives of its values. graph: whether gradients are wanted of
    it, which only a closer look can refuse: torch may record none at the time."""
    # ml_dtypes calls narrow floats as torch does
    if dtype is not getattr(sys.modules["torch"], wanted.dtype.name, None) or shape != wanted.shape:
        return False
    there = ("cpu", None) if wanted.number == HOST else ("cuda", wanted.number)
    return (device.type, device.index) == there and contiguous and not negative and not graph


@cache
def _guards() -> Callable[..., Any] | None:
    """Makes torch's guards like some tensors; None where this torch has none, or none that tell apart what
    they should."""
    torch = sys.modules["torch"]
    try:
        guards = torch._C._dynamo.guards.TensorGuards
        made = partial(guards, dynamic_dims_sizes=None, dynamic_dims_strides=None)
        whole = torch.zeros((5, 5), dtype=torch.float32, device="cpu")
        one, alike = whole[:3], whole[2:]
        others = (
            whole, whole[:3, :4], whole[::2], whole[:, :3].t(), one.view(15), one.double(), one.int(),
            torch._neg_view(one), one.to("meta"), one.to_sparse(), torch.nn.Parameter(one),
            one.detach().requires_grad_(),
        )  # fmt: skip
        check = made(one).check
        right = check(one) and check(alike) and not any(check(t) for t in others)
        return made if right else None
    except Exception:  # the guards are private to torch, and other versions may not have them
        return None


def library_of(kind: type) -> str:
    """`torch`, `cupy`, where a type is theirs and they are loaded."""
    name = str(kind.__module__).partition(".")[0]
    return name if name in sys.modules else ""


def looked_at(kind: type, memory: str, wanted: Sequence[Wanted]) -> ArraysOfType | None:
    """How arrays of type `kind` are looked at that lie in memory of the host or of a GPU (`memory`). None:
    each of them is to be looked at closely."""
    if kind is np.ndarray:
        return _Numpy(wanted) if memory == "host" and _READABLE else None
    library = library_of(kind)
    if library == "torch" and kind is getattr(sys.modules["torch"], "Tensor", None):
        return _Torch(kind, wanted)
    if library == "cupy" and memory != "host" and kind is getattr(sys.modules["cupy"], "ndarray", None):
        return _Cupy(kind, wanted)
    return None


def stream_reader(kind: type, spec: str) -> Stream | None:
    """For arrays of type `kind` on the device `spec`; None where there are no streams."""
    library, number = library_of(kind), int(spec.partition(":")[2] or 0)
    if spec.startswith("cuda") and library == "torch":
        torch = sys.modules["torch"]
        raw = getattr(torch._C, "_cuda_getCurrentRawStream", None)
        if raw is not None:
            return lambda: (raw(number),)
        return lambda: (int(torch.cuda.current_stream(number).cuda_stream),)
    if spec.startswith("cuda") and library == "cupy":
        current = sys.modules["cupy"].cuda.get_current_stream
        return lambda: (int(current().ptr),)
    return None
