"""C text to a Program: the entry point of the front end, as `mdh.frontend.read.FrontEnd` has it."""

from collections.abc import Container, Iterable, Mapping, Sequence
from functools import partial

from pycparser import c_ast

from mdh.diagnostics import fail
from mdh.frontend.c.body import walk_function
from mdh.frontend.c.collect import ALONE, collected, raise_collected
from mdh.frontend.c.cparse import ParsedFunction, parse_function, parse_partly, parsed_names
from mdh.frontend.c.ctypes_of import is_const, scalar_type
from mdh.frontend.c.declared_tables import read_table
from mdh.frontend.c.defines import deciding, size_spans
from mdh.frontend.c.lift_expr import lift
from mdh.frontend.c.literals import check_enumerator
from mdh.frontend.c.open_reading import read_open
from mdh.frontend.c.preprocess import Preprocessed, preprocess
from mdh.frontend.c.scope import NameScope
from mdh.frontend.c.signature import read_signature
from mdh.frontend.c.source_limits import limited_depth
from mdh.frontend.c.specifiers import refused_specifiers
from mdh.frontend.c.syntax_of import UnknownConstructError, function_of
from mdh.frontend.heading import Heading
from mdh.frontend.program import Text, program_of
from mdh.frontend.typing_rules import convert
from mdh.ir.open_size import OpenSize
from mdh.ir.program import Program
from mdh.ir.syntax import Function
from mdh.source import Source

__all__ = [
    "bound_text", "deciding", "free_sizes", "function_names", "read_bound", "read_heading", "read_program",
    "read_syntax", "size_spans",
]  # fmt: skip


def read_heading(
    source: Source,
    *,
    defines: Mapping[str, str | int] = {},
    function: str | None = None,
    opens: Iterable[str] = (),
) -> Heading:
    """A C function's name and parameters, without reading its body. opens: as of `preprocess`. Raises Failed
    C1xx."""
    parsed = parse_function(preprocess(source, defines, opens), function)
    named = [p for p in _parameters(parsed) if getattr(p, "name", None)]
    names = tuple(p.name for p in named)
    known = {decl.name for decl in parsed.globals}
    return Heading(parsed.node.decl.name, names, {p.name: _extents(p.type, known) for p in named}, names)


def function_names(source: Source) -> tuple[str, ...]:
    """The functions that a C text defines, in order. Raises Failed C1xx."""
    with limited_depth(source):
        return parsed_names(preprocess(source, {}))


def _extents(declared: c_ast.Node, known: Container[str]) -> tuple[str | None, ...]:
    """Sizes by name; None for other extents. known: constants of the file, which are no sizes."""
    out: list[str | None] = []
    while isinstance(declared, c_ast.ArrayDecl | c_ast.PtrDecl):
        extent = getattr(declared, "dim", None)
        out.append(extent.name if isinstance(extent, c_ast.ID) and extent.name not in known else None)
        declared = declared.type
    return tuple(out)


def read_program(
    source: Source,
    *,
    defines: Mapping[str, str | int] = {},
    function: str | None = None,
    strict_fp: bool = False,
    allow: Iterable[str] = (),
) -> Program:
    """The Program of a C function. Raises Failed with C1xx diagnostics."""
    pre = bound_text(source, defines)
    return read_bound(pre, function=function, strict_fp=strict_fp, allow=allow)


def bound_text(
    source: Source, defines: Mapping[str, str | int] = {}, opens: Iterable[str] = ()
) -> Preprocessed:
    """The text with its macros expanded. opens: as of `preprocess`. Raises Failed with C1xx diagnostics."""
    with limited_depth(source):
        return preprocess(source, defines, opens)


def read_bound(
    pre: Preprocessed,
    *,
    function: str | None = None,
    strict_fp: bool = False,
    allow: Iterable[str] = (),
    opens: Sequence[OpenSize] = (),
) -> Program:
    """`read_program` for a text whose macros are expanded. opens: sizes that stay open; the text is bound to
    their largest values."""
    with limited_depth(pre.source):
        if opens:
            read = partial(_read, function=function, strict_fp=strict_fp, allow=tuple(allow))
            return read_open(pre, opens, function, read)
        return _read(pre, function, strict_fp, allow)


def read_syntax(pre: Preprocessed, *, function: str | None = None) -> Function | None:
    """The function as it is written; None if it holds something that no Program can. Raises Failed with C1xx
    diagnostics."""
    return _syntax(parse_function(pre, function))


def _read(pre: Preprocessed, function: str | None, strict_fp: bool, allow: Iterable[str]) -> Program:
    parsed = parse_partly(pre, function)
    syntax = None if parsed.wrong else _syntax(parsed)
    kept = {getattr(p, "name", None) for p in _parameters(parsed)}
    scope = NameScope(parsed.places, broken=set(parsed.lost - kept))
    scope.errors.extend(refused_specifiers(parsed.node, parsed.globals, parsed.places))
    for decl in parsed.globals:
        with collected(decl, scope):
            _constant(decl, scope)
    names, scalars = read_signature(parsed.node, pre.sizes, scope)
    walk_function(parsed.node.body.block_items or [], scope)
    # some statements could not be parsed: errors that only their absence causes are not reported
    own = (d for d in scope.errors if not parsed.lost or d.code in ALONE)
    scope.errors = [*parsed.wrong, *own]
    raise_collected(scope)
    if not scope.statements:
        raise fail("C106", f"`{parsed.node.decl.name}` computes nothing", parsed.places.of(parsed.node.decl),
                   help="store results in an array parameter")  # fmt: skip
    text = Text(
        parsed.node.decl.name, names, parsed.places.of(parsed.node.decl), scope.arrays, tuple(scalars),
        scope.statements, scope.uses, scope.looked_up, scope.stage_names, scope.operators, pre.source, syntax,
        tuple(sorted(pre.constants.items())), frozenset(scope.allowed),
    )  # fmt: skip
    return program_of(text, strict_fp=strict_fp, allow=allow)


def _syntax(parsed: ParsedFunction) -> Function | None:
    """The function as it is written, taken before the walk; None if the walk will refuse it."""
    try:
        return function_of(parsed.node, parsed.globals, parsed.places)
    except UnknownConstructError:
        return None


def free_sizes(
    source: Source,
    *,
    defines: Mapping[str, str | int] = {},
    function: str | None = None,
    opens: Iterable[str] = (),
) -> tuple[str, ...]:
    """Integer parameters in bounds, subscripts or extents that no define binds, in C's order. opens: as of
    `preprocess`."""
    with limited_depth(source):
        pre = preprocess(source, defines, opens)
        parsed = parse_function(pre, function)
        used: set[str] = set()
        _sizes(parsed.node, False, used)
    plain = [p.name for p in _parameters(parsed) if isinstance(getattr(p, "type", None), c_ast.TypeDecl)]
    return tuple(n for n in plain if n in used and n not in pre.sizes)


def _parameters(parsed: ParsedFunction) -> list[c_ast.Node]:
    args = parsed.node.decl.type.args
    return list(args.params) if args else []


def _sizes(node: c_ast.Node, counts: bool, used: set[str]) -> None:
    if isinstance(node, c_ast.ID) and counts:
        used.add(node.name)
    for key, child in node.children():
        bound = isinstance(node, c_ast.For) and key in ("init", "cond", "next")
        shape = isinstance(node, c_ast.ArrayDecl) and key == "dim"
        place = isinstance(node, c_ast.ArrayRef) and key == "subscript"
        _sizes(child, counts or bound or shape or place, used)


def _constant(decl: c_ast.Decl, scope: NameScope) -> None:
    if not is_const(decl):
        raise fail(
            "C113",
            f"the global variable `{decl.name}` is not supported",
            scope.places.of(decl, decl.name),
            help="globals are constants: const int N = 64;",
        )
    if isinstance(decl.type, c_ast.ArrayDecl):
        read_table(decl, scope)
        return
    if isinstance(decl.type, c_ast.PtrDecl):
        raise fail("C113", f"the global pointer `{decl.name}` is not supported",
                   scope.places.of(decl, decl.name), help="make it a parameter of the function")  # fmt: skip
    value = lift(decl.init, scope)
    check_enumerator(decl, value, scope.places)
    scope.values[decl.name] = convert(value, scalar_type(decl, scope.places))
