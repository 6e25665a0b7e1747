"""Which argument of a call is which parameter: by place or by name, and sizes that are left out by shapes."""

from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any

from mdh.device.arrays import shape_of
from mdh.diagnostics import Diagnostic, Failed
from mdh.frontend.heading import Heading
from mdh.wording import plural

LEFT_OUT: Any = object()
"""Stands for a result that a call leaves out, and that is allocated for it."""
Named = Mapping[str, Any]


def in_order(heading: Heading, sizes: Sequence[str], args: Sequence[Any], named: Named) -> tuple[Any, ...]:
    """The arguments in the order of the parameters. sizes: those that each call binds; they may be left out
    where an array of the call has them as an extent. Sizes that are bound may be left out, too, and so may
    results: LEFT_OUT stands for these. Raises Failed A101, A104."""
    unknown = [name for name in named if name not in heading.parameters]
    if unknown:
        raise _wrong(heading, sizes, f"`{heading.name}` has no parameter {_names(unknown)}")
    given = {**_by_place(heading, sizes, args, named), **named}
    for size in sizes:
        if size not in given:
            given[size] = _size(size, heading, sizes, given)
    given = {**heading.fixed, **dict.fromkeys(heading.results, LEFT_OUT), **given}
    return tuple(given[name] for name in heading.parameters)


def by_place(heading: Heading, sizes: Sequence[str], args: Sequence[Any]) -> Sequence[str] | None:
    """The parameters that these arguments without names are; None if they are not those of a call."""
    for order in _orders(heading, sizes):
        if _alike(heading, sizes, order, args) and not _missing(heading, sizes, order[: len(args)]):
            return order[: len(args)]
    return None


def _by_place(heading: Heading, sizes: Sequence[str], args: Sequence[Any], named: Named) -> dict[str, Any]:
    """The arguments that are given by place. Raises Failed A101 for a call that is not whole."""
    long = [order for order in _orders(heading, sizes) if len(args) <= len(order)]
    alike = [order for order in long if _alike(heading, sizes, order, args)]
    if not long or (not alike and len(args) > len(heading.order)):
        most = plural(len(heading.order), "argument")
        count = f"{len(args)} {'is' if len(args) == 1 else 'are'} given"
        raise _wrong(heading, sizes, f"`{heading.name}` takes at most {most}, {count}")
    prefixes = [order[: len(args)] for order in alike or long]
    apart = [places for places in prefixes if named.keys().isdisjoint(places)]
    if not apart:
        twice = [name for name in named if name in prefixes[0]]
        raise _wrong(heading, sizes, f"`{heading.name}` is given {_names(twice)} twice")
    places = min(apart, key=lambda some: len(_missing(heading, sizes, (*some, *named))))
    missing = _missing(heading, sizes, (*places, *named))
    if missing and not alike:
        raise _wrong(heading, sizes, _other_kind(heading, sizes, args))
    if missing:
        raise _wrong(heading, sizes, f"`{heading.name}` is called without {_names(missing)}")
    return dict(zip(places, args, strict=True))


def _orders(heading: Heading, sizes: Sequence[str]) -> list[tuple[str, ...]]:
    """The orders in which a call may give its arguments: that of the text, with and without sizes, and all
    parameters."""
    hidden = {*sizes, *heading.fixed}
    return [heading.order, tuple(n for n in heading.order if n not in hidden), heading.parameters]


def _alike(heading: Heading, sizes: Sequence[str], order: Sequence[str], args: Sequence[Any]) -> bool:
    """Whether there are numbers where the order has numbers, and arrays where it has arrays, as far as can be
    seen."""
    if len(args) > len(order):
        return False
    return _first_other(heading, sizes, order, args) is None


def _first_other(
    heading: Heading, sizes: Sequence[str], order: Sequence[str], args: Sequence[Any]
) -> int | None:
    """The place of the first number that is to be an array, or the other way round."""
    numbers = {*sizes, *heading.fixed, *(n for n, extents in heading.shapes.items() if not extents)}
    pairs = enumerate(zip(order, args, strict=False))
    return next((n for n, (name, value) in pairs if _is_number(value) is (name not in numbers)), None)


def _other_kind(heading: Heading, sizes: Sequence[str], args: Sequence[Any]) -> str:
    """Requires that an argument is of another kind in the order of the text."""
    at = _first_other(heading, sizes, heading.order, args)
    assert at is not None
    kinds = ("a number", "an array") if _is_number(args[at]) else ("an array", "a number")
    return f"argument {at + 1} of `{heading.name}` is {kinds[0]}, and `{heading.order[at]}` takes {kinds[1]}"


def _is_number(value: Any) -> bool | None:
    """None for what cannot be told."""
    try:
        shape = getattr(value, "shape", None)
        return True if isinstance(value, Real) else None if shape is None else len(shape) == 0
    except Exception:  # the array's own methods may raise anything
        return None


def _missing(heading: Heading, sizes: Sequence[str], given: Sequence[str]) -> list[str]:
    """What a call has to give, and does not. Sizes follow from arrays, also from missing ones."""
    told = {n for extents in heading.shapes.values() for n in extents}
    left = {*given, *heading.fixed, *heading.results, *(n for n in sizes if n in told)}
    return [name for name in heading.parameters if name not in left]


def _size(size: str, heading: Heading, sizes: Sequence[str], given: Named) -> int:
    """From the first array that has it as an extent; a call with others is refused when it is bound. Raises
    Failed A101, A104."""
    for name, extents in heading.shapes.items():
        shape = shape_of(given[name]) if size in extents and name in given else None
        if shape is not None and len(shape) != len(extents):
            headline = f"`{name}` has {plural(len(extents), 'dimension')}, the array {len(shape)}"
            hint = f"the size `{size}` is taken from its shape"
            raise Failed(Diagnostic("A104", headline, help=hint))
        if shape is not None:
            return shape[extents.index(size)]
    headline = f"the size `{size}` is left out, and no array of this call has it as an extent"
    raise _wrong(heading, sizes, headline)


def _wrong(heading: Heading, sizes: Sequence[str], headline: str) -> Failed:
    """A101."""
    told = {n for extents in heading.shapes.values() for n in extents}
    follow = [name for name in sizes if name in told]
    hint = f"in order: {', '.join(heading.order)}; or each by its name"
    if heading.results:
        hint += f"; {', '.join(heading.results)} may be left out"
    if heading.begun:
        begins = f"{', '.join(heading.begun)} {'begins' if len(heading.begun) == 1 else 'begin'}"
        hint += f"; {begins} with what is given, for `+=!` would start from zero"
    if follow:
        hint += f"; {', '.join(follow)} {'follows' if len(follow) == 1 else 'follow'} from shapes if left out"
    return Failed(Diagnostic("A101", headline, help=hint))


def _names(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
