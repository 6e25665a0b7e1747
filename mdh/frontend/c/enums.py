"""Replaces `enum { N = 4, M };` by constants of type int."""

from pycparser import c_ast

from mdh.diagnostics import fail
from mdh.frontend.c.places import Places, nodes_in

MOST_CONSTANTS = 1_000
"""The most constants of one enumeration. mdh makes a declaration of each, so thousands take seconds."""


class Enumerator(c_ast.Decl):  # type: ignore[misc]  # pycparser has no type hints
    """The declaration of a constant of type int, whose value must fit int."""


def write_out_enums(tree: c_ast.FileAST, places: Places) -> None:
    """Puts `const int N = 4, M = N + 1;` in place of every declaration of an enumeration alone. Raises Failed
    C102 if it is too large."""
    tree.ext = [out for n in tree.ext for out in _written_out(n, places)]
    for node in nodes_in(tree):
        if isinstance(node, c_ast.Compound) and node.block_items:
            node.block_items = [out for n in node.block_items for out in _written_out(n, places)]


def _written_out(node: c_ast.Node, places: Places) -> list[c_ast.Node]:
    named = isinstance(node, c_ast.Typedef)
    enum = node.type.type if named and isinstance(node.type, c_ast.TypeDecl) else getattr(node, "type", None)
    if not isinstance(node, c_ast.Decl | c_ast.Typedef) or not isinstance(enum, c_ast.Enum):
        return [node]
    if enum.values is None:
        return [node]
    count = len(enum.values.enumerators)
    if count > MOST_CONSTANTS:
        headline = f"this enumeration has {count:,} constants, more than {MOST_CONSTANTS:,}"
        raise fail("C102", headline, places.of(node), help="keep those that the function uses")
    # variables of such a type are refused at their declarations
    out: list[c_ast.Node] = [node] if named else []
    before: c_ast.Node | None = None
    for e in enum.values.enumerators:
        value = e.value
        if value is None and before is None:
            value = c_ast.Constant("int", "0", e.coord)
        elif value is None:
            value = c_ast.BinaryOp("+", before, c_ast.Constant("int", "1", e.coord), e.coord)
        declared = c_ast.TypeDecl(e.name, ["const"], None, c_ast.IdentifierType(["int"], e.coord), e.coord)
        out.append(Enumerator(e.name, ["const"], [], [], [], declared, value, None, e.coord))
        before = c_ast.ID(e.name, e.coord)
    return out
