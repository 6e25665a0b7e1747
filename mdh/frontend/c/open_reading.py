"""Reads a program whose sizes stay open: at the largest values, with its extents as functions of the sizes.

The text is checked first: open sizes stand in the bounds of loops that go up or down by 1, and in extents
of arrays, as affine functions. So every extent of the program is an affine function of the sizes. Readings at
the ends of the ranges give its factors, and show that the stages are the same there. Nothing else of a stage
depends on the sizes, for they stand nowhere else.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from pycparser import c_ast

from mdh.diagnostics import Diagnostic, Failed, fail
from mdh.frontend.c.cparse import parse_function
from mdh.frontend.c.places import Places, nodes_in
from mdh.frontend.c.preprocess import Preprocessed
from mdh.frontend.open_program import PLACE, read_at_ends
from mdh.ir.open_size import OpenSize
from mdh.ir.program import Program

Read = Callable[[Preprocessed], Program]


def read_open(pre: Preprocessed, opens: Sequence[OpenSize], function: str | None, read: Read) -> Program:
    """The program at the largest sizes, with what depends on open sizes. pre: bound to the largest. Raises
    Failed C125, C126, and what reading at the ends of the ranges finds."""
    _check_text(pre, opens, function)
    return read_at_ends(
        opens,
        lambda sizes: read(replace(pre, sizes={**pre.sizes, **sizes})),
        lambda: _conditions(pre, function),
    )


def _conditions(pre: Preprocessed, function: str | None) -> bool:
    """Whether some access may depend on a condition."""
    node = parse_function(pre, function).node
    found = (c_ast.If, c_ast.TernaryOp)
    return any(
        isinstance(n, found) or (isinstance(n, c_ast.BinaryOp) and n.op in ("&&", "||"))
        for n in nodes_in(node)
    )


def _check_text(pre: Preprocessed, opens: Iterable[OpenSize], function: str | None) -> None:
    """Raises Failed C126 for open sizes where they cannot stand."""
    parsed = parse_function(pre, function)
    found = list(_misplaced(parsed.node, frozenset(o.name for o in opens), parsed.places))
    if found:
        raise Failed(*found)


def _misplaced(node: c_ast.Node, names: frozenset[str], places: Places) -> Iterator[Diagnostic]:
    """One diagnostic for each place."""
    match node:
        case c_ast.For():
            if _mentioned(node.cond, names):
                yield from _bound(node, names, places)
            children = [node.init, node.next, node.stmt]
        case c_ast.ArrayDecl(dim=dim) if dim is not None and _mentioned(dim, names):
            yield from _affine(dim, names, places, "an extent")
            children = [node.type]
        case c_ast.ID(name=name) if name in names:
            headline = f"the open size `{name}` is used in an expression"
            hint = "open sizes stand in bounds of loops and extents of arrays: `float A[M][K]`; bind it"
            yield _wrong(name, headline, places, node, hint)
            children = []
        case _:
            children = [child for _, child in node.children()]
    for child in children:
        if child is not None:
            yield from _misplaced(child, names, places)


def _bound(node: c_ast.For, names: frozenset[str], places: Places) -> Iterator[Diagnostic]:
    cond = node.cond
    name = min(_mentioned(cond, names))
    if not isinstance(cond, c_ast.BinaryOp) or cond.op not in ("<", "<=", ">", ">=", "!="):
        headline = f"the open size `{name}` stands in a condition that is no comparison"
        yield _wrong(name, headline, places, cond, "write for (int i = 0; i < M; ++i)")
        return
    if not _by_one(node.next):
        headline = f"a loop up to the open size `{name}` goes by more than 1"
        hint = "let it go by 1, and multiply in the subscripts"
        yield _wrong(name, headline, places, node.next or node, hint)
        return
    for side in (cond.left, cond.right):
        if _mentioned(side, names):
            yield from _affine(side, names, places, "a bound")


def _by_one(step: c_ast.Node | None) -> bool:
    match step:
        case c_ast.UnaryOp(op="++" | "p++" | "--" | "p--"):
            return True
        case c_ast.Assignment(op="+=" | "-=", rvalue=c_ast.Constant(value="1")):
            return True
        case c_ast.Assignment(op="=", rvalue=c_ast.BinaryOp(op="+" | "-", right=c_ast.Constant(value="1"))):
            return True
    return False


def _affine(e: c_ast.Node, names: frozenset[str], places: Places, what: str) -> Iterator[Diagnostic]:
    """Whether an expression adds open sizes times constants."""
    if not _is_affine(e, names):
        name = min(_mentioned(e, names))
        headline = f"{what} is no sum of open sizes times constants"
        yield _wrong(name, headline, places, e, f"write it as `{name}`, `{name} + 2` or `2 * {name}`")


def _is_affine(e: c_ast.Node, names: frozenset[str]) -> bool:
    if not _mentioned(e, names):
        return True
    match e:
        case c_ast.ID():
            return True
        case c_ast.UnaryOp(op="+" | "-", expr=inner):
            return _is_affine(inner, names)
        case c_ast.BinaryOp(op="+" | "-", left=a, right=b):
            return _is_affine(a, names) and _is_affine(b, names)
        case c_ast.BinaryOp(op="*", left=a, right=b):
            alone = not (_mentioned(a, names) and _mentioned(b, names))
            return alone and _is_affine(a, names) and _is_affine(b, names)
    return False


def _mentioned(node: c_ast.Node | None, names: frozenset[str]) -> frozenset[str]:
    if node is None:
        return frozenset()
    return frozenset(n.name for n in nodes_in(node) if isinstance(n, c_ast.ID)) & names


def _wrong(name: str, headline: str, places: Places, node: c_ast.Node, hint: str) -> Diagnostic:
    return fail(PLACE, headline, places.of(node, name), help=hint).diagnostics[0]
