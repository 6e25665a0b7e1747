"""Limits of the size of expressions, which later stages walk recursively and write into kernels."""

from mdh.diagnostics import fail
from mdh.ir.expr import Expr, children
from mdh.source import Span

MOST_NODES = 4096
MOST_DEPTH = 200
MOST_TRIPS = 2**31 - 1
"""The most iterations of a loop."""
MOST_ELEMENTS = 2**40
"""The largest extent of an array."""
HELP = "store a part of it in an array of its own"


def check_size(e: Expr, span: Span) -> None:
    """Raises Failed C121 if `e`, written out, is too large."""
    what = _excess(e)
    if what:
        raise fail("C121", f"this expression {what}", span, help=HELP)


def is_small(e: Expr) -> bool:
    """Whether `check_size` accepts `e`."""
    return not _excess(e)


def _excess(e: Expr) -> str:
    """What is too large about `e`; empty if nothing is. It stops as soon as that is known."""
    seen, level = 0, [e]
    for _ in range(MOST_DEPTH):
        seen += len(level)
        if seen > MOST_NODES:
            return f"has more than {MOST_NODES:,} parts once its locals are written out"
        level = [c for x in level for c in children(x)]
        if not level:
            return ""
    return f"nests deeper than {MOST_DEPTH} operators"
