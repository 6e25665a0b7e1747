"""Reads a case of a table: `over M=17..4096:8 N=64 { … }`."""

from collections.abc import Sequence

from mdh.diagnostics import Diagnostic, Failed, Label, fail, labels_at
from mdh.ir.open_size import OpenSize
from mdh.schedule.cursor import Cursor
from mdh.schedule.entry_reader import positive
from mdh.schedule.model import SizeCase
from mdh.schedule.sections_reader import Sections, unexpected_item
from mdh.source import Span

_ITEM = "a step `(de-)comp(…)`, `fuse`, `where`, `stage` or `}`"
_RANGE = "a range of a size, as in `M=1..64`"
_FROM_1 = "sizes begin at 1"


def read_case(cursor: Cursor, before: Sequence[SizeCase]) -> SizeCase:
    """The case that begins at the cursor. before: those above it. Raises Failed S101, S106, S114, S156."""
    comments = cursor.comments_before(cursor.token.start)
    first = cursor.take()
    places: dict[str, Span] = {}
    ranges: list[OpenSize] = []
    while not ranges or not cursor.at("{"):
        ranges.append(_range(cursor, places))
    span = cursor.since(first)
    _demand_same_sizes(span, ranges, before)
    cursor.open("{", "`{`")
    sections = Sections(cursor)
    while not cursor.at("}"):
        if not sections.begin:
            raise unexpected_item(cursor, _ITEM)
        sections.read()
    comments += cursor.comments_before(cursor.token.start)
    cursor.close("")
    return SizeCase(tuple(ranges), sections.found(), span, places, comments)


def _range(cursor: Cursor, places: dict[str, Span]) -> OpenSize:
    """Reads `M=1`, `M=1..64` or `M=8..64:8`, and notes its place."""
    name = cursor.expect_kind("name", _RANGE)
    cursor.expect("=", f"`=` and the range of `{name.text}`")
    least = positive(cursor, "the least value of a range", _FROM_1)
    most, multiple = least, 1
    if cursor.accept("."):
        cursor.expect(".", "`..` and the largest value of a range")
        most = positive(cursor, "the largest value of a range", _FROM_1)
        if cursor.accept(":"):
            multiple = positive(cursor, "the number that sizes are multiples of", _FROM_1)
    span = cursor.since(name)
    low, high = -(-least // multiple) * multiple, most // multiple * multiple
    if low > high:
        headline = f"no size is in the range {least}..{most}" + (f":{multiple}" if multiple > 1 else "")
        hint = "write the least value first, as in `M=1..64`"
        if least <= most:
            hint = f"a range that holds a multiple of {multiple}, as {low}..{low}"
        raise fail("S156", headline, span, help=hint)
    if name.text in places:
        raise fail("S114", f"the size `{name.text}` is given twice", span, label="again here")
    places[name.text] = span
    return OpenSize(name.text, low, high, 1 if low == high else multiple)


def _demand_same_sizes(span: Span, ranges: Sequence[OpenSize], before: Sequence[SizeCase]) -> None:
    if before and {r.name for r in before[0].ranges} != {r.name for r in ranges}:
        wanted = ", ".join(f"`{r.name}`" for r in before[0].ranges)
        hint = f"give a range of {wanted}, as above"
        raise fail("S156", "the cases of a table are for different sizes", span, help=hint)
    for case in before:
        if set(case.ranges) == set(ranges):
            labels = (Label(span, "again here"), *labels_at(case.span, "first here"))
            raise Failed(Diagnostic("S114", "two cases are for the same sizes", labels))
