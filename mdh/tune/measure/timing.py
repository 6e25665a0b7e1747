"""Timed runs of one candidate or of several in turn, until there are enough or the time is up."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import perf_counter

from mdh.device.api import Call, Sample
from mdh.device.ballast import evicted
from mdh.tune.values import Effort

_SURE = 3
"""Runs after which a clear loser is known."""


@dataclass(slots=True)
class Timed:
    """Runs of one candidate so far."""

    call: Call
    warm: list[Sample] = field(default_factory=list)
    cold: list[Sample] = field(default_factory=list)
    stopped: bool = False

    @property
    def clock(self) -> str:
        own = all(s.device is not None for s in (*self.warm, *self.cold))
        return "device" if own else "wall"

    def seconds(self, samples: Sequence[Sample]) -> list[float]:
        """By the device's clock where it timed all runs."""
        wall = self.clock == "wall"
        return [s.wall if wall or s.device is None else s.device for s in samples]


def run_timed(
    calls: Sequence[Call], effort: Effort, flush: Callable[[], object], running: Callable[[int], None]
) -> list[Timed]:
    """A-B-A-B: one run of each in turn, so that a change of clock meets all. `running` is told the number of
    the candidate that comes next. The first run of each is not counted. Without room for what evicts the
    caches there are no cold runs."""
    timed = [Timed(call) for call in calls]
    for number, one in enumerate(timed):
        running(number)
        one.call.sample()
    cold = effort.cold
    end = perf_counter() + effort.seconds * len(timed)
    for taken in range(max(1, effort.samples)):
        if taken and perf_counter() > end:
            break
        for number, one in enumerate(timed):
            if not one.stopped:
                running(number)
                cold = cold and not evicted(flush)
                _sample(one, cold, effort.give_up)
        if all(one.stopped for one in timed):
            break
    if not cold:
        for one in timed:
            one.cold.clear()
    return timed


def _sample(one: Timed, cold: bool, give_up: float | None) -> None:
    """cold: the caches have just been evicted."""
    if cold:
        one.cold.append(one.call.sample())
        one.call.sample()
    one.warm.append(one.call.sample())
    if give_up is not None and len(one.warm) >= _SURE:
        one.stopped = min(one.seconds(one.warm)) > give_up
