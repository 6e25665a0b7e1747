"""A loop over some lanes of vectors that are held whole: a statement a lane.

At an edge the results of whole vectors are stored up to where the points end.
"""

from mdh.ir.affine import from_expr, offset, to_expr
from mdh.ir.dtype import I32
from mdh.ir.expr import Call, Const, Expr, Load, map_children
from mdh.ir.intrinsic import Intrinsic
from mdh.ir.kernel import Buf, Comment, For, If, Let, Stmt, Store
from mdh.ir.walk import map_expressions, statements, substitute_in, with_bodies


class NotVector(Exception):  # noqa: N818 - an answer, not an error
    """This loop stays scalar."""


def some_lanes(loop: For, bufs: dict[str, Buf], vectors: dict[str, int]) -> tuple[Stmt, ...]:
    """`loop` by its lanes. vectors: register buffers that are arrays of so many lanes. Raises NotVector where
    it writes one of them or reads one at a place that varies."""
    assert isinstance(loop.stop, Const)
    for s in statements(loop.body):
        if isinstance(s, Let) or (isinstance(s, Store) and s.buffer in vectors):
            raise NotVector
        if not isinstance(s, Store | If | Comment):
            raise NotVector
    out: list[Stmt] = []
    for k in range(int(loop.stop.value)):
        body = substitute_in(loop.body, {loop.var: Const(k, I32)})
        out.extend(_picked(s, bufs, vectors) for s in body if k == 0 or not isinstance(s, Comment))
    return tuple(out)


def _picked(s: Stmt, bufs: dict[str, Buf], vectors: dict[str, int]) -> Stmt:
    s = map_expressions(s, lambda e: _lanes(e, bufs, vectors))
    return with_bodies(s, lambda b: tuple(_picked(t, bufs, vectors) for t in b))


def _lanes(e: Expr, bufs: dict[str, Buf], vectors: dict[str, int]) -> Expr:
    e = map_children(e, lambda c: _lanes(c, bufs, vectors))
    if not isinstance(e, Load) or e.buffer not in vectors:
        return e
    lanes = vectors[e.buffer]
    index = [f for f in map(from_expr, e.index) if f is not None]
    if len(index) < len(e.index):
        raise NotVector
    flat = offset(index, bufs[e.buffer].strides)
    number = flat.shift(-(flat.const % lanes)).divided(lanes)
    if number is None:
        raise NotVector
    vector = Load(e.buffer, (to_expr(number),), e.dtype, lanes)
    return Call(Intrinsic.LANE, (vector, Const(flat.const % lanes, I32)), e.dtype)
