"""Runs a compiler once: it ends in time with all that it started, and its messages are in English."""

import os
import resource
import signal
import struct
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

SECONDS = 300
"""Limit in seconds, of the clock and of processor time. Each process of a compiler has the latter, also one
whose parent was killed."""
_NO_ROOM = ("No space left on device", "Disk quota exceeded", "Read-only file system", "File too large",
            "File size limit exceeded")  # fmt: skip
_HEADER = struct.Struct("=40xQ10xHH2x")
"""The header of a 64-bit ELF file: offset of the table of sections, bytes of an entry, number of entries."""


@dataclass(frozen=True, slots=True)
class Finished:
    """The result of a run. status: as in subprocess. late: it was ended after SECONDS."""

    status: int
    log: str
    late: bool = False

    @property
    def lacks_room(self) -> bool:
        """Whether it reports that the disk has no room for its files."""
        return any(words in self.log for words in _NO_ROOM)


def made_library(done: Finished, path: Path) -> bytes | None:
    """The shared library that a run left at `path`; None if it failed or left an incomplete one. Raises
    OSError."""
    if done.status or done.late or not path.exists():
        return None
    library = path.read_bytes()
    return library if _whole(library) else None


def _whole(library: bytes) -> bool:
    """Whether a library is complete. Linkers write the table of sections last, so a file that ends before it
    was cut off: the disk lost the rest, or the linker was killed."""
    if library[:4] != b"\x7fELF" or len(library) < _HEADER.size:
        return False
    start, each, count = _HEADER.unpack_from(library)
    return bool(start + each * count <= len(library))


def run_compiler(words: Sequence[str], folder: Path) -> Finished:
    """Runs a compiler, whose temporary files lie in `folder`. Raises OSError if it does not start."""
    # messages are parsed, so they must not be in the user's language
    environment = {**os.environ, "TMPDIR": str(folder), "LC_ALL": "C"}
    with subprocess.Popen(
        words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment
    ) as process:
        try:
            _limit(process.pid)
            _, log = process.communicate(timeout=SECONDS)
            late = False
        except subprocess.TimeoutExpired:
            _kill_tree(process)
            _, log = process.communicate()
            late = True
        except BaseException:
            _kill_tree(process)
            raise
    return Finished(process.returncode, log.decode(errors="replace"), late)


def _limit(pid: int) -> None:
    """Sets limits that the compiler's own processes inherit."""
    with suppress(OSError, ValueError):
        _, hard = resource.prlimit(pid, resource.RLIMIT_CPU)
        soft = SECONDS if hard == resource.RLIM_INFINITY else min(SECONDS, hard)
        resource.prlimit(pid, resource.RLIMIT_CPU, (soft, hard))


def _kill_tree(process: "subprocess.Popen[bytes]") -> None:
    """Kills a compiler driver with all its processes; they would live on if only the driver were killed. They
    are in the group of this process, so they must be found one by one."""
    # a stopped driver starts no more processes
    with suppress(OSError):
        os.kill(process.pid, signal.SIGSTOP)
    for pid in (*_descendants(process.pid), process.pid):
        with suppress(OSError):
            os.kill(pid, signal.SIGKILL)


def _descendants(pid: int) -> list[int]:
    """The descendants of a process, children before their parents."""
    parents: dict[int, int] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError, ValueError, IndexError):
            parents[int(path.parent.name)] = int(path.read_text("latin-1").rpartition(")")[2].split()[1])
    found = [pid]
    for one in found:
        found.extend(child for child, parent in parents.items() if parent == one)
    return found[1:]
