"""The options of `mdh.compile` and `mdh.check`: their Python types, and the values of mappings.

A wrong Python type raises TypeError; a value that cannot be bound raises Failed.
"""

from collections.abc import Mapping
from importlib import import_module
from numbers import Integral
from typing import Any

from mdh.diagnostics import Failed, fail
from mdh.frontend.consent import consented
from mdh.frontend.constant_arrays import constant_text, refused
from mdh.ir.open_size import OpenSize
from mdh.ir.program import CALLS

_SHOWN = 120
"""The most characters of a value in a message."""


def shown(value: Any) -> str:
    """A value for a message, cut to a length. If it cannot be printed, like a whole number of 5,000 digits or
    an object whose own method fails, its type."""
    try:
        text = repr(value)
    except Exception:  # a user's method may raise anything
        text = f"a value of the type `{type(value).__name__}`"
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"


def of_type(option: str, value: Any, kinds: type | tuple[type, ...], wanted: str) -> None:
    """Raises TypeError that names the option."""
    if not isinstance(value, kinds):
        raise TypeError(f"{option} takes {wanted}, not {shown(value)}")


def defines_of(given: Any) -> dict[str, str | int | OpenSize]:
    """Sizes and macros by name. Raises F108, or TypeError if it is no mapping."""
    of_type("defines", given, Mapping, "a mapping of names to values")
    opened = {name: value for name, value in given.items() if isinstance(value, OpenSize)}
    closed = {name: value for name, value in given.items() if name not in opened}
    bound = _bound("defines", closed, "F108", "defines={'N': 1024}")
    ranges = {_name("defines", name, "F108", "defines={'N': 1024}"): v for name, v in opened.items()}
    return {**bound, **ranges}


def with_arrays(defines: Any, constants: Any, patterns: Any) -> Any:
    """The defines with arrays among them: constants, and patterns of zeros. Raises Failed C127, or TypeError
    for what is no mapping of names to arrays."""
    each = (("constants", constants, False), ("patterns", patterns, True))
    for option, given, _ in each:
        of_type(option, given, Mapping, "a mapping of names to arrays")
    if not constants and not patterns:
        return defines
    of_type("defines", defines, Mapping, "a mapping of names to values")
    found = dict(defines)
    for option, given, pattern in each:
        for name, array in given.items():
            if name in found:
                raise _refused(
                    "F108", f"{option} binds `{name}`, which is bound already", "constants={'C': C}"
                )
            found[_name(option, name, "F108", "constants={'C': C}")] = constant_text(
                numpy_array(option, array), pattern=pattern
            )
    return found


def numpy_array(option: str, given: Any) -> Any:
    """The elements of an array of any library. Raises TypeError for what is no array, and Failed C127 for one
    of which some elements are masked."""
    numpy = import_module("numpy")
    try:
        if hasattr(given, "get") and hasattr(given, "__cuda_array_interface__"):
            return given.get()
        masked = numpy.ma.is_masked(given)
        if hasattr(given, "detach"):
            given = given.detach().cpu()
        found = numpy.asarray(given) if hasattr(given, "__array__") else None
    except Exception as error:  # another library's own methods may raise anything
        raise TypeError(f"{option} are arrays that numpy can hold, not {shown(given)}") from error
    if found is None:
        raise TypeError(f"{option} are arrays, not {shown(given)}")
    if masked:
        raise refused("some elements are masked", "give an array without a mask: array.filled(0)")
    return found


def holes_of(given: Any) -> dict[str, str | int]:
    """Values of named holes by name. Raises F109, or TypeError if it is no mapping."""
    return _bound("holes", given, "F109", "holes={'bm': 64}")


def allowed_of(given: Any) -> tuple[str, ...]:
    """What schedules may do to numbers. Raises F119, or TypeError for what is no list of names."""
    of_type("allow", given, (tuple, list, set, frozenset), 'a tuple of names, ("tf32",)')
    for word in given:
        of_type("allow", word, str, 'a tuple of names, ("tf32",)')
    return consented(given)


def with_libraries(allow: Any, *, libraries: Any) -> Any:
    """What schedules may do, and with `libraries` that they may call them. Raises TypeError for a value that
    is no bool."""
    of_type("libraries", libraries, bool, "True or False")
    return (*allow, CALLS) if libraries and isinstance(allow, (tuple, list, set, frozenset)) else allow


def _bound(option: str, given: Any, code: str, example: str) -> dict[str, str | int]:
    of_type(option, given, Mapping, "a mapping of names to values")
    return {_name(option, name, code, example): _value(option, name, value, code, example)
            for name, value in given.items()}  # fmt: skip


def _name(option: str, name: Any, code: str, example: str) -> str:
    if isinstance(name, str) and name.isidentifier() and name.isascii():
        return name
    raise _refused(code, f"{option} binds {shown(name)}, which is not a C name", example)


def _value(option: str, name: str, value: Any, code: str, example: str) -> str | int:
    if isinstance(value, str):
        return value
    if isinstance(value, Integral) and not isinstance(value, bool):
        return int(value)
    raise _refused(
        code, f"{option} binds `{name}` to {shown(value)}, neither a whole number nor a text", example
    )


def _refused(code: str, headline: str, example: str) -> Failed:
    return fail(code, headline, help=f"write {example}")
