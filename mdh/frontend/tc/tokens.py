"""The tokens of Tensor Comprehensions. Names may begin with digits; the longest token wins, a number over a
name of the same length."""

import re

from mdh.diagnostics import fail
from mdh.frontend.token_stream import TextToken, TokenKind, meaningless
from mdh.source import Source, Span

SYNTAX, LIMIT = "T100", "T103"
MOST_TOKENS = 50_000
MOST_DIGITS = 400
"""The most characters of a literal: Python does not parse numbers of any length."""
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


def tokens_of(source: Source) -> list[TextToken]:
    """The tokens of a text, with one for its end. Raises Failed T100, T103."""
    text, at, out = source.text, 0, list[TextToken]()
    while True:
        blank = _BLANK.match(text, at)
        at = blank.end() if blank else at
        if at == len(text):
            out.append(TextToken(TokenKind.END, "", Span(source, max(0, at - 1), at)))
            return out
        kind, end = _longest(text, at, out[-1].kind if out else TokenKind.MARK)
        if end == at:
            raise meaningless(SYNTAX, source, at)
        out.append(TextToken(kind, text[at:end], Span(source, at, end)))
        if kind is TokenKind.NUMBER:
            _check_number(out[-1].text, out[-1].span)
        if len(out) > MOST_TOKENS:
            raise fail(LIMIT, f"the text has more than {MOST_TOKENS:,} tokens", out[-1].span)
        at = end


def _longest(text: str, at: int, before: TokenKind) -> tuple[TokenKind, int]:
    """The kind and the end of the token at a place. before: the kind of the token in front of it."""
    reduction = _REDUCTION.match(text, at)
    if reduction:
        return TokenKind.MARK, reduction.end()
    # `A.0` is an extent, not a name and `.0`
    member = before is TokenKind.NAME and text[at] == "."
    number, name = None if member else _NUMBER.match(text, at), _NAME.match(text, at)
    ends = number.end() if number else at, name.end() if name else at
    if max(ends) > at:
        return (TokenKind.NUMBER, ends[0]) if ends[0] >= ends[1] else (TokenKind.NAME, ends[1])
    mark = _MARK.match(text, at)
    return TokenKind.MARK, mark.end() if mark else at


def integer(text: str) -> int:
    """The value of an integer literal."""
    digits = text.rstrip("uUlL")
    if digits[:2].lower() == "0x":
        return int(digits, 16)
    return int(digits, 8 if digits[0] == "0" else 10)


def is_float_text(text: str) -> bool:
    """Whether a literal is no integer."""
    lower = text.lower()
    return "p" in lower if lower.startswith("0x") else any(x in lower for x in ".ef")


def float_value(text: str) -> float:
    """The value of a literal that is no integer."""
    lower = text.lower()
    return float.fromhex(lower.removesuffix("f")) if "p" in lower else float(lower.removesuffix("f"))


def _check_number(text: str, span: Span) -> None:
    """Raises Failed T100 for literals that C has not, or that no type holds."""
    if is_float_text(text):
        if len(text) > MOST_DIGITS or _overflows(text):
            raise fail(SYNTAX, f"`{text[:40]}` is larger than a double holds", span)
        return
    digits = text.rstrip("uUlL")
    if digits[:1] == "0" and digits[:2].lower() != "0x" and not set(digits) <= set("01234567"):
        raise fail(
            SYNTAX, f"`{text[:40]}` is no octal number", span, help=f"write {digits.lstrip('0') or '0'}"
        )
    if len(digits.lstrip("0xX")) > MOST_DIGITS or integer(text) >= 2**63:
        raise fail(
            SYNTAX, f"`{text[:40]}` is larger than 63 bits hold", span, help="write it as a float: 1e20"
        )


def _overflows(text: str) -> bool:
    try:
        return float_value(text) == float("inf")
    except OverflowError:
        return True
