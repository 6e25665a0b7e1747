"""`typedef long long i64;`: replaces names of scalar types by the types."""

import re

from pycparser import c_ast

_BLOCKS = (c_ast.Compound, c_ast.For, c_ast.FuncDef)
"""Nodes at whose end a typedef inside of them ends."""
_WORDS = r"const|volatile|signed|unsigned|char|short|int|long|size_t|ptrdiff_t|u?int(?:8|16|32|64)_t"


def resolve_typedefs(nodes: list[c_ast.Node]) -> None:
    """Replaces typedefs of scalar types by the types. Others are refused where they are used."""
    known: dict[str, tuple[list[str], list[str]]] = {}
    for node in nodes:
        _resolve(node, known)


def _resolve(node: c_ast.Node, known: dict[str, tuple[list[str], list[str]]]) -> None:
    inner = getattr(node, "type", None)
    if isinstance(node, c_ast.TypeDecl) and isinstance(inner, c_ast.IdentifierType):
        quals, names = known.get(inner.names[0], ([], [])) if len(inner.names) == 1 else ([], [])
        if names:
            node.quals = [*(node.quals or []), *quals]
            inner.names = names
    inside = dict(known) if isinstance(node, _BLOCKS) else known
    for _, child in node.children():
        _resolve(child, inside)
    if isinstance(node, c_ast.Typedef):
        known.pop(node.name, None)
        target = node.type
        if isinstance(target, c_ast.TypeDecl) and isinstance(target.type, c_ast.IdentifierType):
            known[node.name] = (list(target.quals or []), list(target.type.names))


def integer_names(text: str) -> frozenset[str]:
    """Names of integer types that the file's typedefs define."""
    found: set[str] = set()
    for m in re.finditer(r"\btypedef\s+((?:\w+\s+){1,6}?)(\w+)\s*;", text):
        words = m[1].split()
        if all(re.fullmatch(_WORDS, w) or w in found for w in words):
            found.add(m[2])
    return frozenset(found)
