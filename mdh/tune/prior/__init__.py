"""The analytic model: what a plan will take, before anything is compiled, so that the best are tried first.

`predict(plan)` says seconds and what they are made of; `worth` chooses among drawn candidates, believing the
model as far as it was right so far; `fit` corrects the constants of a machine from records, and `begin`
chooses those that a run begins with.
"""

from mdh.tune.prior.choose import EXPLORE, favourites, rank, worth
from mdh.tune.prior.constants import NOMINAL, Constants
from mdh.tune.prior.estimate import predict
from mdh.tune.prior.fit import fit
from mdh.tune.prior.model import Prediction, Signs

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
