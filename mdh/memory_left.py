"""How much memory this process may take, by every limit that the system sets it; and who asks before it does.

Swap counts for nothing here: times of what is swapped mean nothing.
"""

import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

from mdh.diagnostics import Failed, fail

_ROOT = Path("/")
_LARGE = 16 << 20
"""Bytes: for less nobody asks."""
_NONE = 1 << 62
"""A limit above it is none: control groups of the first version write a number that no machine has."""


def memory_left(root: Path = _ROOT) -> int:
    """Bytes that this process may still take: what the machine has left, less where the limits of the process
    (`ulimit -v`, `ulimit -d`) or of a control group around it (a container's, a job's) are nearer."""
    space, data = _held(root)
    own = ((resource.RLIMIT_AS, space), (resource.RLIMIT_DATA, data))
    soft = ((resource.getrlimit(which)[0], held) for which, held in own)
    left = [limit - held for limit, held in soft if limit != resource.RLIM_INFINITY]
    left.extend(limit - used for limit, used in _groups(root))
    with suppress(OSError, ValueError, LookupError):
        left.append(1024 * _numbers(root / "proc/meminfo")["MemAvailable"])
    return max(0, min(left, default=_physical()))


def memory_total(root: Path = _ROOT) -> int:
    """Bytes that the machine has, or the control group where that is less."""
    return min([_physical(), *(limit for limit, _ in _groups(root))])


def held_bytes() -> int:
    """What `ulimit -d` counts: private memory that can be written, touched or not."""
    return _held(_ROOT)[1]


def no_room(what: str, size: int = 0) -> Failed:
    """D104. size: bytes that are wanted, 0: more than there are."""
    wanted = f" ({size:,} bytes)" if size else ""
    headline = f"there is no room for {what}{wanted}: this process may take {memory_left():,} bytes more"
    return fail("D104", headline, help="raise the limit (ulimit -v, the container's), or use smaller arrays")


def demand_room(what: str, size: int) -> None:
    """Raises Failed D104 before so many bytes are taken that the system would end this process for it."""
    if size >= _LARGE and size > memory_left():
        raise no_room(what, size)


@contextmanager
def limited(more: int) -> Iterator[None]:
    """Inside, what this process holds may grow by so many bytes; more than that is a MemoryError of Python's
    where the system would otherwise end a process of its choice."""
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    wanted = held_bytes() + more
    resource.setrlimit(
        resource.RLIMIT_DATA, (wanted if soft == resource.RLIM_INFINITY else min(wanted, soft), hard)
    )
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


@contextmanager
def within_room(what: str) -> Iterator[None]:
    """Inside, `what` may take all that is left. Raises Failed D104 where that is not enough."""
    short = False
    try:
        with limited(memory_left()):
            yield
    except MemoryError:
        # outside of this block the frames that hold what was made so far are gone
        short = True
    if short:
        raise no_room(what)


def _held(root: Path) -> tuple[int, int]:
    """Bytes of address space, and of those what is private and can be written."""
    try:
        words = (root / "proc/self/statm").read_text(encoding="ascii").split()
        return int(words[0]) * resource.getpagesize(), int(words[5]) * resource.getpagesize()
    except (OSError, ValueError, LookupError):
        return 0, 0


def _physical() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _groups(root: Path) -> list[tuple[int, int]]:
    """Limit and use, in bytes, of the control groups that this process is in, as far as they have a limit."""
    found = []
    for folder, second in _folders(root):
        with suppress(OSError, ValueError, LookupError):
            names = ("memory.max", "memory.high") if second else ("memory.limit_in_bytes",)
            limit = min(_limit(folder / name) for name in names)
            if limit >= _NONE:
                continue
            used = int((folder / ("memory.current" if second else "memory.usage_in_bytes")).read_text())
            kept = _numbers(folder / "memory.stat")
            prefix = "" if second else "total_"
            # copies of files are given up where memory is short
            files = kept.get(f"{prefix}active_file", 0) + kept.get(f"{prefix}inactive_file", 0)
            found.append((limit, max(0, used - files)))
    return found


def _limit(path: Path) -> int:
    """`memory.high` is absent from some kernels."""
    try:
        text = path.read_text(encoding="ascii").strip()
    except OSError:
        return _NONE
    return _NONE if text == "max" else int(text)


@cache
def _folders(root: Path) -> tuple[tuple[Path, bool], ...]:
    """Of the control groups for memory that this process is in, the innermost first; whether each is of the
    second version."""
    found: list[tuple[Path, bool]] = []
    with suppress(OSError, ValueError):
        of: dict[bool, str] = {}
        for line in (root / "proc/self/cgroup").read_text(encoding="utf-8").splitlines():
            _, names, path = line.split(":", 2)
            if not names or "memory" in names.split(","):
                of[not names] = path
        for line in (root / "proc/self/mountinfo").read_text(encoding="utf-8").splitlines():
            left, _, right = line.partition(" - ")
            kind, _, options = right.split(" ", 2)
            top, mount = left.split(" ")[3:5]
            second = kind == "cgroup2"
            first = kind == "cgroup" and "memory" in options.split(",")
            if (second or first) and second in of:
                found.extend((f, second) for f in _upward(root / mount.lstrip("/"), top, of[second]))
    return tuple(found)


def _upward(mount: Path, top: str, group: str) -> list[Path]:
    """From the folder of `group` to where the groups from `top` on are mounted."""
    inner = Path(group)
    inside = inner.relative_to(top) if inner.is_relative_to(top) else Path()
    return [mount / p for p in (inside, *inside.parents)]


def _numbers(path: Path) -> dict[str, int]:
    """`name number` or `name: number kB` in each line."""
    rows = (line.split() for line in path.read_text(encoding="ascii").splitlines())
    return {row[0].rstrip(":"): int(row[1]) for row in rows if len(row) > 1}
