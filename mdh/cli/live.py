"""What is redrawn on a terminal while a command works, on stderr."""

import sys

from rich.console import Console
from rich.text import Text

from mdh.cli.terminal import coloured
from mdh.printable import one_line


def live_console() -> Console:
    return Console(file=sys.stderr, no_color=not coloured(sys.stderr))


def fitted(text: str) -> Text:
    """One line, which is cut to the width of the terminal. That may change while it is shown."""
    return Text(one_line(text), no_wrap=True, overflow="ellipsis")
