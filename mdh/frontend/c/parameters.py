"""A C function's name and parameters, without reading its body."""

from collections.abc import Mapping
from dataclasses import dataclass

from mdh.frontend.c.cparse import parse_function
from mdh.frontend.c.preprocess import preprocess
from mdh.source import Source


@dataclass(frozen=True, slots=True)
class Heading:
    """parameters: their names in C's order, sizes included whether bound or not."""

    name: str
    parameters: tuple[str, ...]


def read_heading(
    source: Source, *, defines: Mapping[str, str | int] = {}, function: str | None = None
) -> Heading:
    """The heading of a function. Raises Failed C1xx."""
    declared = parse_function(preprocess(source, defines), function).node.decl
    params = declared.type.args.params if declared.type.args else []
    return Heading(declared.name, tuple(p.name for p in params if getattr(p, "name", None)))
