"""Ranges of all indices and extents of all tensors of a function at given sizes, with its calls written
out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from mdh.diagnostics import Diagnostic, Failed, Label, fail
from mdh.frontend.limits import MOST_ELEMENTS
from mdh.frontend.sizes import out_of_range
from mdh.frontend.tc.analysis import CheckedFunction
from mdh.frontend.tc.ranges import (
    EMPTY,
    Count,
    Extents,
    IndexRange,
    infer,
    linear,
    not_inferred,
    number,
    subscripts_of,
)
from mdh.frontend.tc.syntax import CallStatement, Definition, Literal, Range
from mdh.frontend.tc.tokens import integer, is_float_text
from mdh.frontend.token_stream import Word
from mdh.ir.affine import Affine
from mdh.ir.dtype import I32, DType, integer_range
from mdh.source import Span

SHAPE, UNBOUND = "T113", "T117"


@dataclass(frozen=True, slots=True)
class Resolved:
    """A definition with the ranges of its indices. names: what its tensors are called in the whole program.
    sizes: values of its names that are no indices."""

    definition: Definition
    ranges: Mapping[str, IndexRange]
    reduced: tuple[str, ...]
    names: Mapping[str, str]
    sizes: Mapping[str, Count]
    analysis: CheckedFunction


@dataclass
class Resolution:
    """The definitions in order, and all tensors by their names in the program: extents, types, places. own:
    names of the function's own tensors, which the tensors of functions that it calls leave free."""

    own: frozenset[str] = frozenset()
    definitions: list[Resolved] = field(default_factory=list)
    extents: dict[str, Extents] = field(default_factory=dict)
    types: dict[str, DType] = field(default_factory=dict)
    spans: dict[str, Span] = field(default_factory=dict)


def size_counts(analysis: CheckedFunction, values: Mapping[str, int]) -> dict[str, Count]:
    """The sizes of a function that is called from outside. Raises Failed T117 for those that have no
    value, C105 for those that their type does not hold, T113 for those that are extents and not positive."""
    extents = {n.text: n.span for p in analysis.function.parameters for n in p.extents if isinstance(n, Word)}
    places = extents | {p.name.text: p.name.span for p in analysis.function.parameters if not p.extents}
    missing = [n for n in analysis.sizes if n not in values]
    if missing:
        raise Failed(
            *(
                Diagnostic(
                    UNBOUND, f"the size `{n}` has no value", (Label(places[n]),), help=f"bind it: -D {n}=1024"
                )
                for n in missing
            )
        )
    for n in analysis.sizes:
        kind = analysis.scalars.get(n, I32)
        least, most = integer_range(kind)
        if not least <= values[n] <= most:
            raise out_of_range(n, values[n], kind, places[n])
    less = [n for n in analysis.sizes if n in extents and values[n] < 1]
    if less:
        raise Failed(
            *(
                Diagnostic(
                    SHAPE,
                    f"the size `{n}` is {values[n]:,}",
                    (Label(extents[n]),),
                    help="sizes are 1 or more",
                )
                for n in less
            )
        )
    return {n: Count(values[n], Affine.var(n)) for n in analysis.sizes}


def resolve(analysis: CheckedFunction, sizes: Mapping[str, Count]) -> Resolution:
    """Raises Failed T110, T111, T113."""
    out = Resolution(frozenset(analysis.tensors))
    names = {}
    for p in analysis.function.parameters:
        if p.extents:
            names[p.name.text] = p.name.text
            out.extents[p.name.text] = tuple(_extent(n, sizes) for n in p.extents)
            out.types[p.name.text] = analysis.inputs[p.name.text]
            out.spans[p.name.text] = p.name.span
    out.definitions = _Scope(analysis, dict(sizes), names, "", out).run()
    return out


def _extent(n: Word | Literal, sizes: Mapping[str, Count]) -> Count:
    if isinstance(n, Word):
        return sizes[n.text]
    value = 0 if is_float_text(n.text) else integer(n.text)
    if not 1 <= value <= MOST_ELEMENTS:
        raise fail(
            SHAPE, f"the extent {n.text[:40]} is no positive integer", n.span, help="extents are 1 or more"
        )
    return number(value)


@dataclass
class _Scope:
    """A function while it is resolved. prefix: of the names of its temporary tensors in the program."""

    analysis: CheckedFunction
    sizes: dict[str, Count]
    names: dict[str, str]
    prefix: str
    out: Resolution

    def run(self) -> list[Resolved]:
        """Its definitions, and those of what it calls, in order. A statement waits for those that say how
        large its target is."""
        done: dict[int, list[Resolved]] = {}
        left = dict(enumerate(self.analysis.function.body))
        while left:
            now = {n: r for n, s in left.items() if (r := self._statement(s)) is not None}
            if not now:
                self._give_up(list(left.values()))
            done |= now
            left = {n: s for n, s in left.items() if n not in now}
        return [r for n in sorted(done) for r in done[n]]

    def known(self, tensor: str) -> Extents | None:
        return self.out.extents.get(self.names.get(tensor, ""))

    def _statement(self, s: Definition | CallStatement) -> list[Resolved] | None:
        """None if it has to wait."""
        if isinstance(s, CallStatement):
            return self._call(s)
        return self._definition(s)

    def _call(self, s: CallStatement) -> list[Resolved] | None:
        given = [self.known(a.text) for a in s.arguments]
        if any(g is None for g in given):
            return None
        callee = self.analysis.calls[s.function.text]
        sizes: dict[str, tuple[Count, Span]] = {}
        for a, p, extents in zip(s.arguments, callee.function.parameters, given, strict=True):
            for n, count in zip(p.extents, extents or (), strict=True):
                wanted = (
                    _extent(n, {}) if isinstance(n, Literal) else sizes.setdefault(n.text, (count, a.span))[0]
                )
                if wanted.value != count.value:
                    labels = (Label(a.span), Label(n.span, f"is {wanted.value:,} for the arguments before"))
                    raise Failed(
                        Diagnostic(
                            SHAPE, f"`{a.text}` has an extent of {count.value:,} for `{n.text}`", labels
                        )
                    )
        names = {
            p.name.text: self.names[a.text]
            for a, p in zip(s.arguments, callee.function.parameters, strict=True)
        }
        for t, r in zip(s.targets, callee.function.results, strict=True):
            names[r.text] = self._declare(t, callee.tensors[r.text])
        counts = {n: c for n, (c, _) in sizes.items()}
        prefix = f"{self.prefix}{s.targets[0].text}_"
        return _Scope(callee, counts, names, prefix, self.out).run()

    def _declare(self, word: Word, kind: DType) -> str:
        """The name in the program of a tensor that is computed here."""
        if word.text not in self.names:
            name = f"{self.prefix}{word.text}"
            while name in self.out.types or (self.prefix and name in self.out.own):
                name += "_"
            self.names[word.text] = name
            self.out.types[name], self.out.spans[name] = kind, word.span
        return self.names[word.text]

    def _definition(self, d: Definition) -> list[Resolved] | None:
        a = self.analysis
        accesses = a.accesses(d)
        if any(self.known(x.name) is None for x in accesses if x.name != d.target.text):
            return None
        ranges, _ = self._inferred(d)
        target = self.known(d.target.text)
        for position, w in enumerate(d.indices):
            if w.text not in ranges and target is not None:
                ranges[w.text] = IndexRange(0, target[position], w.span)
        if any(n not in ranges for n in a.indices(d)):
            return None
        self._shape(d, ranges, target)
        return [Resolved(d, ranges, a.reduced(d), self.names, self.sizes, a)]

    def _inferred(self, d: Definition) -> tuple[dict[str, IndexRange], dict[str, list[Span]]]:
        """The ranges that `where` and accesses give, and where each index stands in accesses."""
        a = self.analysis
        indices = a.indices(d)
        subscripts = subscripts_of(a.accesses(d), self.sizes, self.known, frozenset(indices))
        uses: dict[str, list[Span]] = {}
        for s in subscripts:
            for n in s.sum.terms:
                uses.setdefault(n, []).append(s.span)
        return infer({r.index.text: self._given(r) for r in d.ranges}, indices, subscripts), uses

    def _given(self, r: Range) -> IndexRange:
        """The range of a `where`."""
        ends = [linear(e, self.sizes, self.known, frozenset()) for e in (r.first, r.end)]
        for e, found in zip((r.first, r.end), ends, strict=True):
            if found is None:
                raise fail(
                    EMPTY,
                    f"the range of `{r.index.text}` is not known before the program runs",
                    getattr(e, "span", r.index.span),
                    help="use sizes, numbers, + - * / %",
                )
        first, end = (e.const for e in ends if e is not None)
        if first.value < 0:
            raise fail(
                EMPTY,
                f"the range of `{r.index.text}` begins at {first.value:,}",
                r.index.span,
                help="indices are 0 or more",
            )
        if end.value <= first.value:
            raise fail(
                EMPTY,
                f"the range of `{r.index.text}` is empty: {first.value:,}:{end.value:,}",
                r.index.span,
                help="the end is exclusive, and greater than the first value",
            )
        fixed = first.form is not None and not first.form.terms
        return IndexRange(first.value, end if fixed else replace(end, form=None), r.index.span)

    def _shape(self, d: Definition, ranges: Mapping[str, IndexRange], target: Extents | None) -> None:
        """The target's extents are those of the first definition; later ones stay inside of them."""
        name = self._declare(d.target, self.analysis.tensors[d.target.text])
        ends = tuple(ranges[w.text].end for w in d.indices)
        if target is None:
            late = next((w for w in d.indices if ranges[w.text].first), None)
            if late is not None:
                first = ranges[late.text].first
                what = (
                    f"`{d.target.text}` is computed from {first} on along `{late.text}`, and nowhere before"
                )
                hint = f"compute those in front in a statement before: where {late.text} in 0:{first}"
                raise fail(SHAPE, what, late.span, help=hint)
            self.out.extents[name] = ends
            return
        for w, end, extent in zip(d.indices, ends, target, strict=True):
            if end.value > extent.value:
                what = (
                    f"`{w.text}` goes up to {end.value:,}, and `{d.target.text}` has {extent.value:,} there"
                )
                labels = (
                    Label(w.span),
                    Label(ranges[w.text].span, "from here"),
                    Label(self.out.spans[name], "computed first"),
                )
                raise Failed(
                    Diagnostic(
                        SHAPE,
                        what,
                        labels[: 3 if ranges[w.text].span != w.span else 1],
                        help=f"give it: where {w.text} in 0:{extent.value}",
                    )
                )

    def _give_up(self, left: Sequence[Definition | CallStatement]) -> None:
        """Raises for the first statement of those that wait for one another."""
        found = list[Diagnostic]()
        for s in left:
            if isinstance(s, Definition) and all(
                self.known(x.name) is not None for x in self.analysis.accesses(s) if x.name != s.target.text
            ):
                ranges, uses = self._inferred(s)
                places = {w.text: [w.span] for w in s.indices} | uses
                names = [n for n in self.analysis.indices(s) if n not in ranges]
                found += not_inferred(s, names, places).diagnostics
        assert found, "a statement waits for nothing"
        raise Failed(*found)
