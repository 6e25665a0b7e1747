"""The exact space of a schedule with holes: counted, un-ranked and sampled without listing its points."""

from mdh.results.variable import Kind, Point, Variable
from mdh.tune.space.identity import identity
from mdh.tune.space.make import make_space
from mdh.tune.space.space import Space

__all__ = ["Kind", "Point", "Space", "Variable", "identity", "make_space"]
