"""Finds a machine by name: a machine file, or one that mdh derives for a device of this computer."""

from collections.abc import Iterator
from os import PathLike, fspath

from mdh.device.api import list_devices, open_device
from mdh.diagnostics import Failed, fail
from mdh.machine import NAME, Machine, load_machine, machine_names


def machine_called(name: str | PathLike[str], target: str | None = None) -> tuple[Machine, str | None]:
    """The machine, and its device if no file describes it. If several devices match, the first that takes
    `target`.

    Raises Failed as `load_machine`; F150 if neither a file nor a device has the name.
    """
    try:
        return load_machine(fspath(name)), None
    except Failed as failed:
        if any(d.code != "F150" for d in failed.diagnostics):
            raise
        # devices take seconds to open, and no device has a malformed name
        found = next(_at_hand(fspath(name), target), None) if NAME.fullmatch(fspath(name)) else None
        if found is None:
            raise _unknown(fspath(name), failed) from failed
        return found


def _at_hand(name: str, target: str | None) -> Iterator[tuple[Machine, str]]:
    for listed in list_devices():
        if listed.kind == "checker":
            continue
        try:
            device = open_device(listed.spec)
        except Failed:
            continue
        if device.machine.name == name and target in (None, device.target):
            yield device.machine, listed.spec


OWN = "this-cpu"
"""The machine name of every CPU device of this computer."""


def _unknown(name: str, failed: Failed) -> Failed:
    """The error about files, unless the name is one that no file can have; then that is said."""
    if name != OWN:
        return failed
    known = ", ".join(machine_names())
    headline = f"`{name}` is the CPU that a schedule was made on, and no device here is called so"
    return fail("F150", headline, help=f"give the machine: --device SPEC, or --machine of {known}")
