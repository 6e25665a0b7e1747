"""What a device offers: it builds kernel text, and runs and times what it built."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from mdh.diagnostics import Failed, fail
from mdh.machine import Machine
from mdh.target.text import KernelText


@dataclass(frozen=True, slots=True)
class RunTimes:
    """One run of all kernels, in seconds: as the device's clock saw it (None: it has none, or it covers
    only parts), and from before the first launch until the last kernel was done."""

    device: float | None
    wall: float


class BoundCall(Protocol):
    """Kernels bound to arrays. The arrays must stay alive and in place while the call is used."""

    def launch(self) -> None:
        """Run all kernels in order; when this returns host arrays hold the results. Raises Failed D105,
        D109, D112."""

    def launch_on(self, streams: Sequence[int]) -> None:
        """Run behind the work of all `streams`, on the first of them, and return before it is done where
        nothing has to be copied. Without streams, and on devices that know none, it is `launch`."""

    def sample(self) -> RunTimes:
        """Run all kernels once more and time them: zeroing of workspaces is part of the wall time,
        transfers of arrays are left out."""

    def poison(self) -> None:
        """Fill the workspaces that need not be zero with POISON bytes, lest a kernel reads what another one
        left there and is right by chance."""


POISON = 0xFF
"""A byte of which floats are NaN."""


class Executable(Protocol):
    """Machine code of one KernelText on one device. seconds: what building took."""

    text: KernelText
    seconds: float

    def call(self, arrays: Mapping[str, Any], scalars: Mapping[str, Any]) -> BoundCall:
        """Bind arguments by the C function's parameter names. Arrays are contiguous, of the right type and
        shape (mdh.device.arrays checks that for users). Raises Failed D104."""


class Device(Protocol):
    """spec: `opencl:0`; title: what the device calls itself; target: the language it takes; kind: what
    memory its calls take, `host` or `cuda` (which takes host arrays too); in_place: each launch of a call
    sees what the caller's arrays hold by then."""

    spec: str
    title: str
    target: str
    memory: str
    in_place: bool
    machine: Machine

    @property
    def versions(self) -> tuple[tuple[str, str], ...]:
        """Of what builds and runs kernels here: library, driver, compiler."""

    def ready(self) -> None:
        """Raises Failed D107 in a process that was forked after the device's runtime was in use. All that
        touches the device asks this first."""

    def build(self, text: KernelText) -> Executable:
        """Raises Failed D103 (refused text; the message names the file that keeps it)."""

    def flush(self) -> int:
        """Evict the caches; returns the bytes written to do so. Raises Failed D104 where there is no room for
        them: `mdh.device.ballast.evicted` says so."""


@runtime_checkable
class Loads(Protocol):
    """A device that takes machine code made elsewhere."""

    def load(self, text: KernelText, image: bytes) -> Executable:
        """`image` was compiled from `text` for this device. Raises Failed D104, D105."""


@runtime_checkable
class Keeps(Loads, Protocol):
    """A device whose runtime compiles and hands out what it made. identity: besides the text, all that the
    machine code depends on; ships: what it made is at hand as soon as it is built, and all that another
    process needs."""

    ships: bool

    @property
    def identity(self) -> tuple[str, ...]: ...

    def build(self, text: KernelText) -> Executable:
        """As Device's."""

    def binary(self, built: Executable) -> bytes:
        """The machine code of a build of this device's, for `load`; empty where the runtime gives none."""


@dataclass(frozen=True, slots=True)
class ListedDevice:
    """A device that can be opened. `notes`: what is worth knowing before."""

    spec: str
    title: str
    kind: str
    platform: str


def absent(spec: str, family: tuple[ListedDevice, ...]) -> Failed:
    """D101: which devices there are instead."""
    there = ", ".join(f"{d.spec} ({d.title})" for d in family) or "none"
    return fail("D101", f"there is no device `{spec}`", help=f"devices of this kind: {there}")
