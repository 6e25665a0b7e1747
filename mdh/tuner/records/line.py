"""One line of a record: a JSON object with its own checksum, so that damaged lines are not loaded."""

import json
import re
from hashlib import sha256
from typing import Any

Fields = dict[str, Any]

LINE_LIMIT = 1 << 20
"""Bytes. A trial with the largest schedule that mdh reads and hundreds of samples has a fifth of this."""
DEPTH_LIMIT = 16
"""The most nested objects and arrays; a trial has three."""
SUM = "sum"
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
"""An escaped surrogate: half of a character beyond 16 bits, or of none."""


class BadLineError(ValueError):
    """A line that is not as it was written; the text says why. schema: what the line says it is, if it is
    JSON and says so."""

    def __init__(self, reason: str, schema: str = "") -> None:
        super().__init__(reason)
        self.schema = schema


def seal(fields: Fields) -> bytes:
    """The line with its checksum and its newline, in ASCII. Invalid characters become `?`. Raises ValueError
    for infinities and NaN."""
    if _SURROGATE.search(json.dumps(fields)):
        # a compiler's message may hold invalid bytes
        fields = json.loads(json.dumps(fields, ensure_ascii=False).encode("utf-8", "replace"))
    whole = {**fields, SUM: checksum(fields)}
    return (json.dumps(whole, separators=(",", ":"), allow_nan=False) + "\n").encode("ascii")


def unseal(line: bytes) -> Fields:
    """The object of a line without newline and checksum. Raises BadLineError."""
    if len(line) > LINE_LIMIT:
        raise BadLineError(f"it has more than {LINE_LIMIT:,} bytes")
    try:
        value = json.loads(line.decode("ascii"), object_pairs_hook=_once, parse_constant=_no_number)
    except BadLineError:
        raise
    except RecursionError:
        raise BadLineError("it is nested too deeply") from None
    except ValueError:
        raise BadLineError("it is not JSON") from None
    if _SURROGATE.search(line.decode("ascii")) and not _is_text(value):
        raise BadLineError("it holds characters that no text has")
    if not isinstance(value, dict):
        raise BadLineError("it is not a JSON object")
    if _deeper(value, DEPTH_LIMIT):
        raise BadLineError("it is nested too deeply")
    told = value.pop(SUM, None)
    try:
        right = told == checksum(value)
    except ValueError:
        raise BadLineError("it holds a number that is none") from None
    if not right:
        schema = value.get("schema")
        why = "its checksum is wrong" if told else "it has no checksum"
        raise BadLineError(why, schema if isinstance(schema, str) else "")
    return value


def checksum(fields: Fields) -> str:
    """The first 16 hex digits of the SHA-256 of the canonical JSON text: sorted names, no spaces, ASCII."""
    text = json.dumps(fields, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return sha256(text.encode("ascii")).hexdigest()[:16]


def _once(pairs: list[tuple[str, Any]]) -> Fields:
    value = dict(pairs)
    if len(value) < len(pairs):
        raise BadLineError("a name stands in it twice")
    return value


def _is_text(value: object) -> bool:
    try:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _no_number(word: str) -> float:
    raise BadLineError(f"{word} is no number of JSON")


def _deeper(value: object, limit: int) -> bool:
    match value:
        case dict():
            return limit == 0 or any(_deeper(v, limit - 1) for v in value.values())
        case list():
            return limit == 0 or any(_deeper(v, limit - 1) for v in value)
        case _:
            return False
