"""What the operating system reports of the CPU."""

import os
import platform
import re
from dataclasses import replace
from pathlib import Path

from mdh.machine import Machine, load_machine

_CPU = Path("/sys/devices/system/cpu/cpu0")
_INFO = Path("/proc/cpuinfo")


def cpu_title() -> str:
    """`AMD EPYC`, or the architecture's name if the system does not tell."""
    return _told("model name") or platform.processor() or platform.machine()


def caches() -> tuple[int, ...]:
    """Bytes of the data caches of one core, the innermost first; empty if the system does not tell."""
    sizes: dict[int, int] = {}
    for folder in sorted(_CPU.glob("cache/index*")):
        try:
            level, kind = int((folder / "level").read_text()), (folder / "type").read_text().strip()
            size = re.fullmatch(r"(\d+)([KM]?)\s*", (folder / "size").read_text())
        except (OSError, ValueError):
            continue
        if kind != "Instruction" and size is not None:
            sizes[level] = int(size[1]) * {"": 1, "K": 1 << 10, "M": 1 << 20}[size[2]]
    return tuple(sizes[level] for level in sorted(sizes))


def cpu_machine(
    title: str,
    *,
    vector_bytes: int,
    targets: tuple[str, ...],
    units: int | None = None,
    clock: float | None = None,
    memory: int | None = None,
) -> Machine:
    """This CPU as a machine for the checker and the model. units: cores, by default those that this process
    may use. clock in Hz, memory in bytes: by default as the system reports them."""
    generic = load_machine("generic-cpu")
    cores = units or len(os.sched_getaffinity(0))
    levels = caches() or generic.caches
    per_core = levels[1] if len(levels) > 1 else generic.shared_per_block
    speed = clock or _clock() or generic.clock
    # two fused multiply-adds a cycle, as x86 cores have had since Haswell
    peak = cores * speed * vector_bytes / 4 * 4
    return replace(
        generic,
        name="this-cpu",
        title=title,
        targets=targets,
        units=cores,
        vector_bytes=vector_bytes,
        memory=memory or os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        shared_per_block=per_core // 2,
        shared_per_unit=per_core // 2,
        caches=levels,
        clock=speed,
        peak_f32=peak,
        peak_f64=peak / 2,
    )


def _clock() -> float | None:
    megahertz = _told("cpu MHz")
    try:
        return float(megahertz) * 1e6 or None
    except ValueError:
        return None


def _told(key: str) -> str:
    """The value of a line of /proc/cpuinfo; empty if there is none."""
    try:
        lines = _INFO.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    return next((x.partition(":")[2].strip() for x in lines if x.startswith(key)), "")
