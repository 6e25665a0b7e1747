"""The Machine of an OpenCL device, from what it reports and what the operating system reports of the CPU."""

import re
from dataclasses import replace
from typing import Any

from mdh.device.cache import cache_if_any, key_of
from mdh.device.cpu import cpu_machine
from mdh.device.opencl_door import cl
from mdh.device.opencl_platforms import POCL, PlatformDevice
from mdh.device.quiet import quiet_stderr
from mdh.hardware import Engine
from mdh.machine import Machine, load_machine, machine_names
from mdh.memory_left import memory_left


def machine_of(found: PlatformDevice) -> Machine:
    """The limits that the device reports. Speeds, which OpenCL does not report, come from the machine file of
    the same name if there is one, else from the clock."""
    return _gpu(found) if found.gpu else _cpu(found)


def _cpu(found: PlatformDevice) -> Machine:
    device = found.device
    return cpu_machine(
        f"{found.title} ({found.version})",
        vector_bytes=_vector_bytes(found),
        targets=("opencl",),
        units=int(device.max_compute_units),
        clock=device.max_clock_frequency * 1e6,
        memory=int(device.global_mem_size),
    )


COMPILER_ROOM = 128 << 20
"""Bytes that the compiler of a runtime in this process may take for its first program. PoCL's took 96 MB.
With less it ends the process, or hangs."""
_WIDEST = 64
"""Bytes of the widest SIMD registers that processors have."""
_NARROWER = "vectors of 32 bytes"
_PROBE = f"""#ifndef __AVX512F__
#error "{_NARROWER}"
#endif
kernel void probe(global int *x) {{ x[0] = 1; }}
"""


def _vector_bytes(found: PlatformDevice) -> int:
    """Bytes of a SIMD register. PoCL reports the processor's width, also where its compiler takes the
    processor for an older model with narrower ones."""
    reported = min(_WIDEST, max(16, 8 * int(found.device.native_vector_width_double or 2)))
    asked = reported == _WIDEST and found.platform == POCL
    return _WIDEST // 2 if asked and not _compiles_widest(found.device) else reported


def _compiles_widest(device: Any) -> bool:
    """Whether the compiler of a device uses AVX-512. Its answer is kept with compiled programs."""
    key = key_of("widest vectors", *(str(x) for x in (device.name, device.version, device.driver_version)))
    cache = cache_if_any()
    known = None if cache is None else cache.get(key)
    if known is not None:
        return known == b"yes"
    if memory_left() < COMPILER_ROOM:
        return False
    wide, answered = True, True
    try:
        with quiet_stderr():
            cl.Program(cl.Context([device]), _PROBE).build()
    except cl.Error as error:
        # without room a compiler fails on every text
        wide, answered = False, _NARROWER in str(error)
    if cache is not None and answered:
        cache.put(key, b"yes" if wide else b"no")
    return wide


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
