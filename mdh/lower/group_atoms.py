"""Atoms of warp groups (`wgmma`): their factors lie in shared memory, the first one perhaps in registers, and
they run on while the warps go on.

Requires what K170 to K173 check. As with the atoms of warps, the levels that split an atom say which elements
of the results each thread holds.
"""

from collections.abc import Callable
from dataclasses import replace
from math import prod

from mdh.checker.group_factors import GroupFactor, group_factor
from mdh.hardware import Space
from mdh.ir.atoms import GROUP_LANES
from mdh.ir.construct import ZERO, less, loop, mod, when
from mdh.ir.dtype import I32
from mdh.ir.expr import Const, Expr, Load, Var
from mdh.ir.kernel import Comment, ForKind, Let, Stmt
from mdh.ir.layout import Level
from mdh.ir.matrix import GroupMma, MmaCommit, MmaFence, MmaWait, SharedMatrix
from mdh.ir.plan import AtomDim, PlanStep, Product
from mdh.ir.tile import BOX_LINE
from mdh.lower.boxes import inflight
from mdh.lower.held_factor import HeldFactor, held_factor
from mdh.lower.nest import Nest
from mdh.lower.promotion import after_turn, chunks, first_accumulator, take_over
from mdh.lower.scope import Region, Scope, key_of

FEW = 16
"""The most turns of a loop that a compiler may unroll by itself."""


def emit_group_atoms(nest: Nest, scope: Scope) -> list[Stmt]:
    """All that a warp group computes inside the loops around its atoms."""
    s = nest.plan.atoms
    assert s is not None
    step = nest.plan.steps[s]
    product = step.product
    assert product is not None
    region = next(r for r in reversed(nest.regions) if r.fold == 0)
    held = None if product.held is None else held_factor(nest, product, s, scope)
    atom = _multiply(nest, product, region, s, scope, () if held is None else held.registers)
    others = [g for g in nest.guards(scope) if g.dim not in product.taken]
    cond = nest.condition(others, scope)
    out: list[Stmt] = [Comment(step.text, step.wrapped)] if step.text else []
    fence = _fence(nest, product, region, s)
    deep = [level for x in product.k if (level := _level(nest, s, x.dim)) is not None]

    def through(start: int, stop: int, keep: Expr | None = None) -> list[Stmt]:
        """The atoms of some parts of k, counted along its first dimension."""
        part = _through(nest, product, s, [replace(atom, keep=keep)])
        for level in reversed(deep[1:]):
            part = [loop(level.var, level.parts, part, ForKind.UNROLL)]
        return [loop(deep[0].var, stop, part, ForKind.UNROLL, start=start)] if deep else part

    if held is not None:
        out += _from_registers(nest, step, held, scope, cond, fence, through)
        return [*out, *after_turn(nest, region, s, scope)]
    for start, stop in chunks(step, deep[0].parts if deep else 1):
        if step.promoted_turns == 1:
            part = through(start, stop, less(start, Var(deep[0].var)) if deep else ZERO)
            ended = [MmaFence(), *part, MmaCommit(), MmaWait(0), *take_over(nest, region, s, clear=False)]
            out += when(cond, ended)
        else:
            # without atoms the turn's group is empty: those that still run are of the turns before
            out += [*when(cond, [fence, *through(start, stop)]), MmaCommit(), MmaWait(inflight(nest))]
    return [*out, *after_turn(nest, region, s, scope)]


def _from_registers(
    nest: Nest, step: PlanStep, held: HeldFactor, scope: Scope, cond: Expr | None, fence: MmaFence,
    through: Callable[[int, int], list[Stmt]],
) -> list[Stmt]:  # fmt: skip
    """The atoms of a turn, in groups. While one group runs, the registers of the next are loaded. The atoms
    that last read these are those of the same group in the turn before, which have ended by then."""
    lane = nest.fresh("lane")
    alone = nest.threads * nest.plan.teams == GROUP_LANES
    own = Var(nest.tid) if alone else mod(Var(nest.tid), GROUP_LANES)
    out: list[Stmt] = [Let(lane, own, below=GROUP_LANES)]
    groups, runs_on = step.register_groups, inflight(nest)
    for start, stop in groups:
        part = [*held.loaded(lane, scope, start, stop), fence, *through(start, stop)]
        ends = runs_on or (start, stop) == groups[-1]
        out += [*when(cond, part), MmaCommit(), *([MmaWait(runs_on)] if ends else [])]
        fence = MmaFence()
    return out


def _fence(nest: Nest, product: Product, region: Region, s: int) -> MmaFence:
    """An atom waits for its own registers. Those of further atoms must be settled before the first one, or
    ptxas lets atoms run one after another (C7519) or adds waits (C7517). A loop of many turns is entered with
    settled registers, if the compiler does not unroll it."""
    several = any(_level(nest, s, x.dim) is not None for x in (*product.m, *product.n))
    dims = {x.dim for x in product.k}
    loops = [lv for lv in nest.levels.all if lv.layer is None and lv.step < s and lv.dim in dims]
    unrolled = any(nest.plan.steps[lv.step].unroll is not None for lv in loops)
    few = unrolled or prod(lv.parts for lv in loops) <= FEW
    return MmaFence(first_accumulator(region).name if several and few else None)


def _through(nest: Nest, product: Product, s: int, body: list[Stmt]) -> list[Stmt]:
    """All atoms along m and n."""
    for x in (*reversed(product.n), *reversed(product.m)):
        level = _level(nest, s, x.dim)
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
    row, column = (_distance(nest, region, dims, s) for dims in (product.m, product.n))
    left = held or _factor(nest, product, product.left, product.m, s, scope)
    right = _factor(nest, product, product.right, product.n, s, scope)
    return GroupMma(product.atom, acc, row, column, left, right)


def _distance(nest: Nest, region: Region, dims: tuple[AtomDim, ...], s: int) -> int:
    """From the register of an element to that of the thread's next one along m or n."""
    inner = (lv for x in dims for lv in nest.levels.by_dim[x.dim] if lv.step > s and lv.layer is None)
    last = [lv.var for lv in inner][-1]
    buf = region.bufs[0]
    found = [
        radix * stride
        for axis, stride in zip(region.axes, buf.strides, strict=True)
        for var, radix in axis
        if var == last
    ]
    return found[0]


def _factor(
    nest: Nest, product: Product, load: Load, own: tuple[AtomDim, ...], s: int, scope: Scope
) -> SharedMatrix:
    access = nest.access(load.index)
    assert access is not None
    instance = scope.live[key_of(load.buffer, access)]
    gone = {lv.var: 0 for lv in nest.levels.all if lv.step > s}
    first = nest.at(instance, access, replace(scope, fixed={**scope.fixed, **gone}))
    copy = next(
        c
        for c in nest.tiles.copies
        if (c.tile.buffer, c.linear) == key_of(load.buffer, access) and c.tile.space is Space.SM
    )
    found = group_factor(product, own, copy, access, nest.levels, s)
    assert isinstance(found, GroupFactor)
    buf, size = instance.buf, load.dtype.bytes
    block = buf.strides[len(buf.shape) - len(instance.axes) - 1] * size if instance.span else BOX_LINE * 2
    return SharedMatrix(buf.name, first, buf.swizzle, found.group * buf.swizzle, block, found.along_k)
