"""Writes files that are complete at every moment. Raises a diagnostic if they cannot be written."""

import os
from pathlib import Path

from mdh.diagnostics import Failed, fail
from mdh.folders import followed, replace_whole
from mdh.textfile import reason


def replace_file(path: str | Path, data: bytes) -> None:
    """Replaces a file atomically: it has either its old content or `data`, whenever the machine stops. Raises
    Failed F111."""
    target = Path(path)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        if os.path.isdir(target):
            raise IsADirectoryError(21, "it is a folder")
        # a link stays a link: the file that it leads to is replaced
        replace_whole(followed(target), data)
    except (OSError, ValueError) as error:
        raise unwritten(path, error) from None


def unwritten(path: str | Path, error: Exception) -> Failed:
    """F111 with the system's error about writing `path`."""
    file = next((p for p in Path(path).parents if os.path.isfile(p)), None)
    hint = f"`{file}` is a file; give a folder, or a new name" if file else "give a place that may be written"
    return fail("F111", f"`{path}` cannot be written: {reason(error)}", help=hint)
