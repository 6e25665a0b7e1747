"""CUB, called as a C library that nvcc makes of `cub.cu`."""

import ctypes
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.gpu.cases import Case
from bench.gpu.clock import Made
from bench.gpu.gpu import PLACE, Tensors, torch
from mdh.compare.calling import Call

_ARRAYS = {
    "prefix_sum": ("scan", "A", "S"),
    "histogram": ("histogram", "B", "H"),
    "row_max": ("row_max", "A", "best"),
    "row_argmax": ("row_argmax", "A", ""),
}
"""Program to function, input and output; pairs of places and values have no array of ours."""


class Cub:
    """library: its file, which may be missing."""

    def __init__(self, library: Path, stream: int) -> None:
        self._path, self._stream = library, stream

    def prepare(self, case: Case, sets: Sequence[Tensors]) -> Made | None:
        """Raises ImportError where there is no library."""
        if case.program not in _ARRAYS:
            return None
        if not self._path.exists():
            raise ImportError("nvcc did not make it")
        name, source, target = _ARRAYS[case.program]
        function, size = ctypes.CDLL(str(self._path))[name], ctypes.c_size_t()
        outputs = [
            t[target] if target else torch.empty((len(t[source]), 2), dtype=torch.int32, device=PLACE)
            for t in sets
        ]
        given = [
            (
                ctypes.c_void_p(t[source].data_ptr()), ctypes.c_void_p(output.data_ptr()),
                *map(ctypes.c_long, _lengths(case)), ctypes.c_void_p(self._stream),
            )
            for t, output in zip(sets, outputs, strict=True)
        ]  # fmt: skip
        _must(function(None, ctypes.byref(size), *given[0]))
        space = torch.empty(max(1, size.value), dtype=torch.uint8, device=PLACE)
        at = ctypes.c_void_p(space.data_ptr())

        def bound(arguments: Any) -> Call:
            def call() -> None:
                _must(function(at, ctypes.byref(size), *arguments))

            # the memory lives as long as a call that uses it
            call.__dict__["kept"] = space, outputs
            return call

        def finish() -> None:
            if not target:
                sets[0]["place"].copy_(outputs[0][:, 0])
                sets[0]["best"].copy_(outputs[0][:, 1].view(torch.float32))

        return Made([bound(g) for g in given], finish)


def _lengths(case: Case) -> tuple[int, int]:
    """Rows and columns, or elements and bins."""
    if "M" in case.sizes:
        return case.sizes["M"], case.sizes["N"]
    return case.sizes["N"], case.sizes.get("BINS", 0)


def _must(status: int) -> None:
    if status:
        raise RuntimeError(f"CUB says {status}")
