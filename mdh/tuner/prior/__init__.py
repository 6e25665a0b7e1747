"""The analytic model: what a plan will take, before anything is compiled, so that the best are tried first.

`predict(plan)` says seconds and what they are made of; `worth` chooses among drawn candidates, believing the
model as far as it was right so far; `fit` corrects the constants of a machine from records, and `begin`
chooses those that a run begins with.
"""

from mdh.tuner.prior.choose import EXPLORE, favourites, rank, worth
from mdh.tuner.prior.constants import NOMINAL, Constants
from mdh.tuner.prior.estimate import predict
from mdh.tuner.prior.fit import fit
from mdh.tuner.prior.model import Prediction, Signs

__all__ = [
    "EXPLORE",
    "NOMINAL",
    "Constants",
    "Prediction",
    "Signs",
    "favourites",
    "fit",
    "predict",
    "rank",
    "worth",
]
