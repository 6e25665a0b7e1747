"""`@combine(stream)`: the blocks of a grid share the iterations of all tiles evenly.

Source: Stream-K (Osama et al. 2023). The iterations of all tiles stand in a line, of which each block takes
an equal part. It may begin and end inside of a tile's loop. The block that begins a tile finishes it: it adds
the parts of the sum that the others have computed, in their order, and stores the results. Every other block
of the tile begins with its part, and writes it to a workspace before it does anything else.

A block awaits blocks that take later iterations. Blocks draw their numbers as they start, and the later a
block starts, the earlier are its iterations. So those that it awaits have started, and they do not wait
before they have written their parts.
"""

from dataclasses import replace

from mdh.decompose.stream import stream_level
from mdh.hardware import SyncScope
from mdh.ir.atoms import GROUP_LANES
from mdh.ir.construct import ZERO, add, at_least, div, equal, greater, less, loops, mod, mul, num, sub
from mdh.ir.dtype import I32
from mdh.ir.expr import Call, Const, Expr, Load, Select, Var
from mdh.ir.intrinsic import Intrinsic
from mdh.ir.kernel import Barrier, Fence, For, ForKind, If, Let, Stmt, Store, While
from mdh.ir.program import Buffer, DimKind
from mdh.lower.finish import store_state
from mdh.lower.fragments import stated
from mdh.lower.look_back import draw_ticket
from mdh.lower.nest import Nest
from mdh.lower.scope import Region, Stream


def with_stream(nest: Nest) -> tuple[Nest, tuple[Buffer, ...]]:
    """The nest of a plan with `@combine(stream)`, and its workspaces; those of integers begin as zeros."""
    level = stream_level(nest.stage, nest.tiles)
    assert level is not None
    iterations = level.parts
    for tile in nest.grid_levels(*DimKind):
        iterations *= tile.parts
    blocks = min(iterations, nest.machine.units * max(1, nest.plan.grid.occupancy))
    acc = nest.regions[0].bufs[0]
    counter, flags, parts = (
        nest.declarations.workspace(f"{nest.name}_{word}") for word in ("tickets", "flags", "parts")
    )
    bufs = (
        Buffer(counter, I32, (1,), temp=True),
        Buffer(flags, I32, (blocks, nest.threads // GROUP_LANES), temp=True),
        Buffer(parts, acc.dtype, (blocks, *acc.shape, nest.threads), temp=True),
    )
    words = (nest.fresh(word) for word in ("rank", "begin", "end", "tile", "first", "last"))
    stream = Stream(level, iterations, blocks, counter, flags, parts, *words)
    buffers = {**nest.buffers, **{b.name: b for b in bufs}}
    return replace(nest, buffers=buffers, stream=stream), bufs


def begin_stream(nest: Nest) -> list[Stmt]:
    """At the head of the kernel: the block's place in the line of iterations."""
    stream = nest.stream
    if stream is None:
        return []
    ticket = nest.fresh("number")
    each, more = divmod(stream.iterations, stream.blocks)
    rank, begin = Var(stream.rank), Var(stream.begin)
    start = add(mul(rank, each), Call(Intrinsic.IMIN, (rank, num(more)), I32))
    count = add(num(each), less(rank, more)) if more else num(each)
    return [
        *draw_ticket(replace(nest, counter=stream.counter), ticket),
        Let(stream.rank, sub(stream.blocks - 1, Var(ticket)), below=stream.blocks),
        Let(stream.begin, start if more else mul(rank, each)),
        Let(stream.end, add(begin, count)),
    ]


def shared_tiles(stream: Stream, body: tuple[Stmt, ...]) -> For:
    """The loop over the tiles of which a block has iterations."""
    tile, whole = Var(stream.tile), stream.level.parts
    begin, end = (sub(Var(name), mul(tile, whole)) for name in (stream.begin, stream.end))
    lets = (
        Let(stream.first, Call(Intrinsic.IMAX, (ZERO, begin), I32)),
        Let(stream.last, Call(Intrinsic.IMIN, (num(whole), end), I32)),
    )
    stop = div(add(Var(stream.end), whole - 1), whole)
    return For(stream.tile, div(Var(stream.begin), whole), stop, num(1), (*lets, *body))


def shared_loop(nest: Nest, stream: Stream, body: list[Stmt]) -> For:
    """The iterations of a tile that are the block's."""
    unroll = nest.plan.steps[stream.level.step].unroll
    kind, factor = stated(unroll) if unroll else (ForKind.SEQ, 0)
    return For(stream.level.var, Var(stream.first), Var(stream.last), num(1), tuple(body), kind, factor)


def finish_stream(nest: Nest, region: Region, finish: list[Stmt]) -> list[Stmt]:
    """Behind a tile's loop: the block hands its part of the sum on, or it finishes all parts."""
    stream = nest.stream
    if stream is None:
        return finish
    others = If(less(Var(stream.last), stream.level.parts), tuple(_meet(nest, stream, region)))
    begun = greater(Var(stream.first), 0)
    return [If(begun, tuple(_hand_on(nest, stream, region)), (others, *finish))]


def _hand_on(nest: Nest, stream: Stream, region: Region) -> list[Stmt]:
    acc = region.bufs[0]
    names = [nest.fresh("part") for _ in acc.shape]
    at = tuple(Var(name) for name in names)
    value = Load(acc.name, at, acc.dtype)
    store = Store(stream.parts, (Var(stream.rank), *at, Var(nest.tid)), value)
    flag = Store(stream.flags, (Var(stream.rank), _group(nest)), Const(1, I32))
    return [
        *loops(names, acc.shape, [store], ForKind.UNROLL),
        Fence(),
        Barrier(SyncScope.GROUP, "the warp group's part is written"),
        If(equal(mod(Var(nest.tid), GROUP_LANES), 0), (flag,)),
    ]


def _meet(nest: Nest, stream: Stream, region: Region) -> list[Stmt]:
    """The parts of all blocks up to the end of the tile, the earliest iterations first."""
    acc = region.bufs[0]
    names = [nest.fresh("part") for _ in acc.shape]
    at, other = tuple(Var(name) for name in names), nest.fresh("other")
    part = Load(stream.parts, (Var(other), *at, Var(nest.tid)), acc.dtype)
    joined = store_state(nest, nest.folds[region.fold], region.bufs, at, (part,))
    there = Load(stream.flags, (Var(other), _group(nest)), I32)
    body: list[Stmt] = [
        While(equal(there, 0), ()),
        Fence(),
        *loops(names, acc.shape, joined, ForKind.UNROLL),
    ]
    end = add(_rank_of(stream, sub(mul(add(Var(stream.tile), 1), stream.level.parts), 1)), 1)
    return [For(other, add(Var(stream.rank), 1), end, num(1), tuple(body))]


def _rank_of(stream: Stream, iteration: Expr) -> Expr:
    """Of the block that takes it: the first ones take one iteration more."""
    each, more = divmod(stream.iterations, stream.blocks)
    if more == 0:
        return div(iteration, each)
    longer = more * (each + 1)
    rest = add(div(sub(iteration, longer), each), more)
    return Select(at_least(iteration, longer), rest, div(iteration, each + 1), I32)


def _group(nest: Nest) -> Expr:
    return ZERO if nest.threads == GROUP_LANES else div(Var(nest.tid), GROUP_LANES)
