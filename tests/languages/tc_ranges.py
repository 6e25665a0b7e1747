"""The ranges of indices and the extents of tensors by trying numbers, from the paper's rule in section 3.1.

An index is as large as the accesses allow. In each round, every access with one index whose range is open
bounds it: for all values of the others, it has to be inside of the tensor.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import product

from tests.languages.kinds import RefusedError
from tests.languages.tc_syntax import (
    At,
    Binary,
    Call,
    Define,
    Expr,
    Extent,
    Func,
    Name,
    Num,
    Unary,
    accesses,
    every,
    names,
)

Shape = tuple[int, ...]
Ranges = dict[str, range]
_MOST = 64
"""An index that may be as large as this is not bounded."""


@dataclass
class Plan:
    """A function at given sizes. shapes: of its tensors; ranges: of each definition's indices; plans: of each
    call's function, by their places in the body."""

    sizes: dict[str, int]
    shapes: dict[str, Shape]
    ranges: dict[int, Ranges] = field(default_factory=dict)
    plans: dict[int, "Plan"] = field(default_factory=dict)


def plan_of(
    f: Func, functions: Mapping[str, Func], sizes: Mapping[str, int], shapes: Mapping[str, Shape]
) -> Plan:
    """sizes: of the function's extents and integers; shapes: of its parameters. Raises RefusedError."""
    out = Plan(dict(sizes), dict(shapes))
    left = dict(enumerate(f.body))
    while left:
        for n, s in left.items():
            if _call(n, s, functions, out) if isinstance(s, Call) else _define(n, s, fixed_names(f), out):
                del left[n]
                break
        else:
            raise RefusedError("T110")
    return out


def fixed_names(f: Func) -> frozenset[str]:
    """Names that are no indices."""
    extents = (n for p in f.params for n in p.extents if isinstance(n, str))
    return frozenset((*extents, *(p.name for p in f.params if not p.extents)))


def indices_of(d: Define, fixed: frozenset[str]) -> list[str]:
    """Those of the target, then those that are reduced."""
    return list(dict.fromkeys((*d.indices, *(n for n in names(d.value) if n not in fixed))))


def number(e: Expr, env: Mapping[str, int], shapes: Mapping[str, Shape]) -> int:
    """The value of a subscript or of a range's end."""
    match e:
        case Num():
            return int(e.value)
        case Name():
            return env[e.name]
        case Extent():
            return shapes[e.tensor][e.position]
        case Unary("-"):
            return -number(e.operand, env, shapes)
        case Binary():
            a, b = number(e.left, env, shapes), number(e.right, env, shapes)
            return {"+": a + b, "-": a - b, "*": a * b, "/": a // b if b else 0, "%": a % b if b else 0}[e.op]
    raise AssertionError(e)


def _is_sum(e: Expr, indices: Iterable[str]) -> bool:
    """Whether a subscript is a sum of indices times constants."""
    free = set(indices)
    for x in every(e):
        if isinstance(x, Binary) and x.op == "*" and free & set(names(x.left)) and free & set(names(x.right)):
            return False
        if isinstance(x, Binary) and x.op in "/%" and free & set(names(x)):
            return False
        if not isinstance(x, Num | Name | Extent | Unary | Binary):
            return False
    return True


def infer(d: Define, fixed: frozenset[str], plan: Plan) -> Ranges:
    """The ranges of as many indices as possible. Raises RefusedError."""
    known: Ranges = {}
    for name, *ends in d.where:
        first, end = (number(e, plan.sizes, plan.shapes) for e in ends)
        if first < 0 or end <= first:
            raise RefusedError("T111")
        known[name] = range(first, end)
    indices = indices_of(d, fixed)
    subscripts = [
        (e, extent, {n for n in names(e) if n in indices})
        for a in accesses(d.value)
        for e, extent in zip(a.subscripts, plan.shapes.get(a.tensor, ()), strict=False)
        if _is_sum(e, indices)
    ]
    while True:
        found: dict[str, int] = {}
        for e, extent, used in subscripts:
            unknown = used - known.keys()
            if len(unknown) == 1:
                (name,) = unknown
                end = _largest(name, e, extent, {n: known[n] for n in used - unknown}, plan)
                found[name] = min(found.get(name, _MOST), end)
        found = {n: end for n, end in found.items() if end < _MOST}
        if not found:
            return known
        if 0 in found.values():
            raise RefusedError("T111")
        known |= {n: range(end) for n, end in found.items()}


def _largest(name: str, e: Expr, extent: int, others: Ranges, plan: Plan) -> int:
    """The end of the longest range from 0 on in which the subscript is inside."""
    combinations = list(product(*others.values()))
    for value in range(_MOST):
        for chosen in combinations:
            env = {**plan.sizes, **dict(zip(others, chosen, strict=True)), name: value}
            if not 0 <= number(e, env, plan.shapes) < extent:
                return value
    return _MOST


def _define(n: int, d: Define, fixed: frozenset[str], plan: Plan) -> bool:
    """Whether all of a definition is known now."""
    needed = {x.tensor for x in every(d.value) if isinstance(x, At | Extent)} - {d.target}
    if any(t not in plan.shapes for t in needed):
        return False
    ranges = infer(d, fixed, plan)
    target = plan.shapes.get(d.target)
    if target is not None:
        for name, extent in zip(d.indices, target, strict=True):
            ranges.setdefault(name, range(extent))
    if any(i not in ranges for i in indices_of(d, fixed)):
        return False
    ends = tuple(ranges[i].stop for i in d.indices)
    if target is None and any(ranges[i].start for i in d.indices):
        raise RefusedError("T113")
    if target is not None and any(end > extent for end, extent in zip(ends, target, strict=True)):
        raise RefusedError("T113")
    plan.shapes.setdefault(d.target, ends)
    plan.ranges[n] = ranges
    return True


def _call(n: int, c: Call, functions: Mapping[str, Func], plan: Plan) -> bool:
    if any(a not in plan.shapes for a in c.arguments):
        return False
    callee = functions[c.function]
    sizes: dict[str, int] = {}
    shapes: dict[str, Shape] = {}
    for a, p in zip(c.arguments, callee.params, strict=True):
        shapes[p.name] = plan.shapes[a]
        for extent, found in zip(p.extents, plan.shapes[a], strict=True):
            if (sizes.setdefault(extent, found) if isinstance(extent, str) else extent) != found:
                raise RefusedError("T113")
    inner = plan_of(callee, functions, sizes, shapes)
    plan.plans[n] = inner
    plan.shapes |= {t: inner.shapes[r] for t, r in zip(c.targets, callee.results, strict=True)}
    return True
