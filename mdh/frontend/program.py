"""The statements of a text to a Program: the last step of every front end.

A front end reads its language and returns a `Text`. This module derives the shapes of pointers, checks bounds
and dependences, and finds the stages.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from mdh.diagnostics import Diagnostic, Failed, fail
from mdh.frontend.dependences import check_dependences, in_order, written
from mdh.frontend.fuse import fused_updates
from mdh.frontend.limits import check_size
from mdh.frontend.merge import merged
from mdh.frontend.packing import packed
from mdh.frontend.pieces import Piece, pieces_of
from mdh.frontend.repair import Repair, repaired, turns_of
from mdh.frontend.shapes import (
    PointerShape,
    check_bounds,
    check_volume,
    open_extents,
    pointer_shapes,
    reshape,
)
from mdh.frontend.single_turns import with_one, with_two
from mdh.frontend.statements import Array, Assign, Best, OperatorPragma, Statement, Use, turns_around
from mdh.frontend.strict import check_comparison, check_grouping, ordered
from mdh.frontend.tables import ConstantTable
from mdh.frontend.unwritten import check_written
from mdh.frontend.widening import widened
from mdh.ir.domain import with_live_starts
from mdh.ir.expr import Expr, Load, Var, substitute
from mdh.ir.names import fresh
from mdh.ir.program import Buffer, Dim, DimKind, Output, Program, Result, Scalar, Stage
from mdh.ir.statement import PlacedStatement
from mdh.ir.syntax import Function
from mdh.ir.turns import Turns
from mdh.poly.wavefronts import MOST_STAGES, points_share
from mdh.source import Source, Span
from mdh.wording import plural

_PREFIX = re.compile(r"(?:ps|\+\+prefix-sum)\s*\(\s*(\S+?)\s*\)")
_POINTWISE = re.compile(r"pw\s*\(\s*(\S+?)\s*\)")
Extents = dict[str, tuple[int, ...]]
OPERATORS = frozenset({"+", "*", "min", "max", "&", "|", "^", "&&", "||"})


@dataclass(frozen=True, slots=True)
class Text:
    """A function as a front end found it.

    name, parameters: of the function, in order. span: the place of its name. arrays: by name, with the
    function's own ones. uses: every access in the text. looked_up: those of tables of constants. stage_names,
    operators: what the user says of statements, by their number. syntax: the text as it is written, for the
    reference. constants: values that were given by name. allowed, remarks: as in Program.
    """

    name: str
    parameters: tuple[str, ...]
    span: Span
    arrays: Mapping[str, Array]
    scalars: tuple[Scalar, ...]
    statements: Sequence[Statement]
    uses: Sequence[Use]
    looked_up: Sequence[tuple[ConstantTable, Use]]
    stage_names: Mapping[int, str]
    operators: Mapping[int, OperatorPragma]
    source: Source
    syntax: Function | None
    constants: tuple[tuple[str, int], ...]
    allowed: frozenset[str] = frozenset()
    remarks: tuple[Diagnostic, ...] = ()


def program_of(text: Text, *, strict_fp: bool, allow: Iterable[str] = ()) -> Program:
    """The Program of a text. strict_fp: floats are combined in the order of the text. allow: as in Program,
    besides what the text allows. Raises Failed with C1xx diagnostics."""
    shapes = pointer_shapes(text.arrays, text.uses)
    extents = {
        n: shapes[n].extents if n in shapes else open_extents(a, text.uses) for n, a in text.arrays.items()
    }
    check_bounds(text.uses, extents, frozenset(shapes))
    check_written(text.arrays, text.statements, text.uses)
    for table, use in text.looked_up:
        check_bounds([use], {table.name: table.shape}, frozenset())
    found = _placed(text, shapes, extents, strict_fp=strict_fp)
    numbers = frozenset((*(x.name for x in text.scalars), *(x.var for x in found.loops)))
    stages = _stages(found.groups, found.names, numbers, strict=strict_fp)
    for stage in stages:
        for e in stage.expressions():
            check_size(e, stage.span or text.span)
    extents |= {n: a.shape for n, a in found.arrays.items() if n not in extents and a.shape is not None}
    whole = packed(stages, found.loops, found.statements, found.arrays, extents)
    extents |= {n: a.shape for n, a in whole.arrays.items() if a.shape is not None}
    buffers = _buffers({**found.arrays, **whole.arrays}, whole.stages, extents, shapes)
    for buffer in buffers:
        check_volume(buffer)
    allowed = tuple(sorted({*allow, *text.allowed}))
    program = Program(
        text.name, text.parameters, buffers, text.scalars, whole.stages, strict_fp, text.constants,
        text.source, text.syntax, whole.statements, allowed, text.remarks, whole.loops,
    )  # fmt: skip
    if found.refused is not None and not points_share(program):
        # each point would be launched by itself
        raise found.refused
    return program


@dataclass(frozen=True, slots=True)
class _Found:
    """The pieces of each stage, their statements for the proof, the names of stages by statement, all arrays,
    and the loops around stages. refused: what was wrong before stages could be single points in turns of all
    their loops; None if none are."""

    groups: list[list[Piece]]
    statements: tuple[PlacedStatement, ...]
    names: Mapping[int, str]
    arrays: Mapping[str, Array]
    loops: tuple[Turns, ...]
    refused: Failed | None = None


def _placed(text: Text, shapes: dict[str, PointerShape], extents: Extents, *, strict_fp: bool) -> _Found:
    """Raises if a dependence is not kept, even with arrays of their own for values that an array holds at
    different times, and with loops around stages."""
    statements = [replace(_reshaped(s, shapes), origin=n) for n, s in enumerate(text.statements)]
    wide = widened(statements, text.arrays, extents, _taken(text, text.arrays))
    if wide is not None:
        statements, text = wide.statements, replace(text, arrays={**text.arrays, **wide.arrays})
        extents |= {n: a.shape for n, a in wide.arrays.items() if a.shape is not None}
    numbers = {s.origin: n for n, s in enumerate(statements) if s.origin is not None}
    turns = _as_with_two(text, statements, extents, strict_fp=strict_fp)
    if turns is not None:
        return turns
    try:
        return _found(text, statements, numbers, text.arrays, strict_fp=strict_fp)
    except Failed as failed:
        if any(d.code != "C150" for d in failed.diagnostics):
            raise
        # what the user wrote is what the message speaks of
        found = _by_other_means(text, statements, extents, failed, strict_fp=strict_fp)
        if found is None:
            raise
        return found


def _taken(text: Text, arrays: Mapping[str, Array]) -> set[str]:
    """Names that new arrays and loops may not have."""
    return {*arrays, *text.parameters, *(v.name for s in text.statements for v in s.loops)}


def _by_other_means(
    text: Text, statements: list[Statement], extents: Extents, failed: Failed, *, strict_fp: bool
) -> _Found | None:
    """With nests repaired that fail by themselves; None if that does not help. failed: why that is tried."""
    # wavefronts are of two loops, and each pair of their statements is asked
    nests = len(statements) <= MOST_STAGES and any(len(s.loops) > 1 for s in statements)
    for points in (False, True) if nests else (False,):
        repair = _repair(text, statements, extents, strict_fp=strict_fp, points=points)
        given = repaired(statements, repair)
        if given is not None:
            found = _given(text, given, repair.arrays, strict_fp=strict_fp)
            return None if found is None else replace(found, refused=failed if points else None)
    return None


def _as_with_two(
    text: Text, statements: list[Statement], extents: Extents, *, strict_fp: bool
) -> _Found | None:
    """With the loops around stages that there would be if loops of one iteration had two; None if that makes
    no difference."""
    two = with_two(statements)
    if two is None:
        return None
    repair = _repair(text, two, extents, strict_fp=strict_fp)
    if repair.works(two, repair.arrays):
        return None
    given = repaired(two, repair)
    short = None if given is None or repair.copies else with_one(given, statements)
    return None if short is None else _given(text, short, repair.arrays, strict_fp=strict_fp)


def _repair(
    text: Text, statements: Sequence[Statement], extents: Extents, *, strict_fp: bool, points: bool = False
) -> Repair:
    arrays = {n: replace(a, shape=extents[n]) for n, a in text.arrays.items()}
    taken = _taken(text, arrays)
    taken |= {v.name for s in statements for v in s.loops}
    alone = replace(text, operators={}, stage_names={})

    def works(some: Sequence[Statement], now: Mapping[str, Array]) -> bool:
        try:
            _found(alone, list(some), {}, _with_new(text, now), strict_fp=strict_fp)
        except Failed:
            return False
        return True

    return Repair(statements, arrays, taken, works, points=points)


def _with_new(text: Text, now: Mapping[str, Array]) -> Mapping[str, Array]:
    """The arrays of a text, and others that it does not have."""
    return {**text.arrays, **{n: a for n, a in now.items() if n not in text.arrays}}


def _given(
    text: Text, given: list[Statement], arrays: Mapping[str, Array], *, strict_fp: bool
) -> _Found | None:
    numbers = {s.origin: n for n, s in enumerate(given) if s.origin is not None}
    try:
        return _found(text, given, numbers, _with_new(text, arrays), strict_fp=strict_fp)
    except Failed:
        return None


def _found(
    text: Text,
    given: list[Statement],
    numbers: Mapping[int, int],
    arrays: Mapping[str, Array],
    *,
    strict_fp: bool,
) -> _Found:
    """numbers: where each statement of the text stands among the given ones."""
    statements, fused = fused_updates(given)
    places = {n: fused.get(k, k) for n, k in numbers.items()}
    if strict_fp:
        check_grouping(statements)
    temps = frozenset(n for n, a in arrays.items() if a.temp)
    single = pieces_of(statements)
    order = [written(s) for s in statements]
    pieces = merged(list(in_order(single, order)), order, temps)
    for number, pragma in text.operators.items():
        check_operators(pragma, places.get(number, number), pieces)
    groups = _groups(pieces, statements)
    names = {places.get(n, n): name for n, name in text.stage_names.items()}
    placed = check_dependences(groups, order)
    loops = turns_of(groups, statements)
    if loops is None:
        raise fail("C150", "statements of a loop can only run in an order in which others stand between them",
                   statements[0].span, help="make them loops of their own")  # fmt: skip
    return _Found(groups, placed, names, arrays, loops)


def _buffers(
    arrays: Mapping[str, Array],
    stages: tuple[Stage, ...],
    extents: dict[str, tuple[int, ...]],
    shapes: dict[str, PointerShape],
) -> tuple[Buffer, ...]:
    """The array parameters, and the arrays of constants and of the function's own that stages still use."""
    used = {b for s in stages for b in s.read | s.written}
    return tuple(
        Buffer(
            a.name, a.dtype, extents[a.name], a.temp, a.const, a.shape is None, a.span,
            shapes[a.name].reach if a.name in shapes else 0, values=a.values,
        )
        for a in arrays.values()
        if a.name in used or not (a.temp or a.values)
    )  # fmt: skip


def _reshaped(s: Statement, shapes: dict[str, PointerShape]) -> Statement:
    def rows(e: Expr) -> Expr:
        return reshape(e, shapes, s.loops)

    uses = tuple(replace(u, load=_whole(reshape(u.load, shapes, u.loops))) for u in s.uses)
    match s:
        case Assign():
            conds = tuple(map(rows, s.conds))
            return replace(s, target=_whole(rows(s.target)), value=rows(s.value), conds=conds, uses=uses)
        case Best():
            targets = tuple(_whole(rows(t)) for t in s.targets)
            return replace(s, targets=targets, values=tuple(map(rows, s.values)), uses=uses)


def _whole(e: Expr) -> Load:
    assert isinstance(e, Load)
    return e


def _groups(pieces: list[Piece], text: Sequence[Statement]) -> list[list[Piece]]:
    """The pieces of each stage: neighbours over the same loops without a common array."""
    groups: list[list[Piece]] = []
    for p in pieces:
        last = groups[-1] if groups else None
        if (
            last
            and last[0].loops == p.loops
            and turns_around(text[last[0].accumulator]) == turns_around(text[p.accumulator])
            and last[0].kinds == p.kinds
            and last[0].scattered == p.scattered
            and not any((q.writes & (p.reads | p.writes)) or (q.reads & p.writes) for q in last)
        ):
            last.append(p)
        else:
            groups.append([p])
    return groups


def _stages(
    groups: list[list[Piece]], stage_names: Mapping[int, str], scalars: frozenset[str], *, strict: bool
) -> tuple[Stage, ...]:
    taken: set[str] = set()
    return tuple(_stage(g, stage_names, taken, scalars, strict=strict) for g in groups)


def _stage(
    group: list[Piece],
    stage_names: Mapping[int, str],
    taken: set[str],
    scalars: frozenset[str],
    *,
    strict: bool,
) -> Stage:
    first = group[0]
    names: dict[str, Expr] = {}
    dims = []
    # a counter may hide a parameter that an earlier expression has used
    seen = set(scalars)
    for v, kind in zip(first.loops, first.kinds, strict=True):
        name = fresh(v.cname, seen)
        names[v.name] = Var(name)
        dims.append(Dim(name, v.extent, kind, v.start, v.step, v.span))
    if not dims:
        dims.append(Dim(fresh("one", seen), 1, DimKind.CC))
    results = tuple(_result(p, names, strict=strict) for p in group)
    stem = next((stage_names[n] for p in group for n in sorted(p.numbers) if n in stage_names), None)
    stem = stem or first.outputs[0].buffer
    return with_live_starts(Stage(fresh(stem, taken), tuple(dims), (), results, first.span))


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


def check_operators(pragma: OperatorPragma, number: int, pieces: list[Piece]) -> None:
    """Raises if `#pragma mdh( C[i][j] : ++, ++, + )` before statement `number` names other operators than
    those that the dependences of the following nest allow."""
    words = [w.strip() for w in pragma.operators.split(",")]
    name = re.split(r"\W", pragma.target, maxsplit=1)[0]
    fitting = [p for p in pieces if max(p.numbers) >= number and name in p.writes]
    if not fitting:
        raise fail("C122", f"the pragma speaks of `{name}`, which no statement after it writes", pragma.span)
    piece = next((p for p in fitting if len(p.kinds) == len(words)), fitting[0])
    loops = ", ".join(f"`{v.cname}`" for v in piece.loops)
    if len(words) != len(piece.kinds):
        count = plural(len(words), "operator")
        raise fail("C122", f"the pragma gives {count} for the loops {loops}",
                   pragma.span, help=f"the dependences say: {_spelled(piece)}")  # fmt: skip
    for word, loop, found in zip(words, piece.loops, _operators(piece), strict=True):
        if _meant(word, pragma) != found:
            raise fail("C122", f"the pragma combines `{loop.cname}` by `{word}`, the statement by `{found}`",
                       pragma.span, help=f"the dependences say: {_spelled(piece)}")  # fmt: skip


def _meant(word: str, pragma: OperatorPragma) -> str:
    """The canonical spelling of one operator."""
    if word in ("++", "cc"):
        return "++"
    prefix, pointwise = _PREFIX.fullmatch(word), _POINTWISE.fullmatch(word)
    inner = prefix[1] if prefix else pointwise[1] if pointwise else word
    if inner not in OPERATORS:
        raise fail("C119", f"`{word}` is no combine operator", pragma.span,
                   help="++ keeps a dimension; + * min max & | ^ && || reduce it; ps(+) sums up")  # fmt: skip
    return f"ps({inner})" if prefix else inner


def _operators(p: Piece) -> list[str]:
    op = "" if p.op is None else p.op.name.removeprefix("arg")
    spelled = {DimKind.CC: "++", DimKind.PW: op, DimKind.PS: f"ps({op})"}
    return [spelled[k] for k in p.kinds]


def _spelled(p: Piece) -> str:
    return ", ".join(_operators(p)) or "no loops"
