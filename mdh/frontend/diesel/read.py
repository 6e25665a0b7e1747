"""Diesel texts to a Program: the entry point of the front end, as `mdh.frontend.read.FrontEnd` has it."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePath

from mdh.diagnostics import Diagnostic, Failed, Label, fail
from mdh.frontend.bound import BoundText
from mdh.frontend.constant_arrays import split_constants
from mdh.frontend.constant_parameters import with_constants, without_constants
from mdh.frontend.diesel.nests import COLUMN, ROW, SUM, Nests
from mdh.frontend.diesel.parser import parse
from mdh.frontend.diesel.shapes import Each, Extent, Leaf, Shape, Shaped, ShapedProduct, shaped
from mdh.frontend.diesel.syntax import DieselProgram, Matrix, MatrixOperation, Pointwise, Transpose
from mdh.frontend.heading import Heading
from mdh.frontend.limits import MOST_ELEMENTS
from mdh.frontend.nest import INT, FunctionInC, c_name, read_nest, words
from mdh.frontend.sizes import size_values
from mdh.frontend.token_stream import Word
from mdh.frontend.typing_rules import FUNCTIONS
from mdh.ir import program as ir
from mdh.ir import syntax as c
from mdh.ir.dtype import F16, F32, F64, I32
from mdh.ir.open_size import OpenSize
from mdh.source import Source, Span
from mdh.wording import meant

NAME, RESULT, UNBOUND = "L102", "L104", "L106"
_KINDS = {"INT": I32, "HALF": F16, "FLOAT": F32, "DOUBLE": F64}


def bound_text(source: Source, defines: Mapping[str, str | int] = {}, opens: Iterable[str] = ()) -> BoundText:
    """The text with its parameters bound. Raises Failed L1xx, C105, C123."""
    arrays, others = split_constants(defines)
    sizes = size_values(source.name, others, size_spans(source))
    return BoundText(source, source.text, sizes, arrays=arrays)


def size_spans(source: Source) -> dict[str, Span]:
    """The parameters, with their places."""
    return {w.text: w.span for w in parse(source).parameters}


def deciding(source: Source, name: str) -> Span | None:
    """None: no value decides what the text is."""
    return None


def function_names(source: Source) -> tuple[str, ...]:
    """A text is one function, which is called like its file. Raises Failed L1xx."""
    return (_names(parse(source), source)[0],)


def read_bound(
    text: BoundText,
    *,
    function: str | None = None,
    strict_fp: bool = False,
    allow: Iterable[str] = (),
    opens: Sequence[OpenSize] = (),
) -> ir.Program:
    """The Program. Raises Failed L1xx, C1xx."""
    return read_nest(text, _written, strict_fp=strict_fp, allow=allow, opens=opens)


def read_syntax(text: BoundText, *, function: str | None = None) -> c.Function:
    """The text as a function in C. Raises Failed L1xx."""
    nest = _written(text)
    return with_constants(nest.function, nest.sizes, text)


def read_heading(
    source: Source,
    *,
    defines: Mapping[str, str | int] = {},
    function: str | None = None,
    opens: Iterable[str] = (),
) -> Heading:
    """The names of the parameters: sizes, inputs, results."""
    text, p = bound_text(source, defines), parse(source)
    name, sizes, matrices, _ = _names(p, source)
    shapes = {matrices[d.name.text]: tuple(sizes.get(n.text) for n in d.extents) for d in p.inputs}
    results = tuple(matrices[r] for r in _results(p))
    kept = set(opens)
    fixed = {sizes[n]: v for n, v in text.sizes.items() if n not in kept}
    told = {n for extents in shapes.values() for n in extents}
    order = (*(n for n in sizes.values() if n not in told), *shapes, *results)
    heading = Heading(name, (*sizes.values(), *shapes, *results), shapes, order, results, fixed)
    return without_constants(heading, text.arrays)


def free_sizes(
    source: Source,
    *,
    defines: Mapping[str, str | int] = {},
    function: str | None = None,
    opens: Iterable[str] = (),
) -> tuple[str, ...]:
    """Parameters that no define binds, in order."""
    text, p = bound_text(source, defines), parse(source)
    sizes = _names(p, source)[1]
    return tuple(name for n, name in sizes.items() if n not in text.sizes)


def _names(p: DieselProgram, source: Source) -> tuple[str, dict[str, str], dict[str, str], set[str]]:
    """The names in C of the text, its parameters and its matrices, and all names that are taken."""
    taken = words(FUNCTIONS)
    stem = re.sub(r"\W", "_", PurePath(source.name).stem) or "diesel"
    name = c_name(stem if stem.isascii() else "diesel", taken)
    sizes = {w.text: c_name(w.text, taken) for w in p.parameters}
    matrices = {
        w.text: c_name(w.text, taken)
        for w in (*(d.name for d in p.inputs), *(s.target for s in p.statements))
    }
    return name, sizes, matrices, taken


def _results(p: DieselProgram) -> tuple[str, ...]:
    """Those of CodeGen; without it what no statement uses."""
    computed = {s.target.text: s.target for s in p.statements}
    for w in p.results:
        if w.text not in computed:
            hint = meant(w.text, computed, cutoff=0.5, otherwise=f"results: {', '.join(computed)}")
            raise fail(RESULT, f"`{w.text}` is not computed", w.span, help=hint)
    if len({w.text for w in p.results}) < len(p.results):
        raise fail(RESULT, "a result is named twice", p.results[-1].span, help="name each once")
    used = {name for s in p.statements for name in _used(s.value)}
    return tuple(w.text for w in p.results) or tuple(n for n in computed if n not in used)


def _used(e: Matrix | Transpose | Pointwise | MatrixOperation) -> list[str]:
    match e:
        case Matrix(name, _):
            return [name]
        case Transpose(operand) | Pointwise(_, operand):
            return _used(operand)
        case MatrixOperation(_, left, right):
            return [*_used(left), *_used(right)]


def _written(text: BoundText) -> FunctionInC:
    source = text.source if text.text == text.source.text else Source(text.source.name, text.text)
    p = parse(source)
    name, sizes, matrices, taken = _names(p, source)
    shapes = {d.name.text: _shape(d.extents, p, text.sizes) for d in p.inputs}
    counters = tuple(c_name(n, taken) for n in (ROW, COLUMN, SUM))
    kind = F32 if p.kind is None else _KINDS[p.kind.text]
    results = _results(p)
    nests = Nests(kind, dict(matrices), sizes, taken, (counters[0], counters[1], counters[2]))
    spans = {d.name.text: d.name.span for d in p.inputs}
    found: dict[str, Shaped] = {}
    for s in p.statements:
        found[s.target.text] = shaped(s.value, shapes)
        shapes[s.target.text], spans[s.target.text] = found[s.target.text].shape, s.target.span
    once = _used_once(p, found, results)
    for n, value in found.items():
        found[n] = _inlined(value, {m: found[m] for m in once})
        if n not in once:
            if n not in results:
                nests.temporary.append(nests.declared(matrices[n], shapes[n], spans[n]))
            nests.add(matrices[n], found[n], spans[n])
    parameters = tuple(c.Declaration(sizes[w.text], INT, span=w.span) for w in p.parameters)
    arrays = tuple(
        nests.declared(matrices[n], shapes[n], spans[n]) for n in (*(d.name.text for d in p.inputs), *results)
    )
    function = c.Function(name, (*parameters, *arrays), (), c.Block((*nests.temporary, *nests.body)))
    given = {sizes[n]: v for n, v in text.sizes.items()}
    return FunctionInC(function, p.statements[-1].target.span, given, frozenset(matrices[r] for r in results))


def _shape(extents: tuple[Word, Word], p: DieselProgram, sizes: Mapping[str, int]) -> Shape:
    known = {w.text for w in p.parameters}
    out = list[Extent]()
    for w in extents:
        if w.text.isdigit():
            value = int(w.text) if len(w.text) <= 20 else MOST_ELEMENTS + 1
        elif w.text not in known:
            hint = meant(w.text, known, cutoff=0.5, otherwise=f"declare it: Params {w.text};")
            raise fail(NAME, f"`{w.text}` is no parameter", w.span, help=hint)
        elif w.text not in sizes:
            raise fail(
                UNBOUND, f"the parameter `{w.text}` has no value", w.span, help=f"bind it: -D {w.text}=1024"
            )
        else:
            value = sizes[w.text]
        if not 1 <= value <= MOST_ELEMENTS:
            headline = f"an extent is {value:,}; it is from 1 to {MOST_ELEMENTS:,}"
            raise Failed(Diagnostic("L103", headline, (Label(w.span),), help="give another number"))
        out.append(Extent(value, None if w.text.isdigit() else w.text))
    return out[0], out[1]


def _used_once(p: DieselProgram, found: Mapping[str, Shaped], results: Sequence[str]) -> frozenset[str]:
    """Matrices that are no results and stand once in all, as they are, in a sum or a function: they are
    written where they stand."""
    uses = [name for s in p.statements for name in _used(s.value)]
    plain = [name for value in found.values() for name in _plain(value)]
    return frozenset(n for n in found if n not in results and uses.count(n) == plain.count(n) == 1)


def _plain(e: Shaped) -> list[str]:
    """The matrices of a value that are neither transposed nor factors."""
    match e:
        case Leaf(name, transposed):
            return [] if transposed else [name]
        case ShapedProduct():
            return []
        case Each():
            return _plain(e.operand)
        case _:
            return [*_plain(e.left), *_plain(e.right)]


def _inlined(e: Shaped, values: Mapping[str, Shaped]) -> Shaped:
    """The value with matrices replaced by what they are."""
    match e:
        case Leaf(name):
            return values.get(name, e)
        case ShapedProduct():
            return e
        case Each():
            return replace(e, operand=_inlined(e.operand, values))
        case _:
            return replace(e, left=_inlined(e.left, values), right=_inlined(e.right, values))
