"""Loops whose start or bound depends on the loops around them.

A loop that runs equally often wherever it starts is a dimension by itself, and its variable is a sum. Any
other is a dimension from its first value to its last one, and a condition for its body: box and guard.
"""

from dataclasses import dataclass
from math import ceil

from mdh.diagnostics import fail
from mdh.frontend.limits import MOST_TRIPS
from mdh.ir.affine import Affine, to_expr
from mdh.ir.dtype import I32, DType, common, integer_range, promote_integer
from mdh.ir.expr import Binary, Expr
from mdh.ir.names import fresh
from mdh.ir.ranges import INT, within
from mdh.ir.statement import LoopVar
from mdh.source import Span

Box = dict[str, tuple[int, int]]
"""Variable of a loop around -> its inclusive range."""


@dataclass(frozen=True, slots=True)
class VaryingHeader:
    """`for (T name = start; name op bound; name += step)`. compared: the type of the bound. at_start,
    at_bound: their places."""

    name: str
    start: Affine
    op: str
    bound: Affine
    step: int
    counter: DType
    compared: DType
    at_start: Span
    at_bound: Span


def varying_loop(h: VaryingHeader, box: Box, taken: set[str], span: Span) -> tuple[LoopVar, tuple[Expr, ...]]:
    """The loop, and the conditions under which its body runs. Raises Failed C132, C131."""
    sign = 1 if h.step > 0 else -1
    if (h.op[0] == "<") != (sign > 0) and h.op != "!=":
        what = f"the loop over `{h.name}` steps away from its bound"
        raise fail("C131", what, h.at_bound, help="step towards the bound")
    end = h.bound.shift(sign) if h.op in ("<=", ">=") else h.bound
    distance = (end + h.start.scale(-1)).scale(sign)
    least, most = distance.bounds(box)
    if h.op == "!=" and (least < 0 or abs(h.step) > 1):
        what = f"the loop over `{h.name}` may pass its bound: for some outer counters it "
        what += "starts behind it" if least < 0 else "steps over it"
        raise fail("C131", what, h.at_bound, help=f"compare with `{'<' if sign > 0 else '>'}`")
    if most <= 0:
        what = f"the loop over `{h.name}` is empty: it starts behind its bound for all outer counters"
        raise fail("C132", what, h.at_bound, help="give it at least one iteration")
    _check_type(h, end, box)
    name = fresh(h.name, taken)
    if not distance.terms:
        moved = Affine(h.start.terms)
        trips = ceil(distance.const / abs(h.step))
        return LoopVar(name, h.name, h.start.const, h.step, _few(trips, h), span, moved), ()
    if h.start.terms and abs(h.step) > 1:
        what = f"the loop over `{h.name}` steps by {h.step} from a start that outer counters move"
        remedy = f"step by {sign} in a condition: if (({h.name} - START) % {abs(h.step)} == 0)"
        raise fail("C131", what, h.at_start, help=remedy)
    first = h.start.bounds(box)[sign < 0]
    last = end.bounds(box)[sign > 0]
    trips = ceil((last - first) * sign / abs(h.step))
    loop = LoopVar(name, h.name, first, h.step, _few(trips, h), span)
    value = Affine.of({name: h.step}, first)
    reached = (value + h.start.scale(-1)).scale(sign)
    ended = (end + value.scale(-1)).scale(sign).shift(-1)
    conds = [f for f, varies in ((reached, h.start.terms), (ended, end.terms)) if varies]
    return loop, tuple(_at_least_zero(f) for f in conds)


def _few(trips: int, h: VaryingHeader) -> int:
    if trips > MOST_TRIPS:
        what = f"the loop over `{h.name}` has {trips:,} iterations, more than {MOST_TRIPS:,}"
        raise fail("C132", what, h.at_bound, help="split it into two loops, one inside the other")
    return trips


def _check_type(h: VaryingHeader, end: Affine, box: Box) -> None:
    """Raises unless the counter's type, and the type in which it is compared, hold all its values."""
    both = common(promote_integer(h.counter), h.compared)
    ends = [f.bounds(box) for f in (h.start, end)]
    least, most = min(a for a, _ in ends), max(b for _, b in ends)
    past = (least - max(-h.step, 1) + 1, most + max(h.step, 1) - 1)
    for t in (h.counter, both):
        if not within(past, integer_range(t)):
            low, high = integer_range(t)
            what = f"`{h.name}` runs from {past[0]:,} to {past[1]:,}, and its type holds {low:,} to {high:,}"
            raise fail("C132", what, h.at_bound, help="declare it with a wider, signed type")


def _at_least_zero(f: Affine) -> Expr:
    """f >= 0 as a comparison of two sums without negative terms."""
    more = Affine.of({n: c for n, c in f.terms if c > 0})
    less = Affine.of({n: -c for n, c in f.terms if c < 0})
    strict = f.const < 0
    if strict:
        less = less.shift(-f.const - 1)
    else:
        more = more.shift(f.const)
    return Binary("<" if strict else "<=", to_expr(less), to_expr(more), I32)


def fits_int(f: Affine, box: Box) -> bool:
    """Whether int holds `f` and each of its terms."""
    parts = [Affine(((n, c),)) for n, c in f.terms]
    return all(within(g.bounds(box), INT) for g in (f, *parts))
