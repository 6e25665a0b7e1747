"""Formats a schedule as `mdh fmt` does."""

import re
from difflib import SequenceMatcher

from mdh.diagnostics import Failed
from mdh.schedule.canonical import canonical
from mdh.schedule.parser import parse_schedule
from mdh.schedule.printer import print_schedule
from mdh.source import Source, Span

Edit = tuple[Span, str]


def formatted(source: Source) -> tuple[Edit, ...]:
    """The changes that give the canonical form; none for a text that does not parse."""
    try:
        text = print_schedule(canonical(parse_schedule(source)))
    except Failed:
        return ()
    return changes(source, text)


def changes(source: Source, text: str) -> tuple[Edit, ...]:
    """The lines that differ, so that the editor keeps its place in all others."""
    before, after = _lines(source.text), _lines(text)
    starts = [0]
    for line in before:
        starts.append(starts[-1] + len(line))
    found = SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    return tuple(
        (Span(source, starts[a], starts[b]), "".join(after[c:d]))
        for what, a, b, c, d in found
        if what != "equal"
    )


def _lines(text: str) -> list[str]:
    """With their newlines. `splitlines` would also end them at signs that do not end lines here."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)
