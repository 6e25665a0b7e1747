"""Machine code kept between runs, in a folder of this user, by hash. Damaged entries are misses."""

import fcntl
import json
import os
import re
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from time import monotonic, sleep
from typing import TypeVar

from mdh.diagnostics import Failed
from mdh.folders import cache_home, own_folder, read_own, replace_own

T = TypeVar("T")
SCHEMA = "mdh.cache/2"
LIMIT = 1 << 30
"""The most bytes of all entries. `trim` removes those that were not used for the longest time."""
WAIT = 60.0
"""Seconds that a process waits for another one to make an entry."""
_PAUSE = 0.02
_NAME = re.compile(r"[0-9a-f]{64}\.bin\Z")
_HEAD = 1 << 12
"""The first line of an entry ends within this many bytes."""


def key_of(*parts: str | bytes) -> str:
    """The hash of everything that decides the machine code; parts are kept apart."""
    digest = sha256()
    for part in parts:
        raw = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        digest.update(len(raw).to_bytes(8, "little"))
        digest.update(raw)
    return digest.hexdigest()


@dataclass(frozen=True, slots=True)
class Usage:
    """The size of a cache."""

    folder: str
    entries: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Cache:
    """A folder that `open_cache` has checked."""

    folder: Path

    def get(self, key: str) -> bytes | None:
        """The payload; None if there is none, or if it is damaged, in which case the entry is removed."""
        path = self._path(key)
        raw = read_own(path)
        if raw is None:
            return None
        payload = _payload(raw, key)
        if payload is None:
            self.drop(key)
            return None
        with suppress(OSError):
            # the time of last use, by which `trim` chooses
            os.utime(path)
        return payload

    def put(self, key: str, payload: bytes) -> bool:
        """Stores an entry. False if it could not be kept: a full disk only costs a later build."""
        head = {"schema": SCHEMA, "key": key, "sha256": sha256(payload).hexdigest(), "bytes": len(payload)}
        path = self._path(key)
        try:
            replace_own(own_folder(path.parent) / path.name, json.dumps(head).encode() + b"\n" + payload)
        except (OSError, Failed):
            return False
        return True

    def drop(self, key: str) -> None:
        with suppress(OSError):
            self._path(key).unlink(missing_ok=True)

    @contextmanager
    def alone(self, key: str) -> Iterator[None]:
        """Inside, no other process makes the entry of `key`. The lock of a process that died is free. Nobody
        waits longer than WAIT, or if locks are not available; then the entry is made more than once."""
        path = self.folder / "locks" / key
        handle = _locked(path)
        try:
            yield
        finally:
            if handle is not None:
                # a process that waits for this file sees that it is gone, and makes it anew
                with suppress(OSError):
                    path.unlink()
                os.close(handle)

    def made(self, key: str, kept: Callable[[], T | None], make: Callable[[], T]) -> tuple[T, bool]:
        """What `kept` finds of the entry of `key`, else what `make` makes and keeps, and whether it was made.
        Only one process makes it at a time."""
        found = kept()
        if found is None:
            with self.alone(key):
                # another process may have made it meanwhile
                found = kept()
                if found is None:
                    return make(), True
        return found, False

    def usage(self) -> Usage:
        sizes = [status.st_size for _, status in self._entries()]
        return Usage(str(self.folder), len(sizes), sum(sizes))

    def trim(self, limit: int = LIMIT) -> int:
        """Removes the entries used longest ago until `limit` bytes are left; returns how many."""
        entries = sorted(self._entries(), key=lambda e: e[1].st_mtime, reverse=True)
        kept = removed = 0
        for path, status in entries:
            kept += status.st_size
            if kept > limit:
                with suppress(OSError):
                    path.unlink()
                    removed += 1
        return removed

    def clear(self) -> Usage:
        """Removes every entry, and nothing else in the folder. Returns the size of what was removed."""
        count = size = 0
        for path, status in self._entries():
            with suppress(OSError):
                path.unlink()
                count, size = count + 1, size + status.st_size
        return Usage(str(self.folder), count, size)

    def _path(self, key: str) -> Path:
        return self.folder / key[:2] / f"{key}.bin"

    def _entries(self) -> list[tuple[Path, os.stat_result]]:
        out = []
        for path in self.folder.glob("[0-9a-f][0-9a-f]/*.bin"):
            with suppress(OSError):
                status = path.lstat()
                if _NAME.match(path.name) and stat.S_ISREG(status.st_mode):
                    out.append((path, status))
        return out


def open_cache(folder: Path | None = None) -> Cache:
    """The cache in `folder`, which is created (mode 0700) if missing. Raises Failed F160 if others can access
    it."""
    return Cache(own_folder(folder or cache_home()))


def cache_if_any() -> Cache | None:
    """The cache in the user's folder; None where that is not this user's alone. What asks works without."""
    try:
        return open_cache()
    except Failed:
        return None


def _locked(path: Path) -> int | None:
    end = monotonic() + WAIT
    while monotonic() < end:
        try:
            own_folder(path.parent)
            handle = os.open(path, os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW, 0o600)
        except (OSError, Failed):
            return None
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.fstat(handle).st_ino == path.lstat().st_ino:
                return handle
            # the file belonged to a holder that has ended
        except FileNotFoundError:
            pass
        except BlockingIOError:
            sleep(_PAUSE)
        except OSError:
            # a file system without locks
            os.close(handle)
            return None
        os.close(handle)
    return None


def _payload(raw: bytes, key: str) -> bytes | None:
    """The entry after its first line, if that line confirms it and the key."""
    end = raw.find(b"\n", 0, _HEAD)
    if end < 0:
        return None
    payload = raw[end + 1 :]
    try:
        head = json.loads(raw[:end])
    except (ValueError, RecursionError):
        return None
    if not isinstance(head, dict) or head.get("schema") != SCHEMA or head.get("key") != key:
        return None
    return payload if head.get("sha256") == sha256(payload).hexdigest() else None
