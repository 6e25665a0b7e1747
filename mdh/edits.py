"""Changes of a text that a message names: a word that is meant, a sign that is missing. Editors offer them,
and `--format sarif` lists them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher

from mdh.diagnostics import Diagnostic, Failed
from mdh.schedule.parser import parse_schedule
from mdh.schedule.tokens import known_tokens
from mdh.source import Source, Span

Edit = tuple[Span, str]
"""A place, and the text that replaces it."""
_MEANT = re.compile(r"did you mean `([^`\n]{1,80})`")
_CLOSE = re.compile(r"close it with `([)\]}])`")
_QUOTED = re.compile(r"`([^`\n]{1,80})`")
_WORD = re.compile(r"[@?]?[\w.\-]+")
_OF_PROGRAMS = "CL"
"""Codes of texts that are no schedules begin so."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What answers a message."""

    title: str
    edits: tuple[Edit, ...]


def answers(d: Diagnostic, place: Span) -> Iterator[Answer]:
    """The changes that a message names. place: where it points at in the text."""
    source = place.source
    said = " ".join((d.help, *(x.message for x in d.labels)))
    if (meant := _MEANT.search(said)) is not None:
        edit = _replaced(d, place, meant[1])
        if edit is not None and _helps(source, edit, d):
            yield Answer(f"Write `{meant[1]}`", (edit,))
    if (sign := _CLOSE.search(d.help)) is not None:
        edit = (_end_of_item(source, d), f" {sign[1]}")
        if _helps(source, edit, d):
            yield Answer(f"Close with `{sign[1]}`", (edit,))


def _replaced(d: Diagnostic, place: Span, word: str) -> Edit | None:
    """The change of the wrong word: the one that the headline quotes, if it stands there, else the first of a
    schedule."""
    text = place.text
    for quoted in _QUOTED.findall(d.headline):
        found = re.search(rf"(?<![\w@?]){re.escape(quoted)}(?!\w)", text)
        if found is not None:
            return Span(place.source, place.start + found.start(), place.start + found.end()), word
    first = None if d.code[:1] in _OF_PROGRAMS else _WORD.match(text)
    return None if first is None else (Span(place.source, place.start, place.start + first.end()), word)


def _end_of_item(source: Source, d: Diagnostic) -> Span:
    """Behind the last word in front of the place where the sign was missed."""
    missed = d.labels[1].span.start if len(d.labels) > 1 else len(source.text)
    ends = [t.end for t in known_tokens(source) if t.end <= missed and t.text]
    end = max(ends, default=0)
    return Span(source, end, end)


def _helps(source: Source, edit: Edit, d: Diagnostic) -> bool:
    """Whether a change of a schedule that does not parse answers the message; of others, whether it still
    parses. A name in a program that is most like the wrong one is taken as it is."""
    if d.code[:1] in _OF_PROGRAMS:
        return True
    span, new = edit
    after = Source(source.name, source.text[: span.start] + new + source.text[span.end :])
    try:
        parse_schedule(after)
    except Failed as failed:
        return d.code.startswith("S1") and all(
            (x.code, x.headline) != (d.code, d.headline) or x.labels[:1] != d.labels[:1]
            for x in failed.diagnostics
        )
    return True


def changes(source: Source, text: str) -> tuple[Edit, ...]:
    """The lines that differ, so that all others stay as they are."""
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
