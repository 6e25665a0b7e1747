"""Random values for index arrays, such that every subscript that they occur in stays in its array. Conditions
around a subscript count."""

from collections.abc import Iterable, Mapping

import numpy as np

from mdh.diagnostics import Failed, fail
from mdh.ir.dtype import I64, DType, integer_range
from mdh.ir.expr import Const, Expr, Load, Var, loads, map_children, walk
from mdh.ir.program import Buffer, Program
from mdh.reference.exact import CArithmetic
from mdh.reference.expression import EvaluationScope, value_of
from mdh.reference.gathers import Gather, Outside, first_outside, gathers_of
from mdh.reference.numbers import Array, numpy_dtype

POOL = 1 << 12
"""The number of values that are tried for the elements of an index array."""
ROUNDS = 24
"""The number of times that the remaining values are halved, so that at last one value is left."""
CORNERS = 64
"""The number of points of a stage at which a value is tried."""
HINT = "give index arrays whose values lie inside the array that they index"


def index_arrays(program: Program) -> frozenset[str]:
    """Arrays whose elements occur in subscripts."""
    return frozenset(b for g in gathers_of(program) for b in g.arrays)


def index_limits(program: Program) -> dict[str, int]:
    """Index array -> the exclusive upper limit of its elements, for arrays that are used as subscripts
    directly."""
    found = gathers_of(program)
    out: dict[str, int] = {}
    for g in found:
        if g.direct is not None:
            out[g.direct] = min(g.extent, out.get(g.direct, g.extent))
    other = {b for g in found if g.direct is None for b in g.arrays}
    return {b: n for b, n in out.items() if b not in other}


def outside_failure(found: Outside, program: Program) -> Failed:
    """A130 for a subscript that is out of range, shown at the array that holds it."""
    g = found.gather
    name = min(g.arrays)
    place = program.buffer_of[name].span
    what = f"index {found.index} lies outside dimension {g.axis + 1} of `{g.buffer}`, which has {g.extent}"
    if g.direct is not None:
        what = f"`{name}` holds the index {found.index}; indices are from 0 to {g.extent - 1}"
    else:
        what += f" elements: it comes from `{name}`"
    return fail("A130", what, place, help=HINT)


def check_indices(program: Program, arrays: Mapping[str, Array], scalars: Mapping[str, int | float]) -> None:
    """Raises Failed A130 if a subscript that is data is out of its array's range."""
    found = first_outside(program, arrays, scalars, gathers_of(program))
    if found is not None:
        raise outside_failure(found, program)


def check_constant_indices(program: Program) -> None:
    """Raises Failed A130 if a subscript that is made of constants alone is out of its array's range."""
    known = {b.name for b in program.buffers if b.values is not None}
    found = first_outside(program, {}, {}, tuple(g for g in gathers_of(program) if g.read <= known))
    if found is not None:
        raise outside_failure(found, program)


def draw_indices(
    program: Program, rng: np.random.Generator, names: Iterable[str], arrays: dict[str, Array]
) -> None:
    """Draws new values for the arrays `names`; those that change no subscript may hold any values."""
    gathers = gathers_of(program)
    pools: dict[str, Array] = {}
    for name in names:
        b = program.buffer_of[name]
        pools[name] = _pool(b, [g for g in gathers if name in g.arrays], rng)
        drawn = rng.choice(pools[name], b.shape)
        arrays[name] = np.ascontiguousarray(drawn.astype(numpy_dtype(b.dtype)))
    for _ in range(ROUNDS):
        found = first_outside(program, arrays, {}, gathers) if pools else None
        wrong = found.gather.arrays & pools.keys() if found is not None else frozenset()
        if not wrong:
            return
        for name in wrong:
            # with several arrays in one subscript, values nearer to 0 are safer: each array was tried with
            # the others at 0
            near = pools[name][np.argsort(np.abs(pools[name]), kind="stable")]
            pools[name] = near[: max(1, near.size // 2)]
            shape, dtype = arrays[name].shape, arrays[name].dtype
            arrays[name] = np.ascontiguousarray(rng.choice(pools[name], shape).astype(dtype))


def _pool(b: Buffer, gathers: list[Gather], rng: np.random.Generator) -> Array:
    """Sorted values that every one of the gathers accepts, with the other arrays at 0."""
    low, high = (-(2**31), 2**31 - 1) if b.dtype.is_float else integer_range(b.dtype)
    most = max(g.extent for g in gathers)
    near = {c for g in gathers for e in (g.index, *(c for c, _ in g.guards)) for c in _constants(e)}
    tried = [rng.integers(max(low, -4 * most), min(high, 4 * most) + 1, POOL)]
    for c in sorted({0, *near, *(-c for c in near)}):
        first, last = max(low, c - 2 * most, -(2**62)), min(high, c + 2 * most, 2**62)
        if first <= last:
            tried.append(rng.integers(first, last + 1, POOL))
            tried.append(np.arange(first, min(last, first + POOL) + 1))
    values = np.unique(np.concatenate(tried))
    for g in gathers:
        values = values[_taken(g, b, values)]
    return values if values.size else np.arange(min(g.extent for g in gathers))


def _constants(e: Expr) -> set[int]:
    return {n.value for n in walk(e) if isinstance(n, Const) and isinstance(n.value, int)}


def _taken(g: Gather, b: Buffer, values: Array) -> Array:
    """Which of `values` keep the subscript in range at a choice of points, wherever its conditions hold."""
    name = f"{b.name}[]"
    numbers = CArithmetic()
    index = _with(g.index, b.name, Var(name, b.dtype))
    # a condition on other arrays may hold
    guards = [(c, holds) for c, holds in g.guards if {x.buffer for x in loads(c)} <= {b.name}]
    guards = [(_with(c, b.name, Var(name, b.dtype)), holds) for c, holds in guards]
    known = {d.name for d in g.stage.dims} | {name}
    guards = [(c, h) for c, h in guards if all(n.name in known for n in walk(c) if isinstance(n, Var))]
    types: dict[str, DType] = {d.name: I64 for d in g.stage.dims} | {name: b.dtype}
    inside = np.ones(values.shape, bool)
    held = numbers.of(values.astype(numpy_dtype(b.dtype)), b.dtype)
    for point in _corners(g):
        names = {n: numbers.of(np.asarray(v), I64) for n, v in point.items()} | {name: held}
        scope = EvaluationScope(numbers, names, types, {})
        mask = np.ones(values.shape, bool)
        for cond, holds in guards:
            mask = mask & ((np.asarray(value_of(cond, scope)) != 0) == holds)
        at = np.broadcast_to(value_of(index, scope), values.shape)
        inside &= ~mask | ((at >= 0) & (at < g.extent))
    return inside


def _with(e: Expr, buffer: str, value: Var) -> Expr:
    """`e` with `value` for the elements of `buffer`, and 0 for those of other arrays."""
    if isinstance(e, Load):
        return value if e.buffer == buffer else Const(0.0 if e.dtype.is_float else 0, e.dtype)
    return map_children(e, lambda c: _with(c, buffer, value))


def _corners(g: Gather) -> list[dict[str, int]]:
    """Points of the stage: the ends and middles of the dimensions that the subscript depends on."""
    names = {n.name for e in (g.index, *(c for c, _ in g.guards)) for n in walk(e) if isinstance(n, Var)}
    out: list[dict[str, int]] = [{}]
    for d in g.stage.dims:
        ends = sorted({0, d.extent // 2, d.extent - 1}) if d.name in names else [0]
        out = [{**p, d.name: v} for p in out for v in ends]
    step = -(-len(out) // CORNERS)
    return [*out[::step], out[-1]]
