"""The system's C compiler: which one, for which processor, and its messages about refused texts."""

import os
import re
import shlex
import shutil
import signal
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from time import sleep

from mdh.device.c_run import SECONDS, Finished, made_library, run_compiler
from mdh.device.c_threads import with_settle
from mdh.device.linked import linked
from mdh.diagnostics import Diagnostic, Failed, fail
from mdh.folders import scratch, unserving
from mdh.target.kept import keep_refused
from mdh.target.text import KernelText
from mdh.textfile import reason

NAMES = ("cc", "gcc", "clang")
_NATIVE = ("-march=native", "-mcpu=native")
_SHARED = ("-shared", "-fPIC")
_PEELED = ("--param=max-completely-peeled-insns=1000", "--param=max-completely-peel-times=32")
"""GCC's bounds for fully unrolling loops, raised to those of Clang. Short reductions whose sums stay in
registers become a third faster."""
_TURNS = 2
"""How often a text is compiled before a compiler that was killed, or failed without a message, counts as
failing."""
_PAUSE = 0.2
"""Seconds between two attempts; what killed the compiler may be over by then."""
_PROBE = "int mdh_probe(int x) { return x + 1; }\n"
_OTHER = "on Debian or Ubuntu: apt-get install gcc; or name one in the variable CC"
_VECTORS = (("__AVX512F__", 64), ("__AVX2__", 32), ("__AVX__", 32))


@dataclass(frozen=True, slots=True)
class Compiler:
    """command: the words before the options. version: its first line. native: the option to compile for this
    processor. macros: those of the compiler, as text. gcc: whether it takes GCC's own options."""

    command: tuple[str, ...]
    version: str
    native: tuple[str, ...]
    macros: str

    @property
    def gcc(self) -> bool:
        return "__clang__" not in self.macros and "__GNUC__" in self.macros

    @property
    def vector_bytes(self) -> int:
        """Bytes of the widest SIMD registers that it compiles for."""
        return next((size for macro, size in _VECTORS if macro in self.macros), 16)

    @property
    def options(self) -> tuple[str, ...]:
        """Options in addition to those of a text."""
        return (*self.native, *(_PEELED if self.gcc else ()), *_SHARED)


def find_compiler() -> Compiler:
    """The compiler `$CC`, else the first of `cc`, `gcc`, `clang`. Raises Failed D113."""
    return _examined(os.environ.get("CC", ""), os.environ.get("PATH", ""))


@cache
def _examined(wanted: str, path: str) -> Compiler:
    command = _command(wanted, path)
    said = shlex.join(command)
    version, why = _said((*command, "--version"))
    if version is None:
        raise fail("D113", f"the C compiler `{said}` does not start{why}")
    for native in (*((n,) for n in _NATIVE), ()):
        macros, _ = _said((*command, *native, "-fopenmp", "-dM", "-E", "-x", "c", os.devnull))
        if macros is not None and "_OPENMP" in macros:
            return Compiler(command, version.splitlines()[0].strip(), native, macros)
    plain, why = _said((*command, "-dM", "-E", "-x", "c", os.devnull))
    if plain is None or "__STDC__" not in plain:
        raise fail("D113", f"`{said}` is no C compiler, or does not take its options{why}", help=_OTHER)
    raise fail(
        "D113", f"the C compiler `{said}` has no OpenMP",
        help="kernels in C share their work by it: install it for this compiler, or name another one in CC",
    )  # fmt: skip


def _command(wanted: str, path: str) -> tuple[str, ...]:
    """The words of `$CC`, or the first of NAMES that exists, with the compiler's absolute path."""
    try:
        words = shlex.split(wanted) or [n for n in NAMES if shutil.which(n, path=path)][:1]
    except ValueError as error:
        raise fail("D113", f"the variable CC is no command: `{wanted}` ({error})", help=_OTHER) from error
    found = shutil.which(words[0], path=path) if words else None
    if found is None:
        said = f"`{wanted}` (of the variable CC) is not there" if wanted else f"none of {', '.join(NAMES)}"
        raise fail("D113", f"there is no C compiler for the device `c`: {said}", help=_OTHER)
    return os.path.abspath(found), *words[1:]


def _said(command: Sequence[str]) -> tuple[str | None, str]:
    """The output of a command, or None and the reason for its failure as the end of a sentence."""
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=60, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return None, f": {getattr(error, 'strerror', None) or error}"
    if done.returncode == 0 and done.stdout.strip():
        return done.stdout, ""
    lines = done.stderr.strip().splitlines()
    return None, f": {lines[0].strip()[:200]}" if lines else ""


def compiled(text: KernelText, compiler: Compiler) -> bytes:
    """The shared library of a text. Raises Failed D103 (refused), D112 (it takes too long), D113 (the
    compiler fails on every text), D114 (no folder for its files)."""
    try:
        with scratch("c") as name:
            return _library(text, compiler, Path(name))
    except OSError as error:
        raise unserving(error) from error


def _library(text: KernelText, compiler: Compiler, folder: Path) -> bytes:
    """Compiles a text. If an error names no line of the text, the machine may be at fault: then the compiler
    must prove that it compiles anything, and gets the text again."""
    source = folder / f"{text.name}.c"
    source.write_text(with_settle(text.source), encoding="utf-8")
    for _ in range(_TURNS):
        done, library = _turn(source, text, compiler)
        if library is not None:
            return library
        if done.late:
            headline = f"the C compiler did not finish `{text.name}` in {SECONDS:.0f} s"
            raise fail("D112", headline, help="fewer unrolled statements: smaller tiles")
        if re.search(rf"^{re.escape(str(source))}:\d+(:\d+)?: error:", done.log, re.MULTILINE):
            raise _refused(text, done, source, "refuses")
        _demand_working(text, compiler, folder)
        sleep(_PAUSE)
    raise _refused(text, done, source, "fails on")


def _turn(source: Path, text: KernelText, compiler: Compiler) -> tuple[Finished, bytes | None]:
    """One run of the compiler, and the library if it made one. Raises OSError, Failed D113."""
    library, other = source.with_suffix(".so"), linked(text)
    options = (*text.options, *other.options, *compiler.options)
    words = (*compiler.command, *options, str(source), "-o", str(library), *other.link, "-lm")
    try:
        done = run_compiler(words, source.parent)
    except OSError as error:
        headline = f"the C compiler does not start: {reason(error)}"
        raise fail("D113", headline, help="name another one in the variable CC") from error
    return done, made_library(done, library)


def _demand_working(text: KernelText, compiler: Compiler, folder: Path) -> None:
    """Raises Failed D113, D114 if the compiler fails on a trivial text."""
    probe = folder / "mdh_probe.c"
    probe.write_text(_PROBE, encoding="utf-8")
    done, library = _turn(probe, text, compiler)
    if library is not None:
        return
    said = shlex.join(compiler.command)
    why, log = _why(done), done.log
    if "omp" in why and ("cannot find" in log or "not found" in log):
        headline = f"the C compiler `{said}` finds no OpenMP library"
        raise fail("D113", headline, help="install libgomp (GCC) or libomp (Clang), or name another in CC")
    if done.lacks_room:
        raise unserving(why)
    headline = f"the C compiler `{said}` fails on every text: {why}"
    raise fail("D113", headline, help="it needs memory, and room in TMPDIR, or /tmp; CC names another one")


def _why(done: Finished) -> str:
    """Why there is no library: the first line that says so."""
    if done.late:
        return f"it does not end in {SECONDS} s"
    lines = [line.strip() for line in done.log.splitlines() if line.strip()]
    first = next((line for line in lines if re.search(r"\berror\b|final link failed", line)), None)
    if first is None and done.status < 0:
        return f"it was ended by signal {-done.status} ({signal.strsignal(-done.status)})"
    silent = f"it says nothing (status {done.status})" if done.status else "it leaves no whole library"
    return (first or (lines[0] if lines else silent))[:300]


def _refused(text: KernelText, done: Finished, source: Path, does: str) -> Failed:
    kept = keep_refused(text, done.log, str(source))
    headline = f"the C compiler {does} the kernel text of `{text.name}`"
    notes = (_why(done).replace(str(source), kept.name)[:300], kept.note)
    return Failed(Diagnostic("D103", headline, notes=notes))
