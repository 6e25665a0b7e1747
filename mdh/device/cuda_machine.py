"""The Machine of a GPU, from what the CUDA runtime reports."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from mdh.machine import Machine, load_machine, machine_names


def arch_of(properties: Mapping[str, Any]) -> str:
    """`sm_80`, `sm_90a`: from Hopper on, with the features of that architecture alone."""
    major, minor = int(properties["major"]), int(properties["minor"])
    return f"sm_{major}{minor}{'a' if major >= 9 else ''}"


def title_of(properties: Mapping[str, Any]) -> str:
    name = properties["name"]
    return name.decode() if isinstance(name, bytes) else str(name)


def machine_of(properties: Mapping[str, Any]) -> Machine:
    """The machine file of this model, or else of the nearest older architecture, with the reported limits.
    Clock and bandwidth are the device's own."""
    title, arch = title_of(properties), arch_of(properties)
    words = re.findall(r"[a-z0-9]+", title.lower())
    joined = "".join(words)
    exact = next((n for n in machine_names() if n in words or n in joined), None)
    known = load_machine(exact or _nearest(arch))
    units = int(properties["multiProcessorCount"])
    clock = float(properties.get("clockRate", 0)) * 1e3 or known.clock
    bus, memory_clock = int(properties.get("memoryBusWidth", 0)), float(properties.get("memoryClockRate", 0))
    speed = units * clock / (known.units * known.clock)
    return replace(
        known,
        name=exact or re.sub(r"\W+", "-", title).strip("-").lower(),
        title=title,
        arch=arch,
        units=units,
        threads_per_block=int(properties["maxThreadsPerBlock"]),
        threads_per_unit=int(properties["maxThreadsPerMultiProcessor"]),
        shared_per_block=int(properties.get("sharedMemPerBlockOptin", known.shared_per_block)),
        shared_per_unit=int(properties["sharedMemPerMultiprocessor"]),
        registers_per_unit=int(properties["regsPerMultiprocessor"]),
        memory=int(properties["totalGlobalMem"]),
        caches=(known.caches[0], int(properties["l2CacheSize"])),
        clock=clock,
        bandwidth=known.bandwidth if exact or not bus else 2.0 * memory_clock * 1e3 * bus / 8,
        peak_f32=known.peak_f32 * speed,
        peak_f64=known.peak_f64 * speed,
        tensor_f16=known.tensor_f16 * speed,
        tensor_tf32=known.tensor_tf32 * speed,
        tensor_i8=known.tensor_i8 * speed,
        tensor_f8=known.tensor_f8 * speed,
        tensor_f64=known.tensor_f64 * speed,
    )


def _nearest(arch: str) -> str:
    """The machine file with the newest architecture that is not newer than `arch`."""

    def number(text: str) -> int:
        return int(re.sub(r"\D", "", text))

    machines = [load_machine(n) for n in machine_names()]
    older = [m for m in machines if "cuda" in m.targets and number(m.arch) <= number(arch)]
    return max(older, key=lambda m: number(m.arch)).name if older else "v100"
