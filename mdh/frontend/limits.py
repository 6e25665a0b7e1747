"""Limits of the size of expressions and loops, and of arrays."""

from mdh.diagnostics import fail
from mdh.ir.expr import Expr
from mdh.ir.size import excess
from mdh.source import Span

MOST_TRIPS = 2**31 - 1
"""The most iterations of a loop."""
MOST_ELEMENTS = 2**40
"""The largest extent of an array."""
HELP = "store a part of it in an array of its own"


def check_size(e: Expr, span: Span) -> None:
    """Raises Failed C121 if `e`, written out, is too large."""
    what = excess(e)
    if what:
        written = f"{what} once its locals are written out" if "parts" in what else what
        raise fail("C121", f"this expression {written}", span, help=HELP)


def is_small(e: Expr) -> bool:
    """Whether `check_size` accepts `e`."""
    return not excess(e)
