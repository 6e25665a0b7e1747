"""Goes on behind a step that does not parse, so that errors of several steps are reported together."""

import re
from collections.abc import Sequence
from dataclasses import replace

from mdh.diagnostics import Diagnostic
from mdh.schedule.names import KEYWORDS
from mdh.source import Source, Span

SYNTAX = ("S101", "S106")
"""Codes of errors that a step has by itself."""
_ITEM = re.compile(
    r"//[^\n]*|(?P<step>(?:\d+[ \t]*:[ \t]*)?\(de-\)comp)"
    rf"|^[ \t]*(?P<other>\}}|(?:{'|'.join(sorted(KEYWORDS))})\b)",
    re.MULTILINE,
)


def without_step(text: str, error: int) -> str | None:
    """The text with the step around an error blanked; None if it is in no step. An error where an item begins
    is of the step before it, which does not end."""
    items = [m for m in _ITEM.finditer(text) if m["step"] or m["other"]]
    number = next((n for n, m in reversed(list(enumerate(items))) if m.start() < error), None)
    if number is None or not items[number]["step"]:
        return None
    start = items[number].start()
    end = items[number + 1].start() if number + 1 < len(items) else len(text)
    end = _closing(text, start, end)
    blank = re.sub(r"[^\n]", " ", text[start:end])
    return f"{text[:start]}{blank}{text[end:]}"


def _closing(text: str, start: int, end: int) -> int:
    """The place of a brace that closes what is around the step; `end` if there is none before it."""
    depth = 0
    for m in re.compile(r"//[^\n]*|[{}]").finditer(text, start, end):
        depth += {"{": 1, "}": -1}.get(m[0], 0)
        if depth < 0:
            return m.start()
    return end


def ordered(found: Sequence[Diagnostic], source: Source) -> tuple[Diagnostic, ...]:
    """The diagnostics in the order of their places, which are those of `source`: texts with blanked steps are
    as long."""
    home = (replace(d, labels=tuple(replace(x, span=_home(x.span, source)) for x in d.labels)) for d in found)
    return tuple(sorted(home, key=lambda d: d.labels[0].span.start if d.labels else -1))


def _home(span: Span, source: Source) -> Span:
    return replace(span, source=source)
