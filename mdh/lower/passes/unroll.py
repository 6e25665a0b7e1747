"""Loops that index registers are unrolled: registers have no addresses.

Requires: register buffers declared by Alloc. Guarantees: every loop whose variable occurs in the index of a
register buffer is fully unrolled.
"""

from dataclasses import replace

from mdh.ir.expr import Expr, Load, Var, walk
from mdh.ir.kernel import Alloc, For, ForKind, Move, Space, Stmt, Store
from mdh.ir.walk import expressions, statements, with_bodies


def unroll_registers(body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
    """Mark register-indexing loops for full unrolling."""
    held = frozenset(
        s.buf.name
        for s in statements(body)
        if isinstance(s, Alloc) and s.buf.space is Space.RM and s.buf.shape
    )
    return _mark(body, held)


def _mark(body: tuple[Stmt, ...], held: frozenset[str]) -> tuple[Stmt, ...]:
    out: list[Stmt] = []
    for s in body:
        s = with_bodies(s, lambda b: _mark(b, held))  # noqa: PLW2901
        if isinstance(s, For) and s.kind is not ForKind.VEC and _indexes(s, held):
            s = replace(s, kind=ForKind.UNROLL, factor=0)  # noqa: PLW2901
        out.append(s)
    return tuple(out)


def _indexes(loop: For, held: frozenset[str]) -> bool:
    return any(_in_index(s, loop.var, held) for s in statements(loop.body))


def _in_index(s: Stmt, var: str, held: frozenset[str]) -> bool:
    indices: list[Expr] = [
        i
        for e in expressions(s)
        for n in walk(e)
        if isinstance(n, Load) and n.buffer in held
        for i in n.index
    ]
    if isinstance(s, Store) and s.buffer in held:
        indices.extend(s.index)
    if isinstance(s, Move):
        indices.extend(s.dst_index if s.dst in held else ())
        indices.extend(s.src_index if s.src in held else ())
    return any(isinstance(n, Var) and n.name == var for i in indices for n in walk(i))
