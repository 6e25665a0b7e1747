"""`-D M=1..4096` and `-D M=8..4096:8`: defines that leave a size open, within a range."""

import re
from collections.abc import Mapping, Sequence

from mdh.diagnostics import Diagnostic, Failed, Label
from mdh.frontend.open_program import MOST_VALUE
from mdh.frontend.read import language
from mdh.ir.open_size import OpenSize
from mdh.source import Source

Defines = Mapping[str, str | int | OpenSize]
CODE, TIMED = "C125", "F211"
MOST_OPEN = 4
"""The most open sizes of a program: claims are made at each corner of their ranges."""
_RANGE = re.compile(r"\s*([0-9]{1,19})\s*\.\.\s*([0-9]{1,19})\s*(?::\s*([0-9]{1,19})\s*)?")


def is_range(value: str | int | OpenSize) -> bool:
    """Whether a define leaves its size open, or is meant to."""
    return isinstance(value, OpenSize) or (isinstance(value, str) and ".." in value)


def split_defines(source: Source, defines: Defines) -> tuple[dict[str, str | int], tuple[OpenSize, ...]]:
    """The defines with open sizes bound to their largest values, and the open sizes. Raises Failed C125."""
    bound: dict[str, str | int] = {}
    opened: list[OpenSize] = []
    for name, value in defines.items():
        if isinstance(value, OpenSize) or is_range(value):
            size = value if isinstance(value, OpenSize) else _range(name, str(value))
            opened.append(_checked(source, OpenSize(name, size.least, size.most, size.multiple)))
            bound[name] = opened[-1].most
        else:
            bound[name] = value
    if len(opened) > MOST_OPEN:
        raise wrong(
            opened[-1].name, f"{len(opened)} sizes are open", f"leave at most {MOST_OPEN} of them open"
        )
    return bound, tuple(opened)


def with_ranges(defines: Defines, ranges: Sequence[OpenSize]) -> dict[str, str | int | OpenSize]:
    """The defines with the ranges of a case. Sizes stay open within them; those of one value are bound."""
    return {**defines, **{r.name: r if r.value is None else r.value for r in ranges}}


def parameters_of(opens: Sequence[OpenSize], ranges: Sequence[OpenSize]) -> list[str]:
    """The sizes that are parameters, whether the C has them as macros or not: those that stay open, then
    those of `ranges`, in the same order for all cases of a table."""
    given = [r.name for r in ranges]
    return [*(size.name for size in opens if size.name not in given), *given]


def demand_closed(names: Sequence[str], hint: str = "") -> None:
    """Raises Failed F211 if sizes stay open where kernels are timed: that takes one value of each. hint: what
    to do instead of binding them."""
    if names:
        headline = f"the size `{names[0]}` is open, and kernels are timed at one size"
        hint = hint or f"bind it: -D {names[0]}=1024; the schedule that is found can be compiled with it open"
        raise Failed(Diagnostic(TIMED, headline, help=hint, witness=(("define", names[0]),)))


def _range(name: str, text: str) -> OpenSize:
    found = _RANGE.fullmatch(text)
    if found is None:
        headline = f"the range of `{name}` is `{text[:60]}`"
        raise wrong(name, headline, f"write {name}=1..4096, or {name}=8..4096:8 for multiples of 8")
    return OpenSize(name, int(found[1]), int(found[2]), int(found[3] or 1))


def _checked(source: Source, size: OpenSize) -> OpenSize:
    """The size with the first and the last multiple in its range as its ends."""
    place = language(source).deciding(source, size.name)
    if place is not None:
        headline = f"the macro `{size.name}` cannot stay open: it decides what the text is"
        raise Failed(
            Diagnostic(CODE, headline, (Label(place),), help="bind it", witness=(("define", size.name),))
        )
    if size.multiple < 1:
        raise wrong(size.name, f"`{size.name}` is to be a multiple of {size.multiple}", "give 1 or more")
    least, most = -(-max(size.least, 1) // size.multiple) * size.multiple, size.most // size.multiple
    most *= size.multiple
    said = f"{size.least}..{size.most}" + (f":{size.multiple}" if size.multiple > 1 else "")
    if most > MOST_VALUE:
        headline = f"the range {said} of `{size.name}` goes beyond {MOST_VALUE:,}"
        raise wrong(size.name, headline, "give a smaller largest value")
    if least >= most:
        headline = f"the range {said} of `{size.name}` has fewer than two values"
        raise wrong(size.name, headline, f"give a wider range, or bind it: {size.name}={size.most}")
    return OpenSize(size.name, least, most, size.multiple)


def wrong(name: str, headline: str, hint: str) -> Failed:
    """C125, which the command line shows at the define."""
    return Failed(Diagnostic(CODE, headline, help=hint, witness=(("define", name),)))
