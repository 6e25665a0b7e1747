"""Kernels bound to memory: the addresses of a call's workspaces, and the arguments of each launch; streams by
their numbers."""

import ctypes
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from threading import get_ident
from typing import Any

from mdh.device.arguments import arguments_of, ctypes_value
from mdh.device.cuda_driver import LoadedCubin, PackedLaunch
from mdh.device.tensor_map import encoded_map
from mdh.ir.copy_engine import TensorMap
from mdh.target.text import EntryPoint, Scratch

ALIGNED = 256
"""Bytes. The start of each array and workspace is a multiple of this, as for separately allocated memory."""


@dataclass(frozen=True, slots=True)
class Spaces:
    """All workspaces of a call in one allocation. Those that begin as zeros are in front, so that one command
    clears them.

    starts: offset in bytes, by workspace. zeroed: bytes of those in front. bytes: of all.
    """

    starts: Mapping[str, int]
    zeroed: int
    bytes: int


def lay_out(workspaces: Iterable[Scratch]) -> Spaces:
    starts: dict[str, int] = {}
    end = zeroed = 0
    for w in sorted(workspaces, key=lambda w: not w.zero):
        starts[w.name] = end
        end += -(-max(w.bytes, 1) // ALIGNED) * ALIGNED
        zeroed = end if w.zero else zeroed
    return Spaces(starts, zeroed, end)


def bound_launch(
    module: LoadedCubin, entry: EntryPoint, pointers: Mapping[str, int], scalars: Mapping[str, Any]
) -> PackedLaunch:
    """One kernel bound to arrays and workspaces by their addresses. Raises DriverError."""
    arguments = arguments_of(entry, scalars, lambda name: ctypes.c_void_p(pointers[name]), ctypes_value)
    arguments += [encoded_map(a, pointers[a.buffer]) for a in entry.args if isinstance(a, TensorMap)]
    launch = entry.launch.at(scalars)
    shape = (*launch.grid, *launch.block, entry.dynamic_shared)
    return PackedLaunch(module, entry.name, shape, arguments, early=launch.early)


_PER_THREAD = 2
"""CU_STREAM_PER_THREAD: one number for another stream in each thread."""
Place = int | tuple[int, int]
"""A stream as a key."""


def place_of(stream: int) -> Place:
    return (stream, get_ident()) if stream == _PER_THREAD else stream


class _Foreign:
    """A stream of another library, with the protocol of CUDA streams."""

    def __init__(self, handle: int) -> None:
        self.handle = handle

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, self.handle


def stream_of(cupy: Any, handle: int, number: int) -> Any:
    """The stream `handle` of device `number` as cupy's object. cupy 14 deprecates ExternalStream."""
    if hasattr(cupy.cuda.Stream, "from_external"):
        with cupy.cuda.Device(number):
            return cupy.cuda.Stream.from_external(_Foreign(handle))
    return cupy.cuda.ExternalStream(handle, number)
