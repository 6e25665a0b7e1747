"""Values of a stated type from what JSON and TOML hold: the one importer of msgspec.

A type is a dataclass or a TypedDict whose annotations say what each field may be. Nothing is coerced, with
two exceptions: a whole number is also a float, and a list becomes a tuple where the type is one.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Annotated, Any, TypeVar, overload

import msgspec

T = TypeVar("T")
Meta = msgspec.Meta
"""Limits of a value in `Annotated`; its description says in a message what the value must be."""

INT_MOST = (1 << 63) - 1
Int64 = Annotated[int, Meta(ge=-INT_MOST - 1, le=INT_MOST)]
Text = Annotated[str, Meta(pattern=r"\A[^\ud800-\udfff]*\Z")]
"""That UTF-8 can carry."""
_UNKNOWN = re.compile(r"Invalid (enum )?value .*?(?=( - at `[^`]*`)?\Z)", re.DOTALL)
"""A message that repeats a text, which may be long or a password."""


class SchemaError(ValueError):
    """A value that is not of the type; the text says what was expected, and where inside the value."""


@overload
def convert(value: object, kind: type[T]) -> T: ...
@overload
def convert(value: object, kind: Any) -> Any: ...
def convert(value: object, kind: Any) -> Any:
    """The value as one of `kind`. Fields that `kind` does not have are left out. Raises SchemaError."""
    try:
        return msgspec.convert(value, kind)
    except (msgspec.ValidationError, UnicodeEncodeError) as error:
        raise SchemaError(_UNKNOWN.sub("unknown word", str(error)).replace("Expected", "expected")) from None


def record_type(fields_of: Mapping[str, Any], *, flags: Sequence[str] = (), more: bool = False) -> Any:
    """A type for `convert`: an object with these fields, by name and type. `flags` are booleans that can be
    absent; other fields are allowed only where `more`."""
    rows: list[Any] = [*fields_of.items(), *((flag, bool, False) for flag in flags)]
    return msgspec.defstruct("Record", rows, forbid_unknown_fields=not more)


def convert_fields(table: Mapping[str, object], kind: type) -> tuple[dict[str, Any], dict[str, str]]:
    """Two tables by field name: values for fields of the dataclass `kind`, converted; and, of values that are
    not of their field's type, what they must be. The description in the field's annotation says that."""
    found: dict[str, Any] = {}
    wrong: dict[str, str] = {}
    for f in fields(kind):
        if f.name in table:
            try:
                found[f.name] = convert(table[f.name], f.type)
            except SchemaError:
                wrong[f.name] = f.type.__metadata__[-1].description  # type: ignore[union-attr]
    return found, wrong
