"""Places: pycparser knows where a node starts; this finds the text it covers in the user's file."""

import re
from typing import Any

from mdh.source import Source, Span

_TOKEN = re.compile(r"[A-Za-z_]\w*|\d[\w.]*|[^\s\w]")


class Places:
    """Spans of AST nodes in the original source; macro-expanded tokens point at the line's nearest token."""

    def __init__(self, source: Source) -> None:
        self.source = source

    def of(self, node: Any, word: str = "") -> Span:
        """The token at a node's coordinate, or `word` on its line where that is given and found."""
        coord = getattr(node, "coord", None)
        if coord is None:
            return Span(self.source, 0, min(1, len(self.source.text)))
        return self.at(coord.line, coord.column or 1, word)

    def at(self, line: int, column: int, word: str = "") -> Span:
        line = min(max(line, 1), len(self.source.line_starts))
        text = self.source.line(line)
        base = self.source.line_starts[line - 1]
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
