"""`float s; for (…) { s = 0; … }`: moves a local that every iteration sets into the loop."""

from copy import copy
from typing import Any

from pycparser import c_ast

from mdh.frontend.c.places import assigned, items_of, nodes_in


class LastValue(c_ast.Node):  # type: ignore[misc]
    """At the end of a loop's body: the local `name` keeps its value of this place after the loop."""

    __slots__ = ("coord", "name")

    def __init__(self, name: str, coord: Any) -> None:
        self.name, self.coord = name, coord

    def children(self) -> tuple[()]:
        return ()


def sunk(decl: c_ast.Decl, rest: list[c_ast.Node]) -> bool:
    """Declares the local inside the loops of `rest` that use it, if each iteration first assigns it.

    Returns whether that was done; the declaration itself is then not needed.
    """
    users = [n for n in rest if mentions(n, decl.name)]
    plain = decl.init is None or isinstance(decl.init, c_ast.Constant)
    if not plain or not users or not all(sets_anew(n, decl.name) for n in users):
        return False
    for loop in users:
        declare_inside(decl, loop, items_of(loop.stmt))
    return True


def declare_inside(decl: c_ast.Decl, loop: c_ast.For, body: list[c_ast.Node]) -> None:
    """Declares the local, without its value, in a loop with this body."""
    inner = copy(decl)
    inner.init = None
    loop.stmt = c_ast.Compound([inner, *body], loop.stmt.coord)


def sets_anew(node: c_ast.Node, name: str, *, always: bool = False) -> bool:
    """Whether this is a loop whose body reads `name` only after it has assigned it, in every iteration and on
    every path.

    always: and it does assign it on every path.
    """
    if not isinstance(node, c_ast.For):
        return False
    if _in_header(node, name):
        return False
    reads, known = _flow(items_of(node.stmt), name)
    return not reads and (known or not always)


def _flow(items: list[c_ast.Node], name: str) -> tuple[bool, bool]:
    """Whether `items` read `name` where it may not have been assigned, and whether they leave it assigned."""
    for node in items:
        reads, known = _step(node, name)
        if reads or known:
            return reads, known
    return False, False


def _step(node: c_ast.Node, name: str) -> tuple[bool, bool]:
    if not mentions(node, name):
        return False, False
    match node:
        case c_ast.Assignment(op="=", lvalue=c_ast.ID(name=target), rvalue=value) if target == name:
            return mentions(value, name), True
        case c_ast.If():
            sides = [_flow(items_of(side), name) for side in (node.iftrue, node.iffalse)]
            return mentions(node.cond, name) or any(r for r, _ in sides), all(k for _, k in sides)
        case c_ast.Compound() if not any(declares(d, name) for d in node.block_items or []):
            return _flow(items_of(node), name)
        case c_ast.For() if not _in_header(node, name):
            return _flow(items_of(node.stmt), name)
        case _:
            return True, False


def _in_header(loop: c_ast.For, name: str) -> bool:
    return any(part is not None and mentions(part, name) for part in (loop.init, loop.cond, loop.next))


def declares(node: c_ast.Node, name: str) -> bool:
    return isinstance(node, c_ast.Decl) and node.name == name


def mentions(node: c_ast.Node, name: str) -> bool:
    return any(isinstance(n, c_ast.ID | c_ast.Decl | LastValue) and n.name == name for n in nodes_in(node))


def names_in(node: c_ast.Node) -> frozenset[str]:
    return frozenset(n.name for n in nodes_in(node) if isinstance(n, c_ast.ID))


def assigns(node: c_ast.Node, name: str) -> bool:
    """Whether `node` assigns to the variable `name`, in a statement or in the header of a loop."""
    return _sets(node, name) or any(assigns(c, name) for c in _where_visible(node, name))


def assigned_in_loop(node: c_ast.Node, name: str, inside: bool = False) -> bool:
    """Whether a loop somewhere in `node` assigns to the local `name`."""
    if _sets(node, name):
        return inside
    header = (node.init, node.cond, node.next) if isinstance(node, c_ast.For) else ()
    deeper = inside or isinstance(node, c_ast.For)
    parts = (c for c in _where_visible(node, name) if not any(c is h for h in header))
    return any(assigned_in_loop(c, name, deeper) for c in parts)


def _sets(node: c_ast.Node, name: str) -> bool:
    target = assigned(node)
    return isinstance(target, c_ast.ID) and target.name == name


def _where_visible(node: c_ast.Node, name: str) -> list[c_ast.Node]:
    """The children of `node` in which `name` still means the outer variable."""
    match node:
        case c_ast.For(init=c_ast.DeclList(decls=decls)) if any(declares(d, name) for d in decls):
            return []
        case c_ast.Compound(block_items=list() as items):
            return items[: next((k for k, d in enumerate(items) if declares(d, name)), len(items))]
        case _:
            return [c for _, c in node.children()]
