"""Text for terminals, pages, files and JSON: what steers a terminal, or cannot be written, is spelled out.

They come from C texts, schedules, compilers, file names and records, none of which mdh can trust: an escape
sequence may move the cursor and write over what was said, a bidirectional control may show text in another
order than it is in. Spelled out are the control characters but newline and tab (`\\x1b`), the controls of
direction (`\\u202e`), the separators of lines and paragraphs (`\\u2028`) and lone surrogates, which stand for
bytes of a file name that are not UTF-8 (`\\xff`).
"""

import re
import shlex
from typing import TextIO

_DIRECTION = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
_HIDDEN = re.compile(f"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029{_DIRECTION}\ud800-\udfff]")
_SURROGATE = re.compile("[\ud800-\udfff]")


def printable(text: str) -> str:
    """The text with such characters spelled out; newlines and tabs stay."""
    return _HIDDEN.sub(_spelled, text)


def one_line(text: str) -> str:
    """As `printable`, on one line: newlines, tabs and all other characters that show nothing are spelled out
    too. For names."""
    return text if text.isprintable() else "".join(c if c.isprintable() else _spell(c) for c in text)


def encodable(text: str) -> str:
    """The text with lone surrogates spelled out: UTF-8 has no bytes for them."""
    return _SURROGATE.sub(_spelled, text)


def json_text(text: str) -> str:
    """JSON as `printable`, by the escapes of JSON: all such characters stand in strings."""
    return _HIDDEN.sub(lambda m: f"\\u{ord(m[0]):04x}", text)


def shell_word(word: str) -> str:
    """A word quoted for a shell; one with characters that show nothing as `$'…'`, which bash and zsh read."""
    if word.isprintable():
        return shlex.quote(word)
    escaped = word.replace("\\", "\\\\").replace("'", "\\'")
    return f"$'{one_line(escaped)}'"


def fitting(text: str, stream: TextIO) -> str:
    """The text with characters spelled out that the stream's encoding does not have."""
    encoding = getattr(stream, "encoding", None) or "utf-8"
    return text.encode(encoding, "backslashreplace").decode(encoding)


def _spelled(found: re.Match[str]) -> str:
    return _spell(found[0])


def _spell(character: str) -> str:
    number = ord(character)
    if 0xDC80 <= number <= 0xDCFF:
        # Python's stand-in for a byte of a name that is not UTF-8
        return f"\\x{number - 0xDC00:02x}"
    return character.encode("unicode_escape").decode()
