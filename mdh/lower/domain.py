"""Index-set splitting: loops leave out parts in which no point changes anything, and test no conditions in
parts in which all points do.

A stage may be a box of which affine conditions choose some points (`ir.domain`). The values hold the
conditions. So all code is right without this module. A loop over such a box gets tighter ends, and its
innermost loop one version for parts with some points outside and one for parts with all points inside.

Source: Griebl, Feautrier and Lengauer, "Index set splitting", International Journal of Parallel Programming
28(6), 2000.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from mdh.hardware import THREADED, Engine, Layer, Space
from mdh.ir.affine import Affine
from mdh.ir.construct import ZERO, at_least, conjunction, div, when
from mdh.ir.dtype import I32
from mdh.ir.expr import Call, Expr
from mdh.ir.intrinsic import Intrinsic
from mdh.ir.kernel import For, ForKind, If, Stmt
from mdh.ir.layout import Level
from mdh.ir.program import DimKind
from mdh.ir.ranges import INT
from mdh.lower.nest import Nest
from mdh.lower.pipeline_loop import pipelined_at
from mdh.lower.scope import LoopLimits, Point, Scope

Ranges = dict[str, tuple[int, int]]
Emit = Callable[[Nest, Level, Scope], list[Stmt]]


@dataclass(frozen=True, slots=True)
class _Ends(LoopLimits):
    """The values of a loop's variable, and a condition besides."""

    cond: Expr | None


def split(nest: Nest, level: Level, scope: Scope, emit: Emit) -> list[Stmt]:
    """The loop of `level`, which `emit` makes, without the parts in which nothing changes.

    A loop whose copies run ahead begins with those of its first turns. It is made for its ends.
    """
    if not _applies(nest, scope) or _names_registers(nest, level, scope):
        return emit(nest, level, scope)
    functions = _functions(nest, scope)
    if not functions or not all(_fits_int(f, _ranges(nest, scope)) for f in functions):
        return emit(nest, level, scope)
    inner = _inner(nest, scope)
    some = _ends(nest, functions, level, inner, scope, most=True)
    ahead = pipelined_at(nest, scope.position + 1) is not None
    if ahead:
        scope = replace(scope, turns={**scope.turns, level.var: some})
    out = emit(nest, level, scope)
    if not ahead:
        out = _limited(out, level, some)
    if _innermost(nest, level, scope):
        every = _ends(nest, functions, level, inner, scope, most=False)
        out = _versions(out, emit(nest, level, replace(scope, in_domain=True)), level, every)
    return when(some.cond, out) if ahead else out


def around_block(nest: Nest, scope: Scope, body: list[Stmt]) -> list[Stmt]:
    """The body of a block, if the block has points that change something."""
    if not _applies(nest, scope):
        return body
    blocks = {lv.var for lv in nest.levels.all if lv.layer in (Layer.BLK, Layer.CLU)}
    inner = frozenset(lv.var for lv in nest.levels.all) - blocks
    ranges = _ranges(nest, scope)
    known = [f for f in _results(nest) if _fits_int(f, ranges)]
    conds = [_at_least_zero(nest, f, inner, ranges, scope, most=True) for f in known]
    cond = conjunction([c for c in conds if c is not None])
    return body if cond is None else [If(cond, tuple(body))]


def _ranges(nest: Nest, scope: Scope) -> Ranges:
    """Of the variables of levels, and of the numbers of turns of loops around the stage."""
    return {**nest.ranges(scope), **{n: (0, count - 1) for n, count in nest.program.turns.items()}}


def _fits_int(f: Affine, ranges: Ranges) -> bool:
    """Whether int holds all sums that the ends of a loop are made of."""
    reach = abs(f.const) + sum(abs(c) * (1 + max(map(abs, ranges[n]))) for n, c in f.terms)
    return 2 * reach <= INT[1]


def _applies(nest: Nest, scope: Scope) -> bool:
    """Whether turns of loops may be left out: nothing but the points happens in them, and nothing starts from
    what a turn leaves in memory."""
    shared = (nest.partials, nest.passes, nest.carried, nest.clustered, nest.counter, nest.stream, nest.role)
    windows = any(s.window for step in nest.plan.steps for s in step.stagings)
    plain = isinstance(scope.leaf, Point) and not any(shared) and not windows and nest.plan.atoms is None
    split_blocks = bool(nest.grid_levels(DimKind.PW, DimKind.PS))
    # tokens count all turns of the loops around
    tokens = any(s.engine is Engine.TMA for step in nest.plan.steps for s in step.stagings)
    return nest.domain is not None and plain and not split_blocks and not tokens and not scope.in_domain


def _names_registers(nest: Nest, level: Level, scope: Scope) -> bool:
    """Whether the loop's variable says which register is meant. Compilers for GPUs keep an array in registers
    only if they unroll such loops, and so know their ends."""
    regions = any(r.space is Space.RM and level.var in r.loops for r in nest.regions)
    held = (h for h in scope.live.values() if h.buf.space is Space.RM)
    copies = any(v == level.var for h in held for axis in h.axes for v, *_ in axis.variables)
    return not nest.cpu and (regions or copies)


def _functions(nest: Nest, scope: Scope) -> list[Affine]:
    """What is >= 0 where something changes: inside of all regions a state, outside of all an output."""
    assert nest.domain is not None
    opened = [r for r in nest.regions if r.opens <= scope.position]
    if nest.regions and not opened:
        return _results(nest)
    # all elements of a region are stored; those of a map hold finished values
    maps = any(nest.folds[r.fold].op is None for r in nest.regions)
    return [] if maps or len(opened) < len(nest.regions) else _over(nest, nest.domain.points)


def _results(nest: Nest) -> list[Affine]:
    assert nest.domain is not None
    return _over(nest, nest.domain.results)


def _over(nest: Nest, functions: Iterable[Affine]) -> list[Affine]:
    """Functions of the variables of levels, in a fixed order."""
    place = {d.name: Affine.var(str(k)) for k, d in enumerate(nest.stage.dims)}
    found = [nest.levels.over(f.substitute(place)) for f in functions]
    return sorted(found, key=lambda f: (f.terms, f.const))


def _inner(nest: Nest, scope: Scope) -> frozenset[str]:
    """The variables that have many values in a turn of the loop: those of loops inside, and those of threads
    if threads meet there."""
    below = nest.below(scope.position)
    meets = nest.copies(nest.items[scope.position + 1 :]) or any(
        r.opens > scope.position for r in nest.regions
    )
    if nest.cpu or not meets:
        return below
    return below | {lv.var for lv in nest.levels.all if lv.layer in THREADED}


def _innermost(nest: Nest, level: Level, scope: Scope) -> bool:
    """Whether this is the loop to write twice: all further ones are unrolled, and all regions are open."""
    if any(r.opens > scope.position for r in nest.regions):
        return False
    rest = [it for it in nest.items[scope.position + 1 :] if isinstance(it, Level)]
    own = nest.plan.steps[level.step].unroll != 0
    return own and all(
        it.layer is Layer.VEC or nest.plan.steps[it.step].unroll == 0 or _names_registers(nest, it, scope)
        for it in rest
    )


def _ends(
    nest: Nest, functions: Sequence[Affine], level: Level, inner: frozenset[str], scope: Scope, *, most: bool
) -> _Ends:
    """Where all of the functions are >= 0 for some (most) or for all values of the inner variables."""
    ranges = _ranges(nest, scope)
    lows, highs, conds = [], [], []
    for f in functions:
        weight = f.coefficient(level.var)
        if level.var in scope.values or level.var in scope.fixed or not weight:
            conds.append(_at_least_zero(nest, f, inner, ranges, scope, most=most))
            continue
        rest = f + Affine.of({level.var: -weight})
        outer, reach = _apart(rest, inner, ranges, most=most)
        if weight > 0:
            # v >= ceil(-(outer + reach) / weight)
            need = nest.expr(outer.scale(-1).shift(weight - 1 - reach), scope)
            lows.append(_whole(need, weight))
        else:
            room = nest.expr(outer.shift(reach - weight), scope)
            highs.append(_whole(room, -weight))
    low = _joined(Intrinsic.IMAX, lows)
    return _Ends(low, _joined(Intrinsic.IMIN, highs), conjunction([c for c in conds if c is not None]))


def _apart(f: Affine, inner: frozenset[str], ranges: Ranges, *, most: bool) -> tuple[Affine, int]:
    """The part of `f` that is known at a place, and the most (least) that inner variables add."""
    outer = Affine.of({n: c for n, c in f.terms if n not in inner}, f.const)
    mine = Affine.of({n: c for n, c in f.terms if n in inner})
    return outer, mine.bounds(ranges)[most]


def _at_least_zero(
    nest: Nest,
    f: Affine,
    inner: frozenset[str],
    ranges: dict[str, tuple[int, int]],
    scope: Scope,
    *,
    most: bool,
) -> Expr | None:
    """f >= 0 for some (all) values of the inner variables; None: wherever the place is."""
    outer, reach = _apart(f, inner, ranges, most=most)
    if outer.bounds(ranges)[0] + reach >= 0:
        return None
    return at_least(nest.expr(outer, scope), -reach)


def _whole(e: Expr, by: int) -> Expr:
    """max(0, e) / by."""
    least = Call(Intrinsic.IMAX, (ZERO, e), I32)
    return least if by == 1 else div(least, by)


def _joined(fn: Intrinsic, each: Sequence[Expr]) -> Expr | None:
    out: Expr | None = None
    for e in each:
        out = e if out is None else Call(fn, (out, e), I32)
    return out


def _limited(body: list[Stmt], level: Level, ends: _Ends) -> list[Stmt]:
    """Loops over the level's variable between these ends."""
    return [_between(s, ends.low, ends.high, ends.cond) if _counts(s, level) else s for s in body]


def _counts(s: Stmt, level: Level) -> bool:
    return isinstance(s, For) and s.var == level.var and s.kind is ForKind.SEQ


def _between(s: Stmt, low: Expr | None, high: Expr | None, cond: Expr | None) -> Stmt:
    assert isinstance(s, For)
    start = s.start if low is None else Call(Intrinsic.IMAX, (s.start, low), I32) if s.start != ZERO else low
    stop = s.stop if high is None else Call(Intrinsic.IMIN, (s.stop, high), I32)
    out = replace(s, start=start, stop=stop)
    return out if cond is None else If(cond, (out,))


def _versions(mixed: list[Stmt], whole: list[Stmt], level: Level, every: _Ends) -> list[Stmt]:
    """mixed: the loops with conditions; whole: without. every: where the latter are right."""
    if len(mixed) != len(whole):
        return mixed
    out: list[Stmt] = []
    for a, b in zip(mixed, whole, strict=True):
        out.extend(_version(a, b, every) if _counts(b, level) else [a])
    return out


def _version(mixed: Stmt, whole: Stmt, every: _Ends) -> list[Stmt]:
    """The loop before the whole parts, the whole parts, and the loop behind them; or one of two loops."""
    guard = None
    if isinstance(mixed, If):
        guard, (mixed,) = mixed.cond, mixed.then
    assert isinstance(mixed, For) and isinstance(whole, For)
    inside = replace(whole, start=mixed.start, stop=mixed.stop)
    parts: list[Stmt] = []
    if every.low is not None and every.low != mixed.start:
        cut = Call(Intrinsic.IMIN, (mixed.stop, every.low), I32)
        parts.append(replace(mixed, stop=cut))
        inside = replace(inside, start=_later(mixed.start, every.low))
    if every.high is not None:
        inside = replace(inside, stop=Call(Intrinsic.IMIN, (mixed.stop, every.high), I32))
        parts.append(replace(mixed, start=_later(inside.start, every.high)))
    parts.insert(1 if every.low is not None and every.low != mixed.start else 0, inside)
    if every.cond is not None:
        parts = [If(every.cond, tuple(parts), (mixed,))]
    return parts if guard is None else [If(guard, tuple(parts))]


def _later(a: Expr, b: Expr) -> Expr:
    return b if a == ZERO else Call(Intrinsic.IMAX, (a, b), I32)
