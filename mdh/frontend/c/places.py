"""Places of nodes: finds the text in the user's file that a node of pycparser covers."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from pycparser import c_ast

from mdh.source import Source, Span

_TOKEN = re.compile(r"[A-Za-z_]\w*|\d[\w.]*|[^\s\w]")


NEAR = 2_000
"""Characters on either side of a place in which a word is searched; lines may be very long."""


def nodes_in(node: c_ast.Node) -> Iterator[c_ast.Node]:
    """The node and all nodes in it, in the order of the text."""
    left = [node]
    while left:
        found = left.pop()
        yield found
        left.extend(child for _, child in reversed(found.children()))


def assigned(node: c_ast.Node) -> c_ast.Node | None:
    """What a node itself assigns to, increments or decrements; None if nothing."""
    match node:
        case c_ast.Assignment(lvalue=target) | c_ast.UnaryOp(op="++" | "p++" | "--" | "p--", expr=target):
            return target
        case _:
            return None


def base_of(node: c_ast.Node | None) -> str:
    """The variable under subscripts and `*`; empty if there is none."""
    while isinstance(node, c_ast.ArrayRef) or (isinstance(node, c_ast.UnaryOp) and node.op == "*"):
        node = node.name if isinstance(node, c_ast.ArrayRef) else node.expr
    return node.name if isinstance(node, c_ast.ID) else ""


def items_of(body: c_ast.Node | None) -> list[c_ast.Node]:
    """The statements of a block, or the only one."""
    if body is None:
        return []
    return list(body.block_items or []) if isinstance(body, c_ast.Compound) else [body]


class Places:
    """Spans of AST nodes in the original source. A macro-expanded token has the place of the line's nearest
    token.

    included: the name of a file in #line marks -> the line of the source that includes it, where its nodes
    are placed.
    """

    def __init__(self, source: Source, included: Mapping[str, int] = {}) -> None:
        self.source = source
        self.included = included

    def of(self, node: Any, word: str = "") -> Span:
        """The token at a node's coordinate, or `word` on its line if it is given and found."""
        coord = getattr(node, "coord", None)
        if coord is None:
            return Span(self.source, 0, min(1, len(self.source.text)))
        return self.at(coord.line, coord.column or 1, word, str(coord.file))

    def at(self, line: int, column: int, word: str = "", file: str = "") -> Span:
        if file in self.included:
            line, column = self.included[file], 1
        line = min(max(line, 1), len(self.source.line_starts))
        text, base = self._near(line, column)
        column -= base - self.source.line_starts[line - 1]
        if word:
            hits = [m.start() for m in re.finditer(rf"(?<!\w){re.escape(word)}(?!\w)", text)]
            if hits:
                start = min(hits, key=lambda h: abs(h - (column - 1)))
                return Span(self.source, base + start, base + start + len(word))
        start = min(column - 1, max(0, len(text) - 1))
        m = _TOKEN.match(text, start)
        if m is None:
            start = len(text) - len(text.lstrip())
            return Span(self.source, base + start, base + max(len(text.rstrip()), start + 1))
        return Span(self.source, base + start, base + m.end())

    def _near(self, line: int, column: int) -> tuple[str, int]:
        """The part of a line around a column, and the offset in the source where it begins."""
        text, start = self.source.text, self.source.line_starts[line - 1]
        low = max(start, start + column - NEAR)
        high = min(start + column + NEAR, len(text))
        end = text.find("\n", min(low, high), high)
        return text[low : high if end < 0 else end], low
