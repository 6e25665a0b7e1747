"""What the user sets in the editor: the same as options of `mdh check`."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

_NAME = re.compile(r"\??([A-Za-z_]\w*)\Z", re.ASCII)
_NUMBER = re.compile(r"[0-9]{1,10}\Z", re.ASCII)

Values = tuple[tuple[str, int | str], ...]


@dataclass(frozen=True, slots=True)
class Settings:
    """program: a path. defines: sizes and macros. sets: values of holes. The others are as on the command
    line. None and empty ones are not set."""

    program: str | None = None
    function: str | None = None
    machine: str | None = None
    target: str | None = None
    defines: Values = ()
    sets: Values = ()
    allow: tuple[str, ...] = ()


def settings_of(data: object) -> Settings:
    """The settings that an editor sends. What has another type, or is no setting, counts as not set: the
    server must not stop because of it."""
    given = data if isinstance(data, Mapping) else {}
    allow = given.get("allow")
    return Settings(
        _text(given.get("program")),
        _text(given.get("function")),
        _text(given.get("machine")),
        _text(given.get("target")),
        _values(given.get("define")),
        _values(given.get("set")),
        tuple(w for w in allow if isinstance(w, str)) if isinstance(allow, list) else (),
    )


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value.strip() else None


def _values(given: object) -> Values:
    """Of `["M=1024", "T=float"]` or `{"M": 1024}`. A name has the value that it is given last."""
    pairs: dict[str, int | str] = {}
    if isinstance(given, Mapping):
        words = [f"{name}={value}" for name, value in given.items() if isinstance(value, int | str)]
    else:
        words = [w for w in given if isinstance(w, str)] if isinstance(given, list) else []
    for word in words:
        name, equals, value = word.partition("=")
        known = _NAME.match(name.strip())
        value = value.strip() if equals else "1"
        if known is not None and value:
            pairs[known[1]] = int(value) if _NUMBER.match(value) else value
    return tuple(pairs.items())
