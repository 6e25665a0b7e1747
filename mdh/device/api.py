"""The devices of this machine. `open_device` is the entry point."""

import re
from importlib import import_module

from mdh.device.protocols import Device, ListedDevice
from mdh.diagnostics import Diagnostic, Failed, fail

FAMILIES = ("cuda", "opencl", "c", "oclgrind")
_SPEC = re.compile(r"(opencl|cuda|c)(?::(\d{1,4}))?\Z|oclgrind\Z")


def open_device(spec: str) -> Device:
    """The device named `opencl`, `opencl:N`, `cuda`, `cuda:N`, `c` or `oclgrind`.

    Raises Failed: D101 no such device, D102 OpenCL cannot be used here, D106 CUDA cannot be used here, D107
    no device can be used after a fork, D108 Oclgrind is not installed, D110 not a device's name, D113 there
    is no C compiler.
    """
    demand_spec(spec)
    found = _SPEC.match(spec)
    assert found is not None
    if spec == "oclgrind":
        opened: Device = import_module("mdh.device.oclgrind").open_oclgrind()
        return opened
    module = import_module(f"mdh.device.{found[1]}")
    device: Device = module.open_number(int(found[2] or 0))
    return device


def demand_spec(spec: str, place: str = "") -> None:
    """Raises Failed D110 if `spec` is no device's name, whether or not there is such a device. place: where
    it stands, if not on the command line."""
    if _SPEC.match(spec) is None:
        headline = f"`{spec}`{place and ' in '}{place} names no device"
        raise fail("D110", headline, help="write opencl:N, cuda:N, c or oclgrind")


def list_devices() -> tuple[ListedDevice, ...]:
    """Every device of this machine, CUDA's first, and Oclgrind if it is installed. Never fails."""
    out: list[ListedDevice] = []
    for name in FAMILIES:
        listed, _ = probe(name)
        out.extend(listed)
    return tuple(out)


def probe(family: str) -> tuple[tuple[ListedDevice, ...], Diagnostic | None]:
    """The devices of one of FAMILIES, and the reason if there are none."""
    try:
        listed: tuple[ListedDevice, ...] = import_module(f"mdh.device.{family}").list_family()
        return listed, None
    except Failed as failed:
        return (), failed.diagnostics[0]
