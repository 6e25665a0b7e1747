"""The interface of devices: they build kernel text, run it and time it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any, Protocol, runtime_checkable

from mdh.diagnostics import Failed, fail
from mdh.machine import Machine
from mdh.target.text import KernelText


@dataclass(frozen=True, slots=True)
class RunTimes:
    """One run of all kernels, in seconds. device: by the device's clock; None if it has none, or covers only
    parts. wall: from before the first launch until the last kernel has ended."""

    device: float | None
    wall: float


class BoundCall(Protocol):
    """Kernels bound to arrays. The arrays must stay alive and in place while the call is used."""

    def launch(self) -> None:
        """Runs all kernels in order. When it returns, host arrays hold the results. Raises Failed D105, D109,
        D112."""

    def launch_on(self, streams: Sequence[int]) -> None:
        """Run behind the work of all `streams`, on the first of them, and return before it is done where
        nothing has to be copied. Without streams, and on devices that know none, it is `launch`."""
        self.launch()

    def moved(self, addresses: Mapping[str, int]) -> "BoundCall | None":
        """The same call on arrays at other addresses, by parameter. It does not keep them alive. None where a
        call is made anew for them."""
        return None

    def sample(self) -> RunTimes:
        """Runs all kernels once more and times them. The wall time includes zeroing of workspaces and
        excludes transfers of arrays."""
        start = perf_counter()
        self.launch()
        return RunTimes(None, perf_counter() - start)

    def poison(self) -> None:
        """Fills the workspaces that need not be zero with POISON bytes, so that a kernel which reads
        leftovers of another one is not right by chance."""


POISON = 0xFF
"""A byte; floats of such bytes are NaN."""


class Executable(Protocol):
    """Machine code of one KernelText on one device. seconds: the time that building took."""

    text: KernelText
    seconds: float

    def call(self, arrays: Mapping[str, Any], scalars: Mapping[str, Any]) -> BoundCall:
        """Binds arguments by the C function's parameter names. Arrays must be contiguous, of the right type
        and shape (mdh.device.arrays checks that for users). Raises Failed D104."""


class Device(Protocol):
    """A device. spec: `opencl:0`. title: what the device calls itself. target: its language. kind: the memory
    that its calls take, `host` or `cuda` (which takes host arrays too). in_place: whether each launch of a
    call sees the current contents of the caller's arrays."""

    spec: str
    title: str
    target: str
    memory: str
    in_place: bool
    machine: Machine

    @property
    def versions(self) -> tuple[tuple[str, str], ...]:
        """Versions of what builds and runs kernels: library, driver, compiler."""

    def ready(self) -> None:
        """Raises Failed D107 in a process that was forked after the device's runtime was in use. Everything
        that uses the device calls this first."""

    def build(self, text: KernelText) -> Executable:
        """Builds a text. Raises Failed D103 if it is refused; the message names the file that keeps it."""

    def flush(self) -> int:
        """Evicts the caches. Returns the bytes written to do so. Raises Failed D104 if memory is short, which
        `mdh.device.ballast.evicted` reports."""


@runtime_checkable
class Loads(Protocol):
    """A device that takes machine code made elsewhere."""

    def load(self, text: KernelText, image: bytes) -> Executable:
        """Loads `image`, which was compiled from `text` for this device. Raises Failed D104, D105."""


@runtime_checkable
class Keeps(Loads, Protocol):
    """A device whose runtime compiles and returns binaries. identity: all that the machine code depends on
    besides the text. ships: the binary is available as soon as it is built, and complete for another
    process."""

    ships: bool

    @property
    def identity(self) -> tuple[str, ...]: ...

    def build(self, text: KernelText) -> Executable:
        """Like Device.build."""

    def binary(self, built: Executable) -> bytes:
        """The machine code of a build, for `load`; empty if the runtime gives none."""


@dataclass(frozen=True, slots=True)
class ListedDevice:
    """A device that can be opened. notes: remarks for the user."""

    spec: str
    title: str
    kind: str
    platform: str


def absent(spec: str, family: tuple[ListedDevice, ...]) -> Failed:
    """D101, with the devices that exist instead."""
    there = ", ".join(f"{d.spec} ({d.title})" for d in family) or "none"
    return fail("D101", f"there is no device `{spec}`", help=f"devices of this kind: {there}")
