"""--strict-fp: sums, products, minima and maxima of floats as in C, one point after another, in the stored
type."""

from collections.abc import Sequence
from dataclasses import replace

from mdh.diagnostics import fail
from mdh.frontend.conversions import kept
from mdh.frontend.pieces import Piece, update
from mdh.frontend.scans import prefix_of
from mdh.frontend.statements import Assign, Statement, gathers
from mdh.ir.dtype import DType, accumulator
from mdh.ir.expr import Binary, Cast, Expr, Select, loads, without_casts
from mdh.ir.program import Result


def check_grouping(statements: Sequence[Statement]) -> None:
    """Raises C150 for `s = s + a + b` of floats: C rounds each term, a reduction adds one value a point."""
    for s in statements:
        if not isinstance(s, Assign) or not s.value.dtype.is_float:
            continue
        me, name = s.target, s.target.buffer
        met = gathers(me.index) or s.free
        known = (met and update(s) is not None) or prefix_of(me, s.value, s.loops) is not None
        if known and _regrouped(s.value, name):
            raise fail(
                "C150",
                f"`{name}` is updated by several terms, and --strict-fp keeps them apart",
                s.span,
                help=f"C adds them one by one; write one value where that is meant: `{name} += a + b`",
            )
        if known and _wider(s.value, accumulator(s.value.dtype)):
            what = f"`{name}` is updated in double and rounded each time, which --strict-fp cannot keep"
            raise fail(
                "C150", what, s.span, help="convert the new value first: `y += (float)x`, or sum in a double"
            )


def check_comparison(piece: Piece) -> None:
    """Raises C150 for a minimum or maximum that cannot keep C's NaNs and signs of zeros."""
    if piece.loose and piece.targets[0].dtype.is_float:
        raise fail(
            "C150",
            f"`{piece.targets[0].buffer}`: --strict-fp cannot keep this comparison's NaNs and zeros",
            piece.span,
            label=piece.loose,
            help="write `if (x > m) m = x;` with x and m of one type, or drop --strict-fp",
        )


def _wider(e: Expr, held: DType) -> bool:
    """Whether the sum or product is computed in a wider type than the running value has."""
    e = without_casts(e)
    if isinstance(e, Select):
        return _wider(e.then, held) or _wider(e.other, held)
    sums = isinstance(e, Binary) and e.op in ("+", "-", "*")
    return sums and e.dtype.is_float and e.dtype.bits > held.bits


def _regrouped(e: Expr, target: str) -> bool:
    """Whether the running value is deeper in a sum or product than directly under its outermost operator."""
    e = without_casts(e)
    if isinstance(e, Select):
        return _regrouped(e.then, target) or _regrouped(e.other, target)
    if not isinstance(e, Binary) or e.op not in ("+", "-", "*"):
        return False
    inner = [side for side in (e.left, e.right) if any(x.buffer == target for x in loads(side))]
    return any(isinstance(without_casts(side), Binary) for side in inner)


def ordered(result: Result, stored: DType) -> Result:
    """The result whose state begins at its start and is rounded to `stored` whenever a point joins it.

    A term of a 16-bit sum is computed in float and not rounded by itself: C's excess precision, which ends at
    an assignment (C11 6.3.1.8). For fmin, fmax, argmin and argmax, C's result is the same in any order.
    """
    op, held = result.op, result.types[0]
    if op is None or op.name not in ("+", "*", "min", "max") or op.nan or not held.is_float:
        return result
    starts = tuple(None if s is None else _rounded(s, stored) for s in result.starts)
    chosen = op.name in ("min", "max") and kept(result.values[0]).dtype == stored
    rounded = None if stored == held or chosen else stored
    return replace(result, op=replace(op, ordered=True, rounded=rounded), starts=starts)


def _rounded(start: Expr, stored: DType) -> Expr:
    if start.dtype == stored or (isinstance(start, Cast) and start.arg.dtype == stored):
        return start
    return Cast(Cast(start, stored), start.dtype)
