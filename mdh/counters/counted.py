"""What was counted, as a value."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CounterValue:
    """One counter: its name, its value for one run of all kernels, and its unit (empty for events)."""

    name: str
    value: float
    unit: str = ""


@dataclass(frozen=True)
class Counted:
    """by: the tool. where: the device. seconds: of a run, by the clock of the host; None if the tool slows
    runs down. missing: why some or all counters are not there, as a sentence; empty if all are."""

    by: str
    where: str
    runs: int
    seconds: float | None
    counts: tuple[CounterValue, ...]
    missing: str = ""

    def value(self, name: str) -> float | None:
        return next((c.value for c in self.counts if c.name == name), None)


def uncounted(by: str, where: str, why: str) -> Counted:
    """Nothing was counted."""
    return Counted(by, where, 0, None, (), why)
