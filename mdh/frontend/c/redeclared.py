"""Refuses names that are declared twice in one block or one list of parameters, as C does. Later parts take
the last declaration."""

from collections.abc import Iterable, Iterator

from pycparser import c_ast

from mdh.diagnostics import Diagnostic, Label, labels_at
from mdh.frontend.c.places import Places, nodes_in

CODE = "C128"


def redeclared(tree: c_ast.FileAST, places: Places) -> Iterator[Diagnostic]:
    """C128, and C109 for parameters. Enumerations are written out already. At the level of the file a
    function may be declared several times, and defined once; a variable has a value once."""
    defined = (n for n in tree.ext if isinstance(n, c_ast.FuncDef) or getattr(n, "init", None))
    yield from _twice(defined, places)
    for block in nodes_in(tree):
        if isinstance(block, c_ast.Compound):
            items = block.block_items or ()
            yield from _twice((n for n in items if isinstance(n, c_ast.Decl)), places)
        elif isinstance(block, c_ast.ParamList):
            yield from _parameters_twice(block, places)


def _parameters_twice(block: c_ast.ParamList, places: Places) -> Iterator[Diagnostic]:
    """C109."""
    seen = set[str]()
    for n in block.params:
        if isinstance(n, c_ast.Decl) and n.name in seen:
            what = f"two parameters are called `{n.name}`"
            yield Diagnostic("C109", what, labels_at(places.of(n, n.name)))
        seen.add(getattr(n, "name", None) or "")


def _twice(declarations: Iterable[c_ast.Node], places: Places) -> Iterator[Diagnostic]:
    seen = dict[str, c_ast.Decl]()
    for n in declarations:
        decl = n.decl if isinstance(n, c_ast.FuncDef) else n
        before = seen.setdefault(decl.name, decl) if decl.name else decl
        if before is not decl:
            labels = Label(places.of(decl, decl.name)), Label(places.of(before, decl.name), "the first time")
            headline = f"`{decl.name}` is declared twice"
            yield Diagnostic(CODE, headline, labels, help="rename one of the two, or leave it out")
