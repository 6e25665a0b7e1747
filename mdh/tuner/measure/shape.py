"""Shapes of messages. What another process sends is validated before it is used."""

import json
from sys import float_info
from typing import Annotated, Any

from mdh.schema import Meta, SchemaError, Text, convert, record_type

LONGEST = 1 << 24
"""Characters of the longest message."""
Finite = Annotated[float, Meta(ge=-float_info.max, le=float_info.max)]
Amount = Annotated[float, Meta(ge=0.0, le=float_info.max)]
"""A finite number from 0 on."""


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


def fits(value: object, kind: Any) -> bool:
    """Is it of the type?"""
    try:
        convert(value, kind)
    except SchemaError:
        return False
    return True


def listed(kind: Any, least: int = 0, most: int = 1 << 20) -> Any:
    return Annotated[list[kind], Meta(min_length=least, max_length=most)]


FAILED = listed(
    record_type(
        {
            "code": Text, "headline": Text, "notes": listed(Text), "help": Text,
            "witness": listed(tuple[Text, Text]),
        }
    ),
    least=1, most=1000,
)  # fmt: skip
"""Diagnostics, as `mdh.tuner.measure.wire.failed_json` writes them."""
