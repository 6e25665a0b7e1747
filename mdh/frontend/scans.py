"""Recognises prefix sums: `S[i] = S[i-1] op x`, and forms that start at the first element."""

from dataclasses import dataclass

from mdh.frontend.conversions import lossless, strip
from mdh.frontend.guards import negation
from mdh.frontend.typing_rules import COMPARED, convert, select
from mdh.frontend.updates import COMMUTING, LOGICAL, truth, update_of
from mdh.ir.affine import exact_form, from_expr
from mdh.ir.dtype import I32, accumulator
from mdh.ir.expr import Binary, Const, Expr, Load, Select, Var, map_children, substitute, walk
from mdh.ir.program import Operator
from mdh.ir.statement import LoopVar

BEGUN = COMMUTING - LOGICAL | {"min", "max"}
"""Operators whose prefixes may start at their first value. 1 && x is 0 or 1, but x may be another number."""


@dataclass(frozen=True, slots=True)
class PrefixScan:
    """Along `axis`, each element is the one `before` it `op` value, and the first one is `start op value`."""

    before: Load
    axis: LoopVar
    op: Operator
    value: Expr
    start: Expr | None
    loose: str = ""


def prefix_of(me: Load, value: Expr, loops: tuple[LoopVar, ...]) -> PrefixScan | None:
    """The prefix sum that `me = value` is over `loops`, or None.

    The known forms are S[i-1] op x, (i > 0 ? S[i-1] : c) op x, and i > 0 ? S[i-1] op x : y, each with its
    mirror images.
    """
    for old in (x for x in walk(value) if isinstance(x, Load) and x.buffer == me.buffer and x != me):
        axis = _axis(me, old, loops)
        if axis is None:
            continue
        found = _begun(old, value, axis) or _plain(old, value, axis)
        if found is not None and not _looks_back(found, me):
            return found
    return None


def _looks_back(found: PrefixScan, me: Load) -> bool:
    """Whether the summed value, or the start, reads other elements that the sum writes."""
    inner = [x for x in walk(found.value) if isinstance(x, Load) and x.buffer == me.buffer]
    return any(x != me for x in inner)


def _axis(me: Load, old: Load, loops: tuple[LoopVar, ...]) -> LoopVar | None:
    """The loop along which `old` is the element before `me`."""
    shifts = [_difference(a, b) for a, b in zip(me.index, old.index, strict=True)]
    moved = [k for k, d in enumerate(shifts) if d]
    if None in shifts or len(moved) != 1:
        return None
    others = [n for k, e in enumerate(me.index) if k not in moved for n in walk(e)]
    if any(isinstance(n, Load) for e in me.index for n in walk(e)):
        # the subscript is data, so no element is known to be the previous one
        return None
    aff = from_expr(me.index[moved[0]])
    names = {n.name for n in walk(me.index[moved[0]]) if isinstance(n, Var)}
    axis = [v for v in loops if v.name in names]
    if len(axis) != 1 or aff is None or aff.coefficient(axis[0].name) != shifts[moved[0]]:
        return None
    # S[i - 1][i] is not the element that the previous iteration wrote, S[i - 1][i - 1]
    return None if any(isinstance(n, Var) and n.name == axis[0].name for n in others) else axis[0]


def _difference(a: Expr, b: Expr) -> int | None:
    x, y = from_expr(a), from_expr(b)
    if x is None or y is None:
        return 0 if a == b else None
    d = x + y.scale(-1)
    return None if d.terms else d.const


def _plain(old: Load, value: Expr, axis: LoopVar) -> PrefixScan | None:
    found = update_of(old, value, old.dtype)
    if found is None:
        return None
    start = convert(at_first(old, axis), accumulator(old.dtype))
    return PrefixScan(old, axis, found.op, found.value, start, found.loose)


def _begun(old: Load, value: Expr, axis: LoopVar) -> PrefixScan | None:
    """The forms that test for the first element themselves."""
    for chosen in (x for x in walk(value) if isinstance(x, Select)):
        later = _later(chosen.cond, axis)
        if later is None:
            continue
        then, first = (chosen.then, chosen.other) if later else (chosen.other, chosen.then)
        held = accumulator(old.dtype)
        if any(isinstance(x, Load) and x.buffer == old.buffer for x in walk(first)):
            continue
        if strip(then, old.dtype) == old:
            found = update_of(old, replaced(value, chosen, convert(old, chosen.dtype)), old.dtype)
            if found is not None and (found.op.name not in ("min", "max") or lossless(first.dtype, held)):
                begin = at_first(first, axis)
                start = convert(truth(begin) if found.op.name in LOGICAL else begin, held)
                return PrefixScan(old, axis, found.op, found.value, start, found.loose)
        elif strip(value, old.dtype) == chosen:
            found = update_of(old, then, old.dtype)
            if found is not None and found.op.name in BEGUN:
                x = convert(first, held)
                again = repeated(found.op, at_first(x, axis))
                if x != found.value:
                    x = convert(select(Binary(">", Var(axis.name), Const(0, I32), I32), found.value, x), held)
                return PrefixScan(old, axis, found.op, x, again, found.loose)
    return None


def repeated(op: Operator, first: Expr) -> Expr | None:
    """The start of a prefix whose first value is `first`. For floats it is that value again, because no other
    keeps a NaN and the sign of a zero; otherwise the identity."""
    return first if op.name in ("min", "max") and first.dtype.is_float else None


def _later(cond: Expr, axis: LoopVar) -> bool | None:
    """True: `cond` holds at all points of `axis` but the first; False: only at the first; None: neither."""
    if isinstance(cond, Binary) and cond == negation(cond.left):
        inner = _later(cond.left, axis)
        if inner is not None:
            return not inner
    if from_expr(cond) is not None:
        cond = Binary("!=", cond, Const(0, I32), I32)
    if not (isinstance(cond, Binary) and cond.op in COMPARED):
        return None
    box = {axis.name: (0, axis.extent - 1)}
    left, right = exact_form(cond.left, box), exact_form(cond.right, box)
    if left is None or right is None or cond.left.dtype.is_float:
        return None
    d = left + right.scale(-1)
    if d.names != {axis.name}:
        return None
    # The difference is monotone, so three points suffice, except for an equality in between.
    points = sorted({0, 1, axis.extent - 1}) if axis.extent > 1 else [0]
    values = [d.const + d.coefficient(axis.name) * p for p in points]
    held = [COMPARED[cond.op](v, 0) for v in values]
    if cond.op in ("==", "!=") and values[0] != 0:
        return None
    if len(set(held[1:])) > 1 or (len(held) > 1 and held[0] == held[1]):
        return None
    return not held[0]


def replaced(e: Expr, old: Expr, new: Expr) -> Expr:
    """`e` with every `old` replaced."""
    return new if e == old else map_children(e, lambda c: replaced(c, old, new))


def at_first(e: Expr, axis: LoopVar) -> Expr:
    """`e` at the first point of a loop."""
    return substitute(e, {axis.name: Const(0, I32)})
