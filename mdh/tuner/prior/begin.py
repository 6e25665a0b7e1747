"""The constants that a run begins with, from what earlier runs measured on the same device."""

from collections.abc import Mapping, Sequence

import numpy as np

from mdh.tuner.prior.constants import Constants
from mdh.tuner.prior.fit import concordance, fit
from mdh.tuner.prior.model import Prediction

Pairs = Sequence[tuple[Prediction, float]]
"""Predictions and the seconds that were measured."""
PROGRAMS = 3
"""Programs from which on it can be judged whether constants fitted to some serve another one."""
GAIN = 0.01
"""Rank correlation that constants of the device must gain, at the mean of programs that they were not fitted
to: what fits a few programs often suits the next one less well than what mdh comes with."""
OWN = 12
"""Times of the program itself that constants are fitted to."""


def begin(constants: Constants, known: Mapping[str, Pairs], about: str) -> tuple[Constants, int]:
    """Constants for the program and sizes `about`, and how many of the times they are fitted to.

    known: by program and sizes. The times of other programs count where, each left out in turn, the others'
    improve the order of its own; then those of the same program, which rank it best.
    """
    used = 0
    others = {name: pairs for name, pairs in known.items() if name != about and len(pairs) >= OWN}
    if len(others) >= PROGRAMS and _gain(constants, others) > GAIN:
        pairs = [pair for one in others.values() for pair in one]
        constants, used = fit(constants, pairs), len(pairs)
    own = known.get(about, ())
    if len(own) >= OWN:
        constants, used = fit(constants, own), used + len(own)
    return constants, used


def _gain(constants: Constants, known: Mapping[str, Pairs]) -> float:
    """Mean rank correlation that each program gains by constants fitted to the others."""
    gains = []
    for name, pairs in known.items():
        rest = [pair for other, one in known.items() if other != name for pair in one]
        gains.append(concordance(fit(constants, rest), pairs) - concordance(constants, pairs))
    return float(np.mean(gains))
