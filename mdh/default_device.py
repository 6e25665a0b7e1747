"""The device where none is named: that of MDH_DEVICE, else the first GPU, else the faster one of the CPU.

A CPU can be used by OpenCL (`opencl:0`) and by the system's C compiler (`c`). Which of them is faster depends
on the processor and on both compilers, so both are measured once, and the answer is kept in mdh's cache.
"""

import os
import sys
from collections.abc import Mapping, Sequence
from math import sqrt
from time import sleep

import numpy as np

from mdh.device.api import demand_spec, list_devices, open_device
from mdh.device.cache import cache_if_any, key_of
from mdh.device.faults import faults_of
from mdh.device.protocols import BoundCall, Device, ListedDevice
from mdh.diagnostics import Failed
from mdh.pipeline import Pipeline
from mdh.reference.numbers import Array
from mdh.source import Source

VARIABLE = "MDH_DEVICE"
FIRST = "opencl:0"
PAIR = (FIRST, "c")
_PRODUCT = """void product(const float A[512][512], const float B[512][512], float C[512][512]) {
  for (int i = 0; i < 512; i++)
    for (int j = 0; j < 512; j++)
      for (int k = 0; k < 512; k++)
        C[i][j] += A[i][k] * B[k][j];
}
"""
_SUM = """void rows(const float A[4096][1024], float C[4096]) {
  for (int i = 0; i < 4096; i++)
    for (int j = 0; j < 1024; j++)
      C[i] += A[i][j];
}
"""
_SHAPES: Mapping[str, Mapping[str, tuple[int, ...]]] = {
    _PRODUCT: {"A": (512, 512), "B": (512, 512), "C": (512, 512)},
    _SUM: {"A": (4096, 1024), "C": (4096,)},
}
"""What is measured: a kernel that computes, and one that reads memory."""
_TURNS, _PAUSE = 7, 0.005
"""Turns of each device, of which the fastest counts, and seconds after which the other's threads sleep."""


def default_device() -> str:
    """The device's name. Raises Failed D110 if MDH_DEVICE names none."""
    said = os.environ.get(VARIABLE, "")
    if said:
        demand_spec(said, VARIABLE)
        return said
    listed = list_devices()
    gpu = next((d.spec for d in listed if d.kind == "gpu"), None)
    return gpu or _faster(listed)


def _faster(listed: Sequence[ListedDevice]) -> str:
    """One of PAIR; FIRST if only one is there, or if one of them cannot be measured."""
    here = [d for d in listed if d.spec in PAIR and d.kind == "cpu"]
    if len(here) < len(PAIR):
        return here[0].spec if here else FIRST
    cache, key = cache_if_any(), key_of("default device", *(f"{d.title} {d.platform}" for d in here))
    kept = None if cache is None else cache.get(key)
    if kept is not None and kept.decode("ascii", "replace") in PAIR:
        return kept.decode("ascii")
    try:
        ratio = _ratio([open_device(spec) for spec in PAIR])
    except Failed:
        return FIRST
    faster, slower = PAIR if ratio <= 1 else PAIR[::-1]
    factor = max(ratio, 1 / ratio)
    sys.stderr.write(
        f"mdh: measured once: {faster} is {factor:.2f} times as fast as {slower}, so it is the default "
        f"device here; {VARIABLE} names another one\n"
    )
    if cache is not None:
        cache.put(key, faster.encode("ascii"))
    return faster


def _ratio(devices: Sequence[Device]) -> float:
    """The time of the first device over that of the second, as a geometric mean."""
    rng = np.random.default_rng(0)
    product = 1.0
    for text, shapes in _SHAPES.items():
        arrays = {name: rng.random(shape, np.float32) for name, shape in shapes.items()}
        calls = [_call(text, device, arrays) for device in devices]
        best = [float("inf")] * len(calls)
        for _ in range(_TURNS):
            for n, call in enumerate(calls):
                sleep(_PAUSE)
                call.launch()
                best[n] = min(best[n], call.sample().wall)
        product *= best[0] / best[1]
    return sqrt(product)


def _call(text: str, device: Device, arrays: dict[str, Array]) -> BoundCall:
    run = Pipeline()
    program = run.read(Source("<default device>", text))
    plan = run.check(program, None, device.machine, device.target).plan
    return run.build(device, run.emit(run.lower(plan), program, faults_of(device))).call(arrays, {})
