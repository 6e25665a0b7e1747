"""The C inputs as they stand, with the OpenMP directive that a C programmer would put over their loops."""

import ctypes
import re
import shutil
import subprocess
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from bench.cpu.cases import Case
from bench.cpu.data import Arrays

Call = Callable[[], Any]
FLAGS = ("-std=gnu11", "-O3", "-march=native", "-ffast-math", "-fopenmp", "-fPIC")
_FOR = "#pragma omp parallel for"
_DIRECTIVES = {
    "dot": f"{_FOR} simd reduction(+:C[0:1])",
    "histogram": f"{_FOR} reduction(+:H[0:BINS])",
    "prefix_sum": f"{_FOR} simd reduction(inscan,+:sum)",
    "batched_matmul_t": _FOR,
    "grouped_conv": f"{_FOR} collapse(2)",
    "conv2d": f"{_FOR} collapse(2)",
    "conv2d_56": f"{_FOR} collapse(2)",
}


@cache
def compiler() -> str | None:
    return shutil.which("gcc") or shutil.which("cc")


def shared_library(source: Path, flags: Sequence[str], library: Path) -> bool:
    """Compiles and links; False where the compiler refuses. In two steps, since linking with -ffast-math adds
    code that flushes subnormals in the whole process, whatever else runs there."""
    made = library.with_suffix(".o")
    steps = (
        [*flags, "-c", str(source), "-o", str(made)],
        ["-shared", "-fopenmp", str(made), "-o", str(library), "-lm"],
    )
    done = (
        subprocess.run([str(compiler()), *step], capture_output=True, check=False, timeout=300)
        for step in steps
    )
    return all(d.returncode == 0 for d in done)


def version() -> str:
    done = subprocess.run([str(compiler()), "--version"], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()[0]


def threaded(program: str, text: str) -> str:
    """The C with a directive before its first loop."""
    directive = _DIRECTIVES.get(program, f"{_FOR} collapse(2)" if program.startswith("ccsdt") else _FOR)
    text = re.sub(r"\n( *)for \(", lambda m: f"\n{directive}{m[0]}", text, count=1)
    if "inscan" in directive:
        text = text.replace("    S[i] = sum;", "    #pragma omp scan inclusive(sum)\n    S[i] = sum;")
    return text


def prepare(case: Case, a: Arrays, folder: Path) -> Call | None:
    """None for a text that is not C, and where the compiler refuses the directive."""
    if case.language != "c":
        return None
    path, library = folder / f"{case.program}.c", folder / f"{case.name.replace(' ', '_')}.so"
    path.write_text(threaded(case.program, case.path.read_text(encoding="utf-8")), encoding="utf-8")
    defines = [f"-D{k}={v}" for k, v in case.sizes.items()]
    if not shared_library(path, (*FLAGS, *defines), library):
        return None
    function = ctypes.CDLL(str(library))[case.program]
    function.restype = None
    args = [ctypes.c_void_p(array.ctypes.data) for array in a.values()]
    return lambda: function(*args)
