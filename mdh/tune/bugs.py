"""A candidate that meets a bug of mdh costs itself alone, not the run."""

import traceback
from pathlib import Path

from mdh.diagnostics import Failed, fail

BUGS = (AssertionError, ArithmeticError, LookupError, TypeError, ValueError, RecursionError)
"""What a bug raises, where the candidate's schedule was not refused."""


def bug(error: Exception) -> Failed:
    """B101: which error it was, and where."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{Path(last.filename).name}:{last.lineno}"
    return fail("B101", f"internal error: {type(error).__name__} at {where}: {error}")
