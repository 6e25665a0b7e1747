"""Judges and times built candidates, in the one process that owns the device."""

import ctypes
import json
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from time import perf_counter
from typing import Any

from mdh.device.protocols import BoundCall, Device, Executable, Loads
from mdh.diagnostics import Diagnostic, Failed
from mdh.ir.program import Program
from mdh.memory_left import no_room
from mdh.results.trial import Effort, Job
from mdh.target.text import KernelText
from mdh.tuner.measure.failures import doubtful, of_the_machine, poisons, refused
from mdh.tuner.measure.judging import Judge, Trusted
from mdh.tuner.measure.progress import Progress
from mdh.tuner.measure.timing import Timed, run_timed
from mdh.tuner.measure.wire import Json, failed_json, read_text

_CORES = Path("/sys/devices/system/cpu/cpufreq")
_CPUINFO = Path("/proc/cpuinfo")
_SM = 1
"""NVML's number of the multiprocessor clock."""


class Measurer:
    """Keeps loaded candidates until they have been timed."""

    def __init__(self, job: Job, program: Program, device: Device, folder: Path, progress: Progress) -> None:
        self.device, self.progress = device, progress
        self.judge = Judge(program, device, job.seed, folder / "expected")
        self._trusted: dict[str, Trusted] = {}

    def poisoned(self, found: Diagnostic) -> bool:
        """Whether this process may fail because of an earlier candidate. OpenCL on GPUs does not tell which
        errors last."""
        vague = self.device.machine.kind == "gpu" and self.device.memory == "host"
        unsure = of_the_machine((found,)) or doubtful(refused((found,)))
        return poisons(found) or unsure or (vague and found.code in ("D104", "D105"))

    def answer(self, request: Mapping[str, Any]) -> Json:
        with suppress(MemoryError):
            return self._answer(request)
        # the frames that held what was made so far are gone by now
        raise no_room("the arrays that candidates are judged and timed on")

    def _answer(self, request: Mapping[str, Any]) -> Json:
        if request["do"] == "load":
            return self._load(request["name"], request["text"], request["image"], request["sets"])
        return self._time(request["names"], request["effort"])

    def _load(self, name: str, text_path: str, image_path: str, sets: int) -> Json:
        start = perf_counter()
        self.progress.at(name)
        text = read_text(json.loads(Path(text_path).read_text(encoding="utf-8")))
        built = self._built(text, Path(image_path) if image_path else None)
        self._trusted[name] = self.judge.trust(built, sets, text.numerics)
        return {"seconds": perf_counter() - start}

    def _built(self, text: KernelText, image: Path | None) -> Executable:
        if image is None:
            return self.device.build(text)
        assert isinstance(self.device, Loads)
        return self.device.load(text, image.read_bytes())

    def _time(self, names: list[str], effort: Mapping[str, Any]) -> Json:
        """One result for each candidate: its runs, or why it was not right any more."""
        start = perf_counter()
        trusted = [self._trusted.pop(name) for name in names]
        before = self._clock()
        runs = self._runs(names, trusted, Effort(**effort))
        clocks = [c for c in (before, self._clock()) if c is not None]
        results = []
        for name, one, timed in zip(names, trusted, runs, strict=True):
            self.progress.at(name)
            results.append(self._result(one, timed))
        return {"results": results, "clocks": clocks, "seconds": perf_counter() - start}

    def _runs(self, names: list[str], trusted: list[Trusted], effort: Effort) -> list[Timed]:
        def timed(calls: list[BoundCall]) -> list[Timed]:
            return run_timed(calls, effort, self.device.flush, lambda i: self.progress.at(names[i]))

        if len(trusted) > 1:
            runs = timed(self.judge.at_one_place(trusted))
            if self.judge.unharmed(trusted[0]):
                return runs
            # one of them stores where it must not, and shared arrays do not tell which
        return timed([t.call for t in trusted])

    def _result(self, trusted: Trusted, timed: Timed) -> Json:
        try:
            self.judge.still_right(trusted)
        except Failed as failed:
            if any(self.poisoned(d) for d in failed.diagnostics):
                raise
            return {"failed": failed_json(failed)}
        return {
            "warm": timed.seconds(timed.warm),
            "cold": timed.seconds(timed.cold),
            "clock": timed.clock,
            "stopped": timed.stopped,
        }

    def _clock(self) -> float | None:
        """The current clock of the device in MHz, where it is cheap to read."""
        bus = getattr(self.device, "bus", None)
        if bus is not None:
            return _gpu_clock(str(bus))
        return _cpu_clock() if self.device.machine.kind == "cpu" else None


def _gpu_clock(bus: str) -> float | None:
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


def _cpu_clock() -> float | None:
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
