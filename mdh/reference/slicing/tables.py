"""Subscripts that are read from arrays which the function never writes: their values for every iteration."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mdh.ir.syntax import Conversion, Element, Expression, Infix, Name
from mdh.reference.c.types import LONG, ULONG, Type
from mdh.reference.slicing.forms import AffineForm, integer_type

Numbers = NDArray[Any]
"""An array of any integer type."""
_MOST = 1 << 25
"""The most iterations of a table."""


@dataclass(frozen=True, eq=False)
class SubscriptTable:
    """values: of a subscript, over the iterations of these of the loops around it. unsigned: its type is."""

    loops: tuple[int, ...]
    values: Numbers
    unsigned: bool

    def of_type(self, kind: Type) -> "SubscriptTable | None":
        """The converted table; None if the conversion changes values."""
        fits = kind.holds(*_ends(self.values))
        return SubscriptTable(self.loops, self.values, not kind.signed) if fits else None

    @cached_property
    def order(self) -> tuple[NDArray[np.intp], Numbers]:
        """The positions of the values in ascending order, and the values in this order."""
        flat = self.values.reshape(-1)
        small = flat.size > 0 and flat.min() >= 0 and flat.max() < 1 << 16
        # numpy sorts numbers of 16 bits in linear time
        at = np.argsort(flat.astype(np.uint16) if small else flat, kind="stable")
        return at, flat[at]


@dataclass(frozen=True, slots=True)
class Reading:
    """What expressions may read. fixed: integer arrays that are never written, as the C text sees them. form:
    of an expression that has one. local: the value of a local integer. trips: the loops' values."""

    fixed: Mapping[str, NDArray[Any]]
    form: Callable[[Expression], AffineForm | None]
    local: Callable[[str], SubscriptTable | None]
    trips: Sequence[range]


@dataclass(frozen=True, slots=True)
class _Grid:
    """Values with an axis for every loop, of length 1 if the loop does not matter."""

    values: Numbers
    unsigned: bool


def table_of(expr: Expression, reading: Reading) -> AffineForm | SubscriptTable | None:
    """The values of an expression; None if they are unknown or too many. A form if one holds for all
    iterations."""
    grid = _grid(expr, reading)
    if grid is None:
        return None
    if grid.values.size == 1:
        return AffineForm(int(grid.values.reshape(-1)[0]), (), ULONG if grid.unsigned else LONG)
    loops = tuple(k for k, n in enumerate(grid.values.shape) if n > 1)
    return SubscriptTable(loops, grid.values.reshape([grid.values.shape[k] for k in loops]), grid.unsigned)


def _grid(expr: Expression, reading: Reading) -> _Grid | None:
    form = reading.form(expr)
    if form is not None:
        return _of_form(form, reading.trips)
    match expr:
        case Name(name):
            table = reading.local(name)
            return None if table is None else _spread(table, reading.trips)
        case Element(array, subscripts) if array in reading.fixed:
            view = _view(reading.fixed[array], [reading.form(s) for s in subscripts], reading.trips)
            return view or _looked_up(reading.fixed[array], [_grid(s, reading) for s in subscripts])
        case Conversion(ctype, operand):
            inner, kind = _grid(operand, reading), integer_type(ctype)
            if inner is None or kind is None or not kind.holds(*_ends(inner.values)):
                return None
            return _Grid(inner.values, not kind.signed)
        case Infix(op, left, right):
            a, b = _grid(left, reading), _grid(right, reading)
            return None if a is None or b is None else _combined(op, a, b)
        case _:
            return None


def _ends(values: Numbers) -> tuple[int, int]:
    return (int(values.min()), int(values.max())) if values.size else (0, 0)


def _of_form(form: AffineForm, trips: Sequence[range]) -> _Grid | None:
    values = np.full((1,) * len(trips), form.constant, np.int64)
    for k, loop in enumerate(trips):
        c = form.at(k)
        if c:
            if values.size * len(loop) > _MOST:
                return None
            axis = np.arange(len(loop), dtype=np.int64) * (c * loop.step) + c * loop.start
            values = values + axis.reshape([len(loop) if j == k else 1 for j in range(len(trips))])
    return _Grid(values, not form.type.signed)


def _spread(table: SubscriptTable, trips: Sequence[range]) -> _Grid:
    shape = [len(loop) if k in table.loops else 1 for k, loop in enumerate(trips)]
    return _Grid(table.values.reshape(shape), table.unsigned)


def _view(array: NDArray[Any], at: Sequence[AffineForm | None], trips: Sequence[range]) -> _Grid | None:
    """The elements as a view, if each subscript follows a loop of its own, outer ones first; else None."""
    loops, parts = list[int](), list[slice]()
    for form, extent in zip(at, array.shape, strict=False):
        used = [] if form is None else [k for k, c in enumerate(form.coefficients) if c]
        if form is None or len(used) != 1 or (loops and used[0] <= loops[-1]):
            return None
        values = trips[used[0]]
        low, step = form.constant + form.at(used[0]) * values.start, form.at(used[0]) * values.step
        high = low + step * (len(values) - 1)
        if len(values) == 0 or step < 0 or low < 0 or high >= extent:
            return None
        loops.append(used[0])
        parts.append(slice(low, high + 1, step))
    if len(loops) != array.ndim:
        return None
    shape = [len(loop) if k in loops else 1 for k, loop in enumerate(trips)]
    return _Grid(array[tuple(parts)].reshape(shape), array.dtype.kind == "u")


def _looked_up(array: NDArray[Any], at: Sequence[_Grid | None]) -> _Grid | None:
    grids = [g.values for g in at if g is not None]
    if len(grids) != len(at) or len(at) != array.ndim:
        return None
    shape = np.broadcast_shapes(*(g.shape for g in grids))
    if prod(shape) > _MOST:
        return None
    for g, extent in zip(grids, array.shape, strict=True):
        low, high = _ends(g)
        if low < 0 or high >= extent:
            return None
    return _Grid(array[tuple(grids)], array.dtype.kind == "u")


def _combined(op: str, a: _Grid, b: _Grid) -> _Grid | None:
    """The combined values; None unless every value fits an int and none is negative in an unsigned type."""
    if prod(np.broadcast_shapes(a.values.shape, b.values.shape)) > _MOST:
        return None
    x, y = a.values.astype(np.int64), b.values.astype(np.int64)
    natural = min(_ends(x)[0], _ends(y)[0]) >= 0
    match op:
        case "+" | "-" | "*" | "&" | "|" | "^":
            by = {"+": np.add, "-": np.subtract, "*": np.multiply}
            bits = {"&": np.bitwise_and, "|": np.bitwise_or, "^": np.bitwise_xor}
            values = {**by, **bits}[op](x, y)
        case "/" | "%" if natural and bool((y > 0).all()):
            values = x // y if op == "/" else x % y
        case "<<" | ">>" if natural and bool((y < 31).all()):
            values = x << y if op == "<<" else x >> y
        case _:
            return None
    low, high = _ends(values)
    unsigned = a.unsigned or b.unsigned
    if max(map(abs, (*_ends(x), *_ends(y), low, high))) >= 1 << 31:
        return None
    return None if unsigned and (low < 0 or not natural) else _Grid(values, unsigned)
