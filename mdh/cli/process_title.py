"""Hides passwords in the command line that the system shows of a process (`ps`, /proc/N/cmdline).

Everybody can read them until this runs, some tenths of a second. Passwords that the database's driver takes
from PGPASSWORD or a file are never visible.
"""

import ctypes
import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from mdh.passwords import places, spans

_SHOWN, _STATE = Path("/proc/self/cmdline"), Path("/proc/self/stat")
_BEHIND = 46
"""The position, after the process's name, of the field with the end address of its words."""


def hide_passwords(words: Sequence[str]) -> None:
    """Overwrites the passwords in `words`, the last words of this process, with stars; Python has a copy of
    them. Does nothing on systems other than Linux."""
    found = [spans(w, place=p) for w, p in zip(words, places(words), strict=True)]
    if not any(found):
        return
    with suppress(OSError, ValueError, IndexError):
        raw = [os.fsencode(word) for word in words]
        # each word ends with a zero
        begin = _end() - sum(len(w) + 1 for w in raw)
        if not _SHOWN.read_bytes().endswith(b"".join(w + b"\0" for w in raw)):
            return
        for word, coded, hidden in zip(words, raw, found, strict=True):
            for start, stop in hidden:
                first, count = len(os.fsencode(word[:start])), len(os.fsencode(word[start:stop]))
                ctypes.memset(begin + first, ord("*"), count)
            begin += len(coded) + 1


def _end() -> int:
    """The address after the last word. Raises OSError, ValueError, IndexError."""
    return int(_STATE.read_text("latin-1").rpartition(")")[2].split()[_BEHIND])
