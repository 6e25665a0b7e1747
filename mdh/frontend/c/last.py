"""After `for (…) { t = x[i]; … }`, the local `t`, set in each iteration, has the last one's value."""

from dataclasses import replace

from pycparser import c_ast

from mdh.frontend.c.places import items_of
from mdh.frontend.c.scope import Local, NameScope
from mdh.frontend.c.sink import LastValue, assigned_in_loop, declare_inside, declares, sets_anew
from mdh.frontend.statements import Use
from mdh.ir.affine import from_expr, to_expr
from mdh.ir.dtype import I32
from mdh.ir.expr import Const, Expr, Load, map_children, substitute
from mdh.ir.statement import LoopVar


def kept_behind(decl: c_ast.Decl, rest: list[c_ast.Node]) -> bool:
    """Declares the local inside the loops of `rest` that assign it, and notes its value at their ends.

    Returns whether that was possible: every such loop sets it in each iteration, on every path.
    """
    loops = [n for n in rest if assigned_in_loop(n, decl.name)]
    if not loops or not all(sets_anew(n, decl.name, always=True) for n in loops):
        return False
    for loop in loops:
        # a body that declares another variable of this name needs a block of its own
        items = items_of(loop.stmt)
        body = [loop.stmt] if any(declares(n, decl.name) for n in items) else items
        declare_inside(decl, loop, [*body, LastValue(decl.name, loop.coord)])
    return True


def note_last(name: str, scope: NameScope) -> None:
    """Notes the local's value at the end of an iteration."""
    cell = scope.cells.get(name)
    if cell is None:
        scope.last[name] = scope.locals[name]
        return
    scope.begin()
    use = Use(cell, scope.loops, scope.arrays[cell.buffer].span, (), False, scope.position)
    scope.last[name] = Local(cell.dtype, cell, uses=(use,))


def leave(loop: LoopVar, scope: NameScope, *, known: bool) -> None:
    """After `loop`, gives locals the values that its last iteration left. known: whether that is always the
    last one of the box."""
    for name, local in scope.last.items():
        if not known:
            scope.locals[name] = Local(local.dtype, None, last_of=loop.span)
            continue
        value = None if local.value is None else _at_end(local.value, loop)
        uses = tuple(
            replace(
                u,
                load=_load_at_end(u.load, loop),
                loops=tuple(v for v in u.loops if v.name != loop.name),
                conds=tuple(_at_end(c, loop) for c in u.conds),
            )
            for u in local.uses
        )
        scope.locals[name] = replace(local, value=value, uses=uses)
    scope.last = {}


def _at_end(e: Expr, loop: LoopVar) -> Expr:
    return _plain(substitute(e, {loop.name: Const(loop.extent - 1, I32)}))


def _load_at_end(load: Load, loop: LoopVar) -> Load:
    found = _at_end(load, loop)
    assert isinstance(found, Load)
    return found


def _plain(e: Expr) -> Expr:
    """Subscripts in the front end's form, so that equal elements are equal expressions."""
    inner = map_children(e, _plain)
    if not isinstance(inner, Load):
        return inner
    whole = [from_expr(i) for i in inner.index]
    index = tuple(i if a is None else to_expr(a) for i, a in zip(inner.index, whole, strict=True))
    return replace(inner, index=index)
