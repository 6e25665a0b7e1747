"""Limits of the size and nesting of a C text. Larger texts are refused before any parser sees them.

Parsers take some 50 microseconds a token and recurse into nested text. These limits keep the time for any
text below a second.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from mdh.diagnostics import Failed, fail
from mdh.frontend.limits import HELP
from mdh.ir.size import MOST_NODES
from mdh.source import Source, Span
from mdh.textfile import C_LIMIT

MOST_CHARACTERS = C_LIMIT
MOST_NESTING = 200
"""The deepest nesting of brackets: far beyond what people write, and what a recursive parser can handle."""

MOST_TOKENS = 20_000
"""The most tokens of a text, and of what one expansion of a macro may add. A statement has some 15."""
MOST_STATEMENTS = 400
"""The most semicolons after macros are expanded, with those of `for (;;)`. Each statement is compared with
every other one that shares an array with it; 400 on one array take two seconds. PolyBench's largest kernels
have 40."""
MOST_DIRECTIVES = 2_000
"""The most lines that begin with `#`. The largest header of a C library has some 1,500."""
MOST_LINES = 20_000
"""The same as the most tokens."""
MOST_IN_NAME = 255
"""The most characters of a name. C promises 63."""
MOST_IN_CONSTANT = 4_000
"""The most characters of a number or a string. C promises 4,095; doubles are exact with 1,100."""

_PARTS = r"""
      (?P<name>[^\W\d]\w*)
    | (?P<constant>\.?\d(?:[eEpP][-+]|[\w.])*|"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?)
    | [^\s\w]"""
_TOKEN = re.compile(
    r"(?P<comment>/\*.*?(?:\*/|\Z)|//[^\n]*)|(?P<directive>^[ \t]*\#)|" + _PARTS, re.X | re.S | re.M
)
_EXPANDED = re.compile(_PARTS, re.X | re.S)
_ASIDE = re.compile(r"/\*.*?(?:\*/|\Z)|//[^\n]*|^[ \t]*#(?:\\\n|[^\n])*", re.S | re.M)
"""Comments and directives."""
_OPERATOR = re.compile(r"[-+*/%&|^<>?]+")
_FEW = "give mdh the one function to compile, not a generated library"


def checked_text(source: Source) -> str:
    """The text of `source`, with blanks in place of comments that end in their line.

    Raises Failed: C102 for a text that is too large, C103 for a comment that is not closed or continues after
    a backslash, C121 for a statement that is too large, C124 for a number that is too long.
    """
    _check_characters(source)
    _check_statements(source)
    text = _without_comments(source)
    _check_brackets(source)
    return text


def check_expanded(source: Source, text: str) -> None:
    """Raises Failed C102 if `text`, which macros and files made of `source`, is too large."""
    tokens = 0
    for m in _EXPANDED.finditer(text):
        tokens += 1
        _check_length(m, Span(source, 0, 1))
    if tokens > MOST_TOKENS:
        raise _too_many(source, "tokens", tokens, MOST_TOKENS, Span(source, 0, 1), " once it is expanded")
    statements = text.count(";")
    if statements > MOST_STATEMENTS:
        at = source.text.find(";")
        span = Span(source, max(at, 0), max(at, 0) + 1)
        raise _too_many(source, "statements", statements, MOST_STATEMENTS, span)


def tokens_in(text: str) -> int:
    """The number of names, constants and signs in a text without comments."""
    return sum(1 for _ in _EXPANDED.finditer(text))


def _check_characters(source: Source) -> None:
    if len(source.text) > MOST_CHARACTERS:
        raise _too_many(source, "characters", len(source.text), MOST_CHARACTERS, Span(source, 0, 1))
    if len(source.line_starts) > MOST_LINES:
        span = Span(source, source.line_starts[MOST_LINES], source.line_starts[MOST_LINES] + 1)
        raise _too_many(source, "lines", len(source.line_starts), MOST_LINES, span)
    if "\0" in source.text:
        raise fail(
            "C102", f"`{source.name}` is a binary file", Span(source, 0, 1), help="give mdh a C source file"
        )


def _too_many(source: Source, things: str, count: int, most: int, span: Span, when: str = "") -> Failed:
    headline = f"`{source.name}` holds {count:,} {things}{when}, more than {most:,}"
    return fail("C102", headline, span, help=_FEW)


def _without_comments(source: Source) -> str:
    """The text without comments, except those of several lines: their newlines do not end a directive."""
    out: list[str] = []
    last = directives = 0
    for tokens, m in enumerate(_TOKEN.finditer(source.text), 1):
        if tokens > MOST_TOKENS:
            raise _too_many(source, "tokens and comments", tokens, MOST_TOKENS, Span(source, *m.span()))
        match m.lastgroup:
            case "comment":
                _check_comment(source, m)
                if "\n" not in m[0]:
                    out += (source.text[last : m.start()], " " * len(m[0]))
                    last = m.end()
            case "directive":
                directives += 1
                if directives > MOST_DIRECTIVES:
                    span = Span(source, m.end() - 1, m.end())
                    raise _too_many(source, "directives", directives, MOST_DIRECTIVES, span)
            case "name" | "constant":
                _check_length(m, Span(source, *m.span()))
    return "".join((*out, source.text[last:]))


def _check_length(m: re.Match[str], span: Span) -> None:
    most = MOST_IN_NAME if m.lastgroup == "name" else MOST_IN_CONSTANT
    if m.lastgroup is not None and len(m[0]) > most:
        what = f"the {m.lastgroup} `{m[0][:20]}…` has {len(m[0]):,} characters, more than {most:,}"
        number = m.lastgroup == "constant" and m[0][0] not in "\"'"
        help_ = (
            "no integer has more than 20 digits, and 17 give every double" if number else "write it shorter"
        )
        raise fail("C124" if number else "C102", what, span, help=help_)


def _check_comment(source: Source, m: re.Match[str]) -> None:
    if m[0].startswith("/*") and (len(m[0]) < 4 or not m[0].endswith("*/")):
        raise fail("C103", "this comment is never closed", Span(source, m.start(), m.start() + 2),
                   help="close it with `*/`")  # fmt: skip
    spliced = m[0].startswith("//") and m[0].rstrip(" \t\r").endswith("\\")
    if spliced and source.text.startswith("\n", m.end()):
        raise fail("C103", "this comment goes on in the next line", Span(source, *m.span()),
                   help="remove the backslash at its end")  # fmt: skip


def _check_brackets(source: Source) -> None:
    depth = 0
    for at, c in enumerate(source.text):
        if c in "([{":
            depth += 1
            if depth > MOST_NESTING:
                blocks = source.text[: at + 1].count("{") > MOST_NESTING // 2
                help_ = "remove blocks inside blocks" if blocks else "split the expression"
                raise fail("C102", f"brackets nest deeper than {MOST_NESTING}", Span(source, at, at + 1),
                           help=help_)  # fmt: skip
        elif c in ")]}":
            depth = max(0, depth - 1)


def _check_statements(source: Source) -> None:
    """Raises at once for a statement that is too large as written: parsing it would take seconds."""
    at, count = _heaviest(source)
    if count > MOST_NODES:
        span = Span(source, at, at + 1)
        raise fail(
            "C121", f"this statement has {count:,} operators, more than {MOST_NODES:,}", span, help=HELP
        )


def _heaviest(source: Source) -> tuple[int, int]:
    """Where the right side of the statement with the most operators begins, and how many operators it has."""
    text = _ASIDE.sub(lambda m: " " * len(m[0]), source.text)
    at, most = 0, 0
    for m in re.finditer(r"[^;{}]+", text):
        count = len(_OPERATOR.findall(m[0]))
        if count > most:
            target = re.match(r"[^=<>!]*?[-+*/%&|^]?=(?!=)\s*", m[0])
            lead = len(target[0]) if target else len(m[0]) - len(m[0].lstrip())
            at, most = m.start() + lead, count
    return min(at, max(0, len(source.text) - 1)), most


@contextmanager
def limited_depth(source: Source) -> Iterator[None]:
    """Raises Failed C121 if what runs inside recurses too deeply into the text."""
    try:
        yield
    except RecursionError:
        raise _too_deep(source) from None


def _too_deep(source: Source) -> Failed:
    """The error for a text that nests too deeply. It points at the deepest bracket or the largest
    statement."""
    depth, deepest, at = 0, 0, 0
    for k, c in enumerate(source.text):
        depth += (c in "([{") - (c in ")]}")
        if depth > deepest:
            deepest, at = depth, k
    if deepest < 20:
        at = _heaviest(source)[0]
    return fail("C121", "this nests too deep", Span(source, at, at + 1), label="here", help=HELP)
