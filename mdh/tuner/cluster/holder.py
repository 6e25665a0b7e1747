"""Which tuner has a worker, and whether it is known to have died."""

import os
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mdh.tuner.cluster.inventory import boot
from mdh.tuner.measure.wire import Json


def holder() -> Json:
    """This process, as other tuners may recognise it. started: ticks since the boot, so that a number that
    was given away again is not mistaken."""
    return {"host": socket.gethostname(), "boot": boot(), "pid": os.getpid(), "space": _space(),
            "started": _started(os.getpid())}  # fmt: skip


def dead(other: Mapping[str, Any]) -> bool:
    """Only a tuner of this machine can be known to have died."""
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
    """In which processes have their numbers; a container has its own."""
    try:
        return os.readlink("/proc/self/ns/pid")
    except OSError:
        return ""
