"""Arrays that are written inside only where affine conditions hold.

`for (j = 0; j <= i; j++) z[i - j] = x;` is a stage over the whole box of i and j. Where its conditions do not
hold, it stores the old value again, in this program outside of `z`. So the function works on a wider array of
its own, which holds all elements of the box: it takes the array's elements first and gives them back at last.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

from mdh.diagnostics import fail
from mdh.frontend.renaming import changed_loads
from mdh.frontend.statements import Array, Assign, Statement, Use
from mdh.frontend.typing_rules import convert, select
from mdh.ir.affine import Affine, from_expr, to_expr
from mdh.ir.dtype import I32
from mdh.ir.expr import Binary, Const, Expr, Load, Var
from mdh.ir.names import fresh
from mdh.ir.statement import LoopVar
from mdh.source import Span

MOST_BYTES = 1 << 32
"""An array is not made wider than this."""
Extents = Mapping[str, tuple[int, ...]]
Ends = tuple[tuple[int, int], ...]
"""The least and the greatest subscript in each dimension."""


@dataclass(frozen=True, slots=True)
class Widened:
    """The statements, with copies of arrays in front of them and behind them, and the new arrays."""

    statements: list[Statement]
    arrays: dict[str, Array]


def widened(
    statements: Sequence[Statement], arrays: Mapping[str, Array], extents: Extents, taken: set[str]
) -> Widened | None:
    """None if all statements write inside of arrays wherever their loops run. statements: with their numbers
    as `origin`; those that are added have negative ones."""
    found: dict[str, tuple[Ends, Span]] = {}
    for s in statements:
        for t in s.targets:
            ends = found[t.buffer][0] if t.buffer in found else tuple((0, n - 1) for n in extents[t.buffer])
            wider = _around(t, s.loops, ends)
            if wider != ends:
                found[t.buffer] = wider, s.span
    if not found:
        return None
    out = Widened(list(statements), {})
    for name, (ends, span) in found.items():
        _widen(arrays[name], extents[name], ends, span, out, taken)
    return out


def _around(t: Load, loops: Sequence[LoopVar], ends: Ends) -> Ends:
    """`ends` and what the element reaches over the whole box of loops."""
    ranges = {v.name: (0, v.extent - 1) for v in loops}
    out = []
    for i, (low, high) in zip(t.index, ends, strict=True):
        f = from_expr(i)
        least, most = (low, high) if f is None else f.bounds(ranges)
        out.append((min(low, least), max(high, most)))
    return tuple(out)


def _widen(
    array: Array, shape: tuple[int, ...], ends: Ends, span: Span, out: Widened, taken: set[str]
) -> None:
    whole = tuple(high - low + 1 for low, high in ends)
    if prod(whole) * array.dtype.bytes > MOST_BYTES:
        what = f"conditions keep the writes of `{array.name}` inside, but not the loops alone: an array of "
        what += "×".join(f"{n:,}" for n in whole) + " elements would be needed"
        raise fail("C140", what, span, help="choose loops that stay inside of the array")
    wide = replace(array, name=fresh(f"{array.name}_wide", taken), shape=whole, temp=True, values=None)
    out.arrays[wide.name] = wide
    lows = [low for low, _ in ends]
    places = [u.position for s in out.statements for u in s.uses]

    def moved(e: Expr) -> Expr:
        if not isinstance(e, Load) or e.buffer != array.name:
            return e
        index = tuple(_shifted(i, -low) for i, low in zip(e.index, lows, strict=True))
        return replace(e, buffer=wide.name, index=index)

    statements = [changed_loads(s, moved) for s in out.statements]
    number = -2 * len(out.arrays)
    begin = _begin(array, shape, wide, lows, span, taken, min(places) - 1, number)
    statements.insert(0, begin)
    if not array.temp:
        end = _end(array, shape, wide, lows, span, taken, max(places) + 1, number + 1)
        statements.append(end)
    out.statements[:] = statements


def _begin(
    array: Array, shape: tuple[int, ...], wide: Array, lows: Sequence[int], span: Span, taken: set[str],
    place: int, number: int,
) -> Assign:  # fmt: skip
    """`wide = array`, with zeros around; zeros alone where the array has no elements yet."""
    assert wide.shape is not None
    loops = _loops(wide.shape, span, taken)
    target = Load(wide.name, tuple(Var(v.name) for v in loops), wide.dtype)
    uses = [Use(target, loops, span, (), True, place)]
    value: Expr = convert(Const(0, I32), wide.dtype)
    if not array.temp:
        places = [Affine.var(v.name).shift(low) for v, low in zip(loops, lows, strict=True)]
        inside = [c for f, n, w in zip(places, shape, wide.shape, strict=True) for c in _within(f, n, w)]
        load = Load(array.name, tuple(map(to_expr, places)), array.dtype)
        uses.insert(0, Use(load, loops, span, tuple(inside), False, place))
        whole = inside[0]
        for c in inside[1:]:
            whole = Binary("&&", whole, c, I32)
        value = convert(select(whole, load, value), wide.dtype)
    return Assign(target, value, (), loops, span, tuple(uses), origin=number)


def _within(f: Affine, extent: int, whole: int) -> list[Expr]:
    """0 <= f < extent; without what always holds: the variable of `f` runs over `whole` values."""
    out: list[Expr] = [Binary("<=", Const(0, I32), to_expr(f), I32)] if f.const < 0 else []
    if f.const + whole > extent:
        out.append(Binary("<", to_expr(f), Const(extent, I32), I32))
    return out


def _end(
    array: Array, shape: tuple[int, ...], wide: Array, lows: Sequence[int], span: Span, taken: set[str],
    place: int, number: int,
) -> Assign:  # fmt: skip
    """`array = wide`."""
    loops = _loops(shape, span, taken)
    inside = tuple(_shifted(Var(v.name), -low) for v, low in zip(loops, lows, strict=True))
    read = Load(wide.name, inside, wide.dtype)
    write = Load(array.name, tuple(Var(v.name) for v in loops), array.dtype)
    uses = (Use(read, loops, span, (), False, place), Use(write, loops, span, (), True, place))
    return Assign(write, read, (), loops, span, uses, origin=number)


def _loops(shape: Sequence[int], span: Span, taken: set[str]) -> tuple[LoopVar, ...]:
    return tuple(LoopVar(fresh(f"e{k}", taken), f"e{k}", 0, 1, n, span) for k, n in enumerate(shape))


def _shifted(e: Expr, by: int) -> Expr:
    f = from_expr(e)
    if f is not None:
        return to_expr(f.shift(by))
    return e if not by else Binary("+", e, Const(by, I32), I32)
