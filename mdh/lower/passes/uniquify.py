"""Each declaration of a register buffer gets a name of its own.

Requires: a buffer is used in the statement list that declares it, after the declaration. Guarantees: no name
is declared twice, so that what one version of the code does to a buffer (parts of vectors, at an edge) does
not decide how the others hold theirs.
"""

from collections.abc import Mapping
from dataclasses import replace

from mdh.hardware import Space
from mdh.ir.expr import Expr, Load, map_children
from mdh.ir.kernel import Alloc, Atomic, Move, Stmt, Store
from mdh.ir.names import unused
from mdh.ir.walk import map_expressions, with_bodies


def uniquify(body: tuple[Stmt, ...], names: set[str]) -> tuple[Stmt, ...]:
    """`names`: those in use; new ones are added."""
    return _block(body, {}, set(), names)


def _block(
    body: tuple[Stmt, ...], outer: Mapping[str, str], seen: set[str], names: set[str]
) -> tuple[Stmt, ...]:
    new = dict(outer)
    out: list[Stmt] = []
    for s in body:
        if isinstance(s, Alloc) and s.buf.space is Space.RM:
            new[s.buf.name] = _name(s.buf.name, seen, names)
        renamed = _renamed(s, new)
        out.append(with_bodies(renamed, lambda b: _block(b, new, seen, names)))
    return tuple(out)


def _name(name: str, seen: set[str], names: set[str]) -> str:
    if name not in seen:
        seen.add(name)
        return name
    fresh = unused(name, names)
    names.add(fresh)
    return fresh


def _renamed(s: Stmt, new: Mapping[str, str]) -> Stmt:
    """The statement itself; what is nested in it follows by its own lists."""
    s = map_expressions(s, lambda e: _swapped(e, new))
    match s:
        case Alloc(buf, _):
            return replace(s, buf=replace(buf, name=new.get(buf.name, buf.name)))
        case Store(buffer, _, _) | Atomic(_, buffer, _, _):
            return replace(s, buffer=new.get(buffer, buffer))
        case Move():
            return replace(s, dst=new.get(s.dst, s.dst), src=new.get(s.src, s.src))
        case _:
            return s


def _swapped(e: Expr, new: Mapping[str, str]) -> Expr:
    e = map_children(e, lambda c: _swapped(c, new))
    return replace(e, buffer=new[e.buffer]) if isinstance(e, Load) and e.buffer in new else e
