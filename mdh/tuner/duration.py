"""Durations as people write them: `3h`, `5m`, `30s`, `1h30m`, `1.5h`."""

import re

from mdh.diagnostics import fail

_UNITS = {"h": 3600.0, "m": 60.0, "s": 1.0}
_PART = re.compile(r"(\d+(?:\.\d+)?)([hms])", re.ASCII)
_LONGEST = 366 * 24 * 3600.0
_LENGTH = 40
"""The most characters. Longer texts are no durations, and reading millions of digits takes hours."""
_HELP = "write hours, minutes, seconds: 3h, 5m, 30s, 1h30m"


def parse_duration(text: str) -> float:
    """The duration in seconds. Raises Failed F190 if it is malformed, zero or longer than a year."""
    if len(text) > _LENGTH:
        raise fail("F190", f"`{text[:20]}…` is no time: it has {len(text):,} characters", help=_HELP)
    parts = _PART.findall(text)
    units = [unit for _, unit in parts]
    if not parts or "".join(number + unit for number, unit in parts) != text:
        bare = re.fullmatch(r"\d+(?:\.\d+)?", text, re.ASCII)
        said = f"`{text}` has no unit" if bare else f"`{text}` is no time"
        if bare and not float(text):
            raise fail("F190", f"`{text}` is no time at all", help=_HELP)
        raise fail("F190", said, help=f"write {text}s, {text}m or {text}h" if bare else _HELP)
    if units != sorted(set(units), key="hms".index):
        raise fail("F190", f"the units of `{text}` are out of order or stand twice", help=_HELP)
    seconds = sum(float(number) * _UNITS[unit] for number, unit in parts)
    if not 0 < seconds <= _LONGEST:
        raise fail("F190", f"`{text}` is {'no time at all' if not seconds else 'over a year'}", help=_HELP)
    return seconds
