"""Expressions of kernel IR as functions of a warp, made once for each.

An interpreter that looks at the kind of each expression every time that a warp comes to it takes twice as
long. Most expressions are integers that depend on a few names, and warps come to the same values of these
names again and again. So what such an expression yields is remembered by the values of its names.
"""

import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from mdh.ir.dtype import DType
from mdh.ir.expr import Binary, Call, Const, Expr, Load, Var, children
from mdh.ir.intrinsic import Intrinsic
from tests.atoms.blocks import numpy_type

Evaluator = Callable[[Any], Any]
"""From a warp (`tests.atoms.lanes.Lanes`) to a number, or to one of each lane."""

MOST = 4096
"""Values of one expression that are remembered."""
OWN = frozenset({Intrinsic.BLOCK_ID, Intrinsic.THREAD_ID, Intrinsic.CLUSTER_RANK})
"""What a warp knows of itself. Equal numbers are the same array, whichever warp asks."""
PURE_CALLS = frozenset({Intrinsic.IMIN, Intrinsic.IMAX})

_made: dict[int, tuple[Expr, Evaluator]] = {}
"""By the identity of expressions, which live as long as they stand here."""
_joint: dict[tuple[int, ...], tuple[object, Evaluator]] = {}
"""The same of several expressions, by the identity of what they are computed for."""


def forget() -> None:
    """Before another kernel runs."""
    _made.clear()
    _joint.clear()


def evaluator(e: Expr) -> Evaluator:
    known = _made.get(id(e))
    if known is None:
        known = _made[id(e)] = e, _make(e)
    return known[1]


def joint(
    owners: tuple[object, ...], parts: tuple[Expr, ...], finish: Callable[[int, list[Any]], Any]
) -> Evaluator:
    """`finish` of the values of `parts`, which is remembered where they are pure. The owners, whose identity
    names the result, live as long as it stands here."""
    key = tuple(map(id, owners))
    known = _joint.get(key)
    if known is None:
        each = [_unremembered(e) for e in parts]

        def run(warp: Any) -> Any:
            return finish(warp.lanes, [f(warp) for f in each])

        known = _joint[key] = owners, remembered(parts, run) if all(map(_pure, parts)) else run
    return known[1]


def remembered(parts: tuple[Expr, ...], compute: Evaluator) -> Evaluator:
    """The function, which remembers its results by the names in `parts`: integers by their values, arrays
    of lanes by their identity."""
    free = {e.name: None for part in parts for e in _leaves(part) if isinstance(e, Var)}
    asked = tuple(evaluator(e) for part in parts for e in _leaves(part) if isinstance(e, Call))
    if not free and not asked:
        return _once(compute)
    known: dict[tuple[int, ...], tuple[Any, list[Any]]] = {}
    names = tuple(free)

    def run(warp: Any) -> Any:
        of = warp.names
        values = [of[n] for n in names]
        if asked:
            values += [f(warp) for f in asked]
        # no integer of a kernel is as low as the address of an array, negated
        key = (warp.lanes, *[v if type(v) is int else ~id(v) for v in values])
        found = known.get(key)
        if found is None:
            if len(known) >= MOST:
                known.clear()
            out = compute(warp)
            if isinstance(out, np.generic):
                out = int(out)
            elif isinstance(out, np.ndarray):
                out.flags.writeable = False
            found = known[key] = out, values
        return found[0]

    return run


def _once(compute: Evaluator) -> Evaluator:
    """For warps of each number of lanes."""
    known: dict[int, Any] = {}

    def run(warp: Any) -> Any:
        if warp.lanes not in known:
            known[warp.lanes] = compute(warp)
        return known[warp.lanes]

    return run


def _leaves(e: Expr) -> Iterator[Expr]:
    """The names of an expression, and what a warp knows of itself."""
    if isinstance(e, Var) or (isinstance(e, Call) and e.fn in OWN):
        yield e
        return
    for part in children(e):
        yield from _leaves(part)


def _pure(e: Expr) -> bool:
    """It is an integer that depends on nothing but names and on what a warp knows of itself."""
    if e.dtype.is_float or isinstance(e, Load):
        return False
    if isinstance(e, Call):
        return e.fn in OWN or (e.fn in PURE_CALLS and all(map(_pure, e.args)))
    return all(map(_pure, children(e)))


def _make(e: Expr) -> Evaluator:
    compute = _unremembered(e)
    if not children(e) or (isinstance(e, Call) and e.fn in OWN) or not _pure(e):
        return compute
    return remembered((e,), compute)


def _unremembered(e: Expr) -> Evaluator:
    match e:
        case Const(value, _):
            return lambda warp: value
        case Var(name, _):
            return lambda warp: warp.names[name]
        case Binary():
            return _binary(e)
        case _:
            return lambda warp: warp.evaluated(e)


def _binary(e: Binary) -> Evaluator:
    left, right, compute = _unremembered(e.left), _unremembered(e.right), _operation(e.op, e.dtype)
    kind = numpy_type(e.dtype) if e.dtype.kind == "uint" else None

    def run(warp: Any) -> Any:
        a, b = left(warp), right(warp)
        try:
            out = compute(a, b)
        except ValueError:
            # numbers of lanes, and vectors of lanes
            a, b = (x[:, None] if np.ndim(x) == 1 else x for x in (a, b))
            out = compute(a, b)
        return out if kind is None else np.asarray(out).astype(kind)

    return run


def _quotient(a: Any, b: Any) -> Any:
    """C's division of integers, which rounds toward zero."""
    if _least(a) >= 0 and _least(b) > 0:
        return a // b
    return np.sign(a) * np.sign(b) * (np.abs(a) // np.abs(b))


def _remainder(a: Any, b: Any) -> Any:
    return a % b if _least(a) >= 0 and _least(b) > 0 else np.sign(a) * (np.abs(a) % np.abs(b))


def _least(x: Any) -> Any:
    return x if isinstance(x, int) else np.asarray(x).min()


def _operation(op: str, dtype: DType) -> Callable[[Any, Any], Any]:
    if op == "/":
        return np.true_divide if dtype.is_float else _quotient
    return _OPERATIONS[op]


_OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "%": _remainder,
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq,
    "!=": operator.ne,
    "&&": np.logical_and, "||": np.logical_or, "^": operator.xor, "&": operator.and_, "<<": operator.lshift,
}  # fmt: skip
