"""Words of a declaration that change what it means: `volatile`, `static`, `extern`, attributes."""

import re
from collections.abc import Iterator

from pycparser import c_ast

from mdh.diagnostics import Diagnostic, fail, labels_at
from mdh.frontend.c.ctypes_of import dimensions
from mdh.frontend.c.places import Places, nodes_in
from mdh.source import Source, Span

_ATTRIBUTE = re.compile(r"__attribute__\s*\(\(\s*[^;{]*?\b(_*(?:vector_size|mode|packed|ifunc|alias)_*)\b")


def check_attributes(source: Source) -> None:
    """Ignores attributes, and raises for those that change a type or what a name stands for."""
    found = _ATTRIBUTE.search(source.text)
    if found is not None:
        raise fail("C113", f"the attribute `{found[1]}` is not supported", Span(source, *found.span(1)),
                   help="attributes that do not change types are passed over")  # fmt: skip


def refused_specifiers(
    function: c_ast.FuncDef, globals_: tuple[c_ast.Decl, ...], places: Places
) -> Iterator[Diagnostic]:
    """C113 for a volatile declaration, and for one inside the function that outlives its call."""
    for d in (*globals_, function.decl):
        yield from _volatile(d, places)
    for node in (n for n in nodes_in(function.body) if isinstance(n, c_ast.Decl)):
        yield from _volatile(node, places)
        kept = [w for w in node.storage or [] if w in ("static", "extern", "_Thread_local")]
        if kept and not (kept == ["static"] and _is_const(node)):
            name = node.name or ""
            what = f"`{name}` is {kept[0]}: its value would outlive the call"
            advice = f"make it const, or leave out `{kept[0]}`"
            yield Diagnostic("C113", what, labels_at(places.of(node, name)), help=advice)


def _is_const(node: c_ast.Decl) -> bool:
    return "const" in (getattr(dimensions(node.type)[1], "quals", None) or [])


def _volatile(node: c_ast.Node, places: Places) -> Iterator[Diagnostic]:
    quals = [*(getattr(node, "quals", None) or []), *(getattr(node, "dim_quals", None) or [])]
    if "volatile" in quals or "_Atomic" in quals:
        word = "volatile" if "volatile" in quals else "_Atomic"
        advice = "kernels read and write memory in an order of their own: leave it out"
        what = f"`{word}` is not supported"
        yield Diagnostic("C113", what, labels_at(places.of(node, word)), help=advice)
    for _, child in node.children():
        if not isinstance(child, c_ast.Compound):
            yield from _volatile(child, places)
