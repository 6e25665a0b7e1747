"""The tokens of Tensor Comprehensions. Names may begin with digits; the longest token wins, a number over a
name of the same length."""

import re
from dataclasses import dataclass
from enum import StrEnum

from mdh.diagnostics import fail
from mdh.source import Source, Span

SYNTAX, LIMIT = "T100", "T103"
MOST_TOKENS = 50_000
_BLANK = re.compile(r"(?:[ \t\r\n\f\v]+|#[^\n]*)+")
_NAME = re.compile(r"[0-9A-Za-z_]*[A-Za-z_][0-9A-Za-z_]*")
_SUFFIX = r"(?:[uU][lL]{0,2}|[lL]{1,2}[uU]?)?"
_NUMBER = re.compile(
    r"0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)[pP][+-]?[0-9]+[fF]?"
    rf"|0[xX][0-9a-fA-F]+{_SUFFIX}"
    r"|(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?[fF]?|[0-9]+[eE][+-]?[0-9]+[fF]?"
    rf"|[0-9]+{_SUFFIX}"
)
_MARK = re.compile(r"\+=!|\*=!|->|→|\+=|\*=|==|!=|<=|>=|&&|\|\||<<|>>|[-+*/%<>?:!~=,.(){}&|^]")
_REDUCTION = re.compile(r"(?:min|max)=(?!=)!?")


class Kind(StrEnum):
    NAME = "a name"
    NUMBER = "a number"
    MARK = "a mark"
    END = "the end of the text"


@dataclass(frozen=True, slots=True)
class Token:
    kind: Kind
    text: str
    span: Span


def tokens_of(source: Source) -> list[Token]:
    """The tokens of a text, with one for its end. Raises Failed T100, T103."""
    text, at, out = source.text, 0, list[Token]()
    while True:
        blank = _BLANK.match(text, at)
        at = blank.end() if blank else at
        if at == len(text):
            out.append(Token(Kind.END, "", Span(source, max(0, at - 1), at)))
            return out
        kind, end = _longest(text, at, out[-1].kind if out else Kind.MARK)
        if end == at:
            shown = text[at] if text[at].isprintable() else f"U+{ord(text[at]):04X}"
            raise fail(SYNTAX, f"`{shown}` has no meaning here", Span(source, at, at + 1))
        out.append(Token(kind, text[at:end], Span(source, at, end)))
        if len(out) > MOST_TOKENS:
            raise fail(LIMIT, f"the text has more than {MOST_TOKENS:,} tokens", out[-1].span)
        at = end


def _longest(text: str, at: int, before: Kind) -> tuple[Kind, int]:
    """The kind and the end of the token at a place. before: the kind of the token in front of it."""
    reduction = _REDUCTION.match(text, at)
    if reduction:
        return Kind.MARK, reduction.end()
    # `A.0` is an extent, not a name and `.0`
    member = before is Kind.NAME and text[at] == "."
    number, name = None if member else _NUMBER.match(text, at), _NAME.match(text, at)
    ends = number.end() if number else at, name.end() if name else at
    if max(ends) > at:
        return (Kind.NUMBER, ends[0]) if ends[0] >= ends[1] else (Kind.NAME, ends[1])
    mark = _MARK.match(text, at)
    return Kind.MARK, mark.end() if mark else at
