"""`float s; for (…) { s = 0; … }`: a local that every iteration sets anew belongs inside the loop."""

from copy import copy

from pycparser import c_ast


def sunk(decl: c_ast.Decl, rest: list[c_ast.Node]) -> bool:
    """Declare the local inside the loops of `rest` that use it, where each iteration first assigns it.

    True where that is done: then the declaration itself has nothing left to say.
    """
    users = [n for n in rest if _mentions(n, decl.name)]
    plain = decl.init is None or isinstance(decl.init, c_ast.Constant)
    if not plain or not users or not all(_sets_anew(n, decl.name) for n in users):
        return False
    for loop in users:
        inner = copy(decl)
        inner.init = None
        loop.stmt = c_ast.Compound([inner, *_items(loop.stmt)], loop.stmt.coord)
    return True


def _sets_anew(node: c_ast.Node, name: str) -> bool:
    """A loop whose body assigns `name` before it reads it, in every iteration."""
    if not isinstance(node, c_ast.For):
        return False
    if any(part is not None and _mentions(part, name) for part in (node.init, node.cond, node.next)):
        return False
    users = [n for n in _items(node.stmt) if _mentions(n, name)]
    match users[0] if users else None:
        case c_ast.Assignment(op="=", lvalue=c_ast.ID(name=target), rvalue=value) if target == name:
            return not _mentions(value, name)
        case _:
            return bool(users) and all(_sets_anew(n, name) for n in users)


def _items(body: c_ast.Node) -> list[c_ast.Node]:
    return list(body.block_items or []) if isinstance(body, c_ast.Compound) else [body]


def _mentions(node: c_ast.Node, name: str) -> bool:
    if isinstance(node, c_ast.ID | c_ast.Decl) and node.name == name:
        return True
    return any(_mentions(child, name) for _, child in node.children())
