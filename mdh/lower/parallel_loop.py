"""Loops whose iterations units share: the kernels of their stages become one, with the turns as loops in it.

All stages of such a loop give the same iterations to the same unit (`checker.parallel_loops`), and no
iteration depends on another one. So a unit goes through the turns by itself, and needs no barriers: it reads
only what it has written itself, or what nothing in the kernel writes.
"""

from collections.abc import Sequence
from dataclasses import replace

from mdh.ir.affine import to_expr
from mdh.ir.construct import ZERO, at_least, conjunction, num
from mdh.ir.kernel import For, If, Kernel, Stmt
from mdh.ir.parallel_loop import LoopPlan
from mdh.ir.plan import Plan
from mdh.ir.turns import Turns
from mdh.lower.one_kernel import arrays_of, own_names


def in_one_kernel(plan: Plan, loop: LoopPlan, name: str, kernels: Sequence[Sequence[Kernel]]) -> Kernel:
    """The kernel of all stages of a loop. kernels: those of each stage."""
    assert all(len(k) == 1 for k in kernels), "no units of a stage have parts to combine"
    each = [k for (k,) in kernels]
    first = each[0]
    assert all((k.launch.grid, k.launch.block) == (first.launch.grid, first.launch.block) for k in each)
    inside = inner_turns(plan.computed.loops, loop)
    counters = {x.var for x in inside}
    buffers, constants = arrays_of(each)
    used = {n for k in each for n, _ in k.scalars} | {n for x in inside for f in x.where for n in f.names}
    scalars = tuple((s.name, s.dtype) for s in plan.computed.numbers if s.name in used - counters)
    names = {b.name for b in (*buffers, *constants)} | {n for n, _ in scalars} | counters
    bodies = [own_names(k, names) for k in each]
    body = _in_turns(inside, bodies, 0, len(each) - 1)
    sizes = tuple(dict.fromkeys(s for k in each for s in k.launch.sizes if s[0] not in counters))
    where = tuple(dict.fromkeys(f for k in each for f in k.launch.where if not f.names & counters))
    launch = replace(first.launch, sizes=sizes, where=where, early=False)
    return replace(
        first, name=name, buffers=buffers, constants=constants, scalars=scalars, launch=launch,
        body=tuple(body),
    )  # fmt: skip


def inner_turns(loops: Sequence[Turns], loop: LoopPlan) -> tuple[Turns, ...]:
    """The turns that the units of a loop go through, around its stages as numbered from 0 on."""
    inside = (x for x in loops if x.var in loop.loop.turns)
    return tuple(replace(x, first=x.first - loop.first, last=x.last - loop.first) for x in inside)


def without_inner(loops: Sequence[Turns], loop: LoopPlan) -> tuple[Turns, ...]:
    """The other loops of the program, around stages of which those of the loop are one."""
    fewer = loop.last - loop.first

    def place(n: int) -> int:
        return n if n < loop.first else max(loop.first, n - fewer)

    outside = (x for x in loops if x.var not in loop.loop.turns)
    return tuple(replace(x, first=place(x.first), last=place(x.last)) for x in outside)


def _in_turns(
    loops: Sequence[Turns], bodies: Sequence[tuple[Stmt, ...]], first: int, last: int
) -> list[Stmt]:
    """Bodies number `first` to `last` in the loops around them, the outer ones first."""
    out: list[Stmt] = []
    k = first
    while k <= last:
        n = next((n for n, x in enumerate(loops) if x.first == k and x.last <= last), None)
        if n is None:
            out += bodies[k]
            k += 1
            continue
        x = loops[n]
        inner: Sequence[Stmt] = _in_turns(loops[n + 1 :], bodies, x.first, x.last)
        conds = [at_least(to_expr(f), 0) for f in x.where]
        cond = conjunction(conds)
        inner = inner if cond is None else [If(cond, tuple(inner))]
        out.append(For(x.var, ZERO, num(x.trips), num(1), tuple(inner)))
        k = x.last + 1
    return out
