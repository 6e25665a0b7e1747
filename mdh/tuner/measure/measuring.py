"""Judges and times built candidates, in the one process that owns the device."""

import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from time import perf_counter
from typing import Any

from mdh.device.protocols import BoundCall, Device, Executable, Loads
from mdh.diagnostics import Diagnostic, Failed
from mdh.ir.program import Program
from mdh.memory_left import no_room
from mdh.results.trial import Effort, Job
from mdh.target.text import KernelText
from mdh.tuner.measure.clocks import cpu_clock, gpu_clock
from mdh.tuner.measure.failures import doubtful, of_the_machine, poisons, refused
from mdh.tuner.measure.judging import Judge, Trusted
from mdh.tuner.measure.progress import Progress
from mdh.tuner.measure.timing import Timed, run_timed
from mdh.tuner.measure.wire import Json, failed_json, read_text


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
        self._trusted[name] = self.judge.trust(built, sets)
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
        bus = getattr(self.device, "bus", None)
        if bus is not None:
            return gpu_clock(str(bus))
        return cpu_clock() if self.device.machine.kind == "cpu" else None
