"""How thoroughly a candidate is measured: less if it clearly loses; in finals, as time allows."""

from dataclasses import replace

from mdh.results.trial import QUICK, THOROUGH, Effort

_LOSER = 3.0
"""A candidate slower than this many times the best is timed only three times."""
DROPPED = 1.5
"""A candidate slower than this many times the best cannot be a finalist, and its machine code is dropped."""
_LEAST_SECONDS = 2.0
"""Seconds of remaining budget below which finals are left out."""


def effort_for(best: float | None) -> Effort:
    """The effort for a candidate. best: seconds of the best so far; None if there is none."""
    return QUICK if best is None else replace(QUICK, give_up=_LOSER * best)


def final_effort(contestants: int, left: float | None) -> Effort | None:
    """The effort that the remaining time allows for each finalist; None if there is too little for finals."""
    if left is None:
        return THOROUGH
    if left < _LEAST_SECONDS:
        return None
    # the winner is timed once more, and building and judging take time as well
    seconds = min(THOROUGH.seconds, 0.5 * left / (contestants + 1))
    samples = THOROUGH.samples if seconds > 1.0 else 30
    return Effort(samples, seconds, THOROUGH.cold, THOROUGH.inputs)
