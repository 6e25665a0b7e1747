"""Staging by the copy engine: one thread asks for boxes, and tokens say when they have landed.

A step whose inputs it copies has a ring of slots. A register counts the turns of the step, through all the
loops around it; turn t uses slot t mod n, for the (t / n)-th time. With roles, a warp group does nothing but
fill slots as soon as they are free, and the others await them. Else one thread of all fills slots ahead.
"""

from collections.abc import Iterable
from dataclasses import replace
from math import prod

from mdh.decompose.multicast import Sharing
from mdh.hardware import Engine, Layer, Space, SyncScope
from mdh.ir.affine import Affine
from mdh.ir.atoms import GROUP_LANES
from mdh.ir.construct import ZERO, add, conjunction, equal, less, loop, mod, num, number, scaled, when
from mdh.ir.copy_engine import Arrive, Await, BoxCopy, Expect, FetchMap, InitTokens, TensorMap, TokensReady
from mdh.ir.dtype import I32, TF32, U32, U64, DType
from mdh.ir.expr import Binary, Const, Expr, Load, Var
from mdh.ir.kernel import Alloc, Barrier, Buf, Comment, ForKind, If, Let, Stmt, Store
from mdh.ir.layout import Level
from mdh.ir.matrix import MmaWait
from mdh.ir.plan import PlanStep, Product
from mdh.lower.copies import plan_copies
from mdh.lower.declarations import TokenRing
from mdh.lower.fragments import stated
from mdh.lower.nest import Emit, Nest
from mdh.lower.scope import Key, Role, Scope, key_of
from mdh.lower.staged_copy import StagedCopy


def boxed(step: PlanStep) -> bool:
    """Whether the copy engine brings the step's inputs."""
    return any(s.engine is Engine.TMA for s in step.stagings)


# -- tokens ------------------------------------------------------------------------------------


def ring_of(nest: Nest, number: int) -> TokenRing:
    """The tokens of the step with this number."""
    rings = nest.declarations.rings
    if number not in rings:
        step = nest.plan.steps[number]
        words = ("filled",) if nest.plan.roles is None else ("filled", "free")
        tokens = [nest.declare(_tokens(word, number, step.stages)) for word in words]
        nest.declarations.synchronise(tokens)
        readers = nest.threads // GROUP_LANES if _by_groups(nest, step) else nest.threads
        readers *= _blocks(nest, step)
        free = tokens[1] if len(tokens) > 1 else None
        turn = nest.register("turn", U32)
        around = nest.items[: nest.items.index(number)]
        each = prod(it.parts for it in around if isinstance(it, Level))
        first = nest.fresh("first") if nest.plan.teams > 1 else ""
        rings[number] = TokenRing(tokens[0], free, turn, readers, each, first)
    return rings[number]


def _tokens(word: str, number: int, slots: int) -> Buf:
    return Buf(f"{word}_{number + 1}", Space.SM, U64, (slots,), (1,), align=8)


def _by_groups(nest: Nest, step: PlanStep) -> bool:
    """Whether only atoms of warp groups read what the step brings, in every turn: one thread of each then
    speaks for it. In a turn without atoms, or where threads read by themselves (an epilogue), a group's warps
    need not have come as far as this thread."""
    product = _group_product(nest)
    if product is None:
        return False
    if any(g.dim not in product.taken for g in nest.levels.guards):
        return False
    copies = (c for c in nest.tiles.copies if nest.plan.steps[c.step] is step)
    read = _factors(nest, product.left if product.held is None else product.right, product.right)
    return {(c.tile.buffer, c.linear) for c in copies} <= read


def _group_product(nest: Nest) -> Product | None:
    """What atoms of warp groups multiply."""
    s = nest.plan.atoms
    product = None if s is None else nest.plan.steps[s].product
    return product if product is not None and product.atom.grouped else None


def _factors(nest: Nest, *factors: Load) -> set[Key]:
    accesses = ((x.buffer, nest.access(x.index)) for x in factors)
    return {key_of(name, access) for name, access in accesses if access is not None}


def _type(nest: Nest, copy: StagedCopy) -> DType:
    """As which the copy engine reads an array. It rounds what atoms of warp groups, which would cut it off,
    read as tf32."""
    product = _group_product(nest)
    rounds = (
        product is not None
        and product.atom.left == TF32
        and copy.key in _factors(nest, product.left, product.right)
    )
    return TF32 if rounds else nest.buffers[copy.staging.buffer].dtype


def _blocks(nest: Nest, step: PlanStep) -> int:
    """Blocks whose readers must be done before a slot of this one is filled: where copies are shared, all of
    the cluster."""
    return nest.plan.units(Layer.BLK) if any(s.multicast for s in step.stagings) else 1


def shares(nest: Nest) -> bool:
    """Whether blocks of a cluster write to one another's slots."""
    return any(_blocks(nest, nest.plan.steps[n]) > 1 for n in nest.declarations.rings)


def token_end(nest: Nest) -> list[Stmt]:
    """At the end of the kernel."""
    return [Barrier(SyncScope.CLUSTER, "no block of the cluster needs this one")] if shares(nest) else []


def token_start(nest: Nest) -> list[Stmt]:
    """At the head of the kernel: all tokens begin, all turns are counted from 0, and tensor maps are on
    their way."""
    rings = list(nest.declarations.rings.values())
    if not rings:
        return []
    out: list[Stmt] = [Alloc(ring.turn, Const(0, U32)) for ring in rings]
    out += [Alloc(buf) for buf in nest.declarations.fragments.values()]
    first: list[Stmt] = [FetchMap(m.name) for m in nest.declarations.maps.values()]
    for ring in rings:
        first.append(InitTokens(ring.filled.name, 1))
        if ring.free is not None:
            first.append(InitTokens(ring.free.name, ring.readers))
    if nest.plan.teams > 1:
        first.append(InitTokens(nest.declarations.turns(nest.plan.teams).token.name, nest.threads))
    out += _one(nest, [*first, TokensReady()])
    scope = SyncScope.CLUSTER if shares(nest) else SyncScope.BLOCK
    return [*out, Barrier(scope, "the tokens are ready")]


def _one(nest: Nest, body: list[Stmt]) -> list[Stmt]:
    """What one thread does for its block."""
    return when(None if nest.threads == 1 else equal(Var(nest.tid), 0), body)


def _turn(ring: TokenRing, more: int = 0) -> Expr:
    """The number of a turn: of this one, or one that comes `more` turns later."""
    turn = Load(ring.turn.name, (), U32)
    return turn if more == 0 else _unsigned("+" if more > 0 else "-", turn, abs(more))


def _unsigned(op: str, e: Expr, n: int) -> Expr:
    return Binary(op, e, Const(n, U32), U32)


def _slot(ring: TokenRing, turn: Expr) -> Expr:
    return ZERO if ring.slots == 1 else _unsigned("%", turn, ring.slots)


def _parity(ring: TokenRing, turn: Expr, more: int = 0) -> Expr:
    rounds = turn if ring.slots == 1 else _unsigned("/", turn, ring.slots)
    return _unsigned("%", rounds if more == 0 else _unsigned("+", rounds, more), 2)


def _next(ring: TokenRing) -> Store:
    return Store(ring.turn.name, (), _turn(ring, 1))


# -- copies ------------------------------------------------------------------------------------


def _fill(nest: Nest, ring: TokenRing, copies: Iterable[StagedCopy], slot: str, scope: Scope) -> list[Stmt]:
    """One thread asks for all boxes of a slot. slot: the variable with its number."""
    copies = list(copies)
    where = (Var(slot),)
    total = sum(_bytes(copy) for copy in copies)
    out: list[Stmt] = [Expect(ring.filled.name, where, total)]
    for copy in copies:
        out += _boxes(nest, ring, copy, where, scope)
    return out


def _bytes(copy: StagedCopy) -> int:
    """The bytes of a copy that arrive in this block's slot, from this block and from others that share it."""
    assert copy.boxes is not None
    return len(copy.boxes.starts) * copy.boxes.elements * copy.dst.buf.dtype.bytes


def _boxes(nest: Nest, ring: TokenRing, copy: StagedCopy, slot: tuple[Expr, ...], scope: Scope) -> list[Stmt]:
    """The boxes that this block asks for: all of them, or its part of what it shares with others."""
    sharing, dst = copy.sharing, copy.dst
    boxes = copy.boxes if sharing is None else sharing.boxes
    assert boxes is not None
    array = nest.buffers[copy.staging.buffer]
    paces = tuple(axis.pace or 1 for axis in dst.axes)
    steps = paces if max(paces) > 1 else ()
    seen = _type(nest, copy)
    said = TensorMap("", array.name, seen, array.shape, boxes.shape, dst.buf.swizzle, steps=steps)
    name = nest.declarations.map_of(said).name
    mine = None if sharing is None else number((Var(lv.var), lv.parts) for lv in sharing.blocks)
    peers = None if sharing is None else _peers(nest, sharing)
    lead = slot if _slotted(copy) else ()
    out: list[Stmt] = []
    for start in boxes.starts:
        ahead = [n * pace for n, pace in zip(start, paces, strict=True)]
        first = [nest.expr(axis.low.shift(n), scope) for axis, n in zip(dst.axes, ahead, strict=True)]
        place: list[Expr] = [num(n) for n in start]
        block: Expr = num(start[-1] // dst.span) if dst.span else ZERO
        if sharing is not None and mine is not None:
            first[sharing.axis] = add(first[sharing.axis], scaled(mine, sharing.length))
            if dst.span and sharing.axis == len(place) - 1:
                block = add(scaled(mine, sharing.length // dst.span), block)
            else:
                place[sharing.axis] = add(scaled(mine, sharing.length), place[sharing.axis])
        where = (*lead, block, *place[:-1], ZERO) if dst.span else (*lead, *place)
        out.append(BoxCopy(name, tuple(first), dst.buf.name, where, ring.filled.name, slot, peers))
    return out


def _peers(nest: Nest, sharing: Sharing) -> Expr:
    """The mask of the ranks in the cluster of all blocks that share with this one, x fastest."""
    sizes = [nest.plan.axis_parts(Layer.BLK, a) for a in range(3)]
    stride = [1, sizes[0], sizes[0] * sizes[1]]
    ranks = [0]
    for level in sharing.blocks:
        ranks = [r + n * stride[level.axis] for r in ranks for n in range(level.parts)]
    own = [lv for lv in nest.levels.all if lv.layer is Layer.BLK and lv not in sharing.blocks]
    mask: Expr = num(sum(1 << r for r in ranks))
    for level in own:
        mask = Binary("<<", mask, scaled(Var(level.var), stride[level.axis]), I32)
    return mask


def _live(copies: Iterable[StagedCopy], slot: str, scope: Scope) -> Scope:
    """Where the copies are read from the slot."""
    held = {c.key: (c.into(Affine.var(slot)) if _slotted(c) else c).dst for c in copies}
    return replace(scope, live={**scope.live, **held})


def _slotted(copy: StagedCopy) -> bool:
    return len(copy.dst.buf.shape) > len(copy.dst.axes) + bool(copy.dst.span)


# -- a step ------------------------------------------------------------------------------------


def emit_boxed(nest: Nest, number: int, scope: Scope, emit: Emit) -> list[Stmt]:
    """A turn of the step with this number, and what follows it (`emit`, at the step's own scope)."""
    step, ring = nest.plan.steps[number], ring_of(nest, number)
    copies = plan_copies(nest, number, scope, pipelined=True)
    nest.declarations.synchronise(c.dst.buf for c in copies)
    slot = nest.fresh("slot")
    inner = emit(nest, _live(copies, slot, scope))
    out: list[Stmt] = [Comment(step.text, step.wrapped)] if step.text else []
    out.append(Let(slot, _slot(ring, _turn(ring)), below=ring.slots))
    where, turn = (Var(slot),), _turn(ring)
    match nest.role:
        case Role.LOAD:
            assert ring.free is not None
            out.append(Await(ring.free.name, where, _parity(ring, turn, 1)))
            out += [*_fill(nest, ring, copies, slot, scope), *inner, _next(ring)]
        case Role.MATH:
            out += [Await(ring.filled.name, where, _parity(ring, turn)), *inner]
            out += [*_release(nest, number, scope), _next(ring)]
        case None:
            out.append(Barrier(SyncScope.BLOCK, "the slot is free"))
            out += _one(nest, _fill(nest, ring, copies, slot, scope))
            out += [Await(ring.filled.name, where, _parity(ring, turn)), *inner, _next(ring)]
    return out


def _release(nest: Nest, s: int, scope: Scope) -> list[Stmt]:
    """At the end of a turn of the step with this number: a slot is free again. It is this turn's, or where
    atoms still read it, that of the turn before. The slots of a tile's last turns are the next tile's to
    release, if the same threads compute that."""
    ring, most, out = ring_of(nest, s), inflight(nest), list[Stmt]()
    if most and _inside(nest, s) is not None:
        return []
    late = most if most < ring.slots else 0
    if late < most:
        out.append(MmaWait(0))
    out += _free(nest, s, _turn(ring, -late), _begun(ring, late))
    for outer, around in nest.declarations.rings.items() if most else ():
        if _inside(nest, outer) == s:
            turns = ((nest.expr(Affine.var(lv.var), scope), lv.parts) for lv in _between(nest, outer, s))
            freed = _free(nest, outer, _turn(around, -1), _begun(around, 1))
            out += when(equal(number(turns), most - 1), freed)
    return out


def _begun(ring: TokenRing, late: int) -> Expr | None:
    """Whether there was a turn so many turns before."""
    if not late:
        return None
    least = _unsigned("+", Var(ring.first, U32), late) if ring.first else Const(late, U32)
    return Binary(">=", _turn(ring), least, I32)


def _inside(nest: Nest, s: int) -> int | None:
    """The step inside of this one whose turns release the slots of this one. The atoms of all earlier turns
    have ended when so many of its turns have begun as may be under way."""
    below = nest.items[nest.items.index(s) + 1 :]
    inner = [it for it in below if isinstance(it, int) and boxed(nest.plan.steps[it])]
    # of shared iterations, a block may begin at any of the inner turns
    if not inner or nest.plan.steps[s].stages == 1 or nest.stream is not None:
        return None
    turns = prod(lv.parts for lv in _between(nest, s, inner[-1]))
    return inner[-1] if turns >= inflight(nest) else None


def _between(nest: Nest, outer: int, inner: int) -> list[Level]:
    items = nest.items[nest.items.index(outer) : nest.items.index(inner)]
    return [it for it in items if isinstance(it, Level)]


def release_last(nest: Nest) -> list[Stmt]:
    """At the end of a tile, all atoms have ended: slots that its turns have not released are free."""
    out: list[Stmt] = []
    for n, ring in nest.declarations.rings.items():
        late = inflight(nest) if nest.plan.teams > 1 else 0
        if late and _inside(nest, n) is not None:
            late = 1
        for more in range(min(late, ring.each) if late < ring.slots else 0, 0, -1):
            out += _free(nest, n, _turn(ring, -more))
    return out


def _free(nest: Nest, number: int, turn: Expr, begun: Expr | None = None) -> list[Stmt]:
    """The slot of a turn of the step with this number is free again. begun: whether there was this turn."""
    step, ring = nest.plan.steps[number], nest.declarations.rings[number]
    assert ring.free is not None
    where = (_slot(ring, turn),)
    blocks, groups = _blocks(nest, step), _by_groups(nest, step)
    lane = mod(Var(nest.tid), GROUP_LANES)
    if groups:
        arrive = [Arrive(ring.free.name, where, None if blocks == 1 else lane)]
    else:
        ranks = [None] if blocks == 1 else [num(n) for n in range(blocks)]
        arrive = [Arrive(ring.free.name, where, rank) for rank in ranks]
    speaker = None if not groups else equal(lane, 0) if blocks == 1 else less(lane, blocks)
    return when(conjunction([speaker, begun]), arrive)


def inflight(nest: Nest) -> int:
    """Groups of atoms that may still run when a turn ends."""
    s = nest.plan.atoms
    step = None if s is None else nest.plan.steps[s]
    if step is None or step.product is None or not step.product.atom.grouped or nest.role is not Role.MATH:
        return 0
    if step.promoted_turns == 1:
        # all end where the second accumulator takes over
        return 0
    most = 1 if step.inflight is None else step.inflight
    return most if step.product.held is None else min(most, len(step.register_groups) - 1)


# -- a loop without roles --------------------------------------------------------------------


def emit_boxed_loop(
    nest: Nest, level: Level, trips: int, number: int, point: Scope, emit: Emit
) -> list[Stmt]:
    """The loop over `level`, in whose turns slots of the step with this number are filled ahead.

    point: at the item of the step. emit: makes what stands below it.
    """
    step, ring = nest.plan.steps[number], ring_of(nest, number)
    copies = plan_copies(nest, number, point, pipelined=True)
    nest.declarations.synchronise(c.dst.buf for c in copies)
    ahead, turn = ring.slots - 1, _turn(ring)
    out: list[Stmt] = [Comment(step.text, step.wrapped)] if step.text else []
    early: list[Stmt] = []
    for part in range(min(ahead, trips)):
        at = point.with_values({level.var: num(part)})
        early.append(If(Const(1, I32), tuple(_into(nest, ring, copies, _turn(ring, part), at))))
    out += _one(nest, early)
    later = point.with_values({level.var: add(Var(level.var), ahead)})
    more = less(add(Var(level.var), ahead), trips)
    refill = _into(nest, ring, copies, _turn(ring, ahead), later)
    slot = nest.fresh("slot")
    body: list[Stmt] = [
        Let(slot, _slot(ring, turn), below=ring.slots),
        Await(ring.filled.name, (Var(slot),), _parity(ring, turn)),
        Barrier(SyncScope.BLOCK, "the slot before it is free"),
        *when(more, _one(nest, refill)),
        *emit(nest, _live(copies, slot, point)),
        _next(ring),
    ]
    kind, factor = stated(step.unroll) if step.unroll else (ForKind.SEQ, 0)
    out.append(loop(level.var, trips, body, kind, factor))
    return [*out, Barrier(SyncScope.BLOCK, "all slots are free again")]


def _into(nest: Nest, ring: TokenRing, copies: Iterable[StagedCopy], turn: Expr, scope: Scope) -> list[Stmt]:
    name = nest.fresh("fill")
    return [Let(name, _slot(ring, turn), below=ring.slots), *_fill(nest, ring, copies, name, scope)]
