"""What affine conditions say about the variables of loops."""

from collections.abc import Mapping

from mdh.ir.affine import Affine, exact_form
from mdh.ir.expr import Binary, Cast, Const, Expr, Unary

Clause = tuple[Affine, ...]
"""Affine functions that are all >= 0."""
Domain = tuple[Clause, ...]
"""Where at least one of the clauses holds."""
EVERYWHERE: Domain = ((),)
MOST_CLAUSES = 32
"""A condition with more clauses is ignored, which is always safe."""
OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}


Found = tuple[Domain, bool]
"""A domain, and whether it is exact: it holds nowhere else."""


def clauses_of(conds: tuple[Expr, ...], ranges: Mapping[str, int]) -> Domain:
    """A disjunction of conjunctions of `affine >= 0` that holds wherever all of `conds` hold.

    ranges: the extent of each variable.

    What is not affine counts as true on either side of a negation, so it protects nothing.
    """
    return _all(conds, ranges)[0]


def exact_clauses(conds: tuple[Expr, ...], ranges: Mapping[str, int]) -> Domain | None:
    """The same if it holds exactly where all of `conds` hold, else None."""
    found, exact = _all(conds, ranges)
    return found if exact else None


def _all(conds: tuple[Expr, ...], ranges: Mapping[str, int]) -> Found:
    out: Found = (EVERYWHERE, True)
    for c in conds:
        out = _both(out, _clauses(c, True, ranges))
    return out


def _clauses(e: Expr, holds: bool, ranges: Mapping[str, int]) -> Found:
    box = {n: (0, r - 1) for n, r in ranges.items()}
    match e:
        case Const(value, _):
            return EVERYWHERE if bool(value) == holds else (), True
        case Cast(arg, dtype) if not arg.dtype.is_float and dtype.bits >= max(32, arg.dtype.bits):
            return _clauses(arg, holds, ranges)
        case Unary("!", arg, _):
            return _clauses(arg, not holds, ranges)
        case Binary("&&" | "||" as op, left, right, _):
            a, b = _clauses(left, holds, ranges), _clauses(right, holds, ranges)
            return _both(a, b) if (op == "&&") == holds else _either(a, b)
        case Binary("==" | "!=" as op, left, Const(0, _), _) if _truth(left):
            return _clauses(left, holds == (op == "!="), ranges)
        case Binary(op, left, right, _) if op in OPPOSITE:
            a_, b_ = exact_form(left, box), exact_form(right, box)
            if a_ is None or b_ is None or left.dtype.is_float:
                return EVERYWHERE, False
            return _compare(op if holds else OPPOSITE[op], a_, b_), True
        case _ if not e.dtype.is_float and (whole := exact_form(e, box)) is not None:
            return _compare("!=" if holds else "==", whole, Affine()), True
        case _:
            return EVERYWHERE, False


def _truth(e: Expr) -> bool:
    """Whether `e` is 0 or 1 because it is a comparison."""
    return isinstance(e, Binary) and (e.op in OPPOSITE or e.op in ("&&", "||"))


def _compare(op: str, a: Affine, b: Affine) -> Domain:
    less, more = (b + a.scale(-1)).shift(-1), (a + b.scale(-1)).shift(-1)
    return {
        "<": ((less,),),
        "<=": ((less.shift(1),),),
        ">": ((more,),),
        ">=": ((more.shift(1),),),
        "==": ((less.shift(1), more.shift(1)),),
        "!=": ((less,), (more,)),
    }[op]


def _both(a: Found, b: Found) -> Found:
    if len(a[0]) * len(b[0]) > MOST_CLAUSES:
        return a[0], False
    return tuple((*x, *y) for x in a[0] for y in b[0]), a[1] and b[1]


def _either(a: Found, b: Found) -> Found:
    if len(a[0]) + len(b[0]) > MOST_CLAUSES:
        return EVERYWHERE, False
    return (*a[0], *b[0]), a[1] and b[1]
