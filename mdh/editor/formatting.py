"""Formats a schedule as `mdh fmt` does."""

from mdh.diagnostics import Failed
from mdh.edits import Edit, changes
from mdh.schedule.canonical import canonical
from mdh.schedule.parser import parse_schedule
from mdh.schedule.printer import print_schedule
from mdh.source import Source


def formatted(source: Source) -> tuple[Edit, ...]:
    """The changes that give the canonical form; none for a text that does not parse."""
    try:
        text = print_schedule(canonical(parse_schedule(source)))
    except Failed:
        return ()
    return changes(source, text)
