"""Where the lines `target NAME` and `program NAME` stand, for messages about what they name."""

import re

from mdh.diagnostics import Label
from mdh.schedule.model import Schedule
from mdh.source import Span


def at_header(schedule: Schedule, word: str) -> tuple[Label, ...]:
    """A label under the name that the header line `word` gives; none where the schedule has no text."""
    source = schedule.source
    found = source and re.search(rf"^[ \t]*{word}\s+([^\s/]+)", source.text, re.MULTILINE)
    if source is None or not found:
        return ()
    return (Label(Span(source, found.start(1), found.end(1))),)
