"""Which argument of a call is which parameter: by place or by name, and sizes that are left out by shapes."""

from collections.abc import Mapping, Sequence
from typing import Any

from mdh.device.arrays import shape_of
from mdh.diagnostics import Diagnostic, Failed
from mdh.frontend.heading import Heading

LEFT_OUT: Any = object()
"""Stands for a result that a call leaves out, and that is allocated for it."""


def in_order(
    heading: Heading, sizes: Sequence[str], args: Sequence[Any], named: Mapping[str, Any]
) -> tuple[Any, ...]:
    """The arguments in the order of the parameters. sizes: those that each call binds; they may be left out
    where an array of the call has them as an extent. Sizes that are bound may be left out, too, and so may
    results: LEFT_OUT stands for these. Raises Failed A101, A104."""
    given = _by_name(heading, sizes, args, named)
    for size in sizes:
        if size not in given:
            given[size] = _size(size, heading, given)
    given = {**heading.fixed, **dict.fromkeys(heading.results, LEFT_OUT), **given}
    missing = [name for name in heading.parameters if name not in given]
    if missing:
        raise wrong(heading, f"`{heading.name}` is called without {_names(missing)}")
    return tuple(given[name] for name in heading.parameters)


def by_place(heading: Heading, sizes: Sequence[str], count: int) -> Sequence[str]:
    """The parameters that `count` arguments without names are, if so many are taken."""
    return _places(heading, sizes, count, {})


def wrong(heading: Heading, headline: str) -> Failed:
    """A101."""
    hint = f"in order: {', '.join(heading.parameters)}; or each by its name"
    return Failed(Diagnostic("A101", headline, help=hint))


def _by_name(
    heading: Heading, sizes: Sequence[str], args: Sequence[Any], named: Mapping[str, Any]
) -> dict[str, Any]:
    unknown = [name for name in named if name not in heading.parameters]
    if unknown:
        raise wrong(heading, f"`{heading.name}` has no parameter {_names(unknown)}")
    places = _places(heading, sizes, len(args), named)
    if len(args) > len(heading.parameters) or (len(args) < len(places) and not named):
        count = f"{len(heading.parameters)} arguments, {len(args)} are given"
        raise wrong(heading, f"`{heading.name}` takes {count}")
    out = dict(zip(places, args, strict=False))
    twice = [name for name in named if name in out]
    if twice:
        raise wrong(heading, f"`{heading.name}` is given {_names(twice)} twice")
    return {**out, **named}


def _places(heading: Heading, sizes: Sequence[str], count: int, named: Mapping[str, Any]) -> Sequence[str]:
    """The parameters that `count` arguments by place are: all of them; or all but the sizes; or all but sizes
    and results."""
    known = {*sizes, *heading.fixed}
    others = [name for name in heading.parameters if name not in known]
    inputs = [name for name in others if name not in heading.results]
    for places in (others, inputs):
        if known | set(heading.results) and count == len(places) and not set(places) & set(named):
            return places
    return heading.parameters


def _size(size: str, heading: Heading, given: Mapping[str, Any]) -> int:
    """From the first array that has it as an extent; a call with others is refused when it is bound."""
    for name, extents in heading.shapes.items():
        if size in extents and name in given:
            shape = shape_of(given[name])
            if shape is not None and len(shape) == len(extents):
                return shape[extents.index(size)]
    raise wrong(heading, f"the size `{size}` is left out, and no array of this call has it as an extent")


def _names(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
