"""Holes that nobody has bound: a schedule with any cannot be checked or lowered."""

from collections.abc import Iterator

from mdh.check.subject import at
from mdh.diagnostics import Diagnostic
from mdh.schedule.model import Arg, ArgCall, Attr, Core, Hole, Mem, Place, Section, Step, Tile

CODE = "S154"


def unbound_holes(section: Section) -> Iterator[Diagnostic]:
    """One diagnostic a hole; a named hole once, where it first stands."""
    seen: set[str] = set()
    for step in section.steps:
        for hole in step_holes(step):
            if hole.name is not None:
                if hole.name in seen:
                    continue
                seen.add(hole.name)
            yield _unbound(hole)


def _unbound(hole: Hole) -> Diagnostic:
    values = "" if hole.values is None else "{" + ",".join(str(v) for v in hole.values) + "}"
    text = f"?{hole.name or ''}{values}"
    if hole.name:
        example = hole.values[0] if hole.values else "VALUE"
        how = f"bind it with `--set {hole.name}={example}`, or write a value"
    else:
        how = "write a value in its place, or name it (`?name`) and bind it with `--set name=VALUE`"
    return Diagnostic(CODE, f"hole `{text}` has no value", at(hole.span, "open"), help=how)


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
