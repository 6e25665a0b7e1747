"""Unbound holes: a schedule with holes cannot be checked or lowered."""

from collections.abc import Iterator

from mdh.checker.subject import at
from mdh.diagnostics import Diagnostic
from mdh.schedule.holes import section_holes
from mdh.schedule.model import Hole, Section
from mdh.wording import plural

CODE = "S154"
SHOWN = 4
"""Open holes that one message points at."""


def unbound_holes(section: Section) -> Iterator[Diagnostic]:
    """One diagnostic for each named hole, where it first stands, and one for all unnamed holes."""
    holes = [found.hole for found in section_holes(section)]
    named: dict[str, Hole] = {}
    for hole in holes:
        if hole.name is not None:
            named.setdefault(hole.name, hole)
    yield from (_named(name, hole) for name, hole in named.items())
    nameless = [hole for hole in holes if hole.name is None]
    if nameless:
        yield _nameless(nameless)


def _named(name: str, hole: Hole) -> Diagnostic:
    values = "" if hole.values is None else "{" + ",".join(str(v) for v in hole.values) + "}"
    example = hole.values[0] if hole.values else "VALUE"
    how = f"bind it with `--set {name}={example}`, or write a value"
    return Diagnostic(CODE, f"hole `?{name}{values}` has no value", at(hole.span, "open"), help=how)


def _nameless(holes: list[Hole]) -> Diagnostic:
    count = plural(len(holes), "hole")
    headline = f"{count} without a value" if len(holes) > 1 else "a hole without a value"
    labels = tuple(label for hole in holes[:SHOWN] for label in at(hole.span, "open"))
    how = "write values, or name holes (`?name`) and bind them with `--set name=VALUE`"
    return Diagnostic(CODE, headline, labels, help=how)
