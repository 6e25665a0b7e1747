"""Pipelined staging: while one slot is computed on, the next parts are on their way.

`async` entries keep stages-1 parts in flight with cp.async; plain entries are prefetched one part ahead
through registers; entries in RM are loaded stages-1 parts ahead (lower/fragments.py). A slot's barriers stand
here, not in the barrier pass: one block barrier an iteration says both "the slot is filled" and "its last
readers are done".
"""

from collections.abc import Callable
from dataclasses import replace
from math import prod

from mdh.hardware import Engine, Space, SyncScope
from mdh.ir.affine import Affine
from mdh.ir.dtype import I32
from mdh.ir.expr import Binary, Const, Expr, Var
from mdh.ir.kernel import Alloc, Barrier, Buf, Comment, Commit, For, ForKind, If, Let, Move, Stmt, Wait
from mdh.ir.layout import Level
from mdh.ir.plan import PlanStep
from mdh.lower.copies import Copy, addresses, copy_shape, emit_copy, in_bounds, moved, plan_copies
from mdh.lower.fragments import Slot, first_fragments, next_fragments, turns
from mdh.lower.nest import Nest, Scope
from mdh.lower.spread import deal

MOST_PREFETCHED = 64
"""Elements a thread may hold in registers for the next part; beyond that it copies without them."""
MANY_PREFETCHED = 32
"""Elements beside which there is no room for an address of each."""
SPARE_ROUNDS = 0.125
"""Share of rounds more that are worth it where each then is at one distance from the one before."""

Emit = Callable[[Nest, Scope], list[Stmt]]


def pipelines(nest: Nest, step: PlanStep) -> bool:
    """Whether the step copies anything that can be on its way while the step before it is computed on."""
    return any(s.region == Space.RM or not nest.cpu for s in step.stagings)


def emit_pipelined(
    nest: Nest, level: Level, trips: int, step: PlanStep, point: Scope, emit: Emit
) -> list[Stmt]:
    """The loop over `level` in which copies of `step` fill step.stages slots.

    point: at the item of the step. emit: makes what stands below it.
    """
    copies = plan_copies(nest, step, point, slots=step.stages)
    shared = [c for c in copies if c.dst.buf.space is Space.SM]
    ahead = [] if nest.cpu else shared
    nest.managed.update(c.dst.buf.name for c in ahead)
    flying = [c for c in ahead if c.staging.engine == Engine.ASYNC]
    plain = [c for c in ahead if c.staging.engine != Engine.ASYNC]
    fragments = [c for c in copies if c.dst.buf.space is Space.RM]
    n = step.stages
    out: list[Stmt] = [Comment(step.text, step.wrapped)] if step.text else []
    out.extend(_prologue(nest, level, trips, n, flying, plain, point))
    out.extend(first_fragments(nest, fragments, level, trips, n, point))

    def turn(slot: Slot) -> list[Stmt]:
        body, store = _start_of_turn(nest, level, trips, n, flying, plain, point)
        live = dict(point.live)
        if ahead:
            name = nest.fresh(f"slot_{level.var}")
            body.append(Let(name, Binary("%", Var(level.var), Const(n, I32), I32)))
            live.update({c.key: replace(c.dst, slot=Affine.var(name)) for c in ahead})
        elif shared:
            for c in shared:
                body.extend(emit_copy(nest, c, point))
                live[c.key] = c.dst
        body.extend(next_fragments(nest, fragments, level, trips, n, slot, point))
        live.update({c.key: replace(c.dst, slot=Affine.var(slot.name)) for c in fragments})
        body.extend(emit(nest, replace(point, live=live)))
        return [*body, *store]

    out.extend(turns(nest, level, trips, step, turn, fragmented=bool(fragments)))
    if ahead:
        out.append(Barrier(SyncScope.BLOCK, "all slots are free again"))
    return out


def _start_of_turn(
    nest: Nest, level: Level, trips: int, n: int, flying: list[Copy], plain: list[Copy], point: Scope
) -> tuple[list[Stmt], list[Stmt]]:
    """(what stands before a turn's computation for its copies into SM, what stands behind it)."""
    k = Var(level.var)
    body: list[Stmt] = []
    if flying:
        body.append(Wait(n - 2))
    if flying or plain:
        body.append(Barrier(SyncScope.BLOCK, "the slot is filled, and the one before it is free"))
    if flying:
        later = Binary("+", k, Const(n - 1, I32), I32)
        fill = _copies(nest, flying, level, later, n, point)
        body.append(If(Binary("<", later, Const(trips, I32), I32), tuple(fill)))
        body.append(Commit())
    load, store = _prefetch(nest, plain, level, n, point, body)
    more = Binary("<", Binary("+", k, Const(1, I32), I32), Const(trips, I32), I32)
    if load:
        body.append(If(more, tuple(load)))
    return body, [If(more, tuple(store))] if store else []


def _prologue(
    nest: Nest, level: Level, trips: int, n: int, flying: list[Copy], plain: list[Copy], scope: Scope
) -> list[Stmt]:
    out: list[Stmt] = []
    for part in range(n - 1):
        if flying and part < trips:
            out.append(If(Const(1, I32), tuple(_copies(nest, flying, level, Const(part, I32), n, scope))))
        if flying:
            out.append(Commit())
    for c in plain:
        out.append(If(Const(1, I32), tuple(_copies(nest, [c], level, Const(0, I32), n, scope))))
    return out


def _copies(nest: Nest, copies: list[Copy], level: Level, part: Expr, n: int, scope: Scope) -> list[Stmt]:
    """Fill slot part % n with part number `part`."""
    out: list[Stmt] = []
    slot: Expr = (
        Const(part.value % n, I32) if isinstance(part, Const) else Binary("%", part, Const(n, I32), I32)
    )
    name = nest.fresh("fill")
    out.append(Let(name, slot))
    at = replace(scope, values={**scope.values, level.var: part})
    for c in copies:
        dst = replace(c.dst, slot=Affine.var(name))
        out.extend(emit_copy(nest, replace(c, dst=dst), at))
    return out


def _prefetch(
    nest: Nest, plain: list[Copy], level: Level, n: int, scope: Scope, body: list[Stmt]
) -> tuple[list[Stmt], list[Stmt]]:
    """(loads of the next part into registers, their stores into its slot); declares the registers."""
    load: list[Stmt] = []
    store: list[Stmt] = []
    part = Binary("+", Var(level.var), Const(1, I32), I32)
    at = replace(scope, values={**scope.values, level.var: part})
    shapes = [copy_shape(nest, c, at) for c in plain]
    count = sum(-(-prod(counts) // nest.threads) * width for counts, width, _ in shapes)
    spare = SPARE_ROUNDS if count > MANY_PREFETCHED else 0.0
    for c, (counts, width, lanes) in zip(plain, shapes, strict=True):
        name = nest.fresh("fill")
        target = replace(c, dst=replace(c.dst, slot=Affine.var(name)))
        dealt = deal(nest, counts, f"c_{c.staging.buffer}", spare=spare)
        let = Let(name, Binary("%", part, Const(n, I32), I32))
        if dealt.rounds * width > MOST_PREFETCHED:
            store.extend((let, *emit_copy(nest, target, at)))
            continue
        held = Buf(
            nest.fresh(f"{c.staging.buffer}_next"),
            Space.RM,
            c.dst.buf.dtype,
            (dealt.rounds * width,),
            (1,),
            align=16,
        )
        body.append(Alloc(held))
        coordinates = list(dealt.coordinates)
        if width > 1:
            coordinates[-1] = _scaled(coordinates[-1], width)
        dst, src = addresses(nest, target, coordinates, at)
        pred = in_bounds(nest, c, src, at)
        first = _scaled(Var(dealt.counter), width) if dealt.rounds > 1 else Const(0, I32)
        get: tuple[Stmt, ...] = (
            *dealt.lets,
            Move(held.name, (first,), c.src.buf.name, src, width, Engine.PLAIN, c.staging.cache, pred),
        )
        put: tuple[Stmt, ...] = (*dealt.lets, *_puts(c, dst, held, first, width, lanes))
        if dealt.guard is not None:
            get, put = (If(dealt.guard, get),), (If(dealt.guard, put),)
        load.extend(_rounds(dealt.counter, dealt.rounds, get))
        store.extend((let, *_rounds(dealt.counter, dealt.rounds, put)))
    return load, store


def _puts(c: Copy, dst: tuple[Expr, ...], held: Buf, first: Expr, width: int, lanes: int) -> list[Stmt]:
    if lanes == width:
        return [Move(c.dst.buf.name, dst, held.name, (first,), width)]
    out: list[Stmt] = []
    for i in range(width):
        at = (*dst[:-1], moved(dst[-1], i))
        out.append(Move(c.dst.buf.name, at, held.name, (moved(first, i),)))
    return out


def _rounds(counter: str, rounds: int, body: tuple[Stmt, ...]) -> list[Stmt]:
    return [For(counter, Const(0, I32), Const(rounds, I32), Const(1, I32), body, ForKind.UNROLL)]


def _scaled(e: Expr, n: int) -> Expr:
    if isinstance(e, Const):
        return Const(int(e.value) * n, I32)
    return e if n == 1 else Binary("*", e, Const(n, I32), I32)
