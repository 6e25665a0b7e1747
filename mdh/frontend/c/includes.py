"""`#include "sizes.h"`: decides which files a C text may include (docs/codes/C104.md).

Only regular text files in the folder of the C file or below it are allowed, after following links. So a C
text from somebody else cannot show files of this machine, or make mdh wait for a pipe or a device.
"""

import os
from pathlib import Path

from mdh.diagnostics import Diagnostic, Failed, Label
from mdh.frontend.c.source_limits import MOST_TOKENS, checked_text, tokens_in
from mdh.textfile import C_LIMIT, read_text

MOST_INCLUDES = 200
"""The most included files, counting repetitions. A usual kernel includes fewer than ten."""
MOST_DEPTH = 15
"""The deepest nesting of files, as C11 (5.2.4.1) promises."""


class Includes:
    """What one C text has included so far. names: path -> the name in #line marks. lines: that name -> the
    line of the C text whose #include led to it."""

    def __init__(self, path: str) -> None:
        self.folder = Path(os.path.realpath(path)).parent
        self.names: dict[str, str] = {}
        self.lines: dict[str, int] = {}
        self.count = 0
        self.tokens = 0

    def text_of(self, path: str, place: Label, depth: int) -> str | None:
        """The text of the file at `path`; None if there is none. Raises Failed C104 at `place`.

        depth: the number of open files, with the C text itself.
        """
        if not os.path.lexists(path):
            return None
        name = os.path.basename(path)
        if not Path(os.path.realpath(path)).is_relative_to(self.folder):
            raise _refused(name, "it lies outside of the C file's folder", place)
        self.count += 1
        if depth > MOST_DEPTH:
            raise _refused(name, f"files include one another more than {MOST_DEPTH} deep", place)
        if self.count > MOST_INCLUDES:
            raise _refused(name, f"more than {MOST_INCLUDES} files are included", place)
        try:
            text = checked_text(read_text(path, limit=C_LIMIT))
        except Failed as failed:
            raise _refused(name, failed.diagnostics[0].headline.replace(path, name), place) from None
        self.tokens += tokens_in(text)
        if self.tokens > MOST_TOKENS:
            raise _refused(name, f"the included files hold more than {MOST_TOKENS:,} tokens", place)
        return text

    def note(self, path: str, line: int) -> None:
        """Notes that line `line` of the C text includes the file at `path`."""
        name = self.names.setdefault(path, f"included {len(self.names) + 1}")
        self.lines.setdefault(name, line)


def _refused(name: str, why: str, place: Label) -> Failed:
    headline, hint = (
        f"`{name}` cannot be included: {why}",
        "put what the function needs of it into the C file",
    )
    return Failed(Diagnostic("C104", headline, (place,), help=hint))
