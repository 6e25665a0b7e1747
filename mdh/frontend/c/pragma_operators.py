"""`_Pragma("mdh stage(NAME)")` says what `#pragma mdh stage(NAME)` says (C11 6.10.9)."""

from pycparser import c_ast


def read_pragma_operators(tree: c_ast.FileAST) -> None:
    """Give every pragma its words as text: the parser leaves a string constant for the operator."""
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
