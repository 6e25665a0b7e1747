"""Changes that an editor offers: a word that a message means, a sign that is missing, and what a warning of
performance advises."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from mdh.diagnostics import Diagnostic, Failed
from mdh.editor.analysis import Analyser, Analysis
from mdh.editor.formatting import Edit, changes
from mdh.fixing import fixed, with_remedy
from mdh.printable import printable
from mdh.schedule.canonical import canonical
from mdh.schedule.model import Schedule
from mdh.schedule.parser import parse_schedule
from mdh.schedule.printer import print_schedule
from mdh.schedule.tokens import known_tokens
from mdh.source import Source, Span

_MEANT = re.compile(r"did you mean `([^`\n]{1,80})`")
_CLOSE = re.compile(r"close it with `([)\]}])`")
_QUOTED = re.compile(r"`([^`\n]{1,80})`")
_WORD = re.compile(r"[@?]?[\w.\-]+")
FIX_ALL = "Apply what `mdh check --fix` applies"


@dataclass(frozen=True, slots=True)
class Action:
    """about: the message that it answers. preferred: whether it is the one answer."""

    title: str
    edits: tuple[Edit, ...]
    about: Diagnostic
    preferred: bool = False


def actions(analysis: Analysis, low: int, high: int) -> tuple[Action, ...]:
    """What can be done about the messages between two offsets."""
    out: list[Action] = []
    for d in analysis.problems:
        place = own_place(d, analysis.source)
        if place is not None and place.start <= high and low <= place.end:
            out += _answers(analysis, d, place)
    return tuple(out)


def own_place(d: Diagnostic, source: Source) -> Span | None:
    """The first place of a message that is in this text."""
    return next((x.span for x in d.labels if x.span.source.name == source.name), None)


def _answers(analysis: Analysis, d: Diagnostic, place: Span) -> Iterator[Action]:
    source = analysis.source
    said = " ".join((d.help, *(x.message for x in d.labels)))
    if (meant := _MEANT.search(said)) is not None:
        edit = _replaced(d, place, meant[1])
        if edit is not None and _helps(source, edit, d):
            yield Action(f"Write `{meant[1]}`", (edit,), d, preferred=True)
    if (sign := _CLOSE.search(d.help)) is not None:
        edit = (_end_of_item(source, d), f" {sign[1]}")
        if _helps(source, edit, d):
            yield Action(f"Close with `{sign[1]}`", (edit,), d, preferred=True)
    for found in analysis.findings:
        if found.diagnostic == d and found.remedy is not None and analysis.schedule is not None:
            changed = with_remedy(analysis.schedule, found)
            if changed is not None:
                text = print_schedule(canonical(changed))
                title = f"{d.code}: {printable(d.help)}"
                yield Action(title, changes(source, text), d, preferred=True)


def _replaced(d: Diagnostic, place: Span, word: str) -> Edit | None:
    """The change of the wrong word: the one that the headline quotes, if it stands there, else the first."""
    text = place.text
    for quoted in _QUOTED.findall(d.headline):
        found = re.search(rf"(?<![\w@?]){re.escape(quoted)}(?!\w)", text)
        if found is not None:
            return Span(place.source, place.start + found.start(), place.start + found.end()), word
    first = _WORD.match(text)
    return None if first is None else (Span(place.source, place.start, place.start + first.end()), word)


def _end_of_item(source: Source, d: Diagnostic) -> Span:
    """Behind the last word in front of the place where the sign was missed."""
    missed = d.labels[1].span.start if len(d.labels) > 1 else len(source.text)
    ends = [t.end for t in known_tokens(source) if t.end <= missed and t.text]
    end = max(ends, default=0)
    return Span(source, end, end)


def _helps(source: Source, edit: Edit, d: Diagnostic) -> bool:
    """Whether a change of a text that does not parse answers the message; of others, whether it still
    parses."""
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


def fix_all(analysis: Analysis, analyser: Analyser) -> tuple[Edit, ...]:
    """The changes that `mdh check --fix` makes; none where the schedule is not legal. Takes seconds."""
    if analysis.checked is None or analysis.schedule is None:
        return ()

    def demand_sizes(schedule: Schedule) -> None:
        wrong = analyser.other_sizes(analysis, schedule)
        if wrong:
            raise Failed(*wrong)

    values = analyser.sets(analysis.schedule)
    found = fixed(
        analysis.checked, analysis.schedule, values, demand_sizes=demand_sizes, say=lambda _: None
    )  # fmt: skip
    return changes(analysis.source, found.text) if found.applied else ()
