"""When a search ends: the first of its limits that is reached."""

from dataclasses import dataclass
from enum import StrEnum


class Ended(StrEnum):
    """Why a search ended."""

    TRIALS = "trials"
    BUDGET = "budget"
    SPEEDUP = "speedup"
    EXHAUSTED = "exhausted"
    STUCK = "stuck"
    INTERRUPTED = "interrupted"
    LOST = "lost"


@dataclass(frozen=True, slots=True)
class Goal:
    """The limits of a search. trials: measured in this run. seconds: of the whole run with its finals.
    speedup: of the best over the device's default schedule. None: no such limit."""

    trials: int | None = None
    seconds: float | None = None
    speedup: float | None = None

    @property
    def reserve(self) -> float:
        """The seconds of the budget that are kept for the finals."""
        return 0.0 if self.seconds is None else min(40.0, 0.2 * self.seconds)

    def reached(self, *, trials: int, speedup: float | None) -> Ended | None:
        """The limit that ends the search besides its time, if any."""
        if self.trials is not None and trials >= self.trials:
            return Ended.TRIALS
        if self.speedup is not None and speedup is not None and speedup >= self.speedup:
            return Ended.SPEEDUP
        return None
