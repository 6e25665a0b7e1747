"""Collects errors of independent statements, so that they are reported together."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from pycparser import c_ast

from mdh.diagnostics import Diagnostic, Failed
from mdh.frontend.c.places import assigned, base_of, nodes_in
from mdh.frontend.c.scope import NameScope
from mdh.ir.dtype import I32
from mdh.ir.expr import Var
from mdh.ir.names import fresh
from mdh.ir.statement import LoopVar

Walk = Callable[[list[c_ast.Node], NameScope], None]

MOST_ERRORS = 50
"""The most that are reported. Only damaged or generated texts have so many."""
NAMES = frozenset({"C111", "C112", "C136"})
"""Codes of errors about a name, which are reported where it stands first."""
ALONE = frozenset({"C108", "C109", "C110", "C111", "C112", "C113", "C114", "C118", "C128", "C130"})
"""Codes of errors that a statement has whatever stands around it: names, operands, what is not supported."""


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


@contextmanager
def headed(
    items: Sequence[c_ast.Node], counters: Iterable[str], scope: NameScope, walk: Walk
) -> Iterator[None]:
    """Reads a header. If that is wrong, the statements below it are looked at, too, for errors that they have
    whatever the header says. counters: what it declares."""
    try:
        yield
    except Failed:
        before, broken, scope.errors = scope.errors, set(scope.broken), []
        for name in counters if items else ():
            scope.locals.pop(name, None)
            scope.cells.pop(name, None)
            loop = LoopVar(fresh(name, scope.taken), name, 0, 1, 1, scope.places.of(items[0]))
            scope.loops = (*scope.loops, loop)
            scope.values[name] = Var(loop.name, I32)
        walk(list(items), scope)
        scope.errors = [*before, *(d for d in scope.errors if d.code in ALONE)]
        # the header is not wrong because of what stands below it
        scope.broken = broken
        raise


def counters_of(init: c_ast.Node | None) -> list[str]:
    """The names that the start of a `for` declares or sets."""
    nodes = [] if init is None else nodes_in(init)
    return [n.name if isinstance(n, c_ast.Decl) else base_of(assigned(n)) for n in nodes if _counts(n)]


def _counts(node: c_ast.Node) -> bool:
    return isinstance(node, c_ast.Decl) or isinstance(assigned(node), c_ast.ID)


def raise_collected(scope: NameScope) -> None:
    """Raises Failed with the errors of all statements in their order, each once, up to a limit."""
    found: dict[tuple[str, str, int], Diagnostic] = {}
    for d in sorted(scope.errors, key=_place):
        # a size without a value, or a name that is not known, is an error wherever it is used
        said = d.help if d.code == "C136" else d.headline
        found.setdefault((d.code, said, -1 if d.code in NAMES else _place(d)), d)
    if not found:
        return
    shown = list(found.values())[:MOST_ERRORS]
    left = len(found) - len(shown)
    if left:
        note = f"{left} more error{'s are' if left > 1 else ' is'} not shown"
        shown[-1] = replace(shown[-1], notes=(*shown[-1].notes, note))
    raise Failed(*shown)


def _place(d: Diagnostic) -> int:
    """Where the first label of an error is. What has none comes first."""
    return d.labels[0].span.start if d.labels else -1


def _names(statement: c_ast.Node, made: set[str], used: set[str]) -> None:
    """Collects what a statement declares or assigns for those behind it, and every name in it."""
    inside = set[str]()
    for node in nodes_in(statement):
        if isinstance(node, c_ast.Decl) and node.name is not None:
            (made if node is statement else inside).add(node.name)
            used.add(node.name)
        elif isinstance(node, c_ast.ID):
            used.add(node.name)
        made.add(base_of(assigned(node)))
    if not isinstance(statement, c_ast.DeclList):
        # what a block or a loop declares ends with it
        made -= inside
    else:
        made |= inside
