"""Loops that index registers are unrolled: registers have no addresses.

Requires: register buffers declared by Alloc. Guarantees: every loop whose variable occurs in the index of a
register buffer is fully unrolled, save those that the schedule unrolls by a number.
"""

from dataclasses import replace
from functools import partial

from mdh.hardware import Space
from mdh.ir.expr import Var, walk
from mdh.ir.kernel import For, ForKind, Stmt
from mdh.ir.walk import allocated, bodies, loaded, statements, stored, trips, with_bodies


def unroll_registers(body: tuple[Stmt, ...], most: int | None = None) -> tuple[Stmt, ...]:
    """Mark register-indexing loops for full unrolling; none that would become more than `most` statements."""
    held = frozenset(n for n, b in allocated(body).items() if b.space is Space.RM and b.shape)
    return _mark(body, held, most)


def _mark(body: tuple[Stmt, ...], held: frozenset[str], most: int | None) -> tuple[Stmt, ...]:
    out: list[Stmt] = []
    for s in body:
        # what stands in a loop that is unrolled n times is compiled n times
        times = s.factor if isinstance(s, For) and s.kind is ForKind.UNROLL else 0
        left = most and max(1, most // max(1, times))
        s = with_bodies(s, partial(_mark, held=held, most=left))  # noqa: PLW2901
        if isinstance(s, For) and s.kind is ForKind.UNROLL and s.factor == 0 and most and _size(s) > most:
            s = replace(s, kind=ForKind.SEQ)  # noqa: PLW2901
        if (
            isinstance(s, For)
            and s.kind is not ForKind.VEC
            and s.factor == 0
            and _indexes(s, held)
            and _size(s) <= (most or _size(s))
        ):
            s = replace(s, kind=ForKind.UNROLL, factor=0)  # noqa: PLW2901
        out.append(s)
    return tuple(out)


def _size(s: Stmt) -> int:
    """Statements after full unrolling."""
    inner = sum(_size(t) for b in bodies(s) for t in b)
    count = trips(s) if isinstance(s, For) else None
    return 1 + inner if count is None else max(1, inner) * max(1, count)


def _indexes(loop: For, held: frozenset[str]) -> bool:
    """The loop's variable is in an index of a register buffer."""
    found = (a for s in statements(loop.body) for a in (*loaded(s), *stored(s)) if a.buffer in held)
    return any(isinstance(n, Var) and n.name == loop.var for a in found for i in a.index for n in walk(i))
