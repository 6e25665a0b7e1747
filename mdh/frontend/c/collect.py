"""Collects errors of independent statements, so that they are reported together."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from pycparser import c_ast

from mdh.diagnostics import Diagnostic, Failed
from mdh.frontend.c.places import assigned, base_of, nodes_in
from mdh.frontend.c.scope import NameScope

MOST_ERRORS = 12


@contextmanager
def collected(node: c_ast.Node, scope: NameScope) -> Iterator[None]:
    """Keep what is found wrong with `node` and go on behind it, with the names as they were before it.

    A statement that needs the result of a failed one is not reported, because the first error is the cause.
    """
    loops, conds, asked, declared = scope.loops, scope.conds, scope.cond_uses, dict(scope.declared)
    values, locals_, cells = dict(scope.values), dict(scope.locals), dict(scope.cells)
    try:
        yield
    except Failed as failed:
        scope.loops, scope.conds, scope.cond_uses, scope.declared = loops, conds, asked, declared
        scope.values, scope.locals, scope.cells = values, locals_, cells
        made, used = set[str](), set[str]()
        _names(node, made, used)
        if not used & scope.broken:
            scope.errors.extend(failed.diagnostics)
        # parameters keep their meaning whatever happens to their elements
        scope.broken |= {n for n in made - {""} if n not in scope.arrays or scope.arrays[n].temp}


def raise_collected(scope: NameScope) -> None:
    """Raises Failed with the errors of all statements, each once, up to a limit."""
    found: dict[tuple[str, str], Diagnostic] = {}
    for d in scope.errors:
        # a size without a value is an error wherever it is used
        found.setdefault((d.code, d.help if d.code == "C136" else d.headline), d)
    if not found:
        return
    shown = list(found.values())[:MOST_ERRORS]
    left = len(found) - len(shown)
    if left:
        note = f"{left} more error{'s are' if left > 1 else ' is'} not shown"
        shown[-1] = replace(shown[-1], notes=(*shown[-1].notes, note))
    raise Failed(*shown)


def _names(statement: c_ast.Node, made: set[str], used: set[str]) -> None:
    """Collects what a statement declares or assigns, and every name in it."""
    for node in nodes_in(statement):
        if isinstance(node, c_ast.Decl) and node.name is not None:
            made.add(node.name)
            used.add(node.name)
        elif isinstance(node, c_ast.ID):
            used.add(node.name)
        made.add(base_of(assigned(node)))
