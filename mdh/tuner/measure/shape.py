"""Shapes of messages. What another process sends is validated before it is used."""

import json
from collections.abc import Callable, Collection, Mapping
from math import isfinite
from typing import Any

Shape = Callable[[object], bool]
LONGEST = 1 << 24
"""Characters of the longest message."""


class NonsenseError(ValueError):
    """A message that no part of mdh sends."""


def parsed(text: str | bytes) -> dict[str, Any]:
    """The object in a JSON text. Raises NonsenseError."""
    if len(text) > LONGEST:
        raise NonsenseError("it is too long")
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        raise NonsenseError("it is no JSON") from None
    if not isinstance(value, dict):
        raise NonsenseError("it is no object")
    return value


def text(value: object) -> bool:
    """Whether a value is a text that UTF-8 can encode."""
    if not isinstance(value, str):
        return False
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def flag(value: object) -> bool:
    return isinstance(value, bool)


def number(value: object) -> bool:
    """Whether a value is a finite number in the range of a float."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return abs(value) < 1 << 63 if isinstance(value, int) else isfinite(value)


def amount(value: object) -> bool:
    """Whether a value is a number of at least 0."""
    return number(value) and not value < 0  # type: ignore[operator]


def whole(least: int, most: int) -> Shape:
    """Whole numbers from `least` to `most`."""

    def fits(value: object) -> bool:
        return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most

    return fits


def optional(shape: Shape) -> Shape:
    return lambda value: value is None or shape(value)


def either(*shapes: Shape) -> Shape:
    return lambda value: any(shape(value) for shape in shapes)


def listed(shape: Shape, least: int = 0, most: int = 1 << 20) -> Shape:
    def fits(value: object) -> bool:
        return isinstance(value, list) and least <= len(value) <= most and all(shape(v) for v in value)

    return fits


def row(*shapes: Shape) -> Shape:
    """A list with exactly one element for each of these shapes."""

    def fits(value: object) -> bool:
        if not isinstance(value, list) or len(value) != len(shapes):
            return False
        return all(shape(v) for shape, v in zip(shapes, value, strict=True))

    return fits


def fields(shapes: Mapping[str, Shape], may: Collection[str] = (), *, more: bool = False) -> Shape:
    """An object with these fields; those in `may` can be absent, others only come with `more`."""

    def fits(value: object) -> bool:
        if not isinstance(value, dict) or not (more or value.keys() <= shapes.keys()):
            return False
        return all(shape(value[n]) if n in value else n in may for n, shape in shapes.items())

    return fits


FAILED = listed(
    fields(
        {
            "code": text, "headline": text, "notes": listed(text), "help": text,
            "witness": listed(row(text, text)),
        }
    ),
    least=1, most=1000,
)  # fmt: skip
"""Diagnostics, as `mdh.tuner.measure.wire.failed_json` writes them."""
