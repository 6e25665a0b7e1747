"""The current clock of the device in MHz, where it is cheap to read."""

import ctypes
from functools import cache
from pathlib import Path
from typing import Any

_CORES = Path("/sys/devices/system/cpu/cpufreq")
_CPUINFO = Path("/proc/cpuinfo")
_SM = 1
"""NVML's number of the multiprocessor clock."""


def gpu_clock(bus: str) -> float | None:
    """The clock of a GPU's multiprocessors, by PCI address (`0000:1b:00.0`); None if NVML cannot tell."""
    library = _nvml()
    if library is None:
        return None
    handle, clock = ctypes.c_void_p(), ctypes.c_uint()
    if library.nvmlDeviceGetHandleByPciBusId_v2(bus.encode(), ctypes.byref(handle)):
        return None
    if library.nvmlDeviceGetClockInfo(handle, _SM, ctypes.byref(clock)):
        return None
    return float(clock.value)


def cpu_clock() -> float | None:
    """The mean clock of the cores; None if the system does not say."""
    found = []
    try:
        found = [int(p.read_text()) / 1e3 for p in _CORES.glob("policy*/scaling_cur_freq")]
        if not found:
            lines = _CPUINFO.read_text().splitlines()
            found = [float(x.partition(":")[2]) for x in lines if x.startswith("cpu MHz")]
    except (OSError, ValueError):
        return None
    return round(sum(found) / len(found), 1) if found else None


@cache
def _nvml() -> Any:
    try:
        library = ctypes.CDLL("libnvidia-ml.so.1")
    except OSError:
        return None
    return None if library.nvmlInit_v2() else library
