"""Atoms of warp groups (`wgmma`): their factors lie in shared memory, and they run on while the warps go on.

Requires what K170 to K173 check. As with the atoms of warps, the levels that split an atom say which elements
of the results each thread holds.
"""

from dataclasses import replace

from mdh.checker.group_factors import GroupFactor, group_factor
from mdh.hardware import Space
from mdh.ir.affine import Affine
from mdh.ir.construct import loop, when
from mdh.ir.dtype import I32
from mdh.ir.expr import Const, Expr, Load
from mdh.ir.kernel import Comment, ForKind, Stmt
from mdh.ir.matrix import GroupMma, MmaCommit, MmaFence, MmaWait, SharedMatrix
from mdh.ir.plan import Product
from mdh.ir.tile import BOX_LINE
from mdh.lower.boxes import inflight
from mdh.lower.nest import Nest
from mdh.lower.scope import Region, Scope, key_of


def emit_group_atoms(nest: Nest, scope: Scope) -> list[Stmt]:
    """All that a warp group computes inside the loops around its atoms."""
    s = nest.plan.atoms
    assert s is not None
    step = nest.plan.steps[s]
    product = step.product
    assert product is not None
    body: list[Stmt] = [_multiply(nest, product, s, scope)]
    for dim in (product.n, product.m, product.k):
        level = next((lv for lv in nest.levels.by_dim[dim] if lv.step == s), None)
        if level is not None:
            body = [loop(level.var, level.parts, body, ForKind.UNROLL)]
    others = [g for g in nest.guards(scope) if g.dim not in (product.m, product.n, product.k)]
    cond = nest.condition(others, scope)
    out: list[Stmt] = [Comment(step.text, step.wrapped)] if step.text else []
    # without atoms the turn's group is empty: those that still run are of the turns before
    return [*out, *when(cond, [_fence(nest, product, s), *body]), MmaCommit(), MmaWait(inflight(nest))]


def _fence(nest: Nest, product: Product, s: int) -> MmaFence:
    """An atom waits for its own registers. Those of further atoms must be settled before the first one, or
    ptxas lets atoms run one after another (C7519) or adds waits (C7517)."""
    several = any(lv.step == s for dim in (product.m, product.n) for lv in nest.levels.by_dim[dim])
    region = next(r for r in reversed(nest.regions) if r.fold == 0)
    return MmaFence(region.bufs[0].name if several else None)


def _multiply(nest: Nest, product: Product, s: int, scope: Scope) -> GroupMma:
    region = next(r for r in reversed(nest.regions) if r.fold == 0)
    inner: dict[str, Expr] = {lv.var: Const(0, I32) for lv in nest.levels.all if lv.step > s}
    buf = region.bufs[0]
    acc = Load(buf.name, region.index(inner), buf.dtype)
    row, column = (_distance(nest, region, dim, s) for dim in (product.m, product.n))
    left = _factor(nest, product, product.left, product.m, s, scope)
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
