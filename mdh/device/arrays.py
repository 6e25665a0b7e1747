"""Views of arrays of any library: the place of their memory, shape, type and strides. Nothing is copied."""

import sys
from dataclasses import dataclass
from math import prod
from typing import Any

import ml_dtypes
import numpy as np

from mdh.diagnostics import fail

SHORT = ("bfloat16", "float8_e4m3fn", "float8_e5m2")
"""Types that numpy has of ml_dtypes; torch calls them by the same names."""


@dataclass(frozen=True, slots=True)
class StridedView:
    """Memory of `owner`, which the view keeps alive. strides: in bytes. place: `host` or `cuda:N`. stream:
    where its owner last worked on it (CUDA array interface 3); None if nothing is pending."""

    pointer: int
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    strides: tuple[int, ...]
    readonly: bool
    place: str
    owner: Any
    stream: int | None = None

    @property
    def nbytes(self) -> int:
        return prod(self.shape) * self.dtype.itemsize

    @property
    def contiguous(self) -> bool:
        """Whether the elements are row major without gaps."""
        expected = self.dtype.itemsize
        for n, stride in zip(reversed(self.shape), reversed(self.strides), strict=True):
            if n != 1 and stride != expected:
                return False
            expected *= n
        return True

    @property
    def span(self) -> tuple[int, int]:
        """The half-open range of addresses that the elements lie in."""
        if 0 in self.shape:
            return self.pointer, self.pointer
        low = sum((n - 1) * s for n, s in zip(self.shape, self.strides, strict=True) if s < 0)
        high = sum((n - 1) * s for n, s in zip(self.shape, self.strides, strict=True) if s > 0)
        return self.pointer + low, self.pointer + high + self.dtype.itemsize


def view_of(array: Any) -> StridedView | None:
    """A view of a numpy, cupy or torch array, or of an object with `__cuda_array_interface__`,
    `__array_interface__`, `__dlpack__` on the host, or the buffer protocol; None for anything else. Raises
    errors of its library, and TypeError for a masked array."""
    if is_masked(array):
        raise TypeError("it is a masked array, and kernels would not see the mask; array.filled(0) has none")
    if isinstance(array, np.ndarray):
        return _numpy(array, array)
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(array, torch.Tensor):
        return _torch(array, torch)
    if hasattr(array, "__cuda_array_interface__"):
        return _cuda(array)
    if isinstance(array, bytes | str):
        return None
    if hasattr(array, "__array_interface__"):
        return _numpy(np.asarray(array), array)
    try:
        return _numpy(np.asarray(memoryview(array)), array)
    except TypeError:
        pass
    if hasattr(array, "__dlpack__"):
        return _numpy(np.from_dlpack(array), array)
    return None


def shape_of(array: Any) -> tuple[int, ...] | None:
    """Of what `view_of` knows, else None."""
    try:
        view = view_of(array)
    except Exception:  # the array's own methods raise what they like; `view_of` is asked again, and told
        return None
    return None if view is None else view.shape


def new_array(example: Any, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
    """An array of the library of `example`, in the memory where that lies, whose elements have no values yet.
    Raises Failed A113 for a library that is not known."""
    if isinstance(example, np.ndarray) or example is None:
        return np.empty(shape, dtype)
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(example, torch.Tensor):
        return torch.empty(shape, dtype=getattr(torch, dtype.name), device=example.device)
    cupy = sys.modules.get("cupy")
    if cupy is not None and isinstance(example, cupy.ndarray):
        with example.device:
            return cupy.empty(shape, dtype)
    view = view_of(example)
    if view is not None and view.place == "host":
        return np.empty(shape, dtype)
    kind = f"{type(example).__module__}.{type(example).__qualname__}"
    raise fail("A113", f"mdh makes no arrays of type {kind}", help="give the results as arguments, too")


def is_masked(array: Any) -> bool:
    """Whether this is a numpy.ma array, whose mask is not part of its memory."""
    masked = sys.modules.get("numpy.ma")
    return masked is not None and isinstance(array, masked.MaskedArray)


def records_gradients(array: Any) -> bool:
    """Whether torch records what is computed of this tensor now, to differentiate it later."""
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(array, torch.Tensor):
        return False
    return bool(array.requires_grad and torch.is_grad_enabled())


def host_array(view: StridedView) -> np.ndarray[Any, Any]:
    """The view as a numpy array of host memory. The view keeps the owner alive."""
    if isinstance(view.owner, np.ndarray):
        return view.owner
    interface = {
        "version": 3, "shape": view.shape, "strides": view.strides,
        "data": (view.pointer, view.readonly), "typestr": f"|V{view.dtype.itemsize}",
    }  # fmt: skip
    return np.asarray(_Interface(interface, view)).view(view.dtype)


def packed_view(address: int, shape: tuple[int, ...], dtype: np.dtype[Any], place: str) -> StridedView:
    """Of memory in row-major order that is not kept alive."""
    return StridedView(address, shape, dtype, packed_strides(shape, dtype.itemsize), False, place, None)


def packed(view: StridedView) -> StridedView:
    """A contiguous copy in the same memory, made by the library that owns it."""
    if view.place == "host":
        array = np.array(host_array(view), order="C")
        return _numpy(array, array)
    owner = view.owner
    # torch's `contiguous` may return the tensor itself, whose address is then still the old one
    copy = owner.contiguous().clone() if hasattr(owner, "contiguous") else owner.copy(order="C")
    copied = view_of(copy)
    assert copied is not None
    return copied


class _Interface:
    def __init__(self, interface: dict[str, Any], keeper: StridedView) -> None:
        self.__array_interface__ = interface
        self.keeper = keeper


def _numpy(array: np.ndarray[Any, Any], owner: Any) -> StridedView:
    pointer, readonly = array.__array_interface__["data"]
    return StridedView(pointer, array.shape, array.dtype, array.strides, bool(readonly), "host", owner)


def _cuda(array: Any) -> StridedView:
    described = array.__cuda_array_interface__
    dtype = np.dtype(getattr(array, "dtype", described["typestr"]))
    shape = tuple(int(n) for n in described["shape"])
    strides = described.get("strides") or packed_strides(shape, dtype.itemsize)
    pointer, readonly = described["data"]
    device = getattr(array, "device", None)
    number = int(getattr(device, "id", 0) or 0)
    stream = described.get("stream")
    return StridedView(
        int(pointer), shape, dtype, tuple(strides), bool(readonly), f"cuda:{number}", array, stream
    )


def _torch(tensor: Any, torch: Any) -> StridedView:
    """A view of a tensor by its own methods, because numpy's protocols have no names for narrow floats."""
    if tensor.is_neg():
        raise TypeError("its memory holds the negatives of its values; tensor.resolve_neg() does not")
    size = tensor.element_size()
    name = str(tensor.dtype).removeprefix("torch.")
    dtype = np.dtype(getattr(ml_dtypes, name) if name in SHORT else name)
    strides = tuple(int(s) * size for s in tensor.stride())
    device = tensor.device
    place, stream = "host", None
    if device.type == "cuda":
        number = device.index or 0
        place, stream = f"cuda:{number}", int(torch.cuda.current_stream(number).cuda_stream)
    elif device.type != "cpu":
        place = str(device)
    return StridedView(
        int(tensor.data_ptr()), tuple(tensor.shape), dtype, strides, False, place, tensor, stream
    )


def packed_strides(shape: tuple[int, ...], size: int) -> tuple[int, ...]:
    """In bytes, of elements of `size` bytes in row-major order without gaps."""
    out = []
    for n in reversed(shape):
        out.append(size)
        size *= n
    return tuple(reversed(out))
