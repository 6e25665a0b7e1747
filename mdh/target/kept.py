"""Texts that a compiler refused, kept where the user can open them, with what the compiler said.

They lie in a folder of this user's alone: in a shared one others could put a link where a name is foreseen.
A message about a refused text never fails for want of a place: it says that there is none.
"""

import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from mdh.diagnostics import Failed
from mdh.folders import cache_home, own_folder, replace_own
from mdh.target.text import KernelText
from mdh.textfile import reason

FILES = 64
"""Of the folder; the oldest go."""
LOG = 1 << 20
"""Bytes of a log that are kept."""
_SUFFIXES = {"cuda": "cu", "opencl": "cl", "c": "c"}


@dataclass(frozen=True, slots=True)
class KeptText:
    """name: what messages call the text, its path where it could be kept; note: where it is."""

    name: str
    note: str


def keep_refused(text: KernelText, log: str | None = None, called: str = "") -> KeptText:
    """Write the text, and beside it the compiler's messages, in which `called` stands for the text's file.
    The names follow from the text."""
    name = f"{text.name}-{text.digest[:12]}.{_SUFFIXES[text.language]}"
    try:
        path = _folder() / name
        replace_own(path, text.source.encode())
        note = f"the text is kept in {path}"
        if log is not None:
            said = log.replace(called, str(path)) if called else log
            replace_own(path.with_suffix(".log"), _cut(said.encode(errors="replace")))
            note += f", the compiler's messages in {path.with_suffix('.log')}"
    except OSError as error:
        return KeptText(name, f"the text cannot be kept: {reason(error)}")
    _trim(path.parent)
    return KeptText(str(path), note)


def _folder() -> Path:
    """Beside the cache of machine code; a new one for temporary files where that does not serve. Raises
    OSError."""
    try:
        return own_folder(own_folder(cache_home()) / "refused")
    except Failed:
        return Path(tempfile.mkdtemp(prefix="mdh-refused-"))


def _cut(log: bytes) -> bytes:
    if len(log) <= LOG:
        return log
    return log[:LOG] + f"\n(mdh: {len(log) - LOG:,} further bytes are left out)\n".encode()


def _trim(folder: Path) -> None:
    with suppress(OSError):
        files = sorted(folder.iterdir(), key=lambda p: p.lstat().st_mtime)
        for path in files[:-FILES]:
            path.unlink()
