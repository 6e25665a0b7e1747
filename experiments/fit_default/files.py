"""Files of what was measured: a header, then a line of JSON each."""

import gzip
import json
import zlib
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, TextIO


class WrongFileError(Exception):
    """A file is not what a verb that measures writes, or two are of different machines."""


def header(schema: str, machine: str, **more: str) -> dict[str, Any]:
    return {"schema": schema, "machine": machine, **more}


def write(out: TextIO, line: dict[str, Any]) -> None:
    out.write(json.dumps(line, separators=(",", ":")) + "\n")


def lines(path: Path, schema: str) -> Iterator[dict[str, Any]]:
    """The header, too. OSError, or ValueError: it is another one, or something is no line of JSON."""
    opener = gzip.open if path.suffix == ".gz" else open
    try:
        with opener(path, "rt", encoding="utf-8") as file:
            found = [json.loads(line) for line in file if line.strip()]
    except (EOFError, zlib.error) as error:
        raise ValueError(f"is cut short or damaged: {error}") from error
    if not all(isinstance(line, dict) for line in found):
        raise ValueError("not every line is an object")
    if not found or found[0].get("schema") != schema:
        raise ValueError(f"does not begin with a header of {schema}")
    return iter(found)


def only(machines: Collection[str]) -> str:
    """The machine of all files."""
    if len(machines) != 1:
        raise WrongFileError(
            f"files of one machine are needed, not of: {', '.join(sorted(machines)) or 'none'}"
        )
    return next(iter(machines))


def short(seconds: float) -> float:
    """To what a clock tells."""
    return float(f"{seconds:.4g}")
