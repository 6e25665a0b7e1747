"""Recognises best-so-far updates: `if (x > m) m = x;` and `if (x > m) { m = x; at = j; }`."""

import math
from dataclasses import replace

from pycparser import c_ast

from mdh.frontend.c.lift_expr import element, lift
from mdh.frontend.c.places import items_of
from mdh.frontend.c.scope import NameScope
from mdh.frontend.conversions import is_compared, kept, same_order
from mdh.frontend.records import reads_own
from mdh.frontend.statements import Best, may_meet, used_names
from mdh.frontend.typing_rules import convert, select, widened
from mdh.frontend.updates import ROUNDED, guarded_parts
from mdh.ir.dtype import EIGHTHS, common, integer_range
from mdh.ir.expr import Const, Expr, Load, loads, walk


def best_of(node: c_ast.If, scope: NameScope) -> Best | None:
    """The update that a branch describes, or None if it is an ordinary branch."""
    cond = node.cond
    if not isinstance(cond, c_ast.BinaryOp) or cond.op not in ("<", "<=", ">", ">="):
        return None
    body = items_of(node.iftrue)
    if scope.conds and len(body) == 1:
        # an ordinary branch says the same, and its conditions join those around it
        return None
    if not body or not all(isinstance(s, c_ast.Assignment) and s.op == "=" for s in body):
        return None
    uses = len(scope.uses)
    scope.gathered = []
    left, right = widened(lift(cond.left, scope)), widened(lift(cond.right, scope))
    both = common(left.dtype, right.dtype)
    left, right = convert(left, both), convert(right, both)
    targets = [_target(s.lvalue, scope) for s in body]
    if any(t is None or t.dtype in EIGHTHS for t in targets):
        del scope.uses[uses:]
        return None
    found = [t for t in targets if t is not None]
    values = [convert(lift(s.rvalue, scope), t.dtype) for s, t in zip(body, found, strict=True)]
    if _alone(found, values, scope):
        del scope.uses[uses:]
        return None
    asked = {*walk(left), *walk(right)}
    if _reads_new(found, values) or any(part not in asked for v in values for part in guarded_parts(v)):
        # mdh computes the values of a record at every point and before it stores any, C only for a new best
        del scope.uses[uses:]
        return None
    for k, (t, v) in enumerate(zip(found, values, strict=True)):
        for x, m, flip in ((left, right, False), (right, left, True)):
            if is_compared(m, t) and _follows(x, v, alone=len(found) == 1):
                order = [k, *(i for i in range(len(found)) if i != k)]
                best = _best(
                    cond.op, flip, [found[i] for i in order], [values[i] for i in order], node, scope
                )
                if kept(x) != kept(v):
                    best = replace(best, loose=ROUNDED)
                return _where(scope, best)
    del scope.uses[uses:]
    return None


def _alone(targets: list[Load], values: list[Expr], scope: NameScope) -> bool:
    """Whether the branch is no best so far, since its values come from arrays that it writes. Elements are
    compared with one another, as in `if (d[i][k] + d[k][j] < d[i][j]) d[i][j] = …`. An ordinary branch says
    the same. A record over a loop besides those of its element stays one: turns may tell elements apart."""
    if not reads_own(targets, values):
        return False
    return len(targets) == 1 or all(v.name in used_names(t.index) for v in scope.loops for t in targets)


def _reads_new(targets: list[Load], values: list[Expr]) -> bool:
    """Whether a value may read an element that an assignment before it in the branch stores."""
    pairs = ((t, v) for n, t in enumerate(targets) for v in values[n + 1 :])
    return any(may_meet(x, t) for t, v in pairs for x in loads(v))


def _follows(compared: Expr, stored: Expr, *, alone: bool) -> bool:
    """Whether the stored value follows the compared one. A best without a record may be rounded when it is
    stored; with a record, rounding would make ties of values that C tells apart."""
    if alone:
        return same_order(compared, stored)
    return not isinstance(stored, Const) and kept(compared) == kept(stored)


def _best(
    op: str, flip: bool, targets: list[Load], values: list[Expr], node: c_ast.If, scope: NameScope
) -> Best:
    greater = (op[0] == ">") != flip
    span = scope.places.of(node.cond)
    for t in targets:
        scope.accesses(t, span)
        scope.accesses(t, span, write=True)
    scope.written.update(t.buffer for t in targets)
    tie = "last" if "=" in op else "first"
    uses = tuple(scope.gathered)
    return Best(
        "argmax" if greater else "argmin", tie, tuple(targets), tuple(values), scope.loops, span, uses
    )


def _where(scope: NameScope, best: Best) -> Best | None:
    """The update under the conditions around it: where they fail, the key is one that never wins."""
    if not scope.conds:
        return best
    if any(x.buffer in {t.buffer for t in best.targets} for c in scope.conds for x in loads(c)):
        return None
    t = best.values[0].dtype
    if t.is_float:
        # comparisons with NaN are false
        loser = Const(math.nan, t)
    elif best.tie == "first":
        loser = Const(integer_range(t)[best.op == "argmin"], t)
    else:
        return None
    others = [loser, *(Const(0, v.dtype) for v in best.values[1:])]
    values = best.values
    for c in reversed(scope.conds):
        # what a condition protects is not read where it fails
        pairs = zip(values, others, strict=True)
        values = tuple(v if isinstance(v, Const) else convert(select(c, v, o), v.dtype) for v, o in pairs)
    return replace(best, values=values, uses=(*scope.cond_uses, *best.uses))


def _target(node: c_ast.Node, scope: NameScope) -> Load | None:
    if isinstance(node, c_ast.ID):
        return scope.cells.get(node.name)
    if isinstance(node, c_ast.ArrayRef):
        load, array = element(node, scope)
        return None if array.const else load
    return None
