"""Which tuner holds a worker, and whether that tuner is known to have died."""

import os
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mdh.tuner.cluster.inventory import boot
from mdh.tuner.measure.wire import Json


def holder() -> Json:
    """This process, described so that other tuners recognise it. started: clock ticks since the boot, so that
    a reused process number is not mistaken for it."""
    return {"host": socket.gethostname(), "boot": boot(), "pid": os.getpid(), "space": _space(),
            "started": _started(os.getpid())}  # fmt: skip


def dead(other: Mapping[str, Any]) -> bool:
    """Whether the tuner is known to have died. This can be known only of tuners on this machine."""
    here = bool(other["boot"] == boot() and other["space"] == _space())
    return here and _started(int(other["pid"])) != str(other["started"])


def named(other: Mapping[str, Any]) -> str:
    return f"another tuning (process {other['pid']} on {other['host']})"


def _started(pid: int) -> str:
    try:
        told = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        return ""
    words = told.rpartition(")")[2].split()
    return "" if words[0] == "Z" else words[19]


def _space() -> str:
    """The namespace of process numbers; a container has its own."""
    try:
        return os.readlink("/proc/self/ns/pid")
    except OSError:
        return ""
