"""Runs a function of Tensor Comprehensions: each definition reads all that it needs, then writes."""

from collections.abc import Mapping
from itertools import product
from typing import Any

import numpy as np

from tests.languages.kinds import (
    F64,
    I32,
    Array,
    DoubtfulError,
    RefusedError,
    computed,
    converted,
    is_float,
    rounding,
    shared,
    sums_exactly,
)
from tests.languages.tc_kinds import Kinds
from tests.languages.tc_ranges import Plan, Shape, fixed_names, indices_of, plan_of
from tests.languages.tc_syntax import Call, Define, Func
from tests.languages.tc_values import Point, Tensor, Value, operate


def results_of(
    f: Func,
    functions: Mapping[str, Func],
    sizes: Mapping[str, int],
    scalars: Mapping[str, float],
    inputs: Mapping[str, Array],
    seed: int,
) -> tuple[list[Array], list[Tensor]]:
    """The results: what they hold before, and then. Raises RefusedError, DoubtfulError."""
    shapes: dict[str, Shape] = {n: a.shape for n, a in inputs.items()}
    plan = plan_of(f, functions, sizes, shapes)
    kinds = Kinds(f, functions)
    rng = np.random.default_rng(seed)
    before = {r: np.asarray(rng.integers(0, 4, plan.shapes[r]), kinds.tensor(r)) for r in f.results}
    tensors = {n: Tensor(a.copy()) for n, a in (*inputs.items(), *before.items())}
    run(f, functions, plan, scalars, tensors)
    return list(before.values()), [tensors[r] for r in f.results]


def run(
    f: Func,
    functions: Mapping[str, Func],
    plan: Plan,
    scalars: Mapping[str, float],
    tensors: dict[str, Tensor],
) -> None:
    """tensors: the inputs, and the results of the function that is called first."""
    kinds = Kinds(f, functions)
    values = {n: Value(np.asarray(v, I32)) for n, v in plan.sizes.items()}
    values |= {
        p.name: Value(
            np.asarray(plan.sizes.get(p.name, scalars.get(p.name, 0))).astype(kinds.scalars[p.name])
        )
        for p in f.params
        if not p.extents
    }
    for n, s in enumerate(f.body):
        if isinstance(s, Call):
            _call(s, functions, plan.plans[n], tensors)
            continue
        if s.target not in tensors:
            if s.op and not s.fresh:
                raise RefusedError("T104")
            shape = plan.shapes[s.target]
            tensors[s.target] = Tensor(np.zeros(shape, kinds.tensor(s.target)))
        _define(s, f, plan, n, Point(kinds, values, tensors, plan.shapes))


def _call(c: Call, functions: Mapping[str, Func], plan: Plan, tensors: dict[str, Tensor]) -> None:
    callee = functions[c.function]
    inner = {p.name: tensors[a] for a, p in zip(c.arguments, callee.params, strict=True)}
    inner |= {r: tensors[t] for t, r in zip(c.targets, callee.results, strict=True) if t in tensors}
    run(callee, functions, plan, {}, inner)
    tensors |= {t: inner[r] for t, r in zip(c.targets, callee.results, strict=True)}


def _define(d: Define, f: Func, plan: Plan, n: int, point: Point) -> None:
    order = indices_of(d, fixed_names(f))
    ranges = [plan.ranges[n][i] for i in order]
    shape = tuple(len(r) for r in ranges)
    axes = {
        name: Value(np.asarray(r, I32).reshape([-1 if k == place else 1 for k in range(len(order))]))
        for place, (name, r) in enumerate(zip(order, ranges, strict=True))
    }
    tensor = point.tensors[d.target]
    here = Point(point.kinds, {**point.env, **axes}, point.tensors, point.shapes)
    value = here.value(d.value, computed(tensor.array.dtype))
    value = Value(np.broadcast_to(value.array, shape), value.error)
    window = tensor.array[np.ix_(*ranges[: len(d.indices)])]
    if d.op and is_float(value.array.dtype) and not is_float(tensor.array.dtype):
        # each addition would drop what is behind the point, so the order would count
        raise RefusedError("T112")
    several = value.array.size > window.size
    if d.op in ("min", "max") and several and not _keeps_order(value.array.dtype, tensor.array.dtype):
        raise RefusedError("C150")
    kept = Value(window.astype(computed(window.dtype)), tensor.error)
    out = reduced(d, kept, value, tensor.array.dtype) if d.op else _stored(value, tensor.array.dtype)
    if not np.isfinite(out.array.astype(F64)).all():
        raise DoubtfulError
    whole = out.array.shape == tensor.array.shape
    tensor.array[np.ix_(*ranges[: len(d.indices)])] = out.array
    tensor.error = out.error if whole else max(tensor.error, out.error)


def _keeps_order(value: np.dtype[Any], target: np.dtype[Any]) -> bool:
    """Whether numbers compare as they do once they are stored. C compares an int with an unsigned int as
    unsigned ints."""
    unsigned = target.kind == "u" and target.itemsize >= max(4, value.itemsize)
    return is_float(target) or np.can_cast(value, target) or unsigned


def _stored(value: Value, t: np.dtype[Any]) -> Value:
    out = converted(value.array, t, value.error)
    return Value(out, value.error + (rounding(t) * value.most if value.error else 0.0))


def reduced(d: Define, kept: Value, value: Value, t: np.dtype[Any]) -> Value:
    """The elements after a reduction. kept: before it; t: the target's type."""
    rank, own = len(d.indices), computed(t)
    if d.fresh:
        kept = Value(np.full(kept.array.shape, _identity(d.op, t)).astype(own))
    if d.op in ("min", "max") and is_float(t):
        value = value.to(own)
    flat = value.array.reshape(*value.array.shape[:rank], -1)
    stored = converted(kept.array, t)
    for (k,) in product(range(flat.shape[-1])):
        a, b = Value(stored.astype(own)), Value(flat[..., k])
        both = shared(a.array.dtype, b.array.dtype)
        a, b = a.to(both), b.to(both)
        if d.op in "+*":
            new = operate(d.op, a, b).array
        else:
            new = (np.minimum if d.op == "min" else np.maximum)(a.array, b.array)
        stored = converted(new, t)
    return Value(stored, _error(d, kept, value, stored, t))


def _identity(op: str, t: np.dtype[Any]) -> float:
    if op in "+*":
        return 0 if op == "+" else 1
    if is_float(t):
        return float("inf") if op == "min" else -float("inf")
    limits = np.iinfo(str(t))
    return int(limits.max if op == "min" else limits.min)


def _error(d: Define, kept: Value, value: Value, out: Array, t: np.dtype[Any]) -> float:
    """How much a reduction in another order may differ."""
    axes = tuple(range(len(d.indices), value.array.ndim))
    count = int(np.prod([value.array.shape[a] for a in axes]))
    if d.op in ("min", "max"):
        return max(kept.error, value.error)
    magnitude = np.abs(value.array.astype(F64))
    if d.op == "+":
        total = magnitude.sum(axis=axes) + np.abs(kept.array.astype(F64))
        exact = sums_exactly(total, np.append(value.array.ravel(), kept.array.ravel()), t)
        error = kept.error + count * value.error
    else:
        total = np.maximum(magnitude, 1).prod(axis=axes) * np.maximum(np.abs(kept.array.astype(F64)), 1)
        exact = sums_exactly(total, np.append(value.array.ravel(), kept.array.ravel()), t) and bool(
            (np.mod(value.array, 1) == 0).all() and (np.mod(kept.array, 1) == 0).all()
        )
        if value.error + kept.error > 0:
            raise DoubtfulError
        error = 0.0
    if exact and not error:
        return 0.0
    return error + (count + 1) * rounding(t) * float(total.max(initial=0.0))
