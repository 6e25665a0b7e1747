"""A C function's name and parameters, without reading its body."""

from collections.abc import Mapping
from dataclasses import dataclass

from pycparser import c_ast

from mdh.frontend.c.cparse import parse_function
from mdh.frontend.c.preprocess import preprocess
from mdh.source import Source


@dataclass(frozen=True, slots=True)
class Heading:
    """parameters: their names in C's order, sizes included whether bound or not. shapes: of each array, the
    extents that are plain names, None for the others."""

    name: str
    parameters: tuple[str, ...]
    shapes: Mapping[str, tuple[str | None, ...]]


def read_heading(
    source: Source, *, defines: Mapping[str, str | int] = {}, function: str | None = None
) -> Heading:
    """Raises Failed C1xx."""
    declared = parse_function(preprocess(source, defines), function).node.decl
    params = declared.type.args.params if declared.type.args else []
    named = [p for p in params if getattr(p, "name", None)]
    return Heading(declared.name, tuple(p.name for p in named), {p.name: _extents(p.type) for p in named})


def _extents(declared: c_ast.Node) -> tuple[str | None, ...]:
    out: list[str | None] = []
    while isinstance(declared, c_ast.ArrayDecl | c_ast.PtrDecl):
        extent = getattr(declared, "dim", None)
        out.append(extent.name if isinstance(extent, c_ast.ID) else None)
        declared = declared.type
    return tuple(out)
