"""Blocks of a cluster combine through distributed shared memory: the first of them reads its peers.

Source: language.md section 5 (`@combine(cluster)`); CUDA on machines with clusters only.
"""

from mdh.hardware import Layer, SyncScope
from mdh.ir.dtype import I32
from mdh.ir.expr import Binary, Call, Const, Expr, Load, Var
from mdh.ir.intrinsic import Intrinsic
from mdh.ir.kernel import Barrier, If, Let, Stmt
from mdh.ir.layout import Level
from mdh.ir.program import DimKind
from mdh.lower.close import wrap_rounds
from mdh.lower.finish import across_grid, block_reduction_levels, cluster_buffers, own_levels
from mdh.lower.fold import combine
from mdh.lower.nest import Nest, Scope, conjunction
from mdh.lower.spread import deal


def finish_by_cluster(nest: Nest) -> list[Stmt]:
    """Statements after the body: all meet, the first block of each group combines, all meet again."""
    if not nest.clustered:
        return []
    levels = [lv for lv in block_reduction_levels(nest) if lv.layer == Layer.BLK]
    first = conjunction([Binary("==", Var(lv.var), Const(0, I32), I32) for lv in levels])
    assert first is not None
    body: list[Stmt] = []
    for f in nest.clustered:
        body.extend(_combine(nest, f, levels))
    return [
        Barrier(SyncScope.CLUSTER, "every block's partial result is in its shared memory"),
        If(first, tuple(body)),
        Barrier(SyncScope.CLUSTER, "shared memory stays until its readers are done"),
    ]


def _combine(nest: Nest, f: int, levels: list[Level]) -> list[Stmt]:
    fold = nest.folds[f]
    own = own_levels(nest)
    dealt = deal(nest, [lv.parts for lv in own] or [1], "own")
    scope = Scope(values={lv.var: c for lv, c in zip(own, dealt.coordinates, strict=False)})
    bufs = cluster_buffers(nest, f)
    state: tuple[Expr, ...] = tuple(Load(b.name, dealt.coordinates, b.dtype) for b in bufs)
    body: list[Stmt] = []
    for offset in _rank_offsets(nest, levels)[1:]:
        rank = Binary("+", Call(Intrinsic.CLUSTER_RANK, (), I32), Const(offset, I32), I32)
        theirs = tuple(
            Call(Intrinsic.PEER, (Load(b.name, dealt.coordinates, b.dtype), rank), b.dtype) for b in bufs
        )
        mine = _named(nest, "mine", state, body)
        state = combine(fold, mine, _named(nest, "theirs", theirs, body))
    body.extend(across_grid(nest, f, state, scope, []))
    cc = frozenset(d for d, dim in enumerate(nest.stage.dims) if dim.kind is DimKind.CC)
    cond = nest.condition(nest.guards(scope, cc), scope)
    if cond is not None:
        body = [If(cond, tuple(body))]
    return wrap_rounds(dealt.counter, dealt.rounds, dealt.guard, (*dealt.lets, *body))


def _named(nest: Nest, stem: str, state: tuple[Expr, ...], out: list[Stmt]) -> tuple[Expr, ...]:
    names = [nest.fresh(stem) for _ in state]
    out.extend(Let(n, e, e.dtype) for n, e in zip(names, state, strict=True))
    return tuple(Var(n, e.dtype) for n, e in zip(names, state, strict=True))


def _rank_offsets(nest: Nest, levels: list[Level]) -> list[int]:
    """Distances in cluster rank (x fastest) from the first block of a group to each of its blocks."""
    strides = [
        1,
        nest.plan.axis_parts(Layer.BLK, 0),
        nest.plan.axis_parts(Layer.BLK, 0) * nest.plan.axis_parts(Layer.BLK, 1),
    ]
    offsets = [0]
    for lv in levels:
        offsets = [o + n * strides[lv.axis] for o in offsets for n in range(lv.parts)]
    return sorted(offsets)
