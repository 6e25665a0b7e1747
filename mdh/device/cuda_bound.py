"""Kernels bound to memory: the addresses of a call's workspaces, and the arguments of each launch."""

import ctypes
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
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
    launch = entry.launch
    shape = (*launch.grid, *launch.block, entry.dynamic_shared)
    return PackedLaunch(module, entry.name, shape, arguments, early=launch.early)
