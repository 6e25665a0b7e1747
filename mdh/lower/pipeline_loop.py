"""Pipelined staging: while one slot is computed on, the next parts are on their way.

`async` entries keep stages-1 parts in flight with cp.async; plain entries are prefetched one part ahead
through registers; entries in RM are loaded stages-1 parts ahead (lower/fragments.py). A slot's barriers stand
here, not in the barrier pass: one block barrier an iteration says both "the slot is filled" and "its last
readers are done".
"""

from collections.abc import Iterable
from dataclasses import replace
from math import prod

from mdh.hardware import Engine, Space, SyncScope
from mdh.ir.affine import Affine
from mdh.ir.construct import ZERO, add, less, loop, mod, num, scaled, shifted, when
from mdh.ir.dtype import F64, I32
from mdh.ir.expr import Const, Expr, Var
from mdh.ir.kernel import Alloc, Barrier, Buf, Comment, Commit, For, ForKind, If, Let, Move, Stmt, Wait
from mdh.ir.layout import Level
from mdh.ir.walk import trips
from mdh.lower.atoms import loads_ahead
from mdh.lower.copies import copy_shape, emit_copy, plan_copies
from mdh.lower.deal import Dealt, deal
from mdh.lower.fragments import PipelinedLoop, Slot, first_fragments, next_fragments, stated, turns
from mdh.lower.nest import Emit, Nest
from mdh.lower.scope import Instance, Key, NextFragments, Scope
from mdh.lower.staged_copy import StagedCopy, addresses, in_bounds

MOST_PREFETCHED = 64
"""Elements a thread may hold in registers for the next part; beyond that it copies without them."""
MANY_PREFETCHED = 32
"""Elements beside which there is no room for an address of each."""
SPARE_ROUNDS = 0.125
"""Share of rounds more that are worth it where each then is at one distance from the one before."""


def pipelined_at(nest: Nest, position: int) -> int | None:
    """The number of the step that begins at the item, if its copies can be on their way while what was copied
    before is computed on."""
    item = nest.items[position] if position < len(nest.items) else None
    if not isinstance(item, int) or nest.role is not None:
        return None
    step = nest.plan.steps[item]
    ahead = any(s.region == Space.RM or not nest.cpu for s in step.stagings)
    return item if step.stages > 1 and ahead else None


def emit_pipelined(
    nest: Nest, level: Level, trips: Expr | int, number: int, point: Scope, emit: Emit
) -> list[Stmt]:
    """The loop over `level` in which copies of the step with this number fill the step's slots.

    point: at the item of the step. emit: makes what stands below it.
    """
    step = nest.plan.steps[number]
    pipeline = PipelinedLoop(nest, level, ZERO, trips, step.stages, step.unroll, point)
    copies = plan_copies(nest, number, point, pipelined=True)
    shared = [c for c in copies if c.dst.buf.space is Space.SM]
    ahead = [] if nest.cpu else shared
    nest.declarations.synchronise(c.dst.buf for c in ahead)
    flying = [c for c in ahead if c.staging.engine == Engine.ASYNC]
    plain = [c for c in ahead if c.staging.engine != Engine.ASYNC]
    fragments = [c for c in copies if c.dst.buf.space is Space.RM]
    copied = [c.staging.buffer for c in flying]
    registers = loads_ahead(nest, number, point, copied) if flying == copies else None
    if registers is not None:
        return _fragments_ahead(pipeline, flying, registers, emit)
    if not fragments:
        pipeline = pipeline.limited()
    out: list[Stmt] = [Comment(step.text, step.wrapped)] if step.text else []
    out.extend(_prologue(pipeline, flying, plain))
    out.extend(first_fragments(pipeline, fragments))

    def turn(slot: Slot) -> list[Stmt]:
        body, store = _start_of_turn(pipeline, flying, plain)
        live = dict(point.live)
        if ahead:
            name = nest.fresh(f"slot_{level.var}")
            body.append(Let(name, mod(Var(level.var), step.stages)))
            live.update({c.key: c.into(Affine.var(name)).dst for c in ahead})
        elif shared:
            for c in shared:
                body.extend(emit_copy(nest, c, point))
                live[c.key] = c.dst
        body.extend(next_fragments(pipeline, fragments, slot))
        live.update({c.key: c.into(Affine.var(slot.name)).dst for c in fragments})
        body.extend(emit(nest, replace(point, live=live)))
        return [*body, *store]

    out.extend(turns(pipeline, turn, fragmented=bool(fragments)))
    if ahead:
        out.append(Barrier(SyncScope.BLOCK, "all slots are free again"))
    return out


def _fragments_ahead(
    pipeline: PipelinedLoop, flying: list[StagedCopy], registers: tuple[Buf, Buf], emit: Emit
) -> list[Stmt]:
    """The loop around atoms that load fragments of the next part of k, of the next turn's first part, too.
    All threads meet before they read the next slot. So all fragments of this turn have been loaded then, and
    in the next turn its slot is filled again."""
    nest, point, level, slots = pipeline.nest, pipeline.point, pipeline.level, pipeline.slots
    step = nest.plan.steps[level.step]
    meet = (Wait(slots - 2), Barrier(SyncScope.BLOCK, "the next slot is filled, and this one has been read"))

    def live(slot: Affine) -> dict[Key, Instance]:
        return {**point.live, **{c.key: c.into(slot).dst for c in flying}}

    first = NextFragments(registers, {}, first=True)
    out: list[Stmt] = [Comment(step.text, step.wrapped)] if step.text else []
    out += [*_prologue(pipeline, flying, []), *meet, *(Alloc(buf) for buf in registers)]
    out += emit(nest, replace(point, live=live(Affine()), ahead=first))
    later = add(pipeline.part, slots - 1)
    slot, following = (nest.fresh(f"{word}_{level.var}") for word in ("slot", "next"))
    let, *fill = _copies(pipeline, flying, later)
    more = less(later, pipeline.trips)
    pieces = tuple(If(more, (piece,)) for s in fill for piece in _pieces(s))
    ahead = NextFragments(registers, live(Affine.var(following)), (Commit(), *meet), pieces)
    body: list[Stmt] = [
        Let(slot, mod(pipeline.part, slots)),
        Let(following, mod(add(pipeline.part, 1), slots)),
        let,
        *emit(nest, replace(point, live=live(Affine.var(slot)), ahead=ahead)),
    ]
    out.append(loop(level.var, pipeline.trips, body, *stated(step.unroll)))
    return [*out, Barrier(SyncScope.BLOCK, "all slots are free again")]


def _pieces(s: Stmt) -> list[Stmt]:
    """The turns of an unrolled loop one by one."""
    if isinstance(s, For) and s.kind is ForKind.UNROLL and s.factor == 0 and (count := trips(s)):
        return [replace(s, start=num(n), stop=num(n + 1)) for n in range(count)]
    return [s]


def _start_of_turn(
    pipeline: PipelinedLoop, flying: list[StagedCopy], plain: list[StagedCopy]
) -> tuple[list[Stmt], list[Stmt]]:
    """(what stands before a turn's computation for its copies into SM, what stands behind it)."""
    body: list[Stmt] = []
    behind: list[Stmt] = []
    if flying:
        body.append(Wait(pipeline.slots - 2))
    if flying or plain:
        body.append(Barrier(SyncScope.BLOCK, "the slot is filled, and the one before it is free"))
    if flying:
        later = add(pipeline.part, pipeline.slots - 1)
        fill = _copies(pipeline, flying, later)
        ahead: list[Stmt] = [If(less(later, pipeline.trips), tuple(fill)), Commit()]
        product = pipeline.nest.product
        if product is not None and product.atom.left == F64:
            # ptxas moves no load of a fragment in front of a copy: tensor cores would wait for both. With
            # factors of other types, warps that hold more results have no registers for it
            behind += ahead
        else:
            body += ahead
    load, store = _prefetch(pipeline, plain, body)
    more = less(add(pipeline.part, 1), pipeline.trips)
    if load:
        body.append(If(more, tuple(load)))
    return body, [*behind, *([If(more, tuple(store))] if store else [])]


def _prologue(pipeline: PipelinedLoop, flying: list[StagedCopy], plain: list[StagedCopy]) -> list[Stmt]:
    out: list[Stmt] = []
    for part in range(pipeline.slots - 1):
        exists = _exists(pipeline, part)
        if flying and exists is not None:
            out.append(If(exists, tuple(_copies(pipeline, flying, pipeline.nth(part)))))
        if flying:
            out.append(Commit())
    first = _exists(pipeline, 0)
    assert first is not None
    out.extend(If(first, tuple(_copies(pipeline, [c], pipeline.start))) for c in plain)
    return out


def _exists(pipeline: PipelinedLoop, part: int) -> Expr | None:
    """The condition that the loop has `part` parts before another one, None where it surely has not."""
    if isinstance(pipeline.trips, int) and pipeline.start == ZERO:
        return Const(1, I32) if part < pipeline.trips else None
    return less(pipeline.nth(part), pipeline.trips)


def _copies(pipeline: PipelinedLoop, copies: list[StagedCopy], part: Expr) -> list[Stmt]:
    """Fill slot part mod slots with part number `part`."""
    n = pipeline.slots
    slot = num(int(part.value) % n) if isinstance(part, Const) else mod(part, n)
    name = pipeline.nest.fresh("fill")
    return [Let(name, slot), *pipeline.fill(copies, Affine.var(name), part)]


def _prefetch(
    pipeline: PipelinedLoop, plain: list[StagedCopy], body: list[Stmt]
) -> tuple[list[Stmt], list[Stmt]]:
    """(loads of the next part into registers, their stores into its slot); declares the registers."""
    nest = pipeline.nest
    load: list[Stmt] = []
    store: list[Stmt] = []
    part = add(pipeline.part, 1)
    at = pipeline.point.with_values({pipeline.level.var: part})
    shapes = [copy_shape(nest, c, at) for c in plain]
    count = sum(-(-prod(counts) // nest.threads) * max(sizes) for counts, *sizes in shapes)
    spare = SPARE_ROUNDS if count > MANY_PREFETCHED else 0.0
    for c, (counts, width, lanes) in zip(plain, shapes, strict=True):
        name = nest.fresh("fill")
        target = c.into(Affine.var(name))
        dealt = deal(nest, counts, f"c_{c.staging.buffer}", spare=spare)
        store.append(Let(name, mod(part, pipeline.slots)))
        together = max(width, lanes)
        size = dealt.rounds * together
        if size > MOST_PREFETCHED:
            store.extend(emit_copy(nest, target, at))
            continue
        held = Buf(nest.fresh(f"{c.staging.buffer}_next"), Space.RM, c.dst.buf.dtype, (size,), (1,), align=16)
        body.append(Alloc(held))
        coordinates = list(dealt.coordinates)
        if together > 1:
            coordinates[-1] = scaled(coordinates[-1], together)
        first = scaled(Var(dealt.counter), together) if dealt.rounds > 1 else ZERO
        gets = []
        for n in range(0, together, width):
            _, src = addresses(nest, target, [*coordinates[:-1], shifted(coordinates[-1], n)], at)
            pred, _ = in_bounds(nest, c, src, at)
            to = (shifted(first, n),)
            gets.append(Move(held.name, to, c.src.buf.name, src, width, Engine.PLAIN, c.staging.cache, pred))
        dst, _ = addresses(nest, target, coordinates, at)
        load.append(_rounds(dealt, gets))
        store.append(_rounds(dealt, _puts(c, dst, held, first, width, lanes)))
    return load, store


def _puts(c: StagedCopy, dst: tuple[Expr, ...], held: Buf, first: Expr, width: int, lanes: int) -> list[Move]:
    if lanes >= width:
        return [Move(c.dst.buf.name, dst, held.name, (first,), lanes)]
    return [
        Move(c.dst.buf.name, (*dst[:-1], shifted(dst[-1], i)), held.name, (shifted(first, i),))
        for i in range(width)
    ]


def _rounds(dealt: Dealt, body: Iterable[Stmt]) -> Stmt:
    """All rounds unrolled, as registers have no addresses."""
    inner = when(dealt.guard, (*dealt.lets, *body))
    return loop(dealt.counter, dealt.rounds, inner, ForKind.UNROLL)
