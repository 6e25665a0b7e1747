"""Reads users' TOML safely. Text that is no TOML, or too deeply nested, is refused with a place."""

import re
import tomllib
from datetime import date, datetime, time
from typing import Any

from mdh.diagnostics import Failed, fail
from mdh.passwords import masked_word
from mdh.source import Source, Span

DEPTH = 64
"""The most nested tables and lists, and names in a dotted key; what mdh reads has four. The library follows
nesting by recursion, and takes time that grows with the square of a key's length."""
INT_LIMIT = 1 << 63
"""Whole numbers of TOML have 64 bits."""
_SHOWN = 60
"""The most characters of a value in a message."""
_TOKEN = re.compile(
    r'"""(?:\\.|[^\\])*?(?:"""|\Z)' r"|'''(?:.)*?(?:'''|\Z)" r'|"(?:\\.|[^"\\\n])*"?' r"|'[^'\n]*'?"
    r"|\#[^\n]*|[\[\]{}.,=\n]",
    re.DOTALL,
)  # fmt: skip
_DIGITS = re.compile(r"[0-9_]{4300,}")


def parse_toml(source: Source, code: str, what: str) -> dict[str, Any]:
    """The tables of a TOML text. what: how messages call the file. Raises Failed with `code`."""
    deep = _too_deep(source.text)
    if deep is not None:
        headline = f"{what} is nested too deeply, or a key of it has too many parts"
        raise fail(code, headline, Span(source, deep, deep + 1), help=f"the limit is {DEPTH}")
    try:
        return tomllib.loads(source.text)
    except tomllib.TOMLDecodeError as error:
        raise _no_toml(source, code, what, str(error)) from None
    except RecursionError:
        raise fail(code, f"{what} is nested too deeply", Span(source, 0, 1)) from None
    except ValueError as error:
        # the interpreter's limit on the digits of a number
        found = _DIGITS.search(source.text)
        span = Span(source, *(found.span() if found else (0, 1)))
        hint = "whole numbers of TOML have 64 bits" if found else str(error)
        raise fail(code, f"{what} has a number of too many digits", span, help=hint) from None


def shown(value: object) -> str:
    """A TOML value for a message, cut short. Never fails."""
    match value:
        case bool():
            return str(value).lower()
        case int() if abs(value) >= INT_LIMIT:
            return f"a whole number of {value.bit_length()} bits"
        case str():
            whole = masked_word(value)
            return repr(whole if len(whole) <= _SHOWN else f"{whole[: _SHOWN - 1]}…")
        case list():
            inside = ", ".join(shown(v) for v in value[:4])
            more = ", …" if len(value) > 4 else ""
            whole = f"[{inside}{more}]"
            return whole if len(whole) <= _SHOWN else f"a list of {len(value):,}"
        case dict():
            return f"a table of {len(value):,}"
        case datetime() | date() | time():
            return value.isoformat()
        case _:
            return repr(value)


def _no_toml(source: Source, code: str, what: str, message: str) -> Failed:
    place = re.search(r"\(at line (\d+), column (\d+)\)", message)
    start = source.offset(int(place[1]), int(place[2])) if place else len(source.text)
    message = message[: place.start()].strip() if place else message.partition(" (at ")[0]
    return fail(
        code, f"{what} is not TOML: {message[:1].lower()}{message[1:]}", Span(source, start, start + 1)
    )


def _too_deep(text: str) -> int | None:
    """Where brackets, or the parts of a key, become too many; None if they do not."""
    depth = dots = 0
    for token in _TOKEN.finditer(text):
        match token[0]:
            case "[" | "{":
                depth, dots = depth + 1, 0
            case "]" | "}":
                depth, dots = max(0, depth - 1), 0
            case ".":
                dots += 1
            case "," | "=" | "\n":
                dots = 0
        if depth > DEPTH or dots >= DEPTH:
            return token.start()
    return None
