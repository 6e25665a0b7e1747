"""Atoms of warp groups (`wgmma`): their factors lie in shared memory, the first one perhaps in registers, and
they run on while the warps go on.

Requires what K170 to K173 check. As with the atoms of warps, the levels that split an atom say which elements
of the results each thread holds.
"""

from dataclasses import replace

from mdh.checker.group_factors import GroupFactor, group_factor
from mdh.hardware import Space
from mdh.ir.affine import Affine
from mdh.ir.atoms import GROUP_LANES
from mdh.ir.construct import ZERO, less, loop, mod, when
from mdh.ir.dtype import I32
from mdh.ir.expr import Const, Expr, Load, Var
from mdh.ir.kernel import Comment, ForKind, Let, Stmt
from mdh.ir.layout import Level
from mdh.ir.matrix import GroupMma, MmaCommit, MmaFence, MmaWait, SharedMatrix
from mdh.ir.plan import Product
from mdh.ir.tile import BOX_LINE
from mdh.lower.atoms import group_fragments
from mdh.lower.boxes import inflight
from mdh.lower.nest import Nest
from mdh.lower.promotion import after_turn, chunks, first_accumulator, take_over
from mdh.lower.scope import Region, Scope, key_of


def emit_group_atoms(nest: Nest, scope: Scope) -> list[Stmt]:
    """All that a warp group computes inside the loops around its atoms."""
    s = nest.plan.atoms
    assert s is not None
    step = nest.plan.steps[s]
    product = step.product
    assert product is not None
    region = next(r for r in reversed(nest.regions) if r.fold == 0)
    first, held = _fragments(nest, product, s, scope)
    atom = _multiply(nest, product, region, s, scope, held)
    others = [g for g in nest.guards(scope) if g.dim not in (product.m, product.n, product.k)]
    cond = nest.condition(others, scope)
    out: list[Stmt] = [Comment(step.text, step.wrapped)] if step.text else []
    deep, fence = _level(nest, s, product.k), _fence(nest, product, region, s)
    for start, stop in chunks(step, 1 if deep is None else deep.parts):
        apart = step.promoted_turns == 1
        keep = (ZERO if deep is None else less(start, Var(deep.var))) if apart else None
        body = _through(nest, product, s, [replace(atom, keep=keep)])
        part = body if deep is None else [loop(deep.var, stop, body, ForKind.UNROLL, start=start)]
        if apart:
            ended = [MmaFence(), *part, MmaCommit(), MmaWait(0), *take_over(nest, region, s, clear=False)]
            out += when(cond, ended)
        else:
            # without atoms the turn's group is empty: those that still run are of the turns before
            out += [*when(cond, [*first, fence, *part]), MmaCommit(), MmaWait(inflight(nest))]
    return [*out, *after_turn(nest, region, s, scope)]


def _fence(nest: Nest, product: Product, region: Region, s: int) -> MmaFence:
    """An atom waits for its own registers. Those of further atoms must be settled before the first one, or
    ptxas lets atoms run one after another (C7519) or adds waits (C7517)."""
    several = _level(nest, s, product.m) or _level(nest, s, product.n)
    return MmaFence(first_accumulator(region).name if several else None)


def _fragments(nest: Nest, product: Product, s: int, scope: Scope) -> tuple[list[Stmt], tuple[Load, ...]]:
    """What loads A into registers, and those of an atom; nothing where atoms read it in shared memory."""
    if product.held is None:
        return [], ()
    lane = nest.fresh("lane")
    own = mod(Var(nest.tid), GROUP_LANES) if nest.threads > GROUP_LANES else Var(nest.tid)
    loads, registers = group_fragments(nest, product, s, lane, scope)
    return [Let(lane, own, below=GROUP_LANES), *loads], registers


def _through(nest: Nest, product: Product, s: int, body: list[Stmt]) -> list[Stmt]:
    """All atoms along m and n."""
    for dim in (product.n, product.m):
        level = _level(nest, s, dim)
        if level is not None:
            body = [loop(level.var, level.parts, body, ForKind.UNROLL)]
    return body


def _level(nest: Nest, step: int, dim: int) -> Level | None:
    return next((lv for lv in nest.levels.by_dim[dim] if lv.step == step), None)


def _multiply(
    nest: Nest, product: Product, region: Region, s: int, scope: Scope, held: tuple[Load, ...]
) -> GroupMma:
    inner: dict[str, Expr] = {lv.var: Const(0, I32) for lv in nest.levels.all if lv.step > s}
    buf = first_accumulator(region)
    acc = Load(buf.name, region.index(inner), buf.dtype)
    row, column = (_distance(nest, region, dim, s) for dim in (product.m, product.n))
    left = held or _factor(nest, product, product.left, product.m, s, scope)
    right = _factor(nest, product, product.right, product.n, s, scope)
    return GroupMma(product.atom, acc, row, column, left, right)


def _distance(nest: Nest, region: Region, dim: int, s: int) -> int:
    """From the register of an element to that of the thread's next one along m or n."""
    last = [lv.var for lv in nest.levels.by_dim[dim] if lv.step > s and lv.layer is None][-1]
    buf = region.bufs[0]
    found = [
        radix * stride
        for axis, stride in zip(region.axes, buf.strides, strict=True)
        for var, radix in axis
        if var == last
    ]
    return found[0]


def _factor(nest: Nest, product: Product, load: Load, own: int, s: int, scope: Scope) -> SharedMatrix:
    access = nest.access(load.index)
    assert access is not None
    instance = scope.live[key_of(load.buffer, access)]
    gone = {lv.var: Affine() for lv in nest.levels.all if lv.step > s}
    levels = replace(nest.levels, index=tuple(i.substitute(gone) for i in nest.levels.index))
    first = replace(nest, tiles=replace(nest.tiles, levels=levels)).at(instance, access, scope)
    copy = next(
        c
        for c in nest.tiles.copies
        if (c.tile.buffer, c.linear) == key_of(load.buffer, access) and c.tile.space is Space.SM
    )
    found = group_factor(product, own, copy, access, nest.levels, s)
    assert isinstance(found, GroupFactor)
    buf, size = instance.buf, load.dtype.bytes
    block = buf.strides[len(buf.shape) - len(instance.axes) - 1] * size if instance.span else BOX_LINE * 2
    return SharedMatrix(buf.name, first, buf.swizzle, BOX_LINE * buf.swizzle, block, found.along_k)
