"""Limits of the size of expressions, which are walked recursively and written into kernels."""

from mdh.ir.expr import Expr, children

MOST_NODES = 4096
MOST_DEPTH = 200


def excess(e: Expr) -> str:
    """What is too large about `e`; empty if nothing is. It stops as soon as that is known."""
    seen, level = 0, [e]
    for _ in range(MOST_DEPTH):
        seen += len(level)
        if seen > MOST_NODES:
            return f"has more than {MOST_NODES:,} parts"
        level = [c for x in level for c in children(x)]
        if not level:
            return ""
    return f"nests deeper than {MOST_DEPTH} operators"
