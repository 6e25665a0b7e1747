"""The names of a C function's parameters, without reading its body."""

from collections.abc import Mapping

from mdh.frontend.cparse import parse_function
from mdh.frontend.preprocess import preprocess
from mdh.source import Source


def parameter_names(
    source: Source, *, defines: Mapping[str, str | int] = {}, function: str | None = None
) -> tuple[str, ...]:
    """In C's order, sizes included whether bound or not. Raises Failed C1xx."""
    node = parse_function(preprocess(source, defines), function).node
    params = node.decl.type.args.params if node.decl.type.args else []
    return tuple(p.name for p in params if getattr(p, "name", None))
