"""Binding units to hardware: the launch shape, and every core level's variable from block and thread ids.

Linear thread id, x fastest: lanes of a warp, warps, warp groups. A block without WRP, WGP and roles has
its own shape, if its threads have no more axes than it. Otherwise it is one-dimensional, and coordinates are
digits of the linear id.
"""

from math import prod

from mdh.hardware import BLOCKED, GRID_AXES, BlockOrder, Layer
from mdh.ir.construct import ZERO, add, digit, div, mod, mul, num, scaled
from mdh.ir.dtype import I32
from mdh.ir.expr import Call, Expr, Var
from mdh.ir.intrinsic import Intrinsic
from mdh.ir.kernel import For, Launch, Let, Stmt
from mdh.ir.layout import Level
from mdh.lower.grid_order import tile_of
from mdh.lower.look_back import draw_ticket
from mdh.lower.nest import Nest, all_parts
from mdh.lower.scope import Role
from mdh.lower.stream import shared_tiles
from mdh.lower.threads import thread_stride

Count = Expr | int
"""A number of blocks, of the open sizes where they give it."""


def launch_of(nest: Nest) -> Launch:
    """Grid, block and cluster shape of a nest."""
    plan = nest.plan
    sizes = tuple((s.name, s.least, s.most) for s in nest.program.opens)
    sizes += tuple((name, 0, count - 1) for name, count in nest.program.turns.items())
    # kernels that add parts are no stage of the program, and know less
    numbers = [n for n, s in enumerate(nest.program.stages) if s.name == nest.stage.name]
    where = tuple(f for x in nest.program.loops for n in numbers if x.first <= n <= x.last for f in x.where)
    clusters = tuple(plan.axis_parts(Layer.CLU, a) for a in range(3))
    blocks = tuple(plan.axis_parts(Layer.BLK, a) for a in range(3))
    grid = (clusters[0] * blocks[0], clusters[1] * blocks[1], clusters[2] * blocks[2])
    cluster = (blocks[0], blocks[1], blocks[2]) if plan.clustered else (1, 1, 1)
    if plan.clustered and _in_line(nest):
        # clusters in one line, the blocks of each after one another
        size, count = prod(blocks), prod(clusters)
        slots = nest.machine.clusters(size) * max(1, plan.grid.occupancy)
        count = min(count, slots) if plan.grid.persistent else count
        return Launch(
            (count * size, 1, 1), _block(nest), (size, 1, 1), _least_blocks(nest), sizes=sizes, where=where
        )
    x, y, z = counts = tuple(_blocks(nest, a) for a in range(3))
    line: Count = _product(x, y, z)
    if plan.grid.persistent:
        total = nest.stream.iterations if nest.stream else grid[0] * grid[1] * grid[2]
        slots = nest.machine.units * max(1, plan.grid.occupancy)
        grid = (min(total, slots), 1, 1)
        least = line if isinstance(line, int) else Call(Intrinsic.IMIN, (line, num(slots)), I32)
        counts = (least, 1, 1)
    elif nest.counter:
        grid = (grid[0] * grid[1] * grid[2], 1, 1)
        counts = (line, 1, 1)
    elif plan.grid.order != BlockOrder.ROWS:
        grid = (grid[0] * grid[1], 1, grid[2])
        counts = (_product(x, y), 1, z)
    open_counts = tuple(None if isinstance(n, int) else n for n in counts)
    return Launch(
        grid, _block(nest), cluster, _least_blocks(nest), sizes=sizes, where=where,
        counts=open_counts if any(open_counts) else (),
    )  # fmt: skip


def _blocks(nest: Nest, axis: int) -> Count:
    """Blocks of the grid along an axis, of the open sizes where they give it."""
    opened = (
        lv for lv in nest.levels.all if lv.open is not None and lv.layer is Layer.BLK and lv.axis == axis
    )
    found = next(opened, None)
    if found is not None:
        return all_parts(found)
    return nest.plan.axis_parts(Layer.CLU, axis) * nest.plan.axis_parts(Layer.BLK, axis)


def _product(*counts: Count) -> Count:
    known = prod(n for n in counts if isinstance(n, int))
    out: Count = known
    for n in (n for n in counts if not isinstance(n, int)):
        out = n if out == 1 else mul(n, out)
    return out


def _in_line(nest: Nest) -> bool:
    """The grid's tiles are taken from a line: their coordinates are not the grid's."""
    return nest.plan.grid.persistent or nest.plan.grid.order != BlockOrder.ROWS


def _least_blocks(nest: Nest) -> int:
    """As of Launch. Roles share out registers that the compiler must know: it gives each thread an equal part
    of a multiprocessor's only if it is told how many blocks that one runs."""
    roles = nest.plan.roles
    shared = roles is not None and roles.registers is not None
    return max(nest.plan.grid.occupancy, int(shared))


def _block(nest: Nest) -> tuple[int, int, int]:
    if nest.cpu:
        return (1, 1, 1)
    if nest.plan.roles is not None:
        return (nest.plan.block_threads, 1, 1)
    if _linear(nest):
        return (nest.threads, 1, 1)
    x, y, z = (nest.plan.axis_parts(Layer.THR, a) for a in range(3))
    return (x, y, z)


def _linear(nest: Nest) -> bool:
    """Whether the block is one-dimensional: threads that copy come after those that compute."""
    more = any(lv.axis >= GRID_AXES for lv in nest.thread_levels())
    grouped = any(nest.plan.units(layer) > 1 for layer in (Layer.WGP, Layer.WRP))
    return nest.plan.roles is not None or grouped or more


def bind_blocks(nest: Nest, body: list[Stmt]) -> list[Stmt]:
    """`body` below the definitions of the variables of blocks and clusters, and below the tile loop of
    @persistent."""
    plan = nest.plan
    if nest.counter:
        number = nest.fresh("tile")
        return [*draw_ticket(nest, number), *_tile_lets(nest, Var(number)), *body]
    if not plan.grid.persistent:
        return [*_block_lets(nest), *body]
    clustered = launch_of(nest).cluster[0] if plan.clustered else 1
    if clustered > 1:
        return [*_rank_lets(nest), *_clusters_in_turn(nest, clustered, body)]
    if nest.stream is not None:
        tile = nest.stream.tile
        return [shared_tiles(nest.stream, (*_tile_lets(nest, Var(tile)), *body))]
    total = _product(*(_blocks(nest, a) for a in range(3)))
    tile = nest.fresh("tile")
    inner = (*_tile_lets(nest, Var(tile)), *body)
    return [_in_turn(nest, tile, _block_id(0), total, launch_of(nest).grid[0], inner)]


def _in_turn(nest: Nest, tile: str, first: Expr, total: Count, count: int, body: tuple[Stmt, ...]) -> For:
    """The loop of @persistent: from `first` on, every `count`-th tile. A team leaves out those of others."""
    teams = nest.plan.teams if nest.role is Role.MATH else 1
    start = first if teams == 1 else add(first, scaled(nest.team, count))
    return For(tile, start, num(total), num(count * teams), body)


def _clusters_in_turn(nest: Nest, size: int, body: list[Stmt]) -> list[Stmt]:
    """The loop of @persistent over the tiles of clusters, which have `size` blocks."""
    tile = nest.fresh("tile")
    first, count = _cluster_number(size), launch_of(nest).grid[0] // size
    total = nest.plan.units(Layer.CLU)
    inner = (*_tile_lets(nest, Var(tile), layers=(Layer.CLU,)), *body)
    return [_in_turn(nest, tile, first, total, count, inner)]


def _cluster_number(size: int) -> Expr:
    return div(_block_id(0), size)


def _rank_lets(nest: Nest) -> list[Stmt]:
    """The coordinates of a block in its cluster, from its rank, x fastest."""
    plan = nest.plan
    parts = [plan.axis_parts(Layer.BLK, a) for a in range(3)]
    rank, size = mod(_block_id(0), prod(parts)), prod(parts)
    coordinates: list[Expr] = [digit(rank, prod(parts[:a]), parts[a], size) for a in range(3)]
    return _unit_lets(nest, coordinates, (Layer.BLK,))


def bind_threads(nest: Nest) -> list[Stmt]:
    """The definitions of the variables of threads."""
    if nest.cpu or nest.threads == 1:
        return []
    out: list[Stmt] = []
    linear = _linear(nest)
    x, y, z = _block(nest)
    tid = _thread(0)
    if not linear and (y > 1 or z > 1):
        tid = add(mul(_thread(1), x), tid)
        if z > 1:
            tid = add(mul(_thread(2), x * y), tid)
    out.append(Let(nest.tid, tid))
    if linear:
        return [*out, *thread_lets(nest)]
    return [*out, *(_coordinate(nest, lv, _thread(lv.axis)) for lv in nest.thread_levels())]


def thread_lets(nest: Nest) -> list[Stmt]:
    """The definitions of the variables of threads, as digits of the linear thread id."""
    if nest.threads == 1:
        return []
    out: list[Stmt] = []
    for lv in nest.thread_levels():
        stride = thread_stride(nest.plan, lv.layer, lv.axis)
        parts = nest.plan.axis_parts(lv.layer, lv.axis)
        unit = digit(Var(nest.tid), stride, parts, nest.threads * nest.plan.teams)
        out.append(_coordinate(nest, lv, unit))
    return out


def _coordinate(nest: Nest, lv: Level, unit: Expr) -> Let:
    """The level's variable: its unit's coordinate, or one digit of that where @cyclic cuts it."""
    parts = nest.plan.axis_parts(lv.layer, lv.axis)
    return Let(lv.var, digit(unit, lv.piece, lv.parts, parts), below=lv.parts)


def _thread(axis: int) -> Expr:
    return Call(Intrinsic.THREAD_ID, (num(axis),), I32)


def _block_id(axis: int) -> Expr:
    return Call(Intrinsic.BLOCK_ID, (num(axis),), I32)


def _block_lets(nest: Nest) -> list[Stmt]:
    if nest.plan.grid.order == BlockOrder.ROWS:
        return _unit_lets(nest, [_block_id(a) for a in range(3)])
    if nest.plan.clustered:
        size = launch_of(nest).cluster[0]
        return [*_rank_lets(nest), *_tile_lets(nest, _cluster_number(size), layers=(Layer.CLU,))]
    return _tile_lets(nest, _block_id(0), third=_block_id(2))


def _tile_lets(
    nest: Nest, tile: Expr, third: Expr | None = None, layers: tuple[Layer, ...] = BLOCKED
) -> list[Stmt]:
    """Coordinates of `layers` from a linear tile number, in the order the schedule asks for."""
    plan = nest.plan
    sizes: list[Count] = [prod(plan.axis_parts(layer, a) for layer in layers) for a in range(3)]
    if layers == BLOCKED:
        sizes = [_blocks(nest, a) for a in range(3)]
    lets: list[Stmt] = []
    if third is None:
        third = ZERO
        if sizes[2] != 1:
            of_plane = _product(sizes[0], sizes[1])
            third = div(tile, of_plane)
            plane = nest.fresh("plane")
            lets.append(Let(plane, mod(tile, of_plane)))
            tile = Var(plane)
    more, x, y = tile_of(plan.grid, sizes[0], sizes[1], tile, nest.fresh)
    lets.extend(more)
    return [*lets, *_unit_lets(nest, [x, y, third], layers)]


def _unit_lets(nest: Nest, coordinates: list[Expr], layers: tuple[Layer, ...] = BLOCKED) -> list[Stmt]:
    """The levels of `layers`, of which the coordinates are; of both, a cluster's come before its blocks'."""
    out: list[Stmt] = []
    plan = nest.plan
    for lv in (lv for lv in nest.levels.all if lv.layer in layers):
        e = coordinates[lv.axis]
        blocks, clusters = plan.axis_parts(Layer.BLK, lv.axis), plan.axis_parts(Layer.CLU, lv.axis)
        if layers == BLOCKED and blocks > 1 and clusters > 1:
            e = mod(e, blocks) if lv.layer is Layer.BLK else div(e, blocks)
        out.append(_coordinate(nest, lv, e))
    return out
