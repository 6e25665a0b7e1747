"""The Machine of an OpenCL device, from what it reports and what the operating system reports of the CPU."""

import re
from dataclasses import replace
from typing import Any

from mdh.device.cpu import cpu_machine
from mdh.device.opencl_platforms import PlatformDevice
from mdh.hardware import Engine
from mdh.machine import Machine, load_machine, machine_names


def machine_of(found: PlatformDevice) -> Machine:
    """The limits that the device reports. Speeds, which OpenCL does not report, come from the machine file of
    the same name if there is one, else from the clock."""
    return _gpu(found) if found.gpu else _cpu(found)


def _cpu(found: PlatformDevice) -> Machine:
    device = found.device
    return cpu_machine(
        f"{found.title} ({found.version})",
        vector_bytes=_vector_bytes(device),
        targets=("opencl",),
        units=int(device.max_compute_units),
        clock=device.max_clock_frequency * 1e6,
        memory=int(device.global_mem_size),
    )


_AVX512 = ("avx512", "icelake", "cascadelake", "cooperlake", "sapphirerapids", "znver4", "znver5")


def _vector_bytes(device: Any) -> int:
    """Bytes of a SIMD register. PoCL reports the host's width even if its compiler knows only an older model,
    whose name ends the version text (`HSTR: pthread-x86_64-…-znver3`)."""
    reported = min(64, max(16, 8 * int(device.native_vector_width_double or 2)))
    model = str(device.version).partition("HSTR:")[2]
    return (
        min(reported, 32) if "HSTR:" in device.version and not any(m in model for m in _AVX512) else reported
    )


def _gpu(found: PlatformDevice) -> Machine:
    device = found.device
    known = _same_name(found.title) or load_machine("v100")
    clock = device.max_clock_frequency * 1e6 or known.clock
    units = int(device.max_compute_units)
    local = int(device.local_mem_size)
    x, y, z = (int(n) for n in device.max_work_item_sizes[:3])
    speed = units * clock / (known.units * known.clock)
    return replace(
        known,
        name=re.sub(r"\W+", "-", found.title).strip("-").lower(),
        title=f"{found.title} (OpenCL)",
        targets=("opencl",),
        arch="gpu",
        units=units,
        warp=_asked(device, ("warp_size_nv", "wavefront_width_amd"), 32),
        threads_per_block=int(device.max_work_group_size),
        block_limits=(x, y, z),
        grid_limits=(2**31 - 1, 2**31 - 1, 2**31 - 1) if x * y * z else known.grid_limits,
        threads_per_unit=max(known.threads_per_unit, int(device.max_work_group_size)),
        shared_per_block=local,
        shared_per_unit=max(local, known.shared_per_unit),
        registers_per_unit=_asked(device, ("registers_per_block_nv",), known.registers_per_unit),
        cluster=1,
        copy_engines=(Engine.PLAIN,),
        shuffle=False,
        float_atomics=False,
        acquire_release=False,
        half=False,
        memory=int(device.global_mem_size),
        clock=clock,
        peak_f32=known.peak_f32 * speed,
        peak_f64=known.peak_f64 * speed,
    )


def _same_name(title: str) -> Machine | None:
    words = set(re.findall(r"[a-z0-9]+", title.lower()))
    names = [n for n in machine_names() if n in words or n.removeprefix("rtx") in words]
    return load_machine(names[0]) if names else None


def _asked(device: Any, names: tuple[str, ...], otherwise: int) -> int:
    """The value of the first of these vendor extensions that the device knows."""
    for name in names:
        try:
            return int(getattr(device, name))
        except (AttributeError, RuntimeError):
            # pyopencl raises a RuntimeError for what a device does not know
            continue
    return otherwise
