"""Reads `-D NAME=VALUE` and `--set HOLE=VALUE`."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

from mdh.cli.command_line import CommandLine
from mdh.cli.console import log
from mdh.default_device import default_device
from mdh.diagnostics import Diagnostic, Failed, Label
from mdh.frontend.constant_arrays import is_constant, shortened

T = TypeVar("T")

_NAME = re.compile(r"[A-Za-z_]\w*\Z", re.ASCII)
_INTEGER = re.compile(r"[-+]?(0[xX][0-9a-fA-F]+|[0-9]+)\Z", re.ASCII)


def parse_defines(line: CommandLine, words: Sequence[str]) -> dict[str, str | int]:
    """`N=1024` binds an integer, `T=float` a text, and `FLAG` alone 1, as in C compilers. Raises F108."""
    out: dict[str, str | int] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not _NAME.match(name):
            raise line.fail("F108", f"-D `{word}` does not begin with a C name", word, help="write -D N=1024")
        if equals and not value:
            raise line.fail(
                "F108", f"-D `{word}` has no value", word, help=f"write -D {name}=1024, or -D {name} for 1"
            )
        _bind(line, out, name, _integer(value) if equals else 1, "F108", "-D", word)
    return out


def at_define(line: CommandLine, words: Sequence[str], arrow: Callable[[], T]) -> T:
    """Runs `arrow`. Errors about a define are shown first at the word after `-D`."""
    try:
        return arrow()
    except Failed as failed:
        raise Failed(*(_at_define(line, words, d) for d in failed.diagnostics)) from failed


def _at_define(line: CommandLine, words: Sequence[str], d: Diagnostic) -> Diagnostic:
    name = dict(d.witness).get("define")
    word = next((w for w in words if w.partition("=")[0] == name), None)
    span = None if word is None else line.span_of(word)
    if span is None and word is not None and is_constant(word.partition("=")[2]):
        # `--const NAME=FILE`
        typed = next((w for w in line.words if w.startswith(f"{name}=")), None)
        span = None if typed is None else line.span_of(typed)
    return d if span is None else replace(d, labels=(Label(span), *d.labels))


def device_or_default(spec: str | None) -> str:
    """The named device, else the default one, with a remark."""
    if spec is not None:
        return spec
    chosen = default_device()
    log(f"no --device given: {chosen}")
    return chosen


def parse_sets(line: CommandLine, words: Sequence[str]) -> dict[str, int | str]:
    """Values of named holes: `bm=64`, `where=SM`, `?tm=8`. Raises F109."""
    out: dict[str, int | str] = {}
    for word in words:
        name, equals, value = word.partition("=")
        name = name.removeprefix("?")
        if not _NAME.match(name) or not equals or not value:
            raise line.fail(
                "F109", f"--set `{word}` is not HOLE=VALUE", word, help="write --set bm=64 for the hole ?bm"
            )
        _bind(line, out, name, _integer(value), "F109", "--set", word)
    return out


def _bind(
    line: CommandLine, out: dict[str, str | int], name: str, value: int | str, code: str, option: str,
    word: str,
) -> None:  # fmt: skip
    if out.setdefault(name, value) != value:
        if is_constant(value):
            # as typed, `--const NAME=FILE`
            word = next((w for w in reversed(line.words) if w.startswith(f"{name}=")), word)
        headline = f"{option} binds `{name}` twice: {shortened(out[name])} and {shortened(value)}"
        raise line.fail(code, headline, word, help="keep one of the two")


def _integer(text: str) -> int | str:
    """Decimal or hexadecimal text as an int; other text unchanged."""
    if not _INTEGER.match(text) or len(text) > 20:
        return text
    return int(text, 16) if "x" in text.lower() else int(text)
