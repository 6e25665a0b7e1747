"""Measures what the runtimes of this machine's CPUs can do, by kernels of mdh's own.

There are three figures: the time of a launch on all cores, the time of a launch of one work-group, and the
arithmetic rate of a register tile. The rate shows whether the runtime's compiler keeps the tile in registers
and fuses multiply-adds.
"""

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter

import numpy as np

from mdh.device.faults import faults_of
from mdh.device.protocols import Device
from mdh.pipeline import Pipeline
from mdh.source import Source

_ADD = "void add(const float A[64], float B[64]) { for (int i = 0; i < 64; i++) B[i] = A[i] + 1.0f; }\n"
_GROUPS = "1: (de-)comp( {tile} ) ( ^ ; ^ ) ( BLK.x )\n"
_SIDE = 96
_PRODUCT = """void product(const float A[N][N], const float B[N][N], float C[N][N]) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      for (int k = 0; k < N; k++)
        C[i][j] += A[i][k] * B[k][j];
}
"""
_TILE = """
1: (de-)comp( 6, 16, ^ ) ( ^, ^ ; ^ )         ( FOR.1, FOR.2, ^ )
2: (de-)comp( ^, ^, 1 )  ( ^, ^ ; C:RM[1,2] ) ( ^, ^, FOR.1 )
3: (de-)comp( 1, 8, ^ )  ( ^, ^ ; ^ )         ( FOR.1, FOR.2, ^ ) @unroll
4: (de-)comp( ^, 1, ^ )  ( ^, ^ ; ^ )         ( ^, VEC.x, ^ )
"""
_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class Ability:
    """Seconds of a launch on all cores and of one work-group; operations a second of one core (fp32)."""

    launch: float
    alone: float
    rate: float

    def __str__(self) -> str:
        said = f"a launch {self.launch * 1e6:.1f} us, of one work-group {self.alone * 1e6:.1f} us"
        return f"{said}; {self.rate / 1e9:.0f} GFLOP/s (fp32) a core in a 6x16 register tile"


def ability(device: Device) -> Ability:
    """The figures of a device. Raises Failed if it cannot build or run."""
    cores = min(64, max(2, device.machine.units))
    arrays = {n: np.zeros(64, np.float32) for n in "AB"}
    launch = _least(_call(device, _ADD, _GROUPS.format(tile=64 // cores), arrays))
    alone = _least(_call(device, _ADD, _GROUPS.format(tile=64), arrays))
    square = {n: np.ones((_SIDE, _SIDE), np.float32) for n in "ABC"}
    product = _least(_call(device, _PRODUCT, _TILE, square))
    # the overhead of a call besides the arithmetic is the launch of one group
    return Ability(launch, alone, 2.0 * _SIDE**3 / max(product - alone, product / 2))


def _call(device: Device, text: str, schedule: str, arrays: dict[str, np.ndarray]) -> Callable[[], None]:
    run = Pipeline()
    program = run.read(Source("ability.c", text), defines={"N": _SIDE} if text is _PRODUCT else {})
    given = run.schedule(Source("ability.mdh", schedule))
    plan = run.check(program, given, device.machine, device.target).plan
    return run.build(device, run.emit(run.lower(plan), program, faults_of(device))).call(arrays, {}).launch


def _least(call: Callable[[], None]) -> float:
    call()
    best, end = float("inf"), perf_counter() + _SECONDS
    while perf_counter() < end:
        start = perf_counter()
        call()
        best = min(best, perf_counter() - start)
    return best
