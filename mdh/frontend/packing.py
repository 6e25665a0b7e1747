"""Copies of rows and columns that a stage in turns reads of the array which it writes.

`a[i][j] -= a[i][k] * a[k][j]` writes other elements than it reads: the proof of its dependences has said so.
So what it reads may be copied in front of it, into an array that nothing writes meanwhile. There it lies as
vectors want it, and schedules may stage it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

from mdh.frontend.statements import Array
from mdh.frontend.typing_rules import select
from mdh.ir.affine import from_expr, to_expr
from mdh.ir.dtype import I32
from mdh.ir.expr import Binary, Const, Expr, Load, Var, loads, map_children
from mdh.ir.names import fresh
from mdh.ir.program import DimKind, Output, Result, Stage, component
from mdh.ir.statement import PlacedStatement
from mdh.ir.turns import Turns, around

SMALLER = 8
"""A copy has this many times fewer elements than the stage has points, or it does not pay."""


@dataclass(frozen=True, slots=True)
class Packed:
    """Stages with the copies among them, the loops around them, the statements that they carry out, and the
    arrays of copies."""

    stages: tuple[Stage, ...]
    loops: tuple[Turns, ...]
    statements: tuple[PlacedStatement, ...]
    arrays: dict[str, Array]


def packed(
    stages: Sequence[Stage],
    loops: tuple[Turns, ...],
    statements: Sequence[PlacedStatement],
    arrays: Mapping[str, Array],
    shapes: Mapping[str, tuple[int, ...]],
) -> Packed:
    """The stages, each behind the copies that it reads."""
    out: list[Stage] = []
    counts = []
    new: dict[str, Array] = {}
    taken = {*arrays, *(x.var for x in loops)}
    names = {s.name for s in stages}
    for n, old in enumerate(stages):
        stage = old
        turns = {x.var: x.trips for x in loops if x.first <= n <= x.last}
        before: list[Stage] = []
        for load in _worth_copies(stage, turns) if turns else ():
            array = arrays[load.buffer]
            used = _used(stage, load)
            shape = tuple(stage.dims[d].extent for d in used)
            copy = replace(
                array, name=fresh(f"{load.buffer}_part", taken), shape=shape, temp=True, const=False
            )
            new[copy.name] = copy
            before.append(_copy(stage, load, used, copy, turns, shapes[load.buffer], names))
            stage = _reading(stage, load, Load(copy.name, _at(stage, used), load.dtype))
        out += [*before, stage]
        counts.append(len(before) + 1)
    places = [sum(counts[: n + 1]) - 1 for n in range(len(counts))]
    moved = tuple(
        replace(s, placement=replace(s.placement, stage=places[s.placement.stage])) for s in statements
    )
    return Packed(tuple(out), around(loops, counts), moved, new)


def _worth_copies(stage: Stage, turns: Mapping[str, int]) -> Iterator[Load]:
    """Loads of elements that the stage writes in other turns, if fewer of them are read than it has points,
    and if they are factors of a product or do not lie along the output's rows."""
    plain = not stage.scattered and not stage.lets and all(d.kind is not DimKind.PS for d in stage.dims)
    kept = [d for d in stage.dims if d.kind is DimKind.CC and d.extent > 1]
    if not plain or len(stage.results) != 1 or len(kept) < 2:
        return
    (result,) = stage.results
    own = {(o.buffer, o.index) for o in result.outputs}
    points = prod(d.extent for d in stage.dims)
    known = {d.name for d in stage.dims} | turns.keys()
    for load in dict.fromkeys(x for v in result.values for x in loads(v)):
        forms = [from_expr(i) for i in load.index]
        if load.buffer not in stage.written or (load.buffer, load.index) in own:
            continue
        if any(f is None or not f.names <= known for f in forms):
            continue
        used = _used(stage, load)
        size = prod(stage.dims[d].extent for d in used)
        if used and size * SMALLER <= points and (result.op is not None or not _along(stage, load)):
            yield load


def _used(stage: Stage, load: Load) -> tuple[int, ...]:
    """The dimensions that choose the element, that of the output's neighbours last."""
    named = {n for i in load.index if (f := from_expr(i)) is not None for n in f.names}
    used = [d for d, dim in enumerate(stage.dims) if dim.name in named]
    last = _neighbours(stage)
    return tuple(sorted(used, key=lambda d: stage.dims[d].name == last))


def _neighbours(stage: Stage) -> str:
    """The dimension along which the output's elements lie side by side; empty if there is none."""
    f = from_expr(stage.results[0].outputs[0].index[-1])
    names = {d.name for d in stage.dims}
    found = [n for n, c in f.terms if abs(c) == 1 and n in names] if f is not None else []
    return found[0] if len(found) == 1 else ""


def _along(stage: Stage, load: Load) -> bool:
    """Whether neighbours of the output read one element, or neighbours."""
    last = _neighbours(stage)
    forms = [from_expr(i) for i in load.index]
    return all(f is None or f.coefficient(last) == 0 for f in forms[:-1])


def _at(stage: Stage, used: Sequence[int]) -> tuple[Expr, ...]:
    return tuple(Var(stage.dims[d].name) for d in used)


def _copy(
    stage: Stage, load: Load, used: Sequence[int], copy: Array, turns: Mapping[str, int],
    shape: Sequence[int], names: set[str],
) -> Stage:  # fmt: skip
    """The stage that copies what the load may read. Turns may read beyond the array where nothing is used."""
    dims = tuple(replace(stage.dims[d], kind=DimKind.CC) for d in used)
    box = {d.name: (0, d.extent - 1) for d in dims} | {n: (0, count - 1) for n, count in turns.items()}
    value: Expr = load
    for i, extent in zip(load.index, shape, strict=True):
        f = from_expr(i)
        assert f is not None
        low, high = f.bounds(box)
        conds = [Binary("<=", Const(0, I32), to_expr(f), I32)] if low < 0 else []
        conds += [Binary("<", to_expr(f), Const(extent, I32), I32)] if high >= extent else []
        for c in conds:
            value = select(c, value, Const(0.0 if load.dtype.is_float else 0, load.dtype))
    output = Output(copy.name, _at(stage, used), Var(component(0), load.dtype))
    result = Result(None, (value,), (None,), (load.dtype,), (output,))
    return Stage(fresh(copy.name, names), dims, (), (result,), stage.span)


def _reading(stage: Stage, old: Load, new: Load) -> Stage:
    def change(e: Expr) -> Expr:
        return new if e == old else map_children(e, change)

    results = tuple(replace(r, values=tuple(map(change, r.values))) for r in stage.results)
    return replace(stage, results=results)
