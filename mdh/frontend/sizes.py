"""Values that defines give to the sizes of a text."""

import re
from collections.abc import Iterable, Mapping

from mdh.diagnostics import Diagnostic, Failed, Label
from mdh.ir.dtype import DType, integer_range
from mdh.source import Span
from mdh.wording import meant

_DIGITS = re.compile(r"[-+]?[0-9]+")


def size_values(name: str, defines: Mapping[str, str | int], places: Mapping[str, Span]) -> dict[str, int]:
    """The values of sizes in a text in which nothing but sizes can be bound. name: of the text. Raises Failed
    C105, C123."""
    unknown = [_unknown(n, name, places) for n in defines if n not in places]
    if unknown:
        raise Failed(*unknown)
    return {n: size_value(n, value, places[n]) for n, value in defines.items()}


def _unknown(size: str, name: str, known: Iterable[str]) -> Diagnostic:
    headline = f"`{size}` is defined, but is no size in `{name}`"
    hint = meant(size, known, cutoff=0.6, otherwise=f"sizes: {', '.join(known) or 'none'}")
    return Diagnostic("C123", headline, help=hint, witness=(("define", size),))


def size_value(name: str, value: str | int, span: Span) -> int:
    """The value of one size. Raises Failed C105."""
    help_ = f"write -D {name}=1024"
    size: int | None
    try:
        size = int(value, 0) if isinstance(value, str) else value
    except ValueError:
        # Python does not parse numbers of any length
        size = 2**128 if _DIGITS.fullmatch(str(value).strip()) else None
    bound = f"the size `{name}` is bound to"
    if size is None:
        raise _refused(name, f"{bound} `{short(value)}`, which is no integer", span, help_)
    if abs(size) >= 2**128:
        raise _refused(name, f"{bound} {short(value)}, more than 64 bits hold", span, help_)
    return size


def short(value: str | int) -> str:
    """A value for a message. Python does not print numbers of any length."""
    text = hex(value) if isinstance(value, int) and abs(value) >= 2**64 else str(value)
    return text if len(text) <= 40 else f"{text[:20]}…"


def out_of_range(name: str, value: int, dtype: DType, span: Span) -> Failed:
    """The error for a size that its type cannot hold."""
    least, most = integer_range(dtype)
    what = f"the size `{name}` is bound to {value:,}; its type holds {least:,} to {most:,}"
    return _refused(name, what, span, "give another value, or declare it with a wider type")


def _refused(name: str, what: str, span: Span, help_: str) -> Failed:
    return Failed(Diagnostic("C105", what, (Label(span, "a size"),), help=help_, witness=(("define", name),)))
