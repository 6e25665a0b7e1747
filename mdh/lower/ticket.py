"""The last block combines: each block draws a ticket after writing its partial results.

CUDA only: it needs a device-wide fence between a block's partial results and its ticket.
"""

from mdh.hardware import Combine, Layer, Space, SyncScope
from mdh.ir.dtype import I32
from mdh.ir.expr import Binary, Const, Expr, Load, Var
from mdh.ir.kernel import Alloc, Atomic, Barrier, Buf, Fence, For, If, Stmt, Store, Workspace
from mdh.ir.layout import Level
from mdh.ir.program import DimKind
from mdh.lower.close import wrap_rounds
from mdh.lower.finish import block_reduction_levels, finish_total, own_levels, store_state
from mdh.lower.fold import identity
from mdh.lower.nest import Nest, Scope
from mdh.lower.spread import deal


def finish_by_ticket(nest: Nest) -> tuple[list[Stmt], list[Workspace]]:
    """Statements after a kernel's body that let the last block of each group combine and finish."""
    chosen = [f for f in nest.partials if Combine.TICKET in nest.plan.combines[f]]
    if not chosen:
        return [], []
    parts = 1
    for lv in block_reduction_levels(nest):
        parts *= lv.parts
    groups = _block_levels(nest)
    count = 1
    for lv in groups:
        count *= lv.parts
    counter = Buf(nest.workspace(f"{nest.name}_tickets"), Space.DM, I32, (count,), (1,), align=16)
    last = nest.declare(Buf(f"last_{nest.name}", Space.SM, I32, (1,), (1,)))
    zero = (Const(0, I32),)
    group = _group(groups)
    ticket = nest.fresh("ticket")
    draw: tuple[Stmt, ...] = (
        Atomic("+", counter.name, (group,), Const(1, I32), ticket),
        Store(last.name, zero, Binary("==", Var(ticket), Const(parts - 1, I32), I32)),
    )
    body: list[Stmt] = [Fence()]
    for f in chosen:
        body.extend(_combine(nest, f, parts))
    first = Binary("==", Var(nest.tid), Const(0, I32), I32)
    reset: Stmt = Store(counter.name, (group,), Const(0, I32))
    one_thread = nest.threads == 1
    body.append(reset if one_thread else If(first, (reset,)))
    out: list[Stmt] = [Fence(), Barrier(SyncScope.BLOCK, "the block's partial results are written")]
    out.extend(draw if one_thread else (If(first, draw),))
    out.append(Barrier(SyncScope.BLOCK, "every thread learns whether its block came last"))
    out.append(If(Load(last.name, zero, I32), tuple(body)))
    return out, [Workspace(counter, zero=True)]


def _block_levels(nest: Nest) -> list[Level]:
    return [
        lv
        for lv in nest.levels.all
        if lv.layer in (Layer.BLK, Layer.CLU) and nest.stage.dims[lv.dim].kind is DimKind.CC
    ]


def _group(groups: list[Level]) -> Expr:
    out: Expr | None = None
    for lv in groups:
        var = Var(lv.var)
        out = var if out is None else Binary("+", Binary("*", out, Const(lv.parts, I32), I32), var, I32)
    return out if out is not None else Const(0, I32)


def _combine(nest: Nest, f: int, parts: int) -> list[Stmt]:
    """The block's own outputs, dealt to its threads: each sums its parts in order and finishes them."""
    fold = nest.folds[f]
    inside = own_levels(nest)
    dealt = deal(nest, [lv.parts for lv in inside] or [1], "own")
    scope = Scope(values={lv.var: c for lv, c in zip(inside, dealt.coordinates, strict=False)})
    total = tuple(Buf(nest.fresh(f"total{c or ''}"), Space.RM, t, (), ()) for c, t in enumerate(fold.types))
    part = nest.fresh("part")
    index = (Var(part), *(nest.translate(e, scope) for e in fold.outputs[0].index))
    read = tuple(Load(n, index, t) for n, t in zip(nest.partials[f], fold.types, strict=True))
    body: list[Stmt] = [Alloc(b, v) for b, v in zip(total, identity(fold), strict=True)]
    body.append(
        For(
            part,
            Const(0, I32),
            Const(parts, I32),
            Const(1, I32),
            tuple(store_state(nest, fold, total, (), read)),
        )
    )
    state = tuple(Load(b.name, (), b.dtype) for b in total)
    body.extend(finish_total(nest, f, state, scope))
    cc = frozenset(d for d, dim in enumerate(nest.stage.dims) if dim.kind is DimKind.CC)
    cond = nest.condition(nest.guards(scope, cc), scope)
    if cond is not None:
        body = [If(cond, tuple(body))]
    if dealt.rounds == 1 and dealt.guard is None:
        return [If(Const(1, I32), tuple(body))]
    return wrap_rounds(dealt.counter, dealt.rounds, dealt.guard, (*dealt.lets, *body))
