"""Tensor Comprehensions to a Program: the entry point of the front end."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from mdh.diagnostics import Diagnostic, Failed, Label, Severity, fail
from mdh.frontend.bound import BoundText
from mdh.frontend.constant_arrays import refused, split_constants
from mdh.frontend.constant_parameters import with_constants, without_constants
from mdh.frontend.heading import Heading
from mdh.frontend.nest import INT, FunctionInC, c_name, read_nest, words
from mdh.frontend.sizes import size_values
from mdh.frontend.tc.analysis import CheckedFunction, analyse
from mdh.frontend.tc.nests import NamesInC, body_of, sum_of
from mdh.frontend.tc.parser import parse
from mdh.frontend.tc.ranges import number
from mdh.frontend.tc.resolve import SHAPE, Resolution, Resolved, resolve, size_counts
from mdh.frontend.tc.syntax import Definition, Literal, NameUse, TcFunction, walk
from mdh.frontend.token_stream import Word
from mdh.frontend.types import C_TYPES
from mdh.frontend.typing_rules import FUNCTIONS
from mdh.ir import syntax as c
from mdh.ir.open_size import OpenSize
from mdh.ir.program import Program
from mdh.source import Source, Span
from mdh.wording import meant

CHOICE, LEAST, OPEN = "T116", "T119", "T120"


def bound_text(source: Source, defines: Mapping[str, str | int] = {}, opens: Iterable[str] = ()) -> BoundText:
    """The text with its sizes bound. Raises Failed with T1xx diagnostics, C105, C123."""
    arrays, others = split_constants(defines)
    sizes = size_values(source.name, others, size_spans(source))
    return BoundText(source, source.text, sizes, arrays=arrays)


def size_spans(source: Source) -> dict[str, Span]:
    """The names of all functions' sizes, with their places."""
    out: dict[str, Span] = {}
    for f in parse(source):
        for p in f.parameters:
            for n in (*(x for x in p.extents if isinstance(x, Word)), *(() if p.extents else (p.name,))):
                out.setdefault(n.text, n.span)
    return out


def deciding(source: Source, name: str) -> Span | None:
    """None: no value decides what the text is."""
    return None


def function_names(source: Source) -> tuple[str, ...]:
    """Of all functions, as they are called in the text. Raises Failed T1xx."""
    return tuple(f.name.text for f in parse(source))


def read_bound(
    text: BoundText,
    *,
    function: str | None = None,
    strict_fp: bool = False,
    allow: Iterable[str] = (),
    opens: Sequence[OpenSize] = (),
) -> Program:
    """The Program of a function. opens: sizes that stay open; the text is bound to their largest values.
    Raises Failed with T1xx diagnostics, and C1xx for what is wrong about accesses and sizes."""
    if opens:
        _check_open(text, opens, function)
    return read_nest(text, lambda at: _written(at, function), strict_fp=strict_fp, allow=allow, opens=opens)


def read_syntax(text: BoundText, *, function: str | None = None) -> c.Function:
    """The function as a loop nest in C. Raises Failed with T1xx diagnostics."""
    nest = _written(text, function)
    return with_constants(nest.function, nest.sizes, text)


def read_heading(
    source: Source,
    *,
    defines: Mapping[str, str | int] = {},
    function: str | None = None,
    opens: Iterable[str] = (),
) -> Heading:
    """A function's name and parameters. Raises Failed with T1xx diagnostics."""
    text = bound_text(source, defines)
    analysis = _analysis(text, function)
    names = _names(analysis)
    shapes = {
        names.tensors[p.name.text]: tuple(
            names.sizes.get(n.text) if isinstance(n, Word) else None for n in p.extents
        )
        for p in analysis.function.parameters
        if p.extents
    }
    shapes |= dict.fromkeys(names.scalars.values(), ())
    given = {**names.scalars, **names.tensors}
    results = tuple(names.tensors[r.text] for r in analysis.function.results)
    parameters = _order(analysis, names)
    kept = set(opens)
    fixed = {names.sizes[n]: v for n, v in text.sizes.items() if n in names.sizes and n not in kept}
    anew = tuple(names.tensors[r] for r in analysis.anew)
    begun = tuple(names.tensors[r] for r in analysis.begun)
    order = (*(given[p.name.text] for p in analysis.function.parameters), *results)
    heading = Heading(names.function, (*parameters, *results), shapes, order, anew, fixed, begun)
    return without_constants(heading, text.arrays)


def free_sizes(
    source: Source,
    *,
    defines: Mapping[str, str | int] = {},
    function: str | None = None,
    opens: Iterable[str] = (),
) -> tuple[str, ...]:
    """Sizes that no define binds, in order."""
    text = bound_text(source, defines)
    analysis = _analysis(text, function)
    names = _names(analysis)
    return tuple(names.sizes[n] for n in analysis.sizes if n not in text.sizes)


def _written(text: BoundText, function: str | None) -> FunctionInC:
    analysis = _analysis(text, function)
    resolution = resolve(analysis, size_counts(analysis, text.sizes))
    _check_whole(analysis, resolution)
    nest, names = _nest(analysis, resolution)
    for p in analysis.function.parameters:
        if p.const and names.tensors.get(p.name.text) not in text.arrays:
            what = f"`{p.name.text}` is const, and its elements are not given"
            hint = f"give them: --const {p.name.text}=FILE.npy, or constants={{'{p.name.text}': array}}"
            raise refused(what, hint, span=p.name.span)
    sizes = {names.sizes[n]: text.sizes[n] for n in analysis.sizes}
    results = frozenset(names.tensors[r.text] for r in analysis.function.results)
    remarks = tuple(d for r in resolution.definitions for d in _remarks(r))
    return FunctionInC(nest, analysis.function.name.span, sizes, results, remarks)


def _check_whole(analysis: CheckedFunction, resolution: Resolution) -> None:
    """Raises Failed T113 for a result that calls allocate, and whose first statement leaves elements out at
    these sizes."""
    first: dict[str, Resolved] = {}
    for r in resolution.definitions:
        first.setdefault(r.names[r.definition.target.text], r)
    for name in analysis.anew:
        d, ranges = first[name].definition, first[name].ranges
        for w, extent in zip(d.indices, resolution.extents[name], strict=True):
            if ranges[w.text].first or ranges[w.text].end.value < extent.value:
                part = f"{ranges[w.text].first:,}:{ranges[w.text].end.value:,} of {extent.value:,}"
                headline = (
                    f"the first statement of `{name}` leaves elements out along `{w.text}`: it has {part}"
                )
                hint = f"compute all first: {d.span.text} = 0 where {w.text} in 0:{extent.value}"
                raise fail(SHAPE, headline, w.span, help=hint)


def _remarks(r: Resolved) -> Iterator[Diagnostic]:
    """T119 for indices that do not reach the end of a tensor, because another one is smaller."""
    for name, found in r.ranges.items():
        if found.other is not None and name in r.reduced:
            labels = (Label(found.span, f"has {found.end.value:,}"), Label(found.other, "has more"))
            headline = f"`{name}` is reduced over the least of several extents, so elements are left out"
            hint = (
                f"give the extents one name if they are equal, or write where {name} in 0:{found.end.value}"
            )
            yield Diagnostic(LEAST, headline, labels, help=hint, severity=Severity.WARNING)


def _analysis(text: BoundText, function: str | None) -> CheckedFunction:
    given = text.source if text.text == text.source.text else Source(text.source.name, text.text)
    functions = {f.name.text: f for f in parse(given)}
    return analyse(_chosen(functions, function, given), functions)


def _chosen(functions: Mapping[str, TcFunction], name: str | None, source: Source) -> TcFunction:
    """The function that is meant: the only one, or the one that is named, by its name here or in C."""
    if name is None:
        if len(functions) > 1:
            known = ", ".join(functions)
            places = tuple(Label(f.name.span) for f in functions.values())[:4]
            headline = f"`{source.name}` defines {len(functions)} functions"
            raise Failed(
                Diagnostic(
                    CHOICE,
                    headline,
                    places,
                    help=f"choose one: --function {next(iter(functions))}; there are {known}",
                )
            )
        return next(iter(functions.values()))
    found = functions.get(name) or next((f for n, f in functions.items() if c_name(n, set()) == name), None)
    if found is None:
        hint = meant(name, functions, cutoff=0.5, otherwise=f"there are {', '.join(functions)}")
        raise fail(CHOICE, f"`{source.name}` defines no function `{name}`", help=hint)
    return found


def _names(analysis: CheckedFunction, resolution: Resolution | None = None) -> NamesInC:
    """What everything is called in C. A size that is called like a tensor is `NAME_size`."""
    taken = words(FUNCTIONS)
    f = analysis.function
    function = c_name(f.name.text, taken)
    tensors, scalars = dict[str, str](), dict[str, str]()
    for p in f.parameters:
        (tensors if p.extents else scalars)[p.name.text] = c_name(p.name.text, taken)
    for r in f.results:
        tensors[r.text] = c_name(r.text, taken)
    sizes = {
        n: scalars[n] if n in scalars else c_name(n if n not in taken else f"{n}_size", taken)
        for n in analysis.sizes
    }
    for name in resolution.types if resolution is not None else ():
        if name not in tensors:
            tensors[name] = c_name(name, taken)
    return NamesInC(function, tensors, sizes, scalars, frozenset(taken))


def _order(analysis: CheckedFunction, names: NamesInC) -> tuple[str, ...]:
    """Parameters in C: sizes that are no parameters of the text, scalars that are sizes of its tensors, then
    the parameters of the text."""
    extents = {n.text for p in analysis.function.parameters for n in p.extents if isinstance(n, Word)}
    front = [n for n in analysis.sizes if n not in analysis.scalars or n in extents]
    rest = [p.name.text for p in analysis.function.parameters if p.extents or p.name.text not in extents]
    given = {**names.scalars, **{n: t for n, t in names.tensors.items() if n not in names.scalars}}
    return (*(names.sizes[n] for n in front), *(given[n] for n in rest))


def _nest(analysis: CheckedFunction, resolution: Resolution) -> tuple[c.Function, NamesInC]:
    """The function in C."""
    names, f = _names(analysis, resolution), analysis.function
    spans = {p.name.text: p.name.span for p in f.parameters}
    declared: dict[str, c.Declaration] = {}
    for n in analysis.sizes:
        if n not in analysis.scalars:
            place = next(
                x.span for p in f.parameters for x in p.extents if isinstance(x, Word) and x.text == n
            )
            declared[names.sizes[n]] = c.Declaration(names.sizes[n], INT, span=place)
    for n, kind in analysis.scalars.items():
        declared[names.scalars[n]] = c.Declaration(names.scalars[n], C_TYPES[kind], span=spans[n])
    for n, extents in resolution.extents.items():
        # a tensor without indices has one element
        counts = tuple(
            c.Number(str(x.value)) if x.form is None else sum_of(x.form, names.sizes)
            for x in extents or (number(1),)
        )
        declared[names.tensors[n]] = c.Declaration(
            names.tensors[n], C_TYPES[resolution.types[n]], counts, span=resolution.spans[n]
        )
    order = (*_order(analysis, names), *(names.tensors[r.text] for r in f.results))
    temporary = tuple(d for name, d in declared.items() if name not in order)
    body = c.Block((*temporary, *body_of(resolution, names)))
    return c.Function(names.function, tuple(declared[n] for n in order), (), body), names


def _check_open(text: BoundText, opens: Sequence[OpenSize], function: str | None) -> None:
    """Raises Failed T120 for open sizes that do more than bound ranges."""
    analysis = _analysis(text, function)
    resolution = resolve(analysis, size_counts(analysis, text.sizes))
    names = {o.name for o in opens}
    for d in (s for s in analysis.function.body if isinstance(s, Definition)):
        for e in walk(d.value):
            if isinstance(e, NameUse | Literal) and getattr(e, "name", "") in names:
                raise fail(
                    OPEN,
                    f"the open size `{e.span.text}` is used in a value or a subscript",
                    e.span,
                    help="open sizes stand in extents and ranges alone; bind it",
                )
    for r in resolution.definitions:
        for n, found in r.ranges.items():
            if found.other is not None:
                labels = (Label(found.span), Label(found.other, "bounds it too"))
                headline = (
                    f"the range of `{n}` takes the least of several extents, which may change with open sizes"
                )
                raise Failed(Diagnostic(OPEN, headline, labels, help="bind the sizes"))
