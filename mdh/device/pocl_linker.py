"""The linker that PoCL starts for every kernel.

If it fails, PoCL ends the process, which cannot be caught. So the linker is tried before the first kernel.
Later failures are recognised by PoCL's messages, because they are not the kernel's fault.
"""

import re
import shutil
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path

from mdh.device.c_run import Finished, made_library, run_compiler
from mdh.diagnostics import Failed, fail
from mdh.folders import unserving
from mdh.textfile import reason

_TURNS = 2
"""Attempts; one that was killed is repeated."""
_ENDS = ("final linking of kernel", "linker command failed", "dlopen(")
"""PoCL's last words, in lower case, if a linker failed or its file cannot be loaded."""
_UNDEFINED = "undefined symbol"
"""Such a file is complete: the kernel calls a missing function."""


def unlinked(words: str) -> bool:
    """Whether a process with these last words ended because a kernel could not be linked, or was linked to a
    file that cannot be loaded."""
    said = words.lower()
    return any(end in said for end in _ENDS) and _UNDEFINED not in said


def forget_damaged(words: str, folder: Path) -> None:
    """Removes the file that a process could not load, by its last words, from PoCL's folder. Otherwise PoCL
    would load it again and again."""
    named = re.search(r'dlopen\("([^"]+\.so)"\)', words)
    if named is not None and unlinked(words):
        with suppress(OSError, ValueError):
            path = Path(named[1]).resolve()
            if path.is_relative_to(folder.resolve()):
                path.unlink()


@cache
def demand_linker(folder: Path) -> None:
    """Tries the linker until it has worked once. Raises Failed D102 (there is none, or it fails), D114 (the
    folder has no room); OSError."""
    linker = shutil.which("ld")
    if linker is None:
        if any(Path("/usr").glob("*/bin/ld")):
            # PoCL looks there as well
            return
        raise _unfit("there is no linker `ld`")
    for turn in range(_TURNS):
        done = _turn(linker, folder)
        if done is None:
            return
        if turn:
            raise unserving(_words(done)) if done.lacks_room else _unfit(f"`{linker}` fails: {_words(done)}")


def _turn(linker: str, folder: Path) -> Finished | None:
    """One run on a trivial text; None if it made a library. Raises OSError, Failed D102."""
    with tempfile.TemporaryDirectory(prefix="ld-", dir=folder, ignore_cleanup_errors=True) as name:
        given, made = Path(name) / "probe", Path(name) / "probe.so"
        given.write_bytes(b"mdh")
        try:
            words = (linker, "-shared", "-o", str(made), "-b", "binary", str(given))
            done = run_compiler(words, given.parent)
        except OSError as error:
            raise _unfit(f"`{linker}` does not start: {reason(error)}") from error
        return done if made_library(done, made) is None else None


def _words(done: Finished) -> str:
    lines = done.log.strip().splitlines()
    if lines:
        return lines[0][:300]
    return f"it says nothing (status {done.status})" if done.status else "it leaves no whole library"


def _unfit(why: str) -> Failed:
    return fail(
        "D102", f"OpenCL cannot be used here: PoCL links its kernels by the system's linker, and {why}",
        help="on Debian or Ubuntu: apt-get install gcc, whose libraries it takes as well",
    )  # fmt: skip
