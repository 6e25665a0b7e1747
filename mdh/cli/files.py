"""Reading what the user names and writing what she asks for, each failure with a code and a place."""

import os
import stat
import sys
import tempfile
from pathlib import Path

from mdh.cli.command_line import CommandLine
from mdh.diagnostics import Failed
from mdh.source import Source

C_LIMIT = 1 << 20
SCHEDULE_LIMIT = 1 << 19
"""Bytes. The largest hand-written nests are a few kilobytes; a file beyond this is not what it seems."""


def read_source(line: CommandLine, path: str, *, limit: int) -> Source:
    """The text of `path`, named as the user wrote it. Raises Failed F101-F105."""
    return _decode(line, path, path, _read_bytes(line, path, limit))


def read_stdin(line: CommandLine, *, limit: int) -> Source:
    """Standard input as a Source called `<stdin>`. Raises Failed F104, F105."""
    data = sys.stdin.buffer.read(limit + 1)
    if len(data) > limit:
        raise line.fail("F105", f"standard input has more than {limit:,} bytes", "-", help="give a file")
    return _decode(line, "<stdin>", "-", data)


def _decode(line: CommandLine, name: str, word: str, data: bytes) -> Source:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        headline = f"`{name}` is not UTF-8 text: byte {error.start} is 0x{data[error.start]:02x}"
        hint = "give a text file; convert other encodings to UTF-8 first"
        raise line.fail("F104", headline, word, help=hint) from None
    if "\0" in text:
        headline = f"`{name}` is binary: byte {data.index(0)} is zero"
        raise line.fail("F104", headline, word, help="give a text file")
    return Source(name, text.removeprefix("\ufeff").replace("\r\n", "\n"))


def _read_bytes(line: CommandLine, path: str, limit: int) -> bytes:
    """At most `limit` bytes: the size is checked before the file is read."""
    try:
        status = os.stat(path)
        if stat.S_ISDIR(status.st_mode):
            raise line.fail("F102", f"`{path}` is a folder, not a file", path, help=_inside(path))
        if not stat.S_ISREG(status.st_mode):
            raise line.fail("F102", f"`{path}` is not a regular file", path, help="give a file of text")
        if status.st_size > limit:
            headline = f"`{path}` has {status.st_size:,} bytes; the limit is {limit:,}"
            raise line.fail("F105", headline, path, help="give the loop nest alone, without generated data")
        return Path(path).read_bytes()
    except FileNotFoundError:
        raise line.fail("F101", f"no file `{path}`", path, help=_nearby(path)) from None
    except (PermissionError, NotADirectoryError) as error:
        raise line.fail("F103", f"`{path}` cannot be read: {_reason(error)}", path) from None
    except (OSError, ValueError) as error:
        raise line.fail("F103", f"`{_printable(path)}` cannot be read: {_reason(error)}", path) from None


def write_text(line: CommandLine, path: str | Path, text: str) -> None:
    """Replaces `path` in one move: an interrupted run leaves the old file whole. Raises Failed F111."""
    target = Path(path)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.is_dir():
            raise IsADirectoryError(21, "it is a folder")
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        try:
            with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
                file.write(text)
            os.chmod(name, _mode_of(target))
            os.replace(name, target)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise cannot_write(line, path, error) from None


def cannot_write(line: CommandLine, path: str | Path, error: OSError) -> Failed:
    return line.fail("F111", f"`{path}` cannot be written: {_reason(error)}", str(path))


def _mode_of(path: Path) -> int:
    """The mode of the file that is replaced, else what the umask leaves of 0666."""
    if path.exists():
        return stat.S_IMODE(path.stat().st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def _reason(error: Exception) -> str:
    return error.strerror.lower() if isinstance(error, OSError) and error.strerror else str(error)


def _printable(path: str) -> str:
    return path.encode("unicode_escape").decode()


def _inside(path: str) -> str:
    """Names a file of the folder that could have been meant."""
    names = sorted(p.name for p in Path(path).iterdir() if p.suffix in (".c", ".mdh"))
    return f"it holds {', '.join(names[:5])}" if names else "give a file"


def _nearby(path: str) -> str:
    """Names the files beside a missing one that have its ending."""
    folder = Path(path).parent
    if not folder.is_dir():
        return f"there is no folder `{folder}`"
    names = sorted(p.name for p in folder.iterdir() if p.suffix == Path(path).suffix and p.is_file())
    return f"`{folder}` holds {', '.join(names[:5])}" if names else ""
