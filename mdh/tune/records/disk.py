"""Files that are whole at every moment: replaced in one move, and on the disk before anybody is told."""

import os
import tempfile
from contextlib import suppress
from pathlib import Path

from mdh.diagnostics import Failed, fail
from mdh.textfile import reason


def replace_file(path: str | Path, data: bytes) -> None:
    """The file has either its old content or `data`, whenever the machine stops. Raises Failed F111."""
    target = Path(path)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.is_dir():
            raise IsADirectoryError(21, "it is a folder")
        # a link stays one: what it leads to is replaced
        target = Path(os.path.realpath(target))
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.chmod(name, _mode_of(target))
            os.replace(name, target)
            sync_folder(target.parent)
        finally:
            Path(name).unlink(missing_ok=True)
    except (OSError, ValueError) as error:
        raise unwritten(path, error) from None


def sync_folder(folder: str | Path) -> None:
    """A new name in the folder outlives a loss of power, where the file system can promise that."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def unwritten(path: str | Path, error: Exception) -> Failed:
    """F111 for what the system said about writing `path`."""
    file = next((p for p in Path(path).parents if p.is_file()), None)
    hint = f"`{file}` is a file; give a folder, or a new name" if file else "give a place that may be written"
    return fail("F111", f"`{path}` cannot be written: {reason(error)}", help=hint)


def _mode_of(path: Path) -> int:
    if path.exists():
        return path.stat().st_mode & 0o7777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
