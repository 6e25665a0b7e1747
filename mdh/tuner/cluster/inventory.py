"""The devices of a worker's machine, and which tuner uses it. A separate process looks for the devices:
`python -m mdh.tuner.cluster.inventory`.

Drivers are loaded there and not in the Dask worker, which must survive whatever a driver does.
"""

import asyncio
import json
import os
import socket
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import mdh
from mdh.children import module_command, module_environment
from mdh.default_device import default_device
from mdh.device.api import list_devices
from mdh.diagnostics import Failed
from mdh.release import release

_MODULE = "mdh.tuner.cluster.inventory"
_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Inventory:
    """What a machine has. mdh: version and digest of the package, equal if the same schedule gives the same
    kernel. boot: identifies the running machine, equal in its containers. cores: those that the worker may
    use. visible: the value of CUDA_VISIBLE_DEVICES; None if not set. devices: spec -> title, kind. default:
    the device that is taken if none is asked for; empty if there is none."""

    mdh: str
    host: str
    boot: str
    pid: int
    cores: tuple[int, ...]
    visible: str | None
    devices: tuple[tuple[str, str, str], ...]
    default: str

    def chosen(self, asked: Sequence[str]) -> tuple[str, ...]:
        """The devices to measure on: those asked for, else all of the default's model."""
        if asked:
            return tuple(asked)
        titles = {spec: title for spec, title, _ in self.devices}
        title = titles.get(self.default)
        same = tuple(spec for spec, other, kind in self.devices if other == title and kind != "checker")
        return same or tuple(s for s in (self.default,) if s)

    def places(self, specs: Sequence[str]) -> frozenset[str]:
        """The hardware of the devices. Workers that share some would disturb each other's times."""
        kinds = {spec: kind for spec, _, kind in self.devices}
        visible = (self.visible or "").split(",")
        out: set[str] = set()
        for spec in specs:
            number = int(spec.partition(":")[2] or 0) if spec.partition(":")[2].isdigit() else 0
            if spec.startswith("cuda"):
                known = self.visible is not None and number < len(visible)
                out.add(f"{self.boot} cuda:{visible[number].strip() if known else number}")
            elif kinds.get(spec) == "gpu":
                out.add(f"{self.boot} {spec}")
            else:
                out |= {f"{self.boot} core {core}" for core in self.cores}
        return frozenset(out)


def fingerprint() -> str:
    """Version and digest of everything that decides which kernel a schedule becomes."""
    root = Path(mdh.__file__).parent
    digest = sha256()
    for path in sorted((*root.rglob("*.py"), *root.rglob("*.toml"))):
        digest.update(str(path.relative_to(root)).encode() + b"\0" + path.read_bytes() + b"\0")
    return f"{release()} ({digest.hexdigest()[:12]})"


def boot() -> str:
    """Identifies this machine since its last start; the host's name if the system does not say."""
    with suppress(OSError):
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    return socket.gethostname()


def holder() -> dict[str, Any]:
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


async def take_inventory() -> dict[str, Any]:
    """The inventory as JSON values."""
    process = await asyncio.create_subprocess_exec(
        *module_command(_MODULE), stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL, env=module_environment(),
    )  # fmt: skip
    found: dict[str, Any] = {"default": "", "devices": []}
    try:
        told, _ = await asyncio.wait_for(process.communicate(), _SECONDS)
        found = json.loads(told)
    except (TimeoutError, ValueError):
        # its drivers hang or crash, so the machine takes no part
        with suppress(ProcessLookupError):
            process.kill()
    whole = Inventory(
        fingerprint(), socket.gethostname(), boot(), os.getpid(), tuple(sorted(os.sched_getaffinity(0))),
        os.environ.get("CUDA_VISIBLE_DEVICES"), tuple(found["devices"]), found["default"],
    )  # fmt: skip
    return asdict(whole)


def main() -> int:
    listed = [(d.spec, d.title, d.kind) for d in list_devices()]
    default = ""
    with suppress(Failed):
        default = default_device() if listed else ""
    sys.stdout.write(json.dumps({"default": default, "devices": listed}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
