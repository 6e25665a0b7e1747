"""Stages that share a launch (`stage Q beside P`): the blocks of P, and then those of Q, in one kernel.

The blocks of all stages stand in one line: those of the first stage have the numbers 0, 1, …, and those of
the next one follow. A block runs the stage whose number it has, as if it were alone. All blocks have as many
threads as those of the stage that has the most. In blocks of other stages the further threads do nothing,
so these stages have no barriers (`checker.beside`). A block runs one stage, so the shared memory of all
stages lies in the same place (`ir.kernel.Alloc`).
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import reduce
from itertools import accumulate
from math import prod

from mdh.hardware import Space
from mdh.ir.construct import ZERO, add, div, less, mod, mul, num, sub
from mdh.ir.dtype import I32
from mdh.ir.expr import Call, Const, Expr, Var, map_children, walk
from mdh.ir.intrinsic import OF_WARP, Intrinsic
from mdh.ir.kernel import Alloc, Barrier, If, Kernel, Launch, Let, Stmt, Workspace
from mdh.ir.names import fresh
from mdh.ir.program import Program
from mdh.ir.walk import expressions, map_expressions, rewritten, statements
from mdh.lower.one_kernel import arrays_of, own_names
from mdh.lower.stages import Built

WARP = 32


def beside(program: Program, members: Sequence[tuple[str, Built]], name: str) -> Built:
    """Joins the main kernels of several stages into one. The kernels that start their sums run before it, and
    those that combine the parts run after it. members: for each stage the name of its main kernel, and its
    kernels."""
    front, mine, behind = list[Kernel](), list[Kernel](), list[Kernel]()
    spaces = list[Workspace]()
    for own, built in members:
        at = next(n for n, k in enumerate(built.kernels) if k.name == own)
        front += built.kernels[:at]
        mine.append(built.kernels[at])
        behind += built.kernels[at + 1 :]
        spaces += built.workspaces
    return Built((*front, _joined(program, mine, name), *behind), tuple(spaces))


def _joined(program: Program, kernels: Sequence[Kernel], name: str) -> Kernel:
    assert all(prod(k.launch.cluster) == 1 and not k.maps for k in kernels), "the checker refuses these"
    launch, ends = _launch(kernels)
    buffers, constants = arrays_of(kernels)
    given = dict(s for k in kernels for s in k.scalars)
    scalars = tuple((s.name, given[s.name]) for s in program.numbers if s.name in given)
    names = {b.name for b in (*buffers, *constants)} | given.keys()
    bodies = [
        _placed(k, own_names(k, names, awaits=launch.early), launch, start, names)
        for k, start in zip(kernels, (ZERO, *ends), strict=False)
    ]
    body = bodies[-1]
    for end, own in zip(reversed(ends[:-1]), reversed(bodies[:-1]), strict=True):
        body = (If(less(_block(), end), own, body),)
    comment = "\n".join(k.comment for k in kernels if k.comment)
    return replace(
        kernels[0], name=name, buffers=buffers, constants=constants, scalars=scalars, launch=launch,
        body=body, comment=comment,
    )  # fmt: skip


def _launch(kernels: Sequence[Kernel]) -> tuple[Launch, list[Expr]]:
    """The launch of all, and the number behind the last block of each."""
    each = [k.launch for k in kernels]
    counts = list(map(_blocks, each))
    ends = list(accumulate(counts, _sum))
    shapes = {x.block for x in each}
    block = each[0].block if len(shapes) == 1 else (max(prod(x.block) for x in each), 1, 1)
    return Launch(
        (sum(prod(x.grid) for x in each), 1, 1), block,
        min_blocks=max(x.min_blocks for x in each),
        early=all(x.early for x in each),
        counts=() if isinstance(ends[-1], int) else (ends[-1], None, None),
        sizes=tuple(dict.fromkeys(s for x in each for s in x.sizes)),
        where=tuple(dict.fromkeys(f for x in each for f in x.where)),
    ), list(map(num, ends))  # fmt: skip


def _sum(a: Expr | int, b: Expr | int) -> Expr | int:
    return a + b if isinstance(a, int) and isinstance(b, int) else add(a, b)


def _blocks(launch: Launch) -> Expr | int:
    """The number of blocks of a launch, of the open sizes where they give it."""
    if not launch.counts:
        return prod(launch.grid)
    return reduce(mul, (launch.count(a) for a in range(3) if launch.grid[a] > 1))


def _placed(
    kernel: Kernel, body: tuple[Stmt, ...], launch: Launch, start: Expr, names: set[str]
) -> tuple[Stmt, ...]:
    """The body of a kernel whose blocks begin at number `start`, and whose threads are those of `launch`."""
    own, first = kernel.launch, list[Stmt]()
    block, thread = Var(fresh("block", names), I32), Var(fresh("thread", names), I32)
    number = _block() if start == ZERO else sub(_block(), start)
    threads, most = prod(own.block), prod(launch.block)

    def unit(call: Call) -> Expr:
        (axis,) = call.args
        assert isinstance(axis, Const)
        if call.fn == Intrinsic.BLOCK_ID:
            return _digit(block, [own.count(a) for a in range(3)], own.grid, int(axis.value))
        if own.block == launch.block:
            return call
        return _digit(thread, [num(n) for n in own.block], own.block, int(axis.value))

    body = rewritten(body, lambda s: map_expressions(s, lambda e: _with_units(e, unit)))
    named = {n.name for s in statements(body) for e in expressions(s) for n in walk(e) if isinstance(n, Var)}
    if block.name in named:
        first.append(Let(block.name, number, below=prod(own.grid)))
    if thread.name in named:
        body = (Let(thread.name, _thread(), below=threads), *body)
    if threads < most:
        _demand_apart(kernel, body, threads)
        body = (If(less(_thread(), threads), body),)
    return (*first, *body)


def _demand_apart(kernel: Kernel, body: tuple[Stmt, ...], threads: int) -> None:
    """Some threads of a block leave this body out: no others wait for them."""
    for s in statements(body):
        shared = isinstance(s, Alloc) and s.buf.space is Space.SM
        calls = {n.fn for e in expressions(s) for n in walk(e) if isinstance(n, Call)}
        warps = calls & OF_WARP and threads % WARP
        alone = not isinstance(s, Barrier) and not warps and not shared
        assert alone, f"{kernel.name}: its threads wait for one another"


def _with_units(e: Expr, unit: Callable[[Call], Expr]) -> Expr:
    """The expression with what `unit` gives for the coordinates of blocks and threads."""
    if isinstance(e, Call) and e.fn in (Intrinsic.BLOCK_ID, Intrinsic.THREAD_ID):
        return unit(e)
    return map_children(e, lambda x: _with_units(x, unit))


def _digit(number: Expr, counts: Sequence[Expr], most: Sequence[int], axis: int) -> Expr:
    """The coordinate on an axis of what has a number in a line, x fastest. most: units on each axis."""
    if most[axis] == 1:
        return ZERO
    out = number
    for count in (counts[a] for a in range(axis) if most[a] > 1):
        out = div(out, count)
    return mod(out, counts[axis]) if any(n > 1 for n in most[axis + 1 :]) else out


def _block() -> Expr:
    return Call(Intrinsic.BLOCK_ID, (ZERO,), I32)


def _thread() -> Expr:
    return Call(Intrinsic.THREAD_ID, (ZERO,), I32)
