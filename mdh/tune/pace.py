"""How thoroughly a candidate is measured while searching: less once it is a clear loser."""

from dataclasses import replace

from mdh.tune.values import QUICK, Effort

_LOSER = 3.0
"""Times the best: a candidate beyond it is timed three times only."""
DROPPED = 1.5
"""Times the best: beyond it a candidate cannot be a finalist, and its machine code is not needed again."""


def effort_for(best: float | None) -> Effort:
    """best: seconds of the best so far; None: nothing to compare with."""
    return QUICK if best is None else replace(QUICK, give_up=_LOSER * best)
