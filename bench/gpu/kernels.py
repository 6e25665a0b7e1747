"""mdh's kernels for the cases, as text and machine code: made before anything runs, without a GPU."""

import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from itertools import repeat
from multiprocessing import get_context
from pathlib import Path

from bench.cases import program_of
from bench.gpu.cases import Case, schedule_path
from bench.gpu.outcome import DEFAULT
from mdh.diagnostics import Failed
from mdh.machine import Machine
from mdh.pipeline import Pipeline
from mdh.source import Source
from mdh.target.nvrtc import Cubin, compile_cubin
from mdh.target.text import KernelText


@dataclass(frozen=True, slots=True)
class Kernels:
    """Of one schedule. resources: the compiler's report, in words."""

    text: KernelText
    image: bytes
    resources: str


@dataclass
class Prepared:
    """A case's kernels by schedule, the derived one's as DEFAULT; refused: the others, and why."""

    case: Case
    texts: dict[str, KernelText] = field(default_factory=dict)
    kernels: dict[str, Kernels] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)

    @property
    def resources(self) -> dict[str, str]:
        return {name: kernels.resources for name, kernels in self.kernels.items()}


def lowered(case: Case, machine: Machine) -> Prepared:
    """Texts alone."""
    arrows = Pipeline()
    out = Prepared(case)
    program = program_of(case)
    for name in (*case.schedules, DEFAULT):
        path = schedule_path(name)
        try:
            given = None
            if name != DEFAULT:
                given = arrows.schedule(Source(str(path), path.read_text(encoding="utf-8")))
            plan = arrows.check(program, given, machine, "cuda").plan
            out.texts[name] = arrows.emit(arrows.lower(plan), program)
        except Failed as failed:
            out.refused[name] = _why(failed)
        except OSError as error:
            out.refused[name] = str(error)
    return out


def _why(failed: Failed) -> str:
    first = failed.diagnostics[0]
    return f"{first.code} {first.headline}"


def compiled(prepared: Prepared, arch: str) -> Prepared:
    """Adds the machine code."""
    # NVRTC reports no registers of a text that it has compiled before
    known: dict[str, Cubin] = {}
    for name, text in prepared.texts.items():
        try:
            if text.source not in known:
                known[text.source] = compile_cubin(text, arch)
        except Failed as failed:
            prepared.refused[name] = _why(failed)
            continue
        cubin = known[text.source]
        words = f"{cubin.registers} registers"
        if cubin.spill_bytes:
            words += f", {cubin.spill_bytes} bytes spilled"
        prepared.kernels[name] = Kernels(text, cubin.image, "; ".join([words, *cubin.warnings]))
    return prepared


def made(case: Case, machine: Machine) -> Prepared:
    """Texts and machine code."""
    return compiled(lowered(case, machine), machine.arch)


def all_made(cases: Sequence[Case], machine: Machine, jobs: int) -> list[Prepared]:
    """In processes beside this one, which share nothing."""
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        return list(pool.map(made, cases, repeat(machine)))


def keep(prepared: Sequence[Prepared], folder: Path, best: Mapping[str, str] | None = None) -> None:
    """Texts as files that name case and schedule: of every schedule, or of each case's best one."""
    folder.mkdir(parents=True, exist_ok=True)
    if best is not None:
        # what was best before
        for path in folder.glob("*.cu"):
            path.unlink()
    for one in prepared:
        for name, text in one.texts.items():
            if best is None or best.get(one.case.name) == name:
                words = re.sub(r"[^\w.]+", "_", f"{one.case.name}.{name.replace('/', '.')}")
                (folder / f"{words}.cu").write_text(text.source, encoding="utf-8")


def cub_library(library: Path, arch: str) -> None:
    """Makes CUB's algorithms a library where nvcc is there and takes them."""
    nvcc = shutil.which("nvcc") or shutil.which("nvcc", path="/usr/local/cuda/bin")
    if nvcc is None:
        return
    source = Path(__file__).with_name("cub.cu")
    flags = ["-std=c++17", "-O3", f"-arch={arch.rstrip('a')}", "-shared", "-Xcompiler", "-fPIC"]
    command = [nvcc, *flags, "-o", str(library), str(source)]
    try:
        subprocess.run(command, capture_output=True, check=True, timeout=300)
    except subprocess.SubprocessError:
        library.unlink(missing_ok=True)
