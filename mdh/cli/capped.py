"""Limits how many diagnostics are shown, because one mistake may lead to thousands."""

from collections.abc import Sequence
from dataclasses import replace

from mdh.diagnostics import Diagnostic

MOST_SHOWN = 50
"""The most diagnostics as text. Only damaged or generated schedules have so many."""
MOST_IN_JSON = 1_000
"""The most diagnostics as data, which programs read."""
MOST_CHARACTERS = 2_000
"""The most characters of one sentence; a name in it may be as long as the file."""


def capped(diagnostics: Sequence[Diagnostic], most: int) -> tuple[tuple[Diagnostic, ...], int]:
    """The first `most` diagnostics, with long sentences cut, and the number of further ones."""
    shown = tuple(_short(d) for d in diagnostics[:most])
    return shown, len(diagnostics) - len(shown)


def _short(d: Diagnostic) -> Diagnostic:
    labels = tuple(replace(label, message=_cut(label.message)) for label in d.labels)
    notes = tuple(_cut(n) for n in d.notes)
    return replace(d, headline=_cut(d.headline), labels=labels, notes=notes, help=_cut(d.help))


def _cut(text: str) -> str:
    return text if len(text) <= MOST_CHARACTERS else f"{text[:MOST_CHARACTERS]}…"
