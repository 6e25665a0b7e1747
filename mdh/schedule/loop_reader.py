"""Reads the section of a loop around stages: `loop NAME( i ) { 1: (de-)comp( 16 ) ( BLK.x ) }`."""

from mdh.diagnostics import fail
from mdh.schedule.cursor import Cursor
from mdh.schedule.model import Section, Step
from mdh.schedule.step_reader import at_step, read_step

_ITEM = "a step `(de-)comp( tiles ) ( cores )` or `}`"


def read_loop(cursor: Cursor, known: dict[str, Section]) -> None:
    """Reads the section that begins at the cursor. known: those before it, by name, which it joins. Raises
    Failed S101, S106, S112, S114."""
    comments = cursor.comments_before(cursor.token.start)
    first = cursor.take()
    name = cursor.expect_kind("name", "the name of a loop")
    span = cursor.span(first, name)
    cursor.open("(", "`(` and the counters of the loop in C")
    counters = cursor.separated(lambda: cursor.expect_kind("name", "the counter of a loop in C").text)
    cursor.close("`,`")
    # a loop that units share may have the name of another one that runs as wavefronts
    key = name.text if len(counters) == 1 else f"{name.text}( … )"
    if key in known:
        headline = f"the loop `{name.text}` has two sections"
        raise fail("S114", headline, cursor.span(name), label="again here")
    cursor.open("{", "`{` and the steps of the loop")
    steps: list[Step] = []
    while not cursor.at("}"):
        if not at_step(cursor):
            raise cursor.unexpected(_ITEM)
        steps.append(read_step(cursor, memory=False))
    cursor.close("")
    known[key] = Section(name.text, tuple(steps), span=span, comments=comments, counters=tuple(counters))
