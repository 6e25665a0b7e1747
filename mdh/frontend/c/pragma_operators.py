"""`_Pragma("mdh stage(NAME)")` is the same as `#pragma mdh stage(NAME)` (C11 6.10.9)."""

from pycparser import c_ast


def read_pragma_operators(tree: c_ast.FileAST) -> None:
    """Gives every pragma its words as text; for the operator the parser leaves a string constant."""
    nodes: list[c_ast.Node] = [tree]
    while nodes:
        node = nodes.pop()
        nodes.extend(child for _, child in node.children())
        if isinstance(node, c_ast.Pragma) and isinstance(node.string, c_ast.Constant):
            node.string = _unquoted(node.string.value)


def _unquoted(literal: str) -> str:
    """The words of a string constant."""
    body = literal[literal.find('"') + 1 : -1]
    return body.replace('\\"', '"').replace("\\\\", "\\")
