"""Timed runs of one candidate or of several in turn, until there are enough or the time is up."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import perf_counter

from mdh.device.ballast import evicted
from mdh.device.protocols import BoundCall, RunTimes
from mdh.results.trial import Effort

_SURE = 3
"""Runs after which a clear loser is known."""


@dataclass(slots=True)
class Timed:
    """Runs of one candidate so far."""

    call: BoundCall
    warm: list[RunTimes] = field(default_factory=list)
    cold: list[RunTimes] = field(default_factory=list)
    stopped: bool = False

    @property
    def clock(self) -> str:
        own = all(s.device is not None for s in (*self.warm, *self.cold))
        return "device" if own else "wall"

    def seconds(self, samples: Sequence[RunTimes]) -> list[float]:
        """By the device's clock where it timed all runs."""
        wall = self.clock == "wall"
        return [s.wall if wall or s.device is None else s.device for s in samples]


def run_timed(
    calls: Sequence[BoundCall], effort: Effort, flush: Callable[[], object], running: Callable[[int], None]
) -> list[Timed]:
    """Rounds of one run each (A-B-A-B), so that a change of clock meets all. `running` is told the number of
    the candidate that comes next. The first run of each is not counted. The cold rounds come after all warm
    ones: what is run just after the caches were evicted is not yet as fast as it becomes. Without room for
    what evicts the caches there are no cold runs."""
    timed = [Timed(call) for call in calls]
    for number, one in enumerate(timed):
        running(number)
        one.call.sample()
    seconds = effort.seconds * len(timed) / (2 if effort.cold else 1)

    def warm(one: Timed) -> bool:
        one.warm.append(one.call.sample())
        if effort.give_up is not None and len(one.warm) >= _SURE:
            one.stopped = min(one.seconds(one.warm)) > effort.give_up
        return True

    def cold(one: Timed) -> bool:
        if evicted(flush):
            return False
        one.cold.append(one.call.sample())
        return True

    _rounds(timed, effort.samples, seconds, running, warm)
    if effort.cold and not _rounds(timed, effort.samples, seconds, running, cold):
        for one in timed:
            one.cold.clear()
    return timed


def _rounds(
    timed: Sequence[Timed],
    samples: int,
    seconds: float,
    running: Callable[[int], None],
    take: Callable[[Timed], bool],
) -> bool:
    """One sample of each that is not stopped, at most `samples` times and for `seconds`, but once at least.
    Ends where `take` could not; returns whether it always could."""
    end = perf_counter() + seconds
    for taken in range(max(1, samples)):
        if taken and perf_counter() > end:
            break
        for number, one in enumerate(timed):
            if not one.stopped:
                running(number)
                if not take(one):
                    return False
    return True
