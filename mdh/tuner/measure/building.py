"""Builds candidates in a process whose compilers may hang, crash or use all memory."""

import json
from collections.abc import Mapping
from pathlib import Path
from time import perf_counter
from typing import Any

from mdh.device.cache import Cache
from mdh.device.cubins import cached_cubin
from mdh.device.faults import faults_of
from mdh.device.programs import cached_program, kept_program
from mdh.device.protocols import Device, Keeps
from mdh.diagnostics import INTERNAL_ERRORS, Diagnostic, internal_error
from mdh.frontend.open_program import closed
from mdh.ir.numerics import ByStage
from mdh.ir.program import Program
from mdh.machine import Machine
from mdh.memory_left import limited, memory_total
from mdh.pipeline import Pipeline
from mdh.results.trial import Job
from mdh.source import Source
from mdh.target.nvrtc import Cubin
from mdh.target.text import KernelText
from mdh.tuner.measure.failures import doubtful, refused
from mdh.tuner.measure.inputs import write_expected
from mdh.tuner.measure.wire import Json, numerics_json, read_numerics, text_json
from mdh.tuner.runtime.processors import some_threads

_LEAST, _PART = 4 << 30, 0.5
"""A compiler may take this share of the machine's memory, so that one that takes too much fails alone. It may
take so many bytes at least, because on some machines the memory grows with its use."""


class Builder:
    """Builds candidates. device: None for CUDA, whose compiler needs none. folder: the bench's own, for files
    that are handed over."""

    def __init__(
        self, job: Job, program: Program, machine: Machine, target: str, device: Device | None,
        cache: Cache | None, folder: Path,
    ) -> None:  # fmt: skip
        self.job, self.program, self.machine, self.target = job, program, machine, target
        self.device, self.cache, self.folder = device, cache, folder

    def poisoned(self, found: Diagnostic) -> bool:
        """Whether this process is unreliable now. NVRTC and OpenCL's compilers work in this process: once one
        got no memory or no open file, it may fail on the next text. A compiler that only refuses a text can
        take the next one."""
        return found.code in ("D102", "D120") or doubtful(refused((found,)))

    def answer(self, request: Mapping[str, Any]) -> Json:
        if request["do"] == "expect":
            return self._expect(request["set"], read_numerics(request["numerics"]), request["threads"])
        return self._build(request["name"], request["schedule"], request["keep"])

    def _expect(self, number: int, numerics: ByStage, threads: int) -> Json:
        start = perf_counter()
        try:
            with some_threads(threads):
                program = closed(self.program, dict(self.job.at))
                write_expected(program, self.job.seed, number, self.folder / "expected", numerics)
        except INTERNAL_ERRORS as error:
            raise internal_error(error) from error
        return {"seconds": perf_counter() - start}

    def _build(self, name: str, schedule: str, keep: bool) -> Json:
        start = perf_counter()
        with limited(max(_LEAST, int(_PART * memory_total()))):
            made = self._made(name, self._text(schedule), keep)
        made["seconds"] = perf_counter() - start
        return made

    def _made(self, name: str, text: KernelText, keep: bool) -> Json:
        made: Json = {"text": str(self.folder / f"{name}.json"), "image": "", "resources": []}
        made["numerics"] = numerics_json(text.numerics)
        image = b""
        if self.device is None:
            cubin = cached_cubin(text, self.machine.arch, self.cache)
            image = cubin.image
            made["resources"] = _resources(cubin, text)
        elif isinstance(self.device, Keeps) and (self.cache is not None or self.device.ships):
            image = self._program(text, self.device, self.cache, keep)
        else:
            self.device.build(text)
        Path(made["text"]).write_text(json.dumps(text_json(text)), encoding="utf-8")
        if image:
            made["image"] = str(self.folder / f"{name}.image")
            Path(made["image"]).write_bytes(image)
        return made

    def _program(self, text: KernelText, device: Keeps, cache: Cache | None, keep: bool) -> bytes:
        """The binary, if the cache has it or the device takes binaries. Otherwise empty: the text was built,
        and the runtime keeps the result in a folder that all workers of the bench share."""
        # PoCL compiles for any size of a work-group before it hands out a binary, which takes as long as the
        # build. Losing candidates must not pay for that.
        if cache is not None and (keep or device.ships):
            image, new = cached_program(text, device, cache)
            return b"" if new and not device.ships else image
        kept = None if cache is None else kept_program(text, device, cache)
        if kept is not None:
            return kept
        built = device.build(text)
        return device.binary(built) if device.ships else b""

    def _text(self, schedule: str) -> KernelText:
        """The kernel text. Raises Failed with what the checker found, and B101 for a bug of mdh."""
        pipeline = Pipeline()
        try:
            given = pipeline.schedule(Source("<candidate>", schedule))
            checked = pipeline.check(
                self.program, given, self.machine, self.target, deterministic=self.job.deterministic
            )
            known = None if self.device is None else faults_of(self.device)
            return pipeline.emit(pipeline.lower(checked.plan), self.program, known)
        except INTERNAL_ERRORS as error:
            raise internal_error(error) from error


def _resources(cubin: Cubin, text: KernelText) -> list[list[Any]]:
    dynamic = max((k.dynamic_shared for k in text.kernels), default=0)
    return [
        ["registers", cubin.registers],
        ["shared", cubin.shared + dynamic],
        ["local", cubin.stack],
        ["spills", cubin.spill_bytes],
    ]
