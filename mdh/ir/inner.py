"""Stages that the kernel of their reader computes, in the box of their results that the reader stages.

`T[i + 1] = f(A[i])` fills a tile that begins at element `low` of T. So the box begins at point low - 1, and
`T_tile[i] = f(A[low - 1 + i])` is the stage that fills it. `low` is a function of the units and loops around
the tile, which are numbers there, like those of loops around stages. Points of the box that the stage does
not have are zero.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

from mdh.ir.affine import Affine, from_expr, to_expr
from mdh.ir.dtype import I32, DType
from mdh.ir.expr import Binary, Const, Expr, Load, Select, Var, loads, map_children, substitute
from mdh.ir.layout import Axis, Level
from mdh.ir.program import Dim, DimKind, LocalValue, Output, Program, Result, Stage
from mdh.ir.turns import Turns

Tiles = Mapping[str, tuple[Axis, ...]]
"""The tile of each array that the stage writes, by dimension of the array."""


class InnerError(Exception):
    """A stage cannot be computed where its results are staged; the text says why."""


@dataclass(frozen=True, slots=True)
class Side:
    """The box of a stage along one dimension: `extent` points from `corner` on."""

    corner: Affine
    extent: int


def without(program: Program, names: Collection[str]) -> Program:
    """The program without the kernels of some stages, and without the arrays that these write."""
    gone = [n for n, s in enumerate(program.stages) if s.name in names]
    if not gone:
        return program
    written = {b for n in gone for b in program.stages[n].written}
    loops = program.loops
    for n in reversed(gone):
        loops = tuple(replace(x, first=x.first - (x.first > n), last=x.last - (x.last >= n)) for x in loops)
    stages = tuple(s for s in program.stages if s.name not in names)
    buffers = tuple(b for b in program.buffers if b.name not in written)
    return replace(program, stages=stages, buffers=buffers, loops=loops, statements=())


def level_turns(levels: Sequence[Level]) -> tuple[Turns, ...]:
    """Units and loops of a kernel as loops around what stands inside of them."""
    return tuple(Turns(lv.var, lv.var, lv.parts, 0, 0, level=True) for lv in levels)


def box_of(program: Program, stage: Stage, tiles: Tiles, along: Mapping[str, Side] = {}) -> dict[str, Side]:
    """The box of the stage that fills the tiles, by dimension. Raises InnerError.

    along: the part of reduced dimensions that a turn of a pass takes.

    Requires a stage without prefix sums whose outputs have affine indices. A subscript names one dimension,
    once, and each dimension that is not reduced stands in a subscript.
    """
    sides = {d.name: Side(Affine(), d.extent) for d in stage.dims if d.kind is DimKind.PW} | dict(along)
    for o in (o for r in stage.results for o in r.outputs):
        mine: dict[str, Side] = {}
        for k, (e, axis) in enumerate(zip(o.index, tiles[o.buffer], strict=True)):
            found = _side(program, stage, o, k, e, axis)
            if found is not None:
                name, side = found
                if mine.setdefault(name, side) is not side:
                    raise InnerError(f"`{name}` stands in two subscripts of `{o.buffer}`")
        for name, side in mine.items():
            if sides.setdefault(name, side) != side:
                raise InnerError(f"its arrays are staged in boxes that differ along `{name}`")
    for d in stage.dims:
        if d.name not in sides and d.extent > 1:
            raise InnerError(f"an element does not say for which `{d.name}` it is computed")
        sides.setdefault(d.name, Side(Affine(), 1))
    return sides


def _side(program: Program, stage: Stage, o: Output, k: int, e: Expr, axis: Axis) -> tuple[str, Side] | None:
    """The dimension in subscript k of an output, and the box along it; None for a constant."""
    f = from_expr(substitute(e, program.size_constants))
    names = {d.name for d in stage.dims}
    if f is None or not f.names <= names or len(f.names) > 1:
        raise InnerError(f"subscript {k + 1} of `{o.buffer}` is not one dimension, shifted or reversed")
    if axis.packed:
        raise InnerError(f"the elements of `{o.buffer}` that are staged have gaps along dimension {k + 1}")
    if not f.names:
        if axis.low != Affine((), f.const) or axis.box != 1:
            raise InnerError(f"it writes only element {f.const} along dimension {k + 1} of `{o.buffer}`")
        return None
    ((name, factor),) = f.terms
    if factor == 1:
        return name, Side(axis.low.shift(-f.const), axis.box)
    if factor == -1:
        return name, Side(axis.low.scale(-1).shift(f.const - axis.box + 1), axis.box)
    raise InnerError(f"it writes every {abs(factor)}th element along dimension {k + 1} of `{o.buffer}`")


def inner_view(
    program: Program, stage: Stage, tiles: Tiles, box: Mapping[str, Side], around: Sequence[Turns]
) -> Program:
    """The program whose only stage fills the tiles, which stand for the arrays. around: the units and loops
    that the corner of the box depends on."""
    values: dict[str, Expr] = {
        n: to_expr(Affine.var(n) + side.corner) for n, side in box.items() if side.corner != Affine()
    }
    ranges = {x.var: (0, x.trips - 1) for x in (*program.loops, *around)}
    terms = {d.name: _inside(d, box[d.name], values, ranges) for d in stage.dims}
    guard = _Guard(values, [t for each in terms.values() for t in each])
    kept = _Guard(values, [t for d in stage.dims if d.kind is not DimKind.PW for t in terms[d.name]])
    dims = tuple(replace(d, extent=box[d.name].extent, open=None) for d in stage.dims)
    lets = tuple(LocalValue(x.name, guard.zero(x.value), x.dtype) for x in stage.lets)
    results = tuple(_result(program, r, tiles, guard, kept) for r in stage.results)
    idle = tuple(substitute(e, values) for e in stage.idle)
    mine = replace(stage, dims=dims, lets=lets, results=results, idle=idle)
    shapes = {name: tuple(a.box for a in axes) for name, axes in tiles.items()}
    buffers = tuple(
        replace(b, shape=shapes[b.name], flat=False, reach=0, open=()) if b.name in shapes else b
        for b in program.buffers
    )
    loops = tuple(replace(x, first=0, last=0) for x in (*program.loops, *around))
    return replace(program, buffers=buffers, stages=(mine,), loops=loops, statements=())


def _inside(
    dim: Dim, side: Side, values: Mapping[str, Expr], ranges: Mapping[str, tuple[int, int]]
) -> list[Expr]:
    """That a point of the box is one of the stage, as far as it is not known."""
    low, high = side.corner.bounds(ranges)
    e = values.get(dim.name, Var(dim.name, I32))
    out: list[Expr] = []
    if low < 0:
        out.append(Binary(">=", e, Const(0, I32), I32))
    if high + side.extent > dim.extent:
        out.append(Binary("<", e, Const(dim.extent, I32), I32))
    return out


@dataclass(frozen=True, slots=True)
class _Guard:
    """Writes expressions at the points of the box. terms: all hold at points that the stage has."""

    values: dict[str, Expr]
    terms: list[Expr]

    def zero(self, e: Expr) -> Expr:
        """The expression, and zero at other points."""
        return self.other(e, Const(0.0 if e.dtype.is_float else 0, e.dtype))

    def other(self, e: Expr, elsewhere: Const) -> Expr:
        out = substitute(e, self.values)
        for term in reversed(self.terms):
            out = Select(term, out, elsewhere, out.dtype)
        return out


def _result(program: Program, r: Result, tiles: Tiles, guard: _Guard, kept: _Guard) -> Result:
    """kept: what the finished result is written with."""

    def inside(e: Expr) -> Expr:
        # what it goes on from lies in its tiles
        own = {f"held.{n}": x for n, x in enumerate(dict.fromkeys(_own(r, e)))}
        named = _named(e, {x: Var(n, x.dtype) for n, x in own.items()})
        places = {o.buffer: _local(program, o, tiles[o.buffer]) for o in r.outputs}
        held: dict[str, Expr] = {n: replace(x, index=places[x.buffer]) for n, x in own.items()}
        return substitute(kept.zero(named), held)

    outputs = tuple(
        Output(o.buffer, _local(program, o, tiles[o.buffer]), inside(o.value), o.span) for o in r.outputs
    )
    first = r.values[0]
    value = guard.zero(first) if r.op is None else guard.other(first, _identity(r, r.types[0]))
    starts = tuple(None if s is None else inside(s) for s in r.starts)
    return replace(r, values=(value, *map(guard.zero, r.values[1:])), starts=starts, outputs=outputs)


def _own(r: Result, e: Expr) -> list[Load]:
    """Loads of the elements that the result writes."""
    return [x for x in loads(e) if any((o.buffer, o.index) == (x.buffer, x.index) for o in r.outputs)]


def _named(e: Expr, names: Mapping[Load, Expr]) -> Expr:
    """The expression with names for loads."""
    e = map_children(e, lambda c: _named(c, names))
    return names.get(e, e) if isinstance(e, Load) else e


def _identity(r: Result, t: DType) -> Const:
    assert r.op is not None
    return r.op.identity(t)


def _local(program: Program, o: Output, tile: tuple[Axis, ...]) -> tuple[Expr, ...]:
    """The place of an element in the tile."""
    out: list[Expr] = []
    for e, axis in zip(o.index, tile, strict=True):
        f = from_expr(substitute(e, program.size_constants))
        assert f is not None, "box_of has read it"
        place = Affine()
        for name, factor in f.terms:
            place = Affine.var(name) if factor == 1 else Affine.var(name).scale(-1).shift(axis.box - 1)
        out.append(to_expr(place))
    return tuple(out)


def computations(stage: Stage, box: Mapping[str, Side], around: Sequence[Turns]) -> int:
    """How many points of the stage are computed: those of the box that exist, in each turn of what is around
    it. An upper bound where a unit or loop moves the box along two dimensions."""
    total, used = 1, set[str]()
    trips = {x.var: x.trips for x in around}
    for d in stage.dims:
        side = box[d.name]
        total *= _along(d, side, trips)
        used |= side.corner.names
    return total * prod(n for name, n in trips.items() if name not in used)


def _along(dim: Dim, side: Side, trips: Mapping[str, int]) -> int:
    """Points of one dimension that exist, in all positions of the box along it."""
    starts = {side.corner.const: 1}
    for name, c in side.corner.terms:
        moved: dict[int, int] = {}
        for at, count in starts.items():
            for turn in range(trips.get(name, 1)):
                moved[at + c * turn] = moved.get(at + c * turn, 0) + count
        starts = moved
    ends = ((max(0, at), min(dim.extent, at + side.extent), n) for at, n in starts.items())
    return sum(n * max(0, high - low) for low, high, n in ends)
