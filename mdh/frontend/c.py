"""C text to a Program: the front end's one door."""

from collections.abc import Mapping
from dataclasses import replace

from pycparser import c_ast

from mdh.diagnostics import fail
from mdh.frontend.body import walk_function
from mdh.frontend.collect import collected, raise_collected
from mdh.frontend.cparse import ParsedFunction, parse_function
from mdh.frontend.ctypes_of import is_const, scalar_type
from mdh.frontend.declared_tables import read_table
from mdh.frontend.dependences import check_dependences, written
from mdh.frontend.fuse import fused_updates
from mdh.frontend.lift_expr import lift
from mdh.frontend.limits import check_size, too_deep
from mdh.frontend.literals import check_enumerator
from mdh.frontend.merge import merged
from mdh.frontend.operators import check_operators
from mdh.frontend.pieces import Piece, pieces_of
from mdh.frontend.preprocess import Preprocessed, preprocess
from mdh.frontend.scope import Assign, Best, Scope, Statement
from mdh.frontend.shapes import (
    Shape,
    check_bounds,
    check_volume,
    open_extents,
    pointer_shapes,
    reshape,
    split_index,
)
from mdh.frontend.signature import read_signature
from mdh.frontend.specifiers import check_specifiers
from mdh.frontend.strict import check_comparison, check_grouping, ordered
from mdh.frontend.syntax_of import UnknownConstructError, function_of
from mdh.frontend.typing_rules import convert
from mdh.ir.expr import Expr, Load, Var, substitute
from mdh.ir.program import Buffer, Dim, DimKind, Output, Program, Result, Stage
from mdh.ir.statement import PlacedStatement
from mdh.ir.syntax import Function
from mdh.source import Source


def read_program(
    source: Source,
    *,
    defines: Mapping[str, str | int] = {},
    function: str | None = None,
    strict_fp: bool = False,
) -> Program:
    """The Program of a C function; raises Failed with C1xx diagnostics."""
    return read_preprocessed(preprocessed(source, defines), function=function, strict_fp=strict_fp)


def preprocessed(source: Source, defines: Mapping[str, str | int] = {}) -> Preprocessed:
    """The text with its macros expanded; raises Failed with C1xx diagnostics."""
    try:
        return preprocess(source, defines)
    except RecursionError:
        raise too_deep(source) from None


def read_preprocessed(pre: Preprocessed, *, function: str | None = None, strict_fp: bool = False) -> Program:
    """`read_program` of a text whose macros are expanded."""
    try:
        return _read(pre, function, strict_fp)
    except RecursionError:
        raise too_deep(pre.source) from None


def read_syntax(pre: Preprocessed, *, function: str | None = None) -> Function | None:
    """The function as it is written; None where it holds what no Program can. Raises Failed with C1xx
    diagnostics."""
    return _syntax(parse_function(pre, function))


def _read(pre: Preprocessed, function: str | None, strict_fp: bool) -> Program:
    parsed = parse_function(pre, function)
    syntax = _syntax(parsed)
    check_specifiers(parsed.node, parsed.globals, parsed.places)
    scope = Scope(parsed.places)
    for decl in parsed.globals:
        with collected(decl, scope):
            _constant(decl, scope)
    raise_collected(scope)
    names, scalars = read_signature(parsed.node, pre.sizes, scope)
    walk_function(parsed.node.body.block_items or [], scope)
    raise_collected(scope)
    if not scope.statements:
        raise fail("C106", f"`{parsed.node.decl.name}` computes nothing", parsed.places.of(parsed.node.decl),
                   help="store results in an array parameter")  # fmt: skip
    shapes = pointer_shapes(scope.arrays, scope.uses)
    arrays = scope.arrays
    extents = {
        n: shapes[n].extents if n in shapes else open_extents(a, scope.uses) for n, a in arrays.items()
    }
    check_bounds(scope.uses, extents, frozenset(shapes))
    for table, use in scope.looked_up:
        check_bounds([use], {table.name: table.shape}, frozenset())
    groups, statements = _placed(scope, shapes, strict_fp=strict_fp)
    stages = _stages(groups, scope, frozenset(x.name for x in scalars), strict=strict_fp)
    for stage in stages:
        for e in stage.expressions():
            check_size(e, stage.span or parsed.places.of(parsed.node.decl))
    buffers = _buffers(scope, stages, extents, shapes)
    for buffer in buffers:
        check_volume(buffer)
    constants = tuple(sorted(pre.constants.items()))
    return Program(
        parsed.node.decl.name,
        names,
        buffers,
        tuple(scalars),
        stages,
        strict_fp,
        constants,
        pre.source,
        syntax,
        statements,
    )


def _placed(
    scope: Scope, shapes: dict[str, Shape], *, strict_fp: bool
) -> tuple[list[list[Piece]], tuple[PlacedStatement, ...]]:
    """The pieces of each stage, and the proof's view of them; fails where a dependence is not kept."""
    statements, places = fused_updates([_reshaped(s, shapes) for s in scope.statements])
    scope.renumber(places)
    if strict_fp:
        check_grouping(statements)
    temps = frozenset(n for n, a in scope.arrays.items() if a.temp)
    single = pieces_of(statements)
    text = [written(s) for s in statements]
    check_dependences([[p] for p in single], text)
    pieces = merged(single, text, temps)
    for number, pragma in scope.operators.items():
        check_operators(pragma, number, pieces)
    groups = _groups(pieces)
    return groups, check_dependences(groups, text)


def _buffers(
    scope: Scope, stages: tuple[Stage, ...], extents: dict[str, tuple[int, ...]], shapes: dict[str, Shape]
) -> tuple[Buffer, ...]:
    """The parameters that are arrays, and the arrays of the function's own that stages still use."""
    used = {b for s in stages for b in s.read | s.written}
    return tuple(
        Buffer(
            a.name, a.dtype, extents[a.name], a.temp, a.const, a.shape is None, a.span,
            shapes[a.name].reach if a.name in shapes else 0,
        )
        for a in scope.arrays.values()
        if not a.temp or a.name in used
    )  # fmt: skip


def _syntax(parsed: ParsedFunction) -> Function | None:
    """The function as it is written, taken before the walk; None where the walk will refuse it."""
    try:
        return function_of(parsed.node, parsed.globals, parsed.places)
    except UnknownConstructError:
        return None


def free_sizes(
    source: Source, *, defines: Mapping[str, str | int] = {}, function: str | None = None
) -> tuple[str, ...]:
    """Integer parameters used in bounds, subscripts or extents that no define binds, in C's order."""
    try:
        return _free_sizes(source, defines, function)
    except RecursionError:
        raise too_deep(source) from None


def _free_sizes(source: Source, defines: Mapping[str, str | int], function: str | None) -> tuple[str, ...]:
    pre = preprocess(source, defines)
    parsed = parse_function(pre, function)
    used: set[str] = set()
    _sizes(parsed.node, False, used)
    params = parsed.node.decl.type.args.params if parsed.node.decl.type.args else []
    plain = [p.name for p in params if isinstance(getattr(p, "type", None), c_ast.TypeDecl)]
    return tuple(n for n in plain if n in used and n not in pre.sizes)


def _sizes(node: c_ast.Node, counts: bool, used: set[str]) -> None:
    if isinstance(node, c_ast.ID) and counts:
        used.add(node.name)
    for key, child in node.children():
        bound = isinstance(node, c_ast.For) and key in ("init", "cond", "next")
        shape = isinstance(node, c_ast.ArrayDecl) and key == "dim"
        place = isinstance(node, c_ast.ArrayRef) and key == "subscript"
        _sizes(child, counts or bound or shape or place, used)


def _constant(decl: c_ast.Decl, scope: Scope) -> None:
    if not is_const(decl):
        raise fail(
            "C113",
            f"the global variable `{decl.name}` is not supported",
            scope.places.of(decl, decl.name),
            help="globals are constants: const int N = 64;",
        )
    if isinstance(decl.type, c_ast.ArrayDecl):
        read_table(decl, [], scope)
        return
    if isinstance(decl.type, c_ast.PtrDecl):
        raise fail("C113", f"the global pointer `{decl.name}` is not supported",
                   scope.places.of(decl, decl.name), help="make it a parameter of the function")  # fmt: skip
    scope.values[decl.name] = _value(decl, scope)


def _value(decl: c_ast.Decl, scope: Scope) -> Expr:
    value = lift(decl.init, scope)
    check_enumerator(decl, value, scope.places)
    return convert(value, scalar_type(decl, scope.places))


def _reshaped(s: Statement, shapes: dict[str, Shape]) -> Statement:
    def element(buffer: str, index: tuple[Expr, ...]) -> tuple[Expr, ...]:
        index = tuple(reshape(e, shapes, s.loops) for e in index)
        if buffer not in shapes:
            return index
        return split_index(Load(buffer, index, s_type), shapes, s.loops)

    uses = tuple(replace(u, load=_whole(reshape(u.load, shapes, u.loops))) for u in s.uses)
    match s:
        case Assign():
            s_type = s.value.dtype
            conds = tuple(reshape(c, shapes, s.loops) for c in s.conds)
            value = reshape(s.value, shapes, s.loops)
            return replace(s, index=element(s.target, s.index), value=value, conds=conds, uses=uses)
        case Best():
            s_type = s.values[0].dtype
            where = tuple((b, element(b, i)) for b, i in s.targets)
            values = tuple(reshape(v, shapes, s.loops) for v in s.values)
            return replace(s, targets=where, values=values, uses=uses)


def _whole(e: Expr) -> Load:
    assert isinstance(e, Load)
    return e


def _groups(pieces: list[Piece]) -> list[list[Piece]]:
    """The pieces of each stage: neighbours over the same loops that have no array in common."""
    groups: list[list[Piece]] = []
    for p in pieces:
        last = groups[-1] if groups else None
        if (
            last
            and last[0].loops == p.loops
            and last[0].kinds == p.kinds
            and last[0].scattered == p.scattered
            and not any((q.writes() & (p.reads() | p.writes())) or (q.reads() & p.writes()) for q in last)
        ):
            last.append(p)
        else:
            groups.append([p])
    return groups


def _stages(
    groups: list[list[Piece]], scope: Scope, scalars: frozenset[str], *, strict: bool
) -> tuple[Stage, ...]:
    taken: set[str] = set()
    return tuple(_stage(g, scope, taken, scalars, strict=strict) for g in groups)


def _stage(
    group: list[Piece], scope: Scope, taken: set[str], scalars: frozenset[str], *, strict: bool
) -> Stage:
    first = group[0]
    names: dict[str, Expr] = {}
    dims = []
    # a counter may hide a parameter that an expression has met before
    seen = set(scalars)
    for v, kind in zip(first.loops, first.kinds, strict=True):
        name = _free(v.cname, seen)
        names[v.name] = Var(name)
        dims.append(Dim(name, v.extent, kind, v.start, v.step, v.span))
    if not dims:
        dims.append(Dim(_free("one", seen), 1, DimKind.CC))
    results = tuple(_result(p, names, strict=strict) for p in group)
    stem = next(
        (scope.stage_names[n] for p in group for n in sorted(p.numbers) if n in scope.stage_names), None
    )
    stem = stem or first.outputs[0].buffer
    return Stage(_free(stem, taken), tuple(dims), (), results, first.span)


def _free(stem: str, taken: set[str]) -> str:
    """`stem`, or the first of `stem_2`, `stem_3`, … that is not taken; takes it."""
    name, k = stem, 2
    while name in taken:
        name, k = f"{stem}_{k}", k + 1
    taken.add(name)
    return name


def _result(p: Piece, names: dict[str, Expr], *, strict: bool) -> Result:
    outputs = tuple(
        Output(o.buffer, tuple(substitute(e, names) for e in o.index), substitute(o.value, names), o.span)
        for o in p.outputs
    )
    starts = tuple(None if s is None else substitute(s, names) for s in p.starts)
    values = tuple(substitute(v, names) for v in p.values)
    result = Result(p.op, values, starts, tuple(v.dtype for v in values), outputs, p.exclusive)
    if not strict:
        return result
    check_comparison(p)
    return ordered(result, p.targets[0].dtype)
