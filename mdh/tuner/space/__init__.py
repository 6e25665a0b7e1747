"""The exact space of a schedule with holes: its points are counted, ranked and sampled without listing them.

`make.make_space` builds a Space. `chain` and `paths` count the tiles and layers of one dimension; `signature`
says what dimensions must agree on, and `exact` joins them. `ladder` and `free` are the other variables.
`outline` rejects points cheaply.
"""

from mdh.results.variable import Metric, Point, Variable
from mdh.tuner.space.identity import identity
from mdh.tuner.space.make import make_space
from mdh.tuner.space.space import ExactSpace

__all__ = ["ExactSpace", "Metric", "Point", "Variable", "identity", "make_space"]
