"""What the GPU can do: multiply-adds in registers; copies and reads of as many bytes as a case moves."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.gpu.clock import Made
from bench.gpu.gpu import PLACE, cupy, torch
from mdh.compare.calling import Call

_THREADS, _EACH, _VECTOR = 256, 4, 16
_ROUNDS, _BLOCKS, _CHAINS = 4096, 16, 16
_HEAT = 0.3
"""Multiply-adds of a chain, blocks of a multiprocessor, chains of a thread; seconds."""


class Roof:
    """units: multiprocessors."""

    def __init__(self, units: int) -> None:
        text = Path(__file__).with_name("roof.cu").read_text(encoding="utf-8")
        self._module = cupy.RawModule(code=text)
        self._units = units
        self._sink = torch.zeros(2, dtype=torch.float64, device=PLACE)

    def peak(self, double: bool) -> float:
        """FLOP/s, the best of runs that go on until the clocks have risen."""
        kernel = self._module.get_function("fma64" if double else "fma32")
        blocks = self._units * _BLOCKS
        arguments = (cupy.asarray(self._sink), cupy.int32(_ROUNDS))
        first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        best, end = float("inf"), time.perf_counter() + _HEAT
        while time.perf_counter() < end:
            first.record()
            kernel((blocks,), (_THREADS,), arguments)
            last.record()
            last.synchronize()
            best = min(best, first.elapsed_time(last) * 1e-3)
        return 2.0 * blocks * _THREADS * _CHAINS * _ROUNDS / best

    def plain(self, like: str, moved: int, count: int) -> Made:
        """Copies or reads that move so many bytes, on `count` arrays in turn."""
        make = self._copy if like == "copy" else self._read
        return Made([make(moved) for _ in range(count)])

    def _copy(self, moved: int) -> Call:
        vectors = max(1, moved // 2 // _VECTOR)
        source, target = (_floats(vectors) for _ in range(2))
        blocks = -(-vectors // (_THREADS * _EACH))
        return self._bound("copy_all", blocks, source, target, vectors)

    def _read(self, moved: int) -> Call:
        vectors = max(1, moved // _VECTOR)
        blocks = max(1, min(self._units * 8, vectors // _THREADS))
        return self._bound("read_all", blocks, _floats(vectors), self._sink, vectors)

    def _bound(self, name: str, blocks: int, source: Any, target: Any, vectors: int) -> Call:
        kernel: Callable[..., Any] = self._module.get_function(name)
        arguments = (cupy.asarray(source), cupy.asarray(target), cupy.int64(vectors))
        return lambda: kernel((blocks,), (_THREADS,), arguments)


def _floats(vectors: int) -> Any:
    return torch.rand(vectors * 4, dtype=torch.float32, device=PLACE)
