"""Turns in blocks: what changes elements that the turns of a block do not look at is done behind the block.

`for (k) for (i > k) for (j > k) a[i][j] -= a[i][k] * a[k][j]` changes all elements in each turn of k. In
blocks of turns, each turn changes the rows and columns of its block alone. Then all other elements take what
the whole block subtracts, which is a sum over its turns. That reads and writes them once for a block.

Source: Demmel, Higham and Schreiber, "Stability of block LU factorization", Numerical Linear Algebra with
Applications 2(2), 1995.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from mdh.frontend.pieces import update
from mdh.frontend.statements import Assign, Statement, used_names
from mdh.frontend.turning import LoopChoice, renumbered, runs, turn_conditions
from mdh.ir.affine import Affine, from_expr, to_expr
from mdh.ir.dtype import I32
from mdh.ir.expr import Binary, Expr, Unary
from mdh.ir.statement import Held, LoopVar

BLOCK = 64
"""Turns of a block. A sum over them does enough with each element that it reads and writes."""
LEAST = 4
"""Fewer blocks are not worth their loops."""


@dataclass(frozen=True, slots=True)
class Blocks:
    """Loops of the program over blocks and inside of one, and what sums run over behind a block."""

    outer: LoopVar
    inner: LoopVar
    size: int
    count: int

    @property
    def first(self) -> Affine:
        """The first turn of a block."""
        return Affine.of({self.outer.name: self.size})


def blocks_of(turns: LoopVar, outer: str, inner: str) -> Blocks | None:
    """The loops with variables of these names; None if the turns are few."""
    if turns.extent < LEAST * BLOCK:
        return None
    count = -(-turns.extent // BLOCK)
    return Blocks(
        replace(turns, name=outer, cname=f"{turns.cname}_block", step=turns.step * BLOCK, extent=count),
        replace(turns, name=inner, start=0, extent=BLOCK),
        BLOCK,
        turns.extent,
    )


def in_blocks(
    nest: Sequence[Statement], choice: LoopChoice, blocks: Blocks, sums: Sequence[str]
) -> tuple[list[Statement], list[Statement]] | None:
    """The statements in the turns of a block, and those behind it; None if there are none behind.

    sums: a name for each statement, of the loop over the turns of a block.
    """
    if not all(isinstance(s, Assign) for s in nest):
        # a record takes no conditions for turns that are none of its loop
        return None
    near: list[Statement] = []
    far: list[Statement] = []
    for n, s in enumerate(nest):
        ends = _untouched(n, nest, choice, blocks)
        loop, shift = choice.loops[n], choice.shifts[n]
        if ends is None:
            near.append(_in_turns_of(s, loop, shift, blocks))
            continue
        assert isinstance(s, Assign)
        behind = replace(blocks.inner, name=sums[n], held=False)
        far.append(_where(_behind(s, loop, shift, blocks, behind), ends))
        for k, end in enumerate(ends):
            pieces = (*ends[:k], Unary("!", end, I32))
            piece = _where(_in_turns_of(s, loop, shift, blocks), pieces)
            near += [piece] if runs(piece) else []
    return (near, far) if far else None


def _where(s: Statement, conds: Sequence[Expr]) -> Statement:
    assert isinstance(s, Assign)
    uses = tuple(replace(u, conds=(*conds, *u.conds)) for u in s.uses)
    return replace(s, conds=(*conds, *s.conds), uses=uses)


def _in_turns_of(s: Statement, loop: LoopVar, shift: int, blocks: Blocks) -> Statement:
    """The statement in a turn of a block."""
    held = replace(loop, held=True)
    outer = Held(blocks.outer, held, shift, blocks.size, blocks.inner.name, blocks.count)
    inner = Held(blocks.inner, held, shift)
    rest = tuple(v for v in s.loops if v != loop)
    return _numbered(replace(s, loops=rest, held=(*s.held, outer, inner)), loop, shift, blocks, blocks.inner)


def _behind(s: Statement, loop: LoopVar, shift: int, blocks: Blocks, behind: LoopVar) -> Statement:
    """The statement behind a block, in a loop over the turns of it."""
    held = replace(loop, held=True)
    outer = Held(blocks.outer, held, shift, blocks.size, behind.name, blocks.count)
    loops = tuple(behind if v == loop else v for v in s.loops)
    return _numbered(replace(s, loops=loops, held=(*s.held, outer)), loop, shift, blocks, behind)


def _numbered(s: Statement, loop: LoopVar, shift: int, blocks: Blocks, inner: LoopVar) -> Statement:
    turn = blocks.first + Affine.var(inner.name)
    s = renumbered(s, {loop.name: to_expr(turn.shift(-shift))})
    assert isinstance(s, Assign)
    conds = turn_conditions(turn, blocks.outer.extent * blocks.size, loop, shift)
    return replace(s, conds=(*conds, *s.conds))


def _untouched(
    n: int, nest: Sequence[Statement], choice: LoopChoice, blocks: Blocks
) -> tuple[Expr, ...] | None:
    """Conditions under which statement n updates an element that nothing else uses in the turns of a block;
    None if it is no update that can wait, or if others use elements that the turn does not choose."""
    s = nest[n]
    if not _is_update(s, choice.loops[n]):
        return None
    assert isinstance(s, Assign)
    waiting = {m for m, other in enumerate(nest) if _is_update(other, choice.loops[m])}
    chosen: set[tuple[tuple[int, int], ...]] = set()
    for m, other in enumerate(nest):
        for u in other.uses:
            if u.load.buffer != s.target.buffer or (m in waiting and u.load in other.targets):
                continue
            at = _by_turn([from_expr(i) for i in u.load.index], choice.loops[m], choice.shifts[m])
            if not at:
                return None
            chosen.add(at)
    ends: set[tuple[int, int]] = set()
    for at in sorted(chosen, key=len):
        if not ends & set(at):
            ends.add(at[0])
    out = []
    for d, c in sorted(ends):
        last = blocks.first.shift(blocks.size + c)
        out.append(Binary("<=", to_expr(last), s.target.index[d], I32))
    return tuple(dict.fromkeys(out)) or None


def _is_update(s: Statement, loop: LoopVar) -> bool:
    """Whether the statement updates an element, by an operator, in each iteration of a loop."""
    if not isinstance(s, Assign) or loop.name in used_names(s.target.index) or loop not in s.loops:
        return False
    held = replace(s, held=(*s.held, Held(loop, loop)))
    found = update(held)
    return found is not None and found.op.name == "+"


def _by_turn(index: Sequence[Affine | None], loop: LoopVar, shift: int) -> tuple[tuple[int, int], ...]:
    """The subscripts that are the number of the turn and a constant: (position, constant)."""
    return tuple(
        (d, f.const - shift) for d, f in enumerate(index) if f is not None and f.terms == ((loop.name, 1),)
    )
