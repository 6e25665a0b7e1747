"""How long a worker is waited for: the given limits, or less in a search that knows good candidates."""

from mdh.results.trial import Effort, Limits, Outcome

_LAUNCH_FLOOR = 10.0
_MEASURE_FLOOR = 3.0
_TIMES = 10.0
"""A candidate that takes this many times as long as every good one before cannot win."""


class Patience:
    """The limits of one bench: shorter in a search (`Effort.give_up` is set), full for finalists."""

    def __init__(self) -> None:
        self._check = 0.0

    def saw(self, outcome: Outcome) -> None:
        if outcome.failure is None:
            self._check = max(self._check, outcome.check_seconds)

    def launch(self, effort: Effort, limits: Limits) -> float:
        if effort.give_up is None or not self._check:
            return limits.launch
        return min(limits.launch, max(_LAUNCH_FLOOR, _TIMES * self._check))

    def measure(self, effort: Effort, limits: Limits) -> float:
        """Seconds that a measurement may take. Sampling ends by itself after `Effort.seconds`, so a longer
        one hangs in a run."""
        if effort.give_up is None:
            return limits.measure
        return min(limits.measure, max(_MEASURE_FLOOR, 4 * effort.seconds + 20 * _TIMES * effort.give_up))
