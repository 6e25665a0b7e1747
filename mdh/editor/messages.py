"""Diagnostics as an editor shows them: at a place of one text, with related places, and the page of the
code."""

from collections.abc import Iterable
from dataclasses import dataclass

from mdh.diagnostics import Diagnostic, Severity
from mdh.editor.actions import own_place
from mdh.printable import printable
from mdh.report.pages import page_file
from mdh.source import Source, Span

MOST = 100
"""The most messages of a text. Only damaged ones have more."""
MOST_CHARACTERS = 2_000
SHOWN = 8
"""The most related places of a message."""


@dataclass(frozen=True, slots=True)
class Message:
    """span: in the text that is shown. page: the path of the code's page; None without a code. related: other
    places, with what is said of them."""

    span: Span
    severity: Severity
    code: str
    text: str
    related: tuple[tuple[Span, str], ...] = ()
    page: str | None = None


def messages_of(source: Source, problems: Iterable[Diagnostic]) -> tuple[Message, ...]:
    """What is shown in a text. What has no place there stands at its beginning."""
    found = tuple(problems)[:MOST]
    return tuple(_message(source, d) for n, d in enumerate(found) if d not in found[:n])


def _message(source: Source, d: Diagnostic) -> Message:
    place = own_place(d, source)
    here = place or Span(source, 0, min(1, len(source.text)))
    first = next((x for x in d.labels if x.span == place), None)
    related = [(x.span, _cut(x.message or "here")) for x in d.labels if x is not first]
    rows = [d.headline if place or not d.labels else f"{d.headline} ({d.labels[0].span.source.name})"]
    rows += [first.message] if first is not None and first.message else []
    rows += [f"note: {note}" for note in d.notes] + ([f"help: {d.help}"] if d.help else [])
    text = "\n".join(_cut(row) for row in rows)
    return Message(here, d.severity, d.code, text, tuple(related[:SHOWN]), page_file(d.code))


def _cut(text: str) -> str:
    text = printable(text)
    return text if len(text) <= MOST_CHARACTERS else f"{text[:MOST_CHARACTERS]}…"
