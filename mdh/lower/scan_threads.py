"""The scan of what threads hold of one element each: by shuffles in warps, else by doubling distances.

Where a row of threads is made of whole warps, lanes scan by shuffles, the warps' totals meet in shared
memory, and every warp scans those once more by shuffles: one meeting of the block. A row inside a warp needs
none.
"""

from math import prod

from mdh.hardware import Space
from mdh.ir.construct import add, at_least, div, equal, greater, less, mod, num, number, sub
from mdh.ir.dtype import I32
from mdh.ir.expr import Binary, Call, Const, Expr, Load, Select, Var
from mdh.ir.intrinsic import Intrinsic
from mdh.ir.kernel import Buf, If, Let, Stmt, Store
from mdh.ir.layout import Level
from mdh.lower.finish import named
from mdh.lower.fold import Fold, combine, identity
from mdh.lower.nest import Nest
from mdh.lower.threads import WARP, other_threads, thread_stride


def units_of(nest: Nest, digits: list[Level]) -> tuple[Expr, Expr, int]:
    """(a thread's number among those that share an element, the number of their group, how many share)."""
    unit = number((Var(lv.var), lv.parts) for lv in digits)
    return unit, other_threads(nest, [lv.var for lv in digits]), prod(lv.parts for lv in digits)


def scan_threads(
    nest: Nest, fold: Fold, mine: Expr, digits: list[Level], out: list[Stmt]
) -> tuple[Expr, Expr]:
    """(combination of all threads before this one, of all threads) of the value `mine` of each."""
    if in_warps(nest, digits):
        return _by_shuffles(nest, fold, mine, prod(lv.parts for lv in digits), out)
    return _by_doubling(nest, fold, mine, digits, out)


def in_warps(nest: Nest, digits: list[Level]) -> bool:
    """The threads that share an element are neighbours in the hardware's numbering, in the same order: whole
    warps of them, or a power of two inside a warp; and shuffles exist."""
    if not nest.machine.shuffle or nest.threads % WARP:
        return False
    units = 1
    for lv in reversed(digits):
        if lv.piece != 1 or thread_stride(nest.plan, lv.layer, lv.axis) != units:
            return False
        units *= lv.parts
    return units % WARP == 0 or (units < WARP and units & (units - 1) == 0)


# -- by shuffles -------------------------------------------------------------------------------


def _by_shuffles(nest: Nest, fold: Fold, mine: Expr, units: int, out: list[Stmt]) -> tuple[Expr, Expr]:
    t = fold.types[0]
    lane = named(nest, "lane", mod(Var(nest.tid), WARP), out)
    row = min(units, WARP)
    place = lane
    if row < WARP:
        place = named(nest, "place", mod(lane, row), out)
    whole = _lanes(nest, fold, named(nest, "part", mine, out), place, row, out)
    shifted = named(nest, "before", Call(Intrinsic.SHFL_UP, (whole, Const(1, I32)), t), out)
    inside = Select(greater(place, 0), shifted, identity(fold)[0], t)
    before = named(nest, "before", inside, out)
    if units <= WARP:
        last: Expr = Const(WARP - 1, I32)
        if row < WARP:
            last = Binary("|", lane, Const(row - 1, I32), I32)
        return before, named(nest, "total", Call(Intrinsic.SHFL, (whole, last), t), out)
    return _over_warps(nest, fold, whole, before, lane, units // WARP, out)


def _over_warps(
    nest: Nest, fold: Fold, whole: Expr, before: Expr, lane: Expr, warps: int, out: list[Stmt]
) -> tuple[Expr, Expr]:
    """The last lanes leave their warps' totals; every warp reads those of its row and scans them."""
    t = fold.types[0]
    count = nest.threads // WARP
    sums = nest.declare(Buf(f"warps_{t.name}", Space.SM, t, (count,), (1,), align=16))
    warp = named(nest, "warp", div(Var(nest.tid), WARP), out)
    last = equal(lane, WARP - 1)
    out.append(If(last, (Store(sums.name, (warp,), whole),)))
    number, place = warp, lane
    if count > warps:
        number = named(nest, "number", mod(warp, warps), out)
        place = add(sub(warp, number), lane)
    one: Expr = Load(sums.name, (place,), t)
    if warps < WARP:
        one = Select(less(lane, warps), one, identity(fold)[0], t)
    scanned = _lanes(nest, fold, named(nest, "sums", one, out), lane, warps, out)
    total = named(nest, "total", Call(Intrinsic.SHFL, (scanned, Const(warps - 1, I32)), t), out)
    previous = sub(number, 1)
    earlier = named(nest, "earlier", Call(Intrinsic.SHFL, (scanned, previous), t), out)
    both = combine(fold, (earlier,), (before,))[0]
    first = greater(number, 0)
    return named(nest, "before", Select(first, both, before, t), out), total


def _lanes(nest: Nest, fold: Fold, held: Expr, place: Expr, row: int, out: list[Stmt]) -> Expr:
    """The inclusive scan over rows of `row` lanes; `place`: a lane's number in its row."""
    t = fold.types[0]
    distance = 1
    while distance < row:
        earlier = named(nest, "earlier", Call(Intrinsic.SHFL_UP, (held, Const(distance, I32)), t), out)
        far = at_least(place, distance)
        both = combine(fold, (earlier,), (held,))[0]
        held = named(nest, "part", Select(far, both, held, t), out)
        distance *= 2
    return held


# -- in shared memory --------------------------------------------------------------------------


def _by_doubling(
    nest: Nest, fold: Fold, mine: Expr, digits: list[Level], out: list[Stmt]
) -> tuple[Expr, Expr]:
    t = fold.types[0]
    unit, group, units = units_of(nest, digits)
    groups = nest.threads // units
    rows = [
        nest.declare(Buf(f"scan_{t.name}{k}", Space.SM, t, (units, groups), (groups, 1), align=16))
        for k in (0, 1)
    ]
    u = nest.fresh("unit")
    out.append(Let(u, unit))
    out.append(Store(rows[0].name, (Var(u), group), mine))
    distance, k = 1, 0
    while distance < units:
        here, there = rows[k].name, rows[1 - k].name
        own = nest.fresh("own")
        out.append(Let(own, Load(here, (Var(u), group), t), t))
        back = sub(Var(u), distance)
        both = combine(fold, (Load(here, (back, group), t),), (Var(own, t),))[0]
        far = at_least(Var(u), distance)
        out.append(
            If(far, (Store(there, (Var(u), group), both),), (Store(there, (Var(u), group), Var(own, t)),))
        )
        distance, k = distance * 2, 1 - k
    row = rows[k].name
    previous = Load(row, (sub(Var(u), 1), group), t)
    first = Select(greater(Var(u), 0), previous, identity(fold)[0], t)
    before = named(nest, "before", first, out)
    return before, named(nest, "total", Load(row, (num(units - 1), group), t), out)
