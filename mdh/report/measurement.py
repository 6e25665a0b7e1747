"""Times of a run: medians of warm and cold samples, and rates."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from statistics import median

from mdh.device.ballast import evicted
from mdh.diagnostics import fail
from mdh.ir.program import Program
from mdh.machine import Machine
from mdh.report.text import bytes_text, seconds_text


@dataclass(frozen=True, slots=True)
class Timing:
    """Times in seconds. warm: of runs one after another. cold: of runs before each of which the caches were
    evicted. clock: `device` if the device measured itself, else `wall`. cold_left_out: why there are no cold
    ones."""

    warm: tuple[float, ...]
    cold: tuple[float, ...]
    clock: str
    cold_left_out: str = ""

    def __repr__(self) -> str:
        """`<median 215 µs of 10, device clock>`"""
        return f"<median {seconds_text(median(self.warm))} of {len(self.warm)}, {self.clock} clock>"

    @property
    def best_estimate(self) -> float:
        return median(self.warm)


def demand_fit(program: Program, machine: Machine, device: str) -> None:
    """Raises Failed F116 where the program's arrays are larger than the device's memory."""
    size = sum(prod(b.shape) * b.dtype.bytes for b in program.buffers)
    if size > machine.memory:
        need, have = bytes_text(size), bytes_text(machine.memory)
        headline = f"the arrays of `{program.name}` need {need}, {device} has {have}"
        raise fail("F116", headline, help="smaller sizes: -D N=…")


def measure(
    sample: Callable[[], tuple[float | None, float]], flush: Callable[[], object], repeat: int
) -> Timing:
    """`repeat` samples of each kind, interleaved, so that clock drift affects both equally. Only warm ones if
    there is no memory for evicting the caches."""
    sample()
    warm, cold, left_out = [], [], ""
    for _ in range(repeat):
        left_out = left_out or evicted(flush)
        if not left_out:
            cold.append(sample())
            sample()
        warm.append(sample())
    if left_out:
        cold.clear()
    own = all(device is not None for device, _ in (*warm, *cold))
    return Timing(_seconds(warm, own), _seconds(cold, own), "device" if own else "wall", left_out)


def _seconds(samples: Sequence[tuple[float | None, float]], own: bool) -> tuple[float, ...]:
    return tuple(device if own and device is not None else wall for device, wall in samples)


def timing_text(timing: Timing, operations: int, least_bytes: int) -> str:
    """Two lines of times and one of rates at the warm median."""
    left_out = f"  cold times are left out: {timing.cold_left_out}"
    rows = [_row("warm", timing.warm), _row("cold", timing.cold) if timing.cold else left_out]
    s = timing.best_estimate
    if s > 0:
        rates = operations / s / 1e9, least_bytes / s / 1e9
        rows.append(f"  {rates[0]:.1f} G operations/s, {rates[1]:.1f} GB/s of compulsory bytes")
    return "\n".join(rows) + f" ({timing.clock} clock)\n"


def _row(name: str, samples: tuple[float, ...]) -> str:
    spread = f"{seconds_text(min(samples))} to {seconds_text(max(samples))}"
    return f"  {name}  median {seconds_text(median(samples))} of {len(samples)}, {spread}"
