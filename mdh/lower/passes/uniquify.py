"""Each declaration of a register buffer gets a name of its own.

Requires: a buffer is used in the statement list that declares it, after the declaration. Guarantees: no name
is declared twice, so that what one version of the code does to a buffer (parts of vectors, at an edge) does
not decide how the others hold theirs.
"""

from collections.abc import Mapping

from mdh.hardware import Space
from mdh.ir.kernel import Alloc, Stmt
from mdh.ir.names import fresh
from mdh.ir.walk import with_bodies, with_buffers


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
        out.append(with_bodies(with_buffers(s, new), lambda b: _block(b, new, seen, names)))
    return tuple(out)


def _name(name: str, seen: set[str], names: set[str]) -> str:
    if name not in seen:
        seen.add(name)
        return name
    return fresh(name, names)
