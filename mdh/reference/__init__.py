"""The slow, obvious meaning of a Program, and the judge of every candidate against it."""

from mdh.reference.evaluate import evaluate, evaluate_bounded

__all__ = ["evaluate", "evaluate_bounded"]
