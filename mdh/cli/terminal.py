"""What a terminal can show: whether colours, and how many columns."""

import os
from collections.abc import Mapping
from shutil import get_terminal_size
from typing import TextIO

from mdh.diagnostics import Accent, Severity

_BOLD, _RED, _GREEN, _YELLOW, _BLUE, _CYAN = "1", "1;31", "1;32", "1;33", "1;34", "1;36"
_STYLES = {
    Accent.HEADLINE: _BOLD, Accent.FRAME: _BLUE, Accent.NOTE: _CYAN, Accent.HELP: _GREEN,
    Severity.NOTE: _CYAN, Severity.WARNING: _YELLOW, Severity.ERROR: _RED, Severity.BUG: _RED,
}  # fmt: skip
"""Parameters of the escape sequence that begins a style. Only the sixteen colours that users choose."""


def coloured(stream: TextIO | None, environment: Mapping[str, str] = os.environ) -> bool:
    """Whether text for `stream` is coloured. NO_COLOR comes first, then what forces colours, then what the
    stream is: an empty variable counts as none, and `0` turns the others off."""
    if stream is None or environment.get("NO_COLOR"):
        return False
    if any(environment.get(name, "0") not in ("", "0") for name in ("FORCE_COLOR", "CLICOLOR_FORCE")):
        return True
    if environment.get("CLICOLOR") == "0" or environment.get("TERM") == "dumb":
        return False
    return stream.isatty()


def paint(text: str, accent: Accent | Severity) -> str:
    """The text in the style of its part; an empty one stays empty."""
    return f"\x1b[{_STYLES[accent]}m{text}\x1b[0m" if text else text


def columns(stream: TextIO | None) -> int | None:
    """Of a terminal; None where the output goes elsewhere."""
    if stream is None or not stream.isatty():
        return None
    return get_terminal_size((80, 24)).columns
