"""Writing a finished (or, between outer reduction loops, an unfinished) result to device memory."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from mdh.hardware import CacheHint, Combine, Layer, Space
from mdh.ir.construct import ZERO, conjunction, equal, load_each, number, store_each
from mdh.ir.dtype import I32, DType
from mdh.ir.expr import Binary, Cast, Const, Expr, Load, Var, loads, substitute
from mdh.ir.kernel import Atomic, Buf, If, Let, Stmt, Store
from mdh.ir.layout import Level, row_major
from mdh.ir.program import Buffer, DimKind, Output, component
from mdh.lower.deal import Dealt, deal
from mdh.lower.fold import Fold, combine, identity
from mdh.lower.nest import Nest, last_part
from mdh.lower.scope import Scope


def finish(nest: Nest, f: int, state: tuple[Expr, ...], scope: Scope, position: int) -> list[Stmt]:
    """Outputs of fold f from its state at the close of the outermost region, which opened at `position`."""
    fold = nest.folds[f]
    if fold.op is None:
        return _write_map(nest, fold, state, scope, position)
    if fold.factor is not None:
        state = (Binary("*", nest.translate(fold.factor, scope), state[0], fold.types[0]),)
    if fold.finishing is not None:
        state = (substitute(nest.translate(fold.finishing, scope), {component(0): state[0]}),)
    outer = reduction_loops(nest, position)
    if f in nest.clustered:
        return _for_peers(nest, f, state, scope, outer)
    return across_grid(nest, f, state, scope, outer)


def across_grid(nest: Nest, f: int, state: tuple[Expr, ...], scope: Scope, outer: list[Level]) -> list[Stmt]:
    """Outputs from the state of a block, or of a cluster: alone, or one of the parts that the grid holds."""
    fold = nest.folds[f]
    if f in nest.partials:
        bufs = tuple(nest.dm_buf(n) for n in nest.partials[f])
        index = (part_index(nest, f, scope), *nest.indices(fold.outputs[0].index, scope))
        return _written(nest, fold, bufs, index, state, scope, outer)
    if Combine.ATOMIC in nest.plan.combines[f] and grid_reduction_levels(nest, f):
        assert fold.op is not None
        name, value = fold.op.name, state[0]
        places = [(nest.buffers[o.buffer], nest.indices(o.index, scope)) for o in fold.outputs]
        return [Atomic(name, b.name, index, cast(value, b.dtype)) for b, index in places]
    return _carry(nest, f, state, scope, outer) if outer else finish_total(nest, f, state, scope)


def finish_total(nest: Nest, f: int, state: tuple[Expr, ...], scope: Scope) -> list[Stmt]:
    """The starting value enters, the epilogues run, the outputs are stored."""
    out: list[Stmt] = []
    fold = nest.folds[f]
    total = _with_start(nest, fold, state, scope, out)
    stored = {o.buffer for o in fold.outputs}
    if len(fold.outputs) > 1 and any(x.buffer in stored for e in total for x in loads(e)):
        # A start that is loaded from one output is gone when that output has been stored.
        total = bind(nest, "total", total, out)
    return [*out, *outputs(nest, fold, total, scope)]


def reduction_loops(nest: Nest, position: int) -> list[Level]:
    """Sequential loops over reduction dims that enclose item `position`."""
    return [
        it
        for it in nest.items[:position]
        if isinstance(it, Level) and nest.stage.dims[it.dim].kind is not DimKind.CC
    ]


def outputs(nest: Nest, fold: Fold, total: tuple[Expr, ...], scope: Scope) -> list[Stmt]:
    """Epilogues of the finished state, stored."""
    out: list[Stmt] = []
    if any(not isinstance(o.value, Var) for o in fold.outputs):
        total = _narrowed(nest, total, out)
    components = {component(k): total[c] for k, c in enumerate(fold.components)}
    for o in fold.outputs:
        value = substitute(nest.translate(o.value, scope), components)
        out.append(_output(nest, o, cast(value, nest.buffers[o.buffer].dtype), scope))
    return out


def _output(nest: Nest, o: Output, value: Expr, scope: Scope) -> Store:
    return stored(nest, Store(o.buffer, nest.indices(o.index, scope), value))


def _narrowed(nest: Nest, total: tuple[Expr, ...], out: list[Stmt]) -> tuple[Expr, ...]:
    """States with names of their type: what C adds of integers narrower than int is an int."""

    def narrow(e: Expr) -> bool:
        return isinstance(e, Binary) and not e.dtype.is_float and e.dtype.bits < I32.bits

    return tuple(bind(nest, "total", (e,), out)[0] if narrow(e) else e for e in total)


def _write_map(nest: Nest, fold: Fold, state: tuple[Expr, ...], scope: Scope, position: int) -> list[Stmt]:
    """A map: at the leaf the epilogue is applied here; a region already holds finished values."""
    if position == len(nest.items):
        return outputs(nest, fold, state, scope)
    return [_output(nest, o, v, scope) for o, v in zip(fold.outputs, state, strict=True)]


def _with_start(
    nest: Nest, fold: Fold, state: tuple[Expr, ...], scope: Scope, out: list[Stmt]
) -> tuple[Expr, ...]:
    """The state with what it starts from; an identity start changes nothing and is left out."""
    if fold.ordered or fold.starts[0] is None or (not fold.record and _neutral(fold)):
        return state
    start = tuple(
        cast(nest.translate(s, scope), t) if s is not None else Const(0, t)
        for s, t in zip(fold.starts, fold.types, strict=True)
    )
    if fold.op is not None and fold.op.name in ("+", "*", "&", "|", "^"):
        return combine(fold, start, state)
    return combine(fold, bind(nest, "start", start, out), bind(nest, "part", state, out))


def _neutral(fold: Fold) -> bool:
    start, unit = fold.starts[0], identity(fold)[0]
    return isinstance(start, Const) and start.value == unit.value


def bind(nest: Nest, stem: str, state: tuple[Expr, ...], out: list[Stmt]) -> tuple[Expr, ...]:
    """Names for a state that is used more than once."""
    return tuple(e if isinstance(e, Var | Const) else named(nest, stem, e, out) for e in state)


def named(nest: Nest, stem: str, value: Expr, out: list[Stmt]) -> Var:
    """A definition, for a value that is used more than once, or that all threads must compute together."""
    name = nest.fresh(stem)
    out.append(Let(name, value, value.dtype))
    return Var(name, value.dtype)


def store_state(
    nest: Nest, fold: Fold, bufs: Sequence[Buf], index: tuple[Expr, ...], state: tuple[Expr, ...]
) -> list[Stmt]:
    """bufs[index] = combine(bufs[index], state)."""
    out: list[Stmt] = []
    earlier: tuple[Expr, ...] = load_each(bufs, index)
    if fold.selects:
        earlier, state = bind(nest, "held", earlier, out), bind(nest, "part", state, out)
    new = combine(fold, earlier, state)
    out.extend(store_each(bufs, index, new))
    return out


def _for_peers(nest: Nest, f: int, state: tuple[Expr, ...], scope: Scope, outer: list[Level]) -> list[Stmt]:
    """The block's partial result in its shared memory, for the block of the cluster that combines them."""
    bufs = cluster_buffers(nest, f)
    nest.declarations.synchronise(bufs)
    own = tuple(scope.value(lv.var) for lv in own_levels(nest))
    return _written(nest, nest.folds[f], bufs, own or (ZERO,), state, scope, outer)


def _written(
    nest: Nest, fold: Fold, bufs: tuple[Buf, ...], index: tuple[Expr, ...], state: tuple[Expr, ...],
    scope: Scope, outer: list[Level],
) -> list[Stmt]:  # fmt: skip
    """bufs[index] takes the state: the first time it is stored, in later turns of `outer` loops it joins."""
    first: list[Stmt] = store_each(bufs, index, state)
    if not outer:
        return first
    again = store_state(nest, fold, bufs, index, state)
    return [If(_all_at(outer, scope, last=False), tuple(first), tuple(again))]


def cluster_buffers(nest: Nest, f: int) -> tuple[Buf, ...]:
    """One SM buffer a state component, indexed by the block's own levels over cc dims."""
    shape = tuple(lv.parts for lv in own_levels(nest)) or (1,)
    strides = row_major(shape)
    stem = f"cluster_{nest.folds[f].outputs[0].buffer}"
    return tuple(
        nest.declare(Buf(f"{stem}{c or ''}", Space.SM, t, shape, strides, align=16))
        for c, t in enumerate(nest.folds[f].types)
    )


def own_levels(nest: Nest) -> list[Level]:
    """Levels inside a block over cc dims: each combination is one element of the block's output."""
    return [
        lv
        for lv in nest.levels.all
        if lv.layer not in (Layer.BLK, Layer.CLU) and nest.stage.dims[lv.dim].kind is DimKind.CC
    ]


def own_elements(nest: Nest) -> tuple[Dealt, Scope]:
    """The elements of the block's output, dealt to its threads, and the scope at one of them."""
    own = own_levels(nest)
    dealt = deal(nest, [lv.parts for lv in own] or [1], "own")
    return dealt, Scope(values={lv.var: c for lv, c in zip(own, dealt.coordinates, strict=False)})


def part_index(nest: Nest, f: int, scope: Scope) -> Expr:
    """Number of this block's part among those that split fold f's reduction: mixed radix over grid levels."""
    levels = grid_reduction_levels(nest, f)
    return number((scope.value(lv.var), lv.parts) for lv in levels)


def grid_reduction_levels(nest: Nest, f: int) -> list[Level]:
    """Levels whose parts of fold f's reduction meet across the grid: where clusters combine, theirs alone."""
    return [lv for lv in block_reduction_levels(nest) if lv.layer == Layer.CLU or f not in nest.clustered]


def block_reduction_levels(nest: Nest) -> list[Level]:
    return nest.grid_levels(DimKind.PW, DimKind.PS)


def _carry(nest: Nest, f: int, state: tuple[Expr, ...], scope: Scope, outer: list[Level]) -> list[Stmt]:
    """Between outer reduction loops: the first merge takes the start, the last one runs the epilogue."""
    fold = nest.folds[f]
    index = nest.indices(fold.outputs[0].index, scope)
    names = nest.carried.get(f)
    bufs = [nest.dm_buf(n) for n in names or (fold.outputs[0].buffer,)]
    first: list[Stmt] = []
    total = _with_start(nest, fold, state, scope, first)
    first += store_each(bufs, index, [cast(e, b.dtype) for b, e in zip(bufs, total, strict=True)])
    again = store_state(nest, fold, bufs, index, state)
    if not names:
        first, again = (
            [stored(nest, s) if isinstance(s, Store) else s for s in part] for part in (first, again)
        )
    out = first
    if not fold.ordered:
        out = [If(_all_at(outer, scope, last=False), tuple(first), tuple(again))]
    if names or not _plain(fold):
        held = load_each(bufs, index)
        out.append(If(_all_at(outer, scope, last=True), tuple(outputs(nest, fold, held, scope))))
    return out


def begin(nest: Nest, f: int, name: str, at: tuple[Expr, ...], scope: Scope, position: int) -> list[Stmt]:
    """name[at] takes what an ordered reduction goes on from: its start, or what outer loops have left."""
    fold = nest.folds[f]
    t = fold.types[0]
    start = fold.starts[0]
    first = Store(name, at, identity(fold)[0] if start is None else cast(nest.translate(start, scope), t))
    outer = reduction_loops(nest, position)
    if not outer:
        return [] if start is None else [first]  # regions open at the identity
    held = nest.buffers[nest.carried[f][0] if f in nest.carried else fold.outputs[0].buffer]
    known = Load(held.name, nest.indices(fold.outputs[0].index, scope), held.dtype)
    return [If(_all_at(outer, scope, last=False), (first,), (Store(name, at, cast(known, t)),))]


def needs_carry(fold: Fold, buffers: Mapping[str, Buffer]) -> bool:
    """The outputs cannot hold the unfinished state: records, several outputs, another accumulator type."""
    other = buffers[fold.outputs[0].buffer].dtype != fold.types[0]
    return fold.record or len(fold.outputs) > 1 or other or not _plain(fold)


def _plain(fold: Fold) -> bool:
    return isinstance(fold.outputs[0].value, Var)


def _all_at(outer: list[Level], scope: Scope, *, last: bool) -> Expr:
    ends = [(lv, scope.ends.get(lv.var, last_part(lv)) if last else 0) for lv in outer]
    out = conjunction([equal(scope.value(lv.var), end) for lv, end in ends])
    assert out is not None
    return out


def cast(e: Expr, t: DType) -> Expr:
    return e if e.dtype == t else Cast(e, t)


def stored(nest: Nest, store: Store) -> Store:
    """The store of an output with what its entries say: `@cache(...)`, `@store(plain, vec=n)`."""
    entries = [h for step in nest.plan.steps for h in step.holdings if h.buffer == store.buffer]
    cache = next((h.cache for h in entries if h.cache != CacheHint.DEFAULT), CacheHint.DEFAULT)
    return replace(store, cache=cache, vec=stated_width(nest, store.buffer))


def stated_width(nest: Nest, buffer: str) -> int | None:
    """Elements an access of the output's stores, None where its entries leave it open."""
    entries = (h for step in nest.plan.steps for h in step.holdings if h.buffer == buffer)
    return next((h.vec for h in entries if h.vec is not None), None)
