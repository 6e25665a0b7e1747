"""How thoroughly a candidate is measured: less where it clearly loses, and in finals by the time left."""

from dataclasses import replace

from mdh.results.trial import QUICK, THOROUGH, Effort

_LOSER = 3.0
"""Times the best: a candidate beyond it is timed three times only."""
DROPPED = 1.5
"""Times the best: beyond it a candidate cannot be a finalist, and its machine code is not needed again."""
_LEAST_SECONDS = 2.0
"""Of budget, below which finals are left out."""


def effort_for(best: float | None) -> Effort:
    """best: seconds of the best so far; None: nothing to compare with."""
    return QUICK if best is None else replace(QUICK, give_up=_LOSER * best)


def final_effort(contestants: int, left: float | None) -> Effort | None:
    """What the time that is left allows for each; None: too little for finals."""
    if left is None:
        return THOROUGH
    if left < _LEAST_SECONDS:
        return None
    # the winner is timed once more, and building and judging take their share
    seconds = min(THOROUGH.seconds, 0.5 * left / (contestants + 1))
    samples = THOROUGH.samples if seconds > 1.0 else 30
    return Effort(samples, seconds, THOROUGH.cold, THOROUGH.inputs)
