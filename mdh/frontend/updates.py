"""Recognises updates `T = T op value`, with the operators of reductions as C spells them."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import nan

from mdh.frontend.conversions import is_compared, kept, same_order, strip
from mdh.frontend.statements import gathers
from mdh.frontend.typing_rules import binary, convert, select, unary
from mdh.ir.dtype import I32, DType, accumulator
from mdh.ir.expr import COMPARISONS, Binary, Call, Const, Expr, Load, Select, Unary, loads, walk
from mdh.ir.program import Operator

ROUNDED = "it is compared with a value that is rounded when it is stored"
SKIPPED = "under a condition, a comparison with a NaN takes what follows"
LOGICAL = frozenset({"&&", "||"})
COMMUTING = frozenset({"+", "*", "&", "|", "^"}) | LOGICAL


@dataclass(frozen=True, slots=True)
class Update:
    """T = T op value. loose: why a NaN, or the sign of a zero, may differ from C."""

    op: Operator
    value: Expr
    loose: str = ""


def update_of(target: Load, value: Expr, dtype: DType) -> Update | None:
    """The update that `target = value` is, or None. The rest of `value` must not read the same element."""
    body = strip(value, target.dtype)
    found = _form(target, body)
    if found is None or any(n == target for n in loads(found.value)):
        return None
    held = accumulator(dtype)
    rest = found.value
    if not dtype.is_float and rest.dtype.is_float:
        return None
    if found.op.name in LOGICAL:
        rest = truth(rest)
    op = found.op if dtype.is_float or found.op.name not in ("min", "max") else Operator(found.op.name)
    return Update(op, convert(rest, held), found.loose)


def truth(e: Expr) -> Expr:
    """`e` as 0 or 1, like && and || take it. A conversion would truncate 1 << 32, or 0.5, to 0."""
    logical = isinstance(e, Binary) and (e.op in COMPARISONS or e.op in LOGICAL)
    if logical or (isinstance(e, Unary) and e.op == "!"):
        return e
    return binary("!=", e, Const(0, I32))


def guarded(target: Load, value: Expr, conds: tuple[Expr, ...]) -> Expr:
    """The value of `target` after `target = value` under `conds`: `a ? (b ? value : T) : T`.

    Conditions on the target itself come innermost: in `if (x > m && ok) m = x` they are part of the operator.
    """
    whole = [part for c in conds for part in _conjuncts(c)]
    own = [c for c in whole if any(x == target for x in loads(c))]
    if own and any(needs_condition(c) for c in whole[whole.index(own[0]) :]):
        # C evaluates these only after the condition on the element, so the order is kept
        own = []
    for c in (*own[::-1], *(c for c in whole[::-1] if c not in own)):
        value = convert(select(c, value, target), target.dtype)
    return value


def guarded_parts(e: Expr) -> Iterator[Expr]:
    """Parts of `e` that may need the conditions around `e`: divisions by data, gathers."""
    for n in walk(e):
        match n:
            case Binary("/" | "%", _, right, dtype) if not dtype.is_float and not isinstance(right, Const):
                yield n
            case Load(_, index) if gathers(index):
                yield n


def needs_condition(e: Expr) -> bool:
    return next(guarded_parts(e), None) is not None


def _conjuncts(cond: Expr) -> tuple[Expr, ...]:
    if isinstance(cond, Binary) and cond.op == "&&":
        return (*_conjuncts(cond.left), *_conjuncts(cond.right))
    return (cond,)


def operators_of(target: Load, value: Expr) -> tuple[str, ...]:
    """The operators by which the branches of `value` update `target`; `=` for one that only assigns."""
    body = strip(value, target.dtype)
    if isinstance(body, Select) and _form(target, body) is None:
        found = (*operators_of(target, body.then), *operators_of(target, body.other))
        return tuple(dict.fromkeys(found))
    if body == target:
        return ()
    update = update_of(target, value, target.dtype)
    return ("=",) if update is None else (update.op.name,)


def _form(target: Load, body: Expr) -> Update | None:
    return _select(target, body) or _call(target, body) or _chain(target, body) or _branches(target, body)


def _branches(target: Load, e: Expr) -> Update | None:
    """cond ? T op x : T op y. A side that is T alone adds the operator's identity."""
    if not isinstance(e, Select) or any(x == target for x in loads(e.cond)):
        return None
    sides = [strip(side, target.dtype) for side in (e.then, e.other)]
    found = [None if side == target else _form(target, side) for side in sides]
    known = [u for u in found if u is not None]
    if not known or any(u is None and side != target for u, side in zip(found, sides, strict=True)):
        return None
    if any(u.op != known[0].op for u in known):
        return None
    if len(known) == 1 and known[0].op.name in LOGICAL:
        # T && 1 is 0 or 1, but T may be another number
        return None
    # the identity of the stored type; a wider type's would become another number when converted
    held = accumulator(target.dtype)
    op, loose = known[0].op, next((u.loose for u in known if u.loose), "")
    if len(known) == 1 and op.takes:
        # no value keeps a NaN, so a form that skips NaNs is equally right without --strict-fp
        op, loose = replace(op, takes=False, tie="first"), SKIPPED
    skipped = Const(nan, held) if op.nan and held.is_float else op.identity(held)
    if op.name == "+" and held.is_float:
        # x + -0.0 is x for every x; -0.0 + 0.0 would be 0.0
        skipped = Const(-0.0, held)
    then, other = (skipped if u is None else u.value for u in found)
    return Update(op, select(e.cond, then, other), loose)


def _same(e: Expr, target: Load) -> bool:
    return strip(e, target.dtype) == target


def _select(target: Load, e: Expr) -> Update | None:
    """x > T ? x : T and its seven mirror images."""
    if not (isinstance(e, Select) and isinstance(e.cond, Binary) and e.cond.op in ("<", "<=", ">", ">=")):
        return None
    left, right, op = e.cond.left, e.cond.right, e.cond.op[0]
    if is_compared(left, target):
        left, right, op = right, left, {"<": ">", ">": "<"}[op]
    if not is_compared(right, target):
        return None
    # now the form is: left op T
    takes = not _same(e.other, target)
    stored = e.other if takes else e.then
    if takes and not _same(e.then, target):
        return None
    if not same_order(left, convert(kept(stored), target.dtype)):
        return None
    name = "max" if (op == ">") != takes else "min"
    # a comparison that holds for equal values chooses `then`
    tie = "last" if ("=" in e.cond.op) != takes else "first"
    loose = "" if kept(left) == kept(stored) else ROUNDED
    return Update(Operator(name, tie, takes=takes), stored, loose)


def _call(target: Load, e: Expr) -> Update | None:
    if not (isinstance(e, Call) and e.fn in ("fmax", "fmin")):
        return None
    for mine, other in (e.args, e.args[::-1]):
        if _same(mine, target):
            return Update(Operator(e.fn[1:], nan=True), other)
    return None


def _chain(target: Load, e: Expr) -> Update | None:
    """T + a - b, a * T, …: T occurs once, under one operator."""
    if not isinstance(e, Binary):
        return None
    op = "+" if e.op == "-" else e.op
    if op not in COMMUTING:
        return None
    rest = _without(target, e, op)
    if rest is None or (op in LOGICAL and needs_condition(rest)):
        return None
    return Update(Operator(op), rest)


def _without(target: Load, e: Expr, op: str) -> Expr | None:
    """The rest of `e` (op over terms) without the term `target`; None if it is no term."""
    e = strip(e, target.dtype)
    if not isinstance(e, Binary) or (e.op != op and not (op == "+" and e.op == "-")):
        return None
    if _same(e.left, target):
        return unary("-", e.right) if e.op == "-" else e.right
    if _same(e.right, target) and e.op == op:
        return e.left
    rest = _without(target, e.left, op)
    if rest is not None:
        return Binary(e.op, _operand(rest, op, e.left.dtype), e.right, e.dtype)
    if e.op == "-":
        return None
    rest = _without(target, e.right, op)
    return None if rest is None else Binary(op, e.left, _operand(rest, op, e.right.dtype), e.dtype)


def _operand(rest: Expr, op: str, dtype: DType) -> Expr:
    """`rest` as an operand of `op`, in place of one of type `dtype`."""
    return truth(rest) if op in LOGICAL else convert(rest, dtype)
