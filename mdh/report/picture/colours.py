"""Colours of kernel text: its tokens, told apart by Pygments. Without it the text has no colours."""

from collections.abc import Iterator, Sequence
from html import escape
from importlib import import_module
from typing import Any

LEXERS = {"cuda": "CudaLexer", "opencl": "CLexer", "c": "CLexer"}
"""The lexer of `pygments.lexers.c_like` or `pygments.lexers.c_cpp` for each target language."""
_KINDS = (
    ("Comment.Preproc", "p"), ("Comment", "c"), ("Keyword.Type", "t"), ("Keyword", "k"),
    ("Literal.Number", "m"),
    ("Literal.String", "s"), ("Name.Builtin", "f"), ("Name.Function", "f"),
)  # fmt: skip
"""Tokens that have a colour, and their class; the first that fits counts."""


def coloured(rows: Sequence[str], language: str) -> list[str]:
    """The rows as HTML, whose text is that of the rows."""
    tokens = list(_tokens("\n".join(rows), language))
    if "".join(text for _, text in tokens) != "\n".join(rows):
        return [escape(row) for row in rows]
    out = [""]
    for kind, text in tokens:
        # a token may go over several rows
        for n, part in enumerate(text.split("\n")):
            if n:
                out.append("")
            if part:
                out[-1] += f"<i class={kind}>{escape(part)}</i>" if kind else escape(part)
    return out


def _tokens(text: str, language: str) -> Iterator[tuple[str, str]]:
    """(class, text) of each token; nothing if Pygments is not there."""
    try:
        lexer = _lexer(LEXERS[language])
    except ImportError:
        return
    for _, kind, part in lexer.get_tokens_unprocessed(text):
        name = str(kind).removeprefix("Token.")
        yield next((word for start, word in _KINDS if name.startswith(start)), ""), part


def _lexer(name: str) -> Any:
    """Raises ImportError."""
    place = "pygments.lexers.c_like" if name == "CudaLexer" else "pygments.lexers.c_cpp"
    return getattr(import_module(place), name)()
