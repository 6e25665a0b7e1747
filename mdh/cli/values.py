"""Reads `-D NAME=VALUE` and `--set HOLE=VALUE`."""

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from mdh.cli.command_line import CommandLine, at_span
from mdh.cli.console import log
from mdh.default_device import VARIABLE, default_device
from mdh.device.api import demand_spec
from mdh.diagnostics import Diagnostic, Failed, Label
from mdh.frontend.constant_arrays import is_constant, shortened
from mdh.project import ProjectSettings, settings
from mdh.source import Source

T = TypeVar("T")

_NAME = re.compile(r"[A-Za-z_]\w*\Z", re.ASCII)
_WORD = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_ASKED = re.compile(
    r"^[ \t]*#[ \t]*(?:ifdef|ifndef|define|undef)[ \t]+\w+|\bdefined\b[ \t]*\(?[ \t]*\w+|/\*.*?\*/|//[^\n]*",
    re.MULTILINE | re.DOTALL,
)
"""Where a macro's value does not matter."""
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
    if name is None:
        return _at_value(line, words, d)
    word = next((w for w in words if w.partition("=")[0] == name), None)
    span = None if word is None else line.span_of(word)
    if span is None and word is not None and is_constant(word.partition("=")[2]):
        # `--const NAME=FILE`
        typed = next((w for w in line.words if w.startswith(f"{name}=")), None)
        span = None if typed is None else line.span_of(typed)
    return d if span is None else replace(d, labels=(Label(span), *d.labels))


def _at_value(line: CommandLine, words: Sequence[str], d: Diagnostic) -> Diagnostic:
    """An error where a macro of `-D` stands in the text, placed first at the value that `-D` gives it."""
    if not d.labels:
        return d
    place = d.labels[0].span
    missing = dict(d.witness).get("undefined")
    for word in words:
        name, _, value = word.partition("=")
        span = None if is_constant(value) else line.span_of(word)
        if span is None:
            continue
        if missing in _WORD.findall(value) and missing not in _WORD.findall(place.source.text):
            hint = f"give a number: -D {name}=1024"
            labels = (Label(span, f"it is the value of `{name}`"), Label(place, "which stands here"))
            return replace(d, labels=(*labels, *d.labels[1:]), help=hint)
        here = name in _WORD.findall(place.source.line(place.line))
        if d.code == "C101" and here and re.search(r"[^\w.]", value):
            return replace(d, labels=(Label(span, f"`{name}` is `{value}`"), *d.labels))
    return d


def say_ones(line: CommandLine, words: Sequence[str], source: Source) -> None:
    """Remarks on each `-D N` without a value that the text uses as a number, and not only in `#ifdef N`."""
    for word in words:
        if "=" not in word and word not in line.remarked and has_value(source.text, word):
            line.remarked.add(word)
            log(f"-D {word} gives no value: `{word}` is 1, as in C compilers; -D {word}=1024 gives another")


def has_value(text: str, name: str) -> bool:
    """Whether the text asks for the value of a macro, and not only whether it is defined."""
    return name in _WORD.findall(_ASKED.sub(" ", text))


def device_or_default(spec: str | None) -> str:
    """The named device, else that of the environment or of the project, else the default one, with a
    remark."""
    if spec is not None:
        return spec
    said = settings(Path())
    if said.device is not None and not os.environ.get(VARIABLE):
        log(f"{said.device}, as {_file(said)} says")
        at_span(said.at("device"), partial(demand_spec, said.device, "device"))
        return said.device
    chosen = default_device()
    log(f"no --device given: {chosen}")
    return chosen


def _file(said: ProjectSettings) -> str:
    return "" if said.source is None else said.source.name


def project_machine() -> ProjectSettings | None:
    """What the project file says, if it names a machine, with a remark."""
    said = settings(Path())
    if said.machine is None:
        return None
    log(f"{said.machine}, as {_file(said)} says")
    return said


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
