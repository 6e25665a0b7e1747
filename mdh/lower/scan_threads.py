"""The scan of what threads hold of one element each: by shuffles in warps, else by doubling distances.

Where a row of threads is made of whole warps, lanes scan by shuffles, the warps' totals meet in shared
memory, and every warp scans those once more by shuffles: one meeting of the block. A row inside a warp needs
none.
"""

from math import prod

from mdh.hardware import Space
from mdh.ir.dtype import I32
from mdh.ir.expr import Binary, Call, Const, Expr, Load, Select, Var
from mdh.ir.intrinsic import Intrinsic
from mdh.ir.kernel import Buf, If, Let, Stmt, Store
from mdh.ir.layout import Level
from mdh.lower.finish import named
from mdh.lower.fold import Fold, combine, identity
from mdh.lower.nest import Nest
from mdh.lower.threads import WARP, Digit, other_threads, thread_stride


def units_of(nest: Nest, digits: list[Level]) -> tuple[Expr, Expr, int]:
    """(a thread's number among those that share an element, the number of their group, how many share)."""
    unit: Expr | None = None
    for lv in digits:
        var = Var(lv.var)
        unit = var if unit is None else Binary("+", Binary("*", unit, Const(lv.parts, I32), I32), var, I32)
    assert unit is not None
    used = [Digit(lv, thread_stride(nest.plan, lv.layer, lv.axis), lv.parts) for lv in digits]
    return unit, other_threads(nest, used), prod(lv.parts for lv in digits)


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
    lane = named(nest, "lane", I32, Binary("%", Var(nest.tid), Const(WARP, I32), I32), out)
    row = min(units, WARP)
    place = lane
    if row < WARP:
        place = named(nest, "place", I32, Binary("%", lane, Const(row, I32), I32), out)
    whole = _lanes(nest, fold, named(nest, "part", t, mine, out), place, row, out)
    shifted = named(nest, "before", t, Call(Intrinsic.SHFL_UP, (whole, Const(1, I32)), t), out)
    inside = Select(Binary(">", place, Const(0, I32), I32), shifted, identity(fold)[0], t)
    before = named(nest, "before", t, inside, out)
    if units <= WARP:
        last: Expr = Const(WARP - 1, I32)
        if row < WARP:
            last = Binary("|", lane, Const(row - 1, I32), I32)
        return before, named(nest, "total", t, Call(Intrinsic.SHFL, (whole, last), t), out)
    return _over_warps(nest, fold, whole, before, lane, units // WARP, out)


def _over_warps(
    nest: Nest, fold: Fold, whole: Expr, before: Expr, lane: Expr, warps: int, out: list[Stmt]
) -> tuple[Expr, Expr]:
    """The last lanes leave their warps' totals; every warp reads those of its row and scans them."""
    t = fold.types[0]
    count = nest.threads // WARP
    sums = nest.declare(Buf(f"warps_{t.name}", Space.SM, t, (count,), (1,), align=16))
    warp = named(nest, "warp", I32, Binary("/", Var(nest.tid), Const(WARP, I32), I32), out)
    last = Binary("==", lane, Const(WARP - 1, I32), I32)
    out.append(If(last, (Store(sums.name, (warp,), whole),)))
    number, place = warp, lane
    if count > warps:
        number = named(nest, "number", I32, Binary("%", warp, Const(warps, I32), I32), out)
        place = Binary("+", Binary("-", warp, number, I32), lane, I32)
    one: Expr = Load(sums.name, (place,), t)
    if warps < WARP:
        one = Select(Binary("<", lane, Const(warps, I32), I32), one, identity(fold)[0], t)
    scanned = _lanes(nest, fold, named(nest, "sums", t, one, out), lane, warps, out)
    total = named(nest, "total", t, Call(Intrinsic.SHFL, (scanned, Const(warps - 1, I32)), t), out)
    previous = Binary("-", number, Const(1, I32), I32)
    earlier = named(nest, "earlier", t, Call(Intrinsic.SHFL, (scanned, previous), t), out)
    both = combine(fold, (earlier,), (before,))[0]
    first = Binary(">", number, Const(0, I32), I32)
    return named(nest, "before", t, Select(first, both, before, t), out), total


def _lanes(nest: Nest, fold: Fold, held: Expr, place: Expr, row: int, out: list[Stmt]) -> Expr:
    """The inclusive scan over rows of `row` lanes; `place`: a lane's number in its row."""
    t = fold.types[0]
    distance = 1
    while distance < row:
        earlier = named(nest, "earlier", t, Call(Intrinsic.SHFL_UP, (held, Const(distance, I32)), t), out)
        far = Binary(">=", place, Const(distance, I32), I32)
        both = combine(fold, (earlier,), (held,))[0]
        held = named(nest, "part", t, Select(far, both, held, t), out)
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
        back = Binary("-", Var(u), Const(distance, I32), I32)
        both = combine(fold, (Load(here, (back, group), t),), (Var(own, t),))[0]
        far = Binary(">=", Var(u), Const(distance, I32), I32)
        out.append(
            If(far, (Store(there, (Var(u), group), both),), (Store(there, (Var(u), group), Var(own, t)),))
        )
        distance, k = distance * 2, 1 - k
    row = rows[k].name
    previous = Load(row, (Binary("-", Var(u), Const(1, I32), I32), group), t)
    before, total = nest.fresh("before"), nest.fresh("total")
    out.append(
        Let(before, Select(Binary(">", Var(u), Const(0, I32), I32), previous, identity(fold)[0], t), t)
    )
    out.append(Let(total, Load(row, (Const(units - 1, I32), group), t), t))
    return Var(before, t), Var(total, t)
