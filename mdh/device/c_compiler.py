"""The system's C compiler: which one, for which processor, and what it says of a text that it refuses."""

import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from mdh.diagnostics import Diagnostic, Failed, fail
from mdh.target.nvrtc import keep_source
from mdh.target.text import KernelText

NAMES = ("cc", "gcc", "clang")
_NATIVE = ("-march=native", "-mcpu=native")
_SHARED = ("-shared", "-fPIC")
_PEELED = ("--param=max-completely-peeled-insns=1000", "--param=max-completely-peel-times=32")
"""GCC's bounds on loops that it unrolls as a whole, raised to where Clang's are: short reductions whose sums
stay in registers gain a third."""
_SECONDS = 300.0
_VECTORS = (("__AVX512F__", 64), ("__AVX2__", 32), ("__AVX__", 32))
_PROBE = "#ifdef _OPENMP\nint mdh_openmp;\n#endif\n"


@dataclass(frozen=True, slots=True)
class Compiler:
    """command: the words before the options; version: its first line; native: how it is told to compile for
    this processor; macros: those of it, as text; gcc: it takes GCC's own options."""

    command: tuple[str, ...]
    version: str
    native: tuple[str, ...]
    macros: str

    @property
    def gcc(self) -> bool:
        return "__clang__" not in self.macros and "__GNUC__" in self.macros

    @property
    def vector_bytes(self) -> int:
        """Of the widest SIMD registers it compiles for."""
        return next((size for macro, size in _VECTORS if macro in self.macros), 16)

    @property
    def options(self) -> tuple[str, ...]:
        """Besides those of a text."""
        return (*self.native, *(_PEELED if self.gcc else ()), *_SHARED)


def find_compiler() -> Compiler:
    """`$CC`, else the first of `cc`, `gcc`, `clang`. Raises Failed D113."""
    return _examined(os.environ.get("CC", ""), os.environ.get("PATH", ""))


@cache
def _examined(wanted: str, path: str) -> Compiler:
    command = tuple(shlex.split(wanted)) or next(((n,) for n in NAMES if shutil.which(n, path=path)), ())
    if not command or shutil.which(command[0], path=path) is None:
        said = f"`{wanted}` (of the variable CC) is not there" if wanted else f"none of {', '.join(NAMES)}"
        raise fail(
            "D113", f"there is no C compiler for the device `c`: {said}",
            help="on Debian or Ubuntu: apt-get install gcc; or name one in the variable CC",
        )  # fmt: skip
    version = _said((*command, "--version"))
    if version is None:
        raise fail("D113", f"the C compiler `{shlex.join(command)}` does not start")
    for native in (*((n,) for n in _NATIVE), ()):
        macros = _said((*command, *native, "-fopenmp", "-dM", "-E", "-x", "c", os.devnull))
        if macros is not None:
            if "_OPENMP" not in macros:
                break
            return Compiler(command, version.splitlines()[0].strip(), native, macros)
    raise fail(
        "D113", f"the C compiler `{shlex.join(command)}` has no OpenMP",
        help="kernels in C share their work by it: install it for this compiler, or name another one in CC",
    )  # fmt: skip


def _said(command: Sequence[str]) -> str | None:
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=60, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 and done.stdout.strip() else None


def compiled(text: KernelText, compiler: Compiler) -> bytes:
    """The shared library of a text. Raises Failed D103 (refused), D112 (it takes too long), D113."""
    with tempfile.TemporaryDirectory(prefix="mdh-c-") as name:
        source, library = Path(name) / f"{text.name}.c", Path(name) / "kernels.so"
        source.write_text(text.source, encoding="utf-8")
        words = (*compiler.command, *text.options, *compiler.options, str(source), "-o", str(library), "-lm")
        try:
            done = subprocess.run(
                words,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=_SECONDS,
                check=False,
                cwd=name,
            )
        except subprocess.TimeoutExpired as error:
            headline = f"the C compiler did not finish `{text.name}` in {_SECONDS:.0f} s"
            raise fail("D112", headline, help="fewer unrolled statements: smaller tiles") from error
        except OSError as error:
            headline = f"the C compiler does not start: {error.strerror or error}"
            raise fail("D113", headline, help="name another one in the variable CC") from error
        if done.returncode or not library.exists():
            raise _refused(text, compiler, done.stderr)
        return library.read_bytes()


def _refused(text: KernelText, compiler: Compiler, log: str) -> Failed:
    first = next((line.strip() for line in log.splitlines() if re.search(r"\berror\b", line)), "no message")
    path = keep_source(text)
    log_path = path.with_suffix(".log")
    log_path.write_text(log, encoding="utf-8")
    if "omp" in first and ("cannot find" in log or "not found" in log):
        headline = f"the C compiler `{shlex.join(compiler.command)}` finds no OpenMP library"
        return fail("D113", headline, help="install libgomp (GCC) or libomp (Clang), or name another in CC")
    headline = f"the C compiler refuses the kernel text of `{text.name}`"
    notes = (first[:300], f"the text is kept in {path}, the compiler's messages in {log_path}")
    return Failed(Diagnostic("D103", headline, notes=notes))
