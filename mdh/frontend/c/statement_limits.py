"""Limits of the size and nesting of one statement of a C text."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from mdh.diagnostics import Failed, fail
from mdh.frontend.limits import HELP, MOST_NODES
from mdh.source import Source, Span

_ASIDE = re.compile(r"/\*.*?(?:\*/|\Z)|//[^\n]*|^[ \t]*#(?:\\\n|[^\n])*", re.S | re.M)
"""Comments and directives."""
_OPERATOR = re.compile(r"[-+*/%&|^<>?]+")


def check_statements(source: Source) -> None:
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
