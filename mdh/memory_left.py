"""The memory that this process may take, by all limits of the system; large allocations ask here first.

Swap does not count, because times of swapped data have no meaning.
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
"""Bytes; smaller allocations do not ask."""
_NONE = 1 << 62
"""A larger limit is no limit: control groups of version 1 write a number that no machine has."""


def memory_left(root: Path = _ROOT) -> int:
    """Bytes that this process may still take: what the machine has left, or less if the limits of the process
    (`ulimit -v`, `ulimit -d`) or of a control group around it (a container's, a job's) are lower."""
    space, data = _held(root)
    own = ((resource.RLIMIT_AS, space), (resource.RLIMIT_DATA, data))
    soft = ((resource.getrlimit(which)[0], held) for which, held in own)
    left = [limit - held for limit, held in soft if limit != resource.RLIM_INFINITY]
    left.extend(limit - used for limit, used in _groups(root))
    with suppress(OSError, ValueError, LookupError):
        left.append(1024 * _numbers(root / "proc/meminfo")["MemAvailable"])
    return max(0, min(left, default=_physical()))


def memory_total(root: Path = _ROOT) -> int:
    """Bytes that the machine has, or its control group if that has less."""
    return min([_physical(), *(limit for limit, _ in _groups(root))])


def held_bytes() -> int:
    """The bytes that `ulimit -d` counts: private writable memory, used or not."""
    return _held(_ROOT)[1]


def no_room(what: str, size: int = 0) -> Failed:
    """D104. size: the bytes that are wanted; 0: more than there are."""
    wanted = f" ({size:,} bytes)" if size else ""
    headline = f"there is no room for {what}{wanted}: this process may take {memory_left():,} bytes more"
    return fail("D104", headline, help="raise the limit (ulimit -v, the container's), or use smaller arrays")


def demand_room(what: str, size: int) -> None:
    """Raises Failed D104 if taking so many bytes could make the system end this process."""
    if size >= _LARGE and size > memory_left():
        raise no_room(what, size)


@contextmanager
def limited(more: int) -> Iterator[None]:
    """Inside, this process may grow by so many bytes. Beyond that Python raises MemoryError; otherwise the
    system would end some process."""
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
    """Inside, `what` may take all memory that is left. Raises Failed D104 if that is not enough."""
    short = False
    try:
        with limited(memory_left()):
            yield
    except MemoryError:
        # outside of this block, the frames that hold what was made so far are gone
        short = True
    if short:
        raise no_room(what)


def _held(root: Path) -> tuple[int, int]:
    """Bytes of address space, and bytes of private writable memory."""
    try:
        words = (root / "proc/self/statm").read_text(encoding="ascii").split()
        return int(words[0]) * resource.getpagesize(), int(words[5]) * resource.getpagesize()
    except (OSError, ValueError, LookupError):
        return 0, 0


def _physical() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _groups(root: Path) -> list[tuple[int, int]]:
    """Limit and use, in bytes, of the control groups of this process that have a limit."""
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
            # cached files are dropped when memory is short
            files = kept.get(f"{prefix}active_file", 0) + kept.get(f"{prefix}inactive_file", 0)
            found.append((limit, max(0, used - files)))
    return found


def _limit(path: Path) -> int:
    """The limit in a file; `memory.high` is missing on some kernels."""
    try:
        text = path.read_text(encoding="ascii").strip()
    except OSError:
        return _NONE
    return _NONE if text == "max" else int(text)


@cache
def _folders(root: Path) -> tuple[tuple[Path, bool], ...]:
    """The memory control groups of this process, the innermost first, each with whether it is of version
    2."""
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
    """The folders from that of `group` up to where the groups from `top` on are mounted."""
    inner = Path(group)
    inside = inner.relative_to(top) if inner.is_relative_to(top) else Path()
    return [mount / p for p in (inside, *inside.parents)]


def _numbers(path: Path) -> dict[str, int]:
    """The numbers in lines of the form `name number` or `name: number kB`."""
    rows = (line.split() for line in path.read_text(encoding="ascii").splitlines())
    return {row[0].rstrip(":"): int(row[1]) for row in rows if len(row) > 1}
