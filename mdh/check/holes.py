"""Holes that nobody has bound: a schedule with any cannot be checked or lowered."""

from collections.abc import Iterator

from mdh.check.subject import at, plural
from mdh.diagnostics import Diagnostic
from mdh.schedule.model import Arg, ArgCall, Attr, Core, Hole, Mem, Place, Section, Step, Tile

CODE = "S154"
SHOWN = 4
"""Open holes that one message points at."""


def unbound_holes(section: Section) -> Iterator[Diagnostic]:
    """One diagnostic a named hole, where it first stands, and one for all that have no name."""
    holes = [hole for step in section.steps for hole in step_holes(step)]
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


def step_holes(step: Step) -> Iterator[Hole]:
    """Every hole of a step in the order of the text, as far as the groups allow."""
    entries: tuple[Tile | Mem | Core, ...] = (*step.tiles, *step.inputs, *step.outputs, *step.cores)
    for entry in entries:
        match entry.value:
            case Hole() as hole:
                yield hole
            case Place(_, region, layout):
                if isinstance(region, Hole):
                    yield region
                if isinstance(layout, Hole):
                    yield layout
                else:
                    yield from (n for n in layout if isinstance(n, Hole))
            case _:
                pass
        yield from _attr_holes(entry.attrs)
    yield from _attr_holes(step.attrs)


def _attr_holes(attrs: tuple[Attr, ...]) -> Iterator[Hole]:
    for attr in attrs:
        for arg in attr.args:
            yield from _arg_holes(arg)


def _arg_holes(arg: Arg) -> Iterator[Hole]:
    match arg.value:
        case Hole() as hole:
            yield hole
        case ArgCall(_, args):
            for inner in args:
                yield from _arg_holes(inner)
        case _:
            pass
    if arg.fallback is not None:
        yield from _arg_holes(arg.fallback)
