"""Reads what a stage's section holds: `fuse` lines, steps and conditions."""

from mdh.schedule.condition_reader import read_where
from mdh.schedule.cursor import Cursor
from mdh.schedule.model import Fuse, Section, Step, Where
from mdh.schedule.step_reader import at_step, read_step
from mdh.source import Span


class SectionBody:
    """Collects the items of one section."""

    def __init__(self) -> None:
        self.fuses: list[Fuse] = []
        self.steps: list[Step] = []
        self.wheres: list[Where] = []

    def section(self, name: str | None, span: Span, comments: tuple[str, ...] = ()) -> Section:
        return Section(name, tuple(self.steps), tuple(self.wheres), span, comments, tuple(self.fuses))

    def read(self, cursor: Cursor) -> None:
        """Reads the item that begins here. Requires `begins_body_item`."""
        if at_step(cursor):
            self.steps.append(read_step(cursor))
        elif cursor.at_word("where"):
            self.wheres.append(read_where(cursor, len(self.wheres)))
        else:
            self.fuses.append(read_fuse(cursor))


def begins_body_item(cursor: Cursor) -> bool:
    return at_step(cursor) or cursor.at_word("where", "fuse")


def read_fuse(cursor: Cursor) -> Fuse:
    """`fuse n, p, q`, which begins at the cursor. Raises Failed S101."""
    first = cursor.token
    comments = cursor.comments_before(first.start)
    cursor.take()
    names = cursor.separated(lambda: cursor.expect_kind("name", "the name of a dimension"))
    if len(names) == 1:
        raise cursor.unexpected("`,` and another dimension")
    spans = tuple(map(cursor.span, names))
    inner = cursor.comments_before(cursor.previous.end)
    texts = tuple(name.text for name in names)
    return Fuse(texts, cursor.since(first), spans, comments + inner, cursor.remark())
