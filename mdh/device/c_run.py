"""One run of a compiler: it ends in time, with all that it has started, and its words are in English."""

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
"""Of the clock, and of a processor's time for each process of a compiler: one whose parent was killed too."""
_NO_ROOM = ("No space left on device", "Disk quota exceeded", "Read-only file system", "File too large",
            "File size limit exceeded")  # fmt: skip
_HEADER = struct.Struct("=40xQ10xHH2x")
"""Of an ELF file of 64 bits: where the table of sections begins, the bytes of an entry, their number."""


@dataclass(frozen=True, slots=True)
class Finished:
    """status: as of subprocess; late: it was ended after SECONDS."""

    status: int
    log: str
    late: bool = False

    @property
    def lacks_room(self) -> bool:
        """It says that the disk has none for its files."""
        return any(words in self.log for words in _NO_ROOM)


def made_library(done: Finished, path: Path) -> bytes | None:
    """The shared library that a run left at `path`; None where it failed, or left a part of one. Raises
    OSError."""
    if done.status or done.late or not path.exists():
        return None
    library = path.read_bytes()
    return library if _whole(library) else None


def _whole(library: bytes) -> bool:
    """Linkers write the table of sections last. A file that ends before that table was cut off: the disk lost
    the rest, or the linker was killed."""
    if library[:4] != b"\x7fELF" or len(library) < _HEADER.size:
        return False
    start, each, count = _HEADER.unpack_from(library)
    return bool(start + each * count <= len(library))


def run_compiler(words: Sequence[str], folder: Path) -> Finished:
    """Files that the compiler makes for itself lie in `folder`. Raises OSError where it does not start."""
    # messages are read: they must not be in the user's language
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
    """What the compiler starts inherits it."""
    with suppress(OSError, ValueError):
        _, hard = resource.prlimit(pid, resource.RLIMIT_CPU)
        soft = SECONDS if hard == resource.RLIM_INFINITY else min(SECONDS, hard)
        resource.prlimit(pid, resource.RLIMIT_CPU, (soft, hard))


def _kill_tree(process: "subprocess.Popen[bytes]") -> None:
    """A driver's compiler proper, assembler and linker live on when it alone is killed. They are in the group
    of this process, which pauses and ends with them, and so must be found one by one."""
    # a driver that stands still starts no others
    with suppress(OSError):
        os.kill(process.pid, signal.SIGSTOP)
    for pid in (*_descendants(process.pid), process.pid):
        with suppress(OSError):
            os.kill(pid, signal.SIGKILL)


def _descendants(pid: int) -> list[int]:
    """Of the process and theirs, the children first."""
    parents: dict[int, int] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError, ValueError, IndexError):
            parents[int(path.parent.name)] = int(path.read_text("latin-1").rpartition(")")[2].split()[1])
    found = [pid]
    for one in found:
        found.extend(child for child, parent in parents.items() if parent == one)
    return found[1:]
