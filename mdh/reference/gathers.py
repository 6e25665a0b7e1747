"""Subscripts that are data: where a program uses them, and whether the given data keep them in range."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from mdh.ir.dtype import I32, DType, integer_range
from mdh.ir.expr import Binary, Cast, Const, Expr, Load, Select, Var, children, loads, walk
from mdh.ir.program import Condition, Dim, DimKind, Program, Stage, combined_where
from mdh.ir.ranges import arithmetic
from mdh.reference.exact import CArithmetic
from mdh.reference.expression import EvaluationScope, met_where, value_of
from mdh.reference.numbers import Array, numpy_dtype
from mdh.reference.stage import pieces

CHUNK = 1 << 20
"""Points of the iteration box that are examined at a time."""


@dataclass(frozen=True, slots=True)
class Gather:
    """`buffer[… index …]`, with 0 <= index < extent wherever all of `guards` hold.

    index has at least one load. guards are in the order in which C evaluates them.
    """

    buffer: str
    axis: int
    extent: int
    index: Expr
    guards: tuple[Condition, ...]
    stage: Stage

    @property
    def direct(self) -> str | None:
        """The index array if its elements are the subscripts themselves; None otherwise."""
        e = self.index
        while isinstance(e, Cast) and not e.dtype.is_float and e.dtype.bits >= 32:
            e = e.arg
        return e.buffer if isinstance(e, Load) and not self.guards else None

    @property
    def arrays(self) -> frozenset[str]:
        """Arrays whose elements occur in the subscript itself."""
        return frozenset(x.buffer for x in outermost(self.index))

    @property
    def read(self) -> frozenset[str]:
        """All arrays that decide whether the subscript is in range."""
        return frozenset(x.buffer for e in (self.index, *(g for g, _ in self.guards)) for x in loads(e))


@dataclass(frozen=True, slots=True)
class Outside:
    """The first subscript that is out of range, with its point of the stage."""

    gather: Gather
    index: int


def gathers_of(program: Program) -> tuple[Gather, ...]:
    """Every subscript that is data, inner ones before those that they are part of."""
    found: dict[Gather, None] = {}
    for stage in program.stages:
        for e in (*(x.value for x in stage.lets), *(v for r in stage.results for v in r.values)):
            found.update(dict.fromkeys(_inside(e, (), stage, program)))
        for r in stage.results:
            where = combined_where(r.values[0], r.op, r.types[0])[0] if stage.scattered else ()
            for start in (s for s in r.starts if s is not None):
                found.update(dict.fromkeys(_inside(start, where, stage, program)))
            for o in r.outputs:
                for part in (*o.index, o.value):
                    found.update(dict.fromkeys(_inside(part, where, stage, program)))
                found.update(dict.fromkeys(_of(o.buffer, o.index, where, stage, program)))
    return tuple(found)


def outermost(e: Expr) -> tuple[Load, ...]:
    """The loads of an expression that are in no other load's subscript."""
    if isinstance(e, Load):
        return (e,)
    return tuple(x for c in children(e) for x in outermost(c))


def _inside(e: Expr, guards: tuple[Condition, ...], stage: Stage, program: Program) -> Iterator[Gather]:
    match e:
        case Select(cond, then, other):
            yield from _inside(cond, guards, stage, program)
            yield from _inside(then, (*guards, (cond, True)), stage, program)
            yield from _inside(other, (*guards, (cond, False)), stage, program)
        case Binary("&&" | "||" as op, left, right):
            yield from _inside(left, guards, stage, program)
            yield from _inside(right, (*guards, (left, op == "&&")), stage, program)
        case _:
            for c in children(e):
                yield from _inside(c, guards, stage, program)
            if isinstance(e, Load):
                yield from _of(e.buffer, e.index, guards, stage, program)


def _of(
    buffer: str, index: tuple[Expr, ...], guards: tuple[Condition, ...], stage: Stage, program: Program
) -> Iterator[Gather]:
    for axis, (e, extent) in enumerate(zip(index, program.buffer_of[buffer].shape, strict=True)):
        if any(True for _ in loads(e)):
            yield Gather(buffer, axis, extent, e, guards, stage)


def first_outside(
    program: Program, arrays: Mapping[str, Array], scalars: Mapping[str, Any], gathers: tuple[Gather, ...]
) -> Outside | None:
    """The first of the gathers that leaves its array, with C's own arithmetic at every point of its stage.

    Gathers that depend on arrays which are not in `arrays`, or which the program changes, are left out.
    """
    changed = frozenset(n for s in program.stages for n in s.written)
    arrays = {**constant_arrays(program), **arrays}
    for g in gathers:
        if g.read & changed or not g.read <= arrays.keys():
            continue
        for mask, at in points(g, program, arrays, scalars):
            bad = mask & ((at < 0) | (at >= g.extent))
            if bad.any():
                return Outside(g, int(at[bad][0]))
    return None


def constant_arrays(program: Program) -> dict[str, Array]:
    """The constant arrays of a program by name."""
    return {
        b.name: np.array(b.values, numpy_dtype(b.dtype)).reshape(b.shape)
        for b in program.buffers
        if b.values is not None
    }


def points(
    g: Gather, program: Program, arrays: Mapping[str, Array], scalars: Mapping[str, Any]
) -> Iterator[tuple[Array, Array]]:
    """Where the subscript is used, and its value, over the dimensions that it depends on; in chunks."""
    numbers = CArithmetic()
    names = set().union(*(_names(e) for e in (g.index, *(c for c, _ in g.guards))))
    turns = (Dim(x.var, x.trips, DimKind.CC) for x in program.loops)
    dims = [d for d in (*turns, *g.stage.dims) if d.name in names]
    types = {s.name: s.dtype for s in program.numbers} | {d.name: I32 for d in g.stage.dims}
    shaped = {b: numbers.of(_shaped(arrays[b], program, b), program.buffer_of[b].dtype) for b in g.read}
    known = {s.name: scalars.get(s.name, s.size) for s in program.scalars}
    given = {n: numbers.of(np.asarray(v), types[n]) for n, v in known.items() if v is not None and n in names}
    # a guard that depends on unknown data counts as met
    guards = [(c, holds) for c, holds in g.guards if _names(c) <= given.keys() | {d.name for d in dims}]
    for box in pieces(tuple((0, d.extent) for d in dims), range(len(dims)), CHUNK, in_order=True):
        values = dict(given)
        for axis, (d, (low, high)) in enumerate(zip(dims, box, strict=True)):
            shape = [high - low if k == axis else 1 for k in range(len(dims))]
            values[d.name] = numbers.of(np.arange(low, high).reshape(shape), I32)
        scope = EvaluationScope(numbers, values, types, shaped)
        size = tuple(high - low for low, high in box)
        mask = met_where(guards, scope, size)
        if not mask.any():
            continue
        at = numbers.plain(value_of(g.index, scope, mask))
        yield mask, np.broadcast_to(at, size)


def _names(e: Expr) -> set[str]:
    return {n.name for n in walk(e) if isinstance(n, Var)}


def _shaped(array: Array, program: Program, name: str) -> Array:
    """The elements that the program knows; the array of a plain pointer may be longer."""
    shape = program.buffer_of[name].shape
    return np.asarray(array).reshape(-1)[: prod(shape)].reshape(shape)


def surely_inside(g: Gather, limits: Mapping[str, tuple[int, int]]) -> bool:
    """Whether the subscript is in range for all array values within `limits`, so that no point needs to be
    examined."""
    dims = {d.name: (0, d.extent - 1) for d in g.stage.dims}
    found = _bounds(g.index, limits, dims)
    return found is not None and found[0] >= 0 and found[1] < g.extent


def _bounds(
    e: Expr, limits: Mapping[str, tuple[int, int]], dims: Mapping[str, tuple[int, int]]
) -> tuple[int, int] | None:
    """The least and greatest value of a subscript; None if an intermediate value may overflow its type."""
    found: tuple[int, int] | None = None
    match e:
        case Const(int() as value, _):
            found = value, value
        case Var(name, _):
            found = dims.get(name)
        case Load(buffer, _, dtype) if not dtype.is_float:
            found = limits.get(buffer)
        case Cast(arg, dtype) if not arg.dtype.is_float:
            found = _bounds(arg, limits, dims)
        case Binary("&", left, Const(int() as mask, _), _) if mask >= 0:
            found = 0, mask
        case Binary("+" | "-" | "*" | "%" | "/" | "&" as op, left, right, _):
            found = arithmetic(op, _bounds(left, limits, dims), _bounds(right, limits, dims))
        case _:
            found = None
    return found if found is not None and _holds(e.dtype, found) else None


def _holds(t: DType, r: tuple[int, int]) -> bool:
    low, high = integer_range(t)
    return not t.is_float and low <= r[0] and r[1] <= high
