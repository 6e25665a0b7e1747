"""How much of what was found is shown: nobody reads a thousand errors, and one mistake may lead to many."""

from collections.abc import Sequence
from dataclasses import replace

from mdh.diagnostics import Diagnostic

MOST_SHOWN = 50
"""Diagnostics as text: two screens. A rule tells of a few; only damaged or generated schedules get here."""
MOST_IN_JSON = 1_000
"""Diagnostics as data, which programs read."""
MOST_CHARACTERS = 2_000
"""Of one sentence: a name in it may be as long as the file."""


def capped(diagnostics: Sequence[Diagnostic], most: int) -> tuple[tuple[Diagnostic, ...], int]:
    """The first `most` diagnostics, sentences cut where they are too long, and how many there are beyond."""
    shown = tuple(_short(d) for d in diagnostics[:most])
    return shown, len(diagnostics) - len(shown)


def _short(d: Diagnostic) -> Diagnostic:
    labels = tuple(replace(label, message=_cut(label.message)) for label in d.labels)
    notes = tuple(_cut(n) for n in d.notes)
    return replace(d, headline=_cut(d.headline), labels=labels, notes=notes, help=_cut(d.help))


def _cut(text: str) -> str:
    return text if len(text) <= MOST_CHARACTERS else f"{text[:MOST_CHARACTERS]}…"
