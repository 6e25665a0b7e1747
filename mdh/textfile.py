"""Reads text files as Sources. Files that cannot be read are refused with a code."""

import os
import stat
from difflib import get_close_matches
from pathlib import Path

from mdh.diagnostics import Failed, fail
from mdh.shipped import Example, example_called, near_examples, near_schedules, schedule_called
from mdh.source import Source

C_LIMIT = 1 << 18
EINSUM = ".einsum"
"""The ending of texts such as `ij,jk->ik`."""
PROGRAMS = (".c", ".tc", ".diesel", EINSUM)
"""The endings of programs."""
SCHEDULE_LIMIT = 1 << 17
"""Bytes. The largest hand-written nests are a few kilobytes; a file beyond this is not what it seems. A
schedule of a hundred stages takes a third of its limit, and parsing it all stays under a second."""

SAVED_LIMIT = 1 << 20
"""Of a saved kernel, which holds a program and a schedule."""

_TOO_LARGE = {
    SAVED_LIMIT: "is this the right file? mdh writes smaller ones",
    C_LIMIT: "give the loop nest alone, without generated data",
    SCHEDULE_LIMIT: "is this the right file? A schedule of a hundred stages needs a third of the limit",
}


def read_text(path: str, *, limit: int) -> Source:
    """The text of `path`, named as it is given. Raises Failed: F101 no such file, F102 not a file, F103 not
    readable, F104 not text, F105 more than `limit` bytes."""
    return decode(path, _read_bytes(path, limit))


def read_program_text(path: str) -> Source:
    """The text of a program. A path such as `ij,jk->ik.einsum` is the text itself, unless there is such a
    file, and `matmul` is the shipped program of that name. Raises Failed F101 to F105, F120 for an ending
    that only resembles one of a language, and for a schedule."""
    text = path.removesuffix(EINSUM)
    if text != path and not os.path.exists(path):
        return Source(path, text)
    shipped = shipped_program(path)
    if shipped is not None:
        return Source(shipped.source_name, shipped.text)
    if _is_missing(path):
        raise _no_program(path)
    found, ending = read_text(path, limit=C_LIMIT), Path(path).suffix
    if ending == ".mdh":
        hint = f"give the program, then the schedule: FILE.c --schedule {path}"
        raise fail("F120", f"`{path}` is a schedule, and this is the place of a program", help=hint)
    meant = get_close_matches(ending.lower(), PROGRAMS[1:], n=1, cutoff=0.75)
    if meant and ending not in PROGRAMS and ending != ".C":
        headline = f"`{ending}` is the ending of no language that mdh reads"
        hint = f"rename the file to {Path(path).stem}{meant[0]}; endings: {', '.join(PROGRAMS)}, others are C"
        raise fail("F120", headline, help=hint)
    return found


def shipped_program(path: str) -> Example | None:
    """The shipped program of this name, if no file has it."""
    found = example_called(path)
    return found if found is not None and _is_no_file(path) else None


def read_schedule_text(path: str) -> Source:
    """The text of a schedule; `matmul/h200/base` is the shipped one of that name, where no file has it.
    Raises Failed F101 to F105, F120 for a program."""
    shipped = schedule_called(path)
    if shipped is not None and _is_no_file(path):
        return Source(path, shipped.text)
    if shipped is None and _is_missing(path):
        near = near_schedules(path)
        told = [f"mdh comes with {', '.join(f'`{n}`' for n in near)}"] if near else []
        raise fail("F101", f"no file `{path}`", help="; ".join([*_nearby(path), *told]))
    if Path(path).suffix in PROGRAMS and os.path.isfile(path):
        hint = f"give the program first, then the schedule: {path} --schedule S.mdh"
        raise fail("F120", f"`{path}` is a program, and this is the place of a schedule", help=hint)
    return read_text(path, limit=SCHEDULE_LIMIT)


def _is_no_file(path: str) -> bool:
    """A folder may have the name of a shipped program."""
    return not os.path.lexists(path) or os.path.isdir(path)


def _is_missing(path: str) -> bool:
    try:
        os.stat(path)
    except FileNotFoundError:
        return True
    except (OSError, ValueError):
        pass
    return False


def _no_program(path: str) -> Failed:
    """F101 with the files beside the missing one, and the shipped programs that may be meant."""
    told, stem = list(_nearby(path, PROGRAMS)), Path(path).stem
    near = near_examples(path)
    if example_called(stem) is not None and Path(path).name == path:
        told.append(f"`{stem}` without an ending is a program of mdh, and `mdh new {stem}` copies it")
    elif near:
        told.append(f"mdh comes with {', '.join(f'`{n}`' for n in near)}")
    elif not Path(path).suffix:
        told.append("`mdh examples` lists the programs of mdh")
    return fail("F101", f"no file `{path}`", help="; ".join(told))


def decode(name: str, data: bytes) -> Source:
    """UTF-8 text without byte order mark, its lines ended by newlines. Raises Failed F104."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        headline = f"`{name}` is not UTF-8 text: byte {error.start} is 0x{data[error.start]:02x}"
        hint = "give a text file; convert other encodings to UTF-8 first"
        raise fail("F104", headline, help=hint) from None
    if "\0" in text:
        headline = f"`{name}` is binary: byte {data.index(0)} is zero"
        raise fail("F104", headline, help="give a text file")
    return plain(name, text)


def plain(name: str, text: str) -> Source:
    """A text without byte order mark, its lines ended by newlines."""
    return Source(name, text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n"))


def _read_bytes(path: str, limit: int) -> bytes:
    """The bytes of a file, at most `limit`. The size is checked before the file is read."""
    try:
        status = os.stat(path)
        if stat.S_ISDIR(status.st_mode):
            raise fail("F102", f"`{path}` is a folder, not a file", help=_inside(path))
        if not stat.S_ISREG(status.st_mode):
            raise fail("F102", f"`{path}` is not a regular file", help="give a file of text")
        if status.st_size > limit:
            headline = f"`{path}` has {status.st_size:,} bytes; the limit is {limit:,}"
            raise fail("F105", headline, help=_TOO_LARGE.get(limit, ""))
        return Path(path).read_bytes()
    except FileNotFoundError:
        raise fail("F101", f"no file `{path}`", help="; ".join(_nearby(path))) from None
    except (PermissionError, NotADirectoryError) as error:
        raise fail("F103", f"`{path}` cannot be read: {reason(error)}") from None
    except (OSError, ValueError) as error:
        raise fail(
            "F103", f"`{path.encode('unicode_escape').decode()}` cannot be read: {reason(error)}"
        ) from None


def reason(error: Exception) -> str:
    """The system's message about an error."""
    return error.strerror.lower() if isinstance(error, OSError) and error.strerror else str(error)


def _inside(path: str) -> str:
    """A hint that names a file of the folder."""
    names = sorted(p.name for p in Path(path).iterdir() if p.suffix in (*PROGRAMS, ".mdh"))
    return f"it holds {', '.join(names[:5])}" if names else "give a file"


def _nearby(path: str, others: tuple[str, ...] = ("",)) -> tuple[str, ...]:
    """A hint that names files beside a missing one with the same ending, the most similar first; or none.
    others: the endings that may be meant by a path without one."""
    folder, ending = Path(path).parent, Path(path).suffix
    if not os.path.isdir(folder):
        return (f"there is no folder `{folder}`",)
    endings = (ending,) if ending else others
    names = sorted(p.name for p in folder.iterdir() if p.suffix in endings and os.path.isfile(p))
    alike = get_close_matches(Path(path).name, names, n=5)
    names = [*alike, *(n for n in names if n not in alike)]
    return (f"`{folder}` holds {', '.join(names[:5])}",) if names else ()
