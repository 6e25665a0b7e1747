"""Escapes characters in text for terminals, pages, files and JSON that control a terminal or cannot be
written.

Such characters come from C texts, schedules, compilers, file names and records, none of which mdh can trust.
An escape sequence may move the cursor and overwrite text, and a bidirectional control may show text in
another order. Escaped are control characters except newline and tab (`\\x1b`), bidirectional controls
(`\\u202e`), line and paragraph separators (`\\u2028`), and lone surrogates, which stand for bytes of a file
name that are not UTF-8 (`\\xff`).
"""

import re
import shlex
from typing import TextIO
from unicodedata import combining, east_asian_width

_DIRECTION = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
_HIDDEN = re.compile(f"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029{_DIRECTION}\ud800-\udfff]")
_SURROGATE = re.compile("[\ud800-\udfff]")


def printable(text: str) -> str:
    """The text with such characters escaped; newlines and tabs stay."""
    return _HIDDEN.sub(_spelled, text)


def one_line(text: str) -> str:
    """Like `printable`, on one line: newlines, tabs and all other invisible characters are escaped too. For
    names."""
    return text if text.isprintable() else "".join(c if c.isprintable() else _spell(c) for c in text)


def encodable(text: str) -> str:
    """The text with lone surrogates escaped, because UTF-8 has no bytes for them."""
    return _SURROGATE.sub(_spelled, text)


def json_text(text: str) -> str:
    """JSON in which such characters are escaped by JSON's own escapes; all of them are in strings."""
    return _HIDDEN.sub(lambda m: f"\\u{ord(m[0]):04x}", text)


def shell_word(word: str) -> str:
    """A word quoted for a shell; with invisible characters as `$'…'`, which bash and zsh read."""
    if word.isprintable():
        return shlex.quote(word)
    escaped = word.replace("\\", "\\\\").replace("'", "\\'")
    return f"$'{one_line(escaped)}'"


def fitting(text: str, stream: TextIO) -> str:
    """The text, with the characters escaped that the stream's encoding does not have."""
    encoding = getattr(stream, "encoding", None) or "utf-8"
    return text.encode(encoding, "backslashreplace").decode(encoding)


def cells(text: str) -> int:
    """The columns that a terminal needs for a line: two for a wide character, none for a combining one."""
    if text.isascii():
        return len(text)
    return sum(0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in text)


def _spelled(found: re.Match[str]) -> str:
    return _spell(found[0])


def _spell(character: str) -> str:
    number = ord(character)
    if 0xDC80 <= number <= 0xDCFF:
        # Python's stand-in for a byte of a name that is not UTF-8
        return f"\\x{number - 0xDC00:02x}"
    return character.encode("unicode_escape").decode()
