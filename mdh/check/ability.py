"""A machine as one target language sees it."""

from dataclasses import replace

from mdh.hardware import Engine
from mdh.machine import Machine

NVIDIA_OPENCL_LOCAL = 49152
"""NVIDIA's OpenCL compiler has no opt-in to more local memory than this."""


def seen_by(machine: Machine, target: str) -> Machine:
    """What is left of a machine's abilities in OpenCL C 1.2: no warp intrinsics, clusters or copy engines."""
    if target == "cuda":
        return machine
    shared = machine.shared_per_block
    if "cuda" in machine.targets:
        shared = min(shared, NVIDIA_OPENCL_LOCAL)
    return replace(
        machine,
        cluster=1,
        copy_engines=(Engine.PLAIN,),
        shuffle=False,
        float_atomics=False,
        acquire_release=False,
        shared_per_block=shared,
    )
