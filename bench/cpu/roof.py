"""What the machine can do, measured in the same turns as the contestants."""

import ctypes
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bench.cpu.by_gcc import shared_library

FLAGS = (
    "-std=gnu11",
    "-O3",
    "-march=native",
    "-ffast-math",
    "-fno-tree-loop-distribute-patterns",
    "-fopenmp",
    "-fPIC",
)
_VECTORS = 12
_ROUNDS = 200_000
_FLOATS = 1 << 25


@dataclass(frozen=True, slots=True)
class Rates:
    """FLOP/s and bytes/s: with all threads, each byte counted once."""

    f32: float
    f64: float
    read: float
    copy: float

    def seconds(self, flops: float, double: bool, read: int, written: int) -> tuple[float, str]:
        """The least time of such work, and what bounds it. Written bytes move as in a copy."""
        arithmetic = flops / (self.f64 if double else self.f32)
        paired = min(read, written)
        memory = 2 * paired / self.copy + (read - paired) / self.read + (written - paired) / self.copy
        return max((arithmetic, "arithmetic"), (memory, "memory"))


class Roof:
    """Vectors as wide as gets the most out of this machine: 32 or 64 bytes."""

    def __init__(self, folder: Path, threads: int) -> None:
        self.threads = threads
        source = Path(__file__).with_name("roof.c")
        self._sink = ctypes.c_double()
        self._a, self._b = np.ones(_FLOATS, np.float32), np.ones(_FLOATS, np.float32)
        found = []
        for width in (32, 64):
            library = folder / f"roof{width}.so"
            assert shared_library(source, (*FLAGS, f"-DBYTES={width}"), library), source
            loaded = ctypes.CDLL(str(library))
            for name in ("fma32", "fma64", "read_all", "copy_all"):
                getattr(loaded, name).restype = ctypes.c_double
            found.append((self._fma(loaded, "fma32", width), width, loaded))
        _, self._width, self._library = max(found, key=lambda f: f[0])

    def rates(self) -> Rates:
        """One short measurement of each; the faster of plain and streaming stores."""
        library, bytes_ = self._library, self._a.nbytes
        a, b = (ctypes.c_void_p(x.ctypes.data) for x in (self._a, self._b))
        count, sink = ctypes.c_long(_FLOATS), ctypes.byref(self._sink)
        reads = bytes_ / min(library.read_all(a, count, sink) for _ in range(2))
        copies = 2 * bytes_ / min(library.copy_all(a, b, count, stream) for stream in (0, 1, 1))
        return Rates(
            self._fma(library, "fma32", self._width), self._fma(library, "fma64", self._width), reads, copies
        )

    def _fma(self, library: ctypes.CDLL, name: str, width: int) -> float:
        lanes = width / (4 if name == "fma32" else 8)
        run = getattr(library, name)
        seconds = min(run(ctypes.c_long(_ROUNDS), ctypes.byref(self._sink)) for _ in range(3))
        return float(2 * _VECTORS * lanes * _ROUNDS * self.threads / seconds)


def cores() -> int:
    return len(os.sched_getaffinity(0))
