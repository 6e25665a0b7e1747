"""Blocks of a cluster combine through distributed shared memory: the first of them reads its peers.

Source: language.md section 5 (`@combine(cluster)`); CUDA on machines with clusters only.
"""

from mdh.hardware import Layer, SyncScope
from mdh.ir.construct import add, conjunction, equal, load_each, when
from mdh.ir.dtype import I32
from mdh.ir.expr import Call, Expr, Load, Var
from mdh.ir.intrinsic import Intrinsic
from mdh.ir.kernel import Barrier, Stmt
from mdh.ir.layout import Level
from mdh.ir.program import DimKind
from mdh.lower.deal import wrap
from mdh.lower.finish import across_grid, bind, block_reduction_levels, cluster_buffers, own_elements
from mdh.lower.fold import combine
from mdh.lower.nest import Nest


def finish_by_cluster(nest: Nest) -> list[Stmt]:
    """Statements after the body: all meet, the first block of each group combines, all meet again."""
    if not nest.clustered:
        return []
    levels = [lv for lv in block_reduction_levels(nest) if lv.layer == Layer.BLK]
    first = conjunction([equal(Var(lv.var), 0) for lv in levels])
    body: list[Stmt] = []
    for f in nest.clustered:
        body.extend(_combine(nest, f, levels))
    return [
        Barrier(SyncScope.CLUSTER, "every block's partial result is in its shared memory"),
        *when(first, body),
        Barrier(SyncScope.CLUSTER, "shared memory stays until its readers are done"),
    ]


def _combine(nest: Nest, f: int, levels: list[Level]) -> list[Stmt]:
    fold = nest.folds[f]
    dealt, scope = own_elements(nest)
    bufs = cluster_buffers(nest, f)
    state: tuple[Expr, ...] = load_each(bufs, dealt.coordinates)
    body: list[Stmt] = []
    for offset in _rank_offsets(nest, levels)[1:]:
        rank = add(Call(Intrinsic.CLUSTER_RANK, (), I32), offset)
        theirs = tuple(
            Call(Intrinsic.PEER, (Load(b.name, dealt.coordinates, b.dtype), rank), b.dtype) for b in bufs
        )
        mine = bind(nest, "mine", state, body)
        state = combine(fold, mine, bind(nest, "theirs", theirs, body))
    body.extend(across_grid(nest, f, state, scope, []))
    return wrap(dealt, when(nest.exists(scope, DimKind.CC), body), unroll=False)


def _rank_offsets(nest: Nest, levels: list[Level]) -> list[int]:
    """Distances in cluster rank (x fastest) from the first block of a group to each of its blocks."""
    x, y = (nest.plan.axis_parts(Layer.BLK, axis) for axis in range(2))
    strides = (1, x, x * y)
    offsets = [0]
    for lv in levels:
        offsets = [o + n * strides[lv.axis] for o in offsets for n in range(lv.parts)]
    return sorted(offsets)
