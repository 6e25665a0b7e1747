"""The texts that the user sees: those open in the editor, and of other files those on the disk."""

import os

from mdh.source import Source
from mdh.textfile import C_LIMIT, PROGRAMS, SCHEDULE_LIMIT, plain, read_text

SCHEDULE = ".mdh"


class ClosedError(Exception):
    """A file was closed while something was found out about it."""


class Texts:
    """open: path -> the text as it is in the editor, which may not be saved."""

    def __init__(self) -> None:
        self.open: dict[str, Source] = {}

    def put(self, path: str, text: str) -> Source:
        """Keeps the text of an open file."""
        self.open[path] = plain(path, text)
        return self.open[path]

    def drop(self, path: str) -> None:
        """Forgets the text of a file that was closed."""
        self.open.pop(path, None)

    def current(self, path: str) -> Source:
        """The text of an open file. Raises ClosedError for another one."""
        found = self.open.get(path)
        if found is None:
            raise ClosedError(path)
        return found

    def read(self, path: str) -> Source:
        """Raises Failed F101 to F105."""
        found = self.open.get(path)
        return found or read_text(path, limit=SCHEDULE_LIMIT if is_schedule(path) else C_LIMIT)

    def there(self, path: str) -> bool:
        return path in self.open or os.path.isfile(path)


def is_schedule(path: str) -> bool:
    return path.endswith(SCHEDULE)


def is_program(path: str) -> bool:
    """Whether the ending is one of programs; C files may be anything else, too."""
    return path.endswith(PROGRAMS)
