"""The last block combines: each block draws a ticket after writing its partial results.

CUDA only: it needs a device-wide fence between a block's partial results and its ticket.
"""

from math import prod

from mdh.hardware import Combine, Space, SyncScope
from mdh.ir.construct import ZERO, equal, load_each, loop, number, when
from mdh.ir.dtype import I32
from mdh.ir.expr import Const, Load, Var
from mdh.ir.kernel import Alloc, Atomic, Barrier, Buf, Fence, If, Stmt, Store, Workspace
from mdh.ir.program import DimKind
from mdh.lower.deal import wrap
from mdh.lower.finish import block_reduction_levels, finish_total, own_elements, store_state
from mdh.lower.fold import identity
from mdh.lower.nest import Nest


def finish_by_ticket(nest: Nest) -> tuple[list[Stmt], tuple[Workspace, ...]]:
    """Statements after a kernel's body that let the last block of each group combine and finish."""
    chosen = [f for f in nest.partials if Combine.TICKET in nest.plan.combines[f]]
    if not chosen:
        return [], ()
    parts = prod(lv.parts for lv in block_reduction_levels(nest))
    groups = nest.grid_levels(DimKind.CC)
    count = prod(lv.parts for lv in groups)
    counter = Buf(
        nest.declarations.workspace(f"{nest.name}_tickets"), Space.DM, I32, (count,), (1,), align=16
    )
    last = nest.declare(Buf(f"last_{nest.name}", Space.SM, I32, (1,), (1,)))
    zero = (ZERO,)
    group = number((Var(lv.var), lv.parts) for lv in groups)
    ticket = nest.fresh("ticket")
    draw: list[Stmt] = [
        Atomic("+", counter.name, (group,), Const(1, I32), ticket),
        Store(last.name, zero, equal(Var(ticket), parts - 1)),
    ]
    body: list[Stmt] = [Fence()]
    for f in chosen:
        body.extend(_combine(nest, f, parts))
    first = equal(Var(nest.tid), 0) if nest.threads > 1 else None
    body.extend(when(first, [Store(counter.name, (group,), ZERO)]))
    out = [
        Fence(),
        Barrier(SyncScope.BLOCK, "the block's partial results are written"),
        *when(first, draw),
        Barrier(SyncScope.BLOCK, "every thread learns whether its block came last"),
        If(Load(last.name, zero, I32), tuple(body)),
    ]
    return out, (Workspace(counter, zero=True),)


def _combine(nest: Nest, f: int, parts: int) -> list[Stmt]:
    """The block's own outputs, dealt to its threads: each sums its parts in order and finishes them."""
    fold = nest.folds[f]
    dealt, scope = own_elements(nest)
    total = tuple(nest.register(f"total{c or ''}", t) for c, t in enumerate(fold.types))
    part = nest.fresh("part")
    index = (Var(part), *nest.indices(fold.outputs[0].index, scope))
    read = tuple(Load(n, index, t) for n, t in zip(nest.partials[f], fold.types, strict=True))
    body: list[Stmt] = [Alloc(b, v) for b, v in zip(total, identity(fold), strict=True)]
    body.append(loop(part, parts, store_state(nest, fold, total, (), read)))
    state = load_each(total, ())
    body.extend(finish_total(nest, f, state, scope))
    body = when(nest.exists(scope, DimKind.CC), body)
    if dealt.rounds == 1 and dealt.guard is None:
        return [If(Const(1, I32), tuple(body))]
    return wrap(dealt, body, unroll=False)
