"""The reference: evaluates a Program slowly and simply, and judges every candidate's results.

`judge` chooses who judges: `interpreter` runs the C text as it is written, and `evaluate` runs the stages on
whole arrays. For large results `sampling` interprets some elements, whose statements `slicing` finds.
"""

from mdh.reference.evaluate import evaluate, evaluate_bounded

__all__ = ["evaluate", "evaluate_bounded"]
