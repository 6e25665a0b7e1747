"""Times runs of one candidate, or of several in turns, until there are enough or the time is up."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import perf_counter

from mdh.device.ballast import evicted
from mdh.device.protocols import BoundCall, RunTimes
from mdh.results.trial import Effort

_SURE = 3
"""Runs after which a clear loser is recognised."""


@dataclass(slots=True)
class Timed:
    """The runs of one candidate so far."""

    call: BoundCall
    warm: list[RunTimes] = field(default_factory=list)
    cold: list[RunTimes] = field(default_factory=list)
    stopped: bool = False

    @property
    def clock(self) -> str:
        own = all(s.device is not None for s in (*self.warm, *self.cold))
        return "device" if own else "wall"

    def seconds(self, samples: Sequence[RunTimes]) -> list[float]:
        """Seconds of the runs, by the device's clock if it timed all of them."""
        wall = self.clock == "wall"
        return [s.wall if wall or s.device is None else s.device for s in samples]


def run_timed(
    calls: Sequence[BoundCall], effort: Effort, flush: Callable[[], object], running: Callable[[int], None]
) -> list[Timed]:
    """Times rounds of one run each (A-B-A-B), so that clock drift affects all candidates equally. `running`
    is called with the number of the candidate that comes next. The first run of each is not counted. The cold
    rounds come after all warm ones, because runs directly after an eviction of the caches are slower for a
    while. Without memory for evicting the caches there are no cold runs."""
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
    """Takes one sample of each candidate that is not stopped, at most `samples` times and for `seconds`, but
    at least once. Ends if `take` fails; returns whether it never failed."""
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
