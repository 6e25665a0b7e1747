"""The exact space of a schedule with holes: counted, un-ranked and sampled without listing its points."""

from mdh.results.variable import Kind, Point, Variable
from mdh.tuner.space.identity import identity
from mdh.tuner.space.make import make_space
from mdh.tuner.space.space import Space

__all__ = ["Kind", "Point", "Space", "Variable", "identity", "make_space"]
