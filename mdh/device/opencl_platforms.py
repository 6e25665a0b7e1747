"""The OpenCL devices of this machine in mdh's order, whatever the loader's order is."""

import os
from dataclasses import dataclass
from typing import Any

from mdh.device.opencl_door import PAIR, cl, missing
from mdh.device.pocl_cache import placed
from mdh.device.process import same_process
from mdh.diagnostics import fail
from mdh.folders import unserving

_WHEEL = "PoCL 3.0-rc2"
"""The version that the runtime of the wheel pocl-binary-distribution reports."""
POCL = "Portable Computing Language"
OCLGRIND = "Oclgrind"


@dataclass(frozen=True)
class PlatformDevice:
    """A device of a platform. device: pyopencl's object. caller: the device that runs launches on the same
    cores in the calling thread, if the runtime has one."""

    device: Any
    platform: str
    version: str
    gpu: bool
    caller: Any = None

    @property
    def title(self) -> str:
        return " ".join(str(self.device.name).split())

    @property
    def wheel(self) -> bool:
        """Whether it belongs to the wheel pocl-binary-distribution."""
        return self.platform == POCL and _WHEEL in self.version


def found_devices() -> tuple[PlatformDevice, ...]:
    """`opencl:0`, `opencl:1`…: the wheel's PoCL, GPUs, other CPUs. MDH_OPENCL_PLATFORM selects the platforms
    whose name or version contains its text. Raises Failed D102, D107."""
    wanted = os.environ.get("MDH_OPENCL_PLATFORM", "")
    every = _all_devices()
    if not wanted:
        kept = [f for f in every if f.platform != OCLGRIND]
    else:
        kept = [f for f in every if wanted.lower() in f"{f.platform} {f.version}".lower()]
    if not kept:
        names = ", ".join(sorted({f.platform for f in every})) or "none"
        if wanted:
            raise fail(
                "D102", f"no OpenCL platform matches MDH_OPENCL_PLATFORM={wanted}", help=f"platforms: {names}"
            )
        raise missing("no platform has a device")
    return tuple(sorted(kept, key=_rank))


def oclgrind_device() -> PlatformDevice | None:
    """The checking device; None if its wheel is not installed."""
    return next((f for f in _all_devices() if f.platform == OCLGRIND), None)


def _rank(found: PlatformDevice) -> tuple[bool, bool, bool]:
    """The sort key of a device; False sorts first. The wheel's CPU comes first (it is always there), then
    GPUs, then other PoCLs."""
    return (not found.wheel, not found.gpu, found.platform != POCL)


def _all_devices() -> list[PlatformDevice]:
    if cl is None:
        raise missing("pyopencl is not installed")
    same_process("OpenCL")
    try:
        with placed():
            return _asked()
    except OSError as error:
        # PoCL keeps what it compiles there
        raise unserving(error) from error


def _asked() -> list[PlatformDevice]:
    try:
        platforms = cl.get_platforms()
    except cl.Error as error:
        raise missing("no platform is registered") from error
    out = []
    for platform in platforms:
        try:
            devices = platform.get_devices()
        except cl.Error:
            # a platform without a device reports it by an error
            continue
        caller = _caller(platform, devices)
        for device in devices:
            if device != caller:
                gpu = bool(device.type & cl.device_type.GPU)
                out.append(PlatformDevice(device, platform.name.strip(), platform.version, gpu, caller))
    return out


def _caller(platform: Any, devices: list[Any]) -> Any:
    """PoCL's `basic` device beside its `pthread` device, if mdh has asked for both."""
    if _WHEEL not in platform.version or os.environ.get("POCL_DEVICES") != PAIR or len(devices) < 2:
        return None
    return next((d for d in devices if str(d.name).startswith("basic")), None)
