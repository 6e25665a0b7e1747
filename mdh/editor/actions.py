"""Changes that an editor offers: a word that a message means, a sign that is missing, and what a warning of
performance advises."""

from collections.abc import Iterator
from dataclasses import dataclass

from mdh.diagnostics import Diagnostic, Failed
from mdh.editor.analysis import Analyser, Analysis
from mdh.edits import Edit, answers, changes
from mdh.fixing import fixed, with_remedy
from mdh.printable import printable
from mdh.schedule.canonical import canonical
from mdh.schedule.model import Schedule
from mdh.schedule.printer import print_schedule
from mdh.source import Source, Span

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
    for answer in answers(d, place):
        yield Action(answer.title, answer.edits, d, preferred=True)
    for found in analysis.findings:
        if found.diagnostic == d and found.remedy is not None and analysis.schedule is not None:
            changed = with_remedy(analysis.schedule, found)
            if changed is not None:
                text = print_schedule(canonical(changed))
                title = f"{d.code}: {printable(d.help)}"
                yield Action(title, changes(source, text), d, preferred=True)


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
