"""Sliding windows: a part keeps what it has in common with the part before, and copies only what is new.

Source: language.md section 7 (`@window`). The buffer's rows move up by the advance of the loop; among
threads, as many at a time as do not meet the rows they come from.
"""

from dataclasses import replace

from mdh.hardware import CacheHint, Engine
from mdh.ir.affine import Affine
from mdh.ir.construct import equal
from mdh.ir.expr import Var
from mdh.ir.kernel import If, Stmt
from mdh.ir.layout import Axis, Level
from mdh.lower.copies import emit_copy
from mdh.lower.nest import Nest
from mdh.lower.scope import Instance, Scope
from mdh.lower.staged_copy import StagedCopy


def emit_window(nest: Nest, copy: StagedCopy, level: Level, scope: Scope) -> list[Stmt]:
    """Statements that fill the instance at every turn of the loop over `level`, which stands right around."""
    axes = copy.dst.axes
    (k,) = (k for k, axis in enumerate(axes) if axis.low.coefficient(level.var))
    advance = axes[k].low.coefficient(level.var)
    assert 0 < advance < axes[k].extent and not axes[k].packed, "refused by K110"
    later = [*_moves_up(nest, copy, k, advance, scope), *_new(nest, copy, k, advance, scope)]
    if level.var in scope.fixed:
        return later
    first = equal(Var(level.var), 0)
    return [If(first, tuple(emit_copy(nest, copy, scope)), tuple(later))]


def _moves_up(nest: Nest, copy: StagedCopy, k: int, advance: int, scope: Scope) -> list[Stmt]:
    """What stays, from where the part before had it."""
    axes = copy.dst.axes
    before = _with(axes, k, replace(axes[k], low=axes[k].low.shift(-advance)))
    alone = nest.cpu or nest.threads == 1
    stays = axes[k].extent - advance
    out: list[Stmt] = []
    for start in range(0, stays, stays if alone else advance):
        count = stays if alone else min(advance, stays - start)
        staging = replace(copy.staging, engine=Engine.PLAIN, cache=CacheHint.DEFAULT, vec=None)
        moved = replace(_part(copy, k, start, count), staging=staging, src=Instance(copy.dst.buf, before))
        out.extend(emit_copy(nest, moved, scope))
    return out


def _new(nest: Nest, copy: StagedCopy, k: int, advance: int, scope: Scope) -> list[Stmt]:
    return emit_copy(nest, _part(copy, k, copy.dst.axes[k].extent - advance, advance), scope)


def _part(copy: StagedCopy, k: int, start: int, count: int) -> StagedCopy:
    """The copy of `count` rows of axis k from row `start` on."""
    axes = copy.dst.axes
    cut = replace(axes[k], low=axes[k].low + Affine((), start), box=count)
    offset = tuple(start if n == k else 0 for n in range(len(axes)))
    return replace(copy, dst=replace(copy.dst, axes=_with(axes, k, cut)), offset=offset)


def _with(axes: tuple[Axis, ...], k: int, axis: Axis) -> tuple[Axis, ...]:
    return (*axes[:k], axis, *axes[k + 1 :])
