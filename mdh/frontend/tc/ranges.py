"""Range inference: from the extents of tensors to the ranges of indices (section 3.1 of the paper).

It goes in rounds. In each, every subscript with one index whose range is not known yet bounds that index, so
that the access is inside of the tensor for all values of the others. Bounds of one round are intersected.
Then these indices are known.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from mdh.diagnostics import Diagnostic, Failed, Label, fail
from mdh.frontend.tc.syntax import (
    Application,
    BinaryOperation,
    Definition,
    Expression,
    ExtentOf,
    Literal,
    NameUse,
    Negation,
    walk,
)
from mdh.frontend.tc.tokens import integer, is_float_text
from mdh.ir.affine import Affine
from mdh.source import Span

RANGE, EMPTY = "T110", "T111"
Lookup = Callable[[str], "Extents | None"]
"""The extents of a tensor; None if they are not known yet."""


@dataclass(frozen=True, slots=True)
class Count:
    """A number that is computed from sizes.

    value: the number at the sizes that are bound. form: the same number as a sum of sizes times constants;
    None if it is not such a sum."""

    value: int
    form: Affine | None

    def __add__(self, other: "Count") -> "Count":
        form = None if self.form is None or other.form is None else self.form + other.form
        return Count(self.value + other.value, form)

    def times(self, n: int) -> "Count":
        return Count(self.value * n, None if self.form is None else self.form.scale(n))

    def over(self, n: int) -> "Count":
        """The quotient, rounded down."""
        form = self.form
        whole = form is not None and all(c % n == 0 for _, c in form.terms)
        return Count(
            self.value // n,
            Affine(tuple((v, c // n) for v, c in form.terms), form.const // n) if form and whole else None,
        )


def number(n: int) -> Count:
    return Count(n, Affine((), n))


Extents = tuple[Count, ...]


@dataclass(frozen=True, slots=True)
class Linear:
    """A sum of indices times constants, and a constant."""

    terms: Mapping[str, int]
    const: Count


@dataclass(frozen=True, slots=True)
class IndexRange:
    """An index runs from `first` up to `end`, exclusive. bounded: the access that bounds it; other: one that
    would bound it by another number."""

    first: int
    end: Count
    span: Span
    other: Span | None = None

    @property
    def count(self) -> Count:
        return self.end + number(-self.first)


def linear(
    e: Expression, sizes: Mapping[str, Count], extents: Lookup, indices: frozenset[str]
) -> Linear | None:
    """The sum that a subscript is; None if it is none."""
    match e:
        case Literal(text, _):
            return None if is_float_text(text) else Linear({}, number(integer(text)))
        case NameUse(name, _):
            if name in indices:
                return Linear({name: 1}, number(0))
            return Linear({}, sizes[name]) if name in sizes else None
        case ExtentOf(tensor, position, _):
            found = extents(tensor)
            return None if found is None or position >= len(found) else Linear({}, found[position])
        case Negation("-" | "+" as op, operand, _):
            inner = linear(operand, sizes, extents, indices)
            return None if inner is None else _times(inner, -1 if op == "-" else 1)
        case BinaryOperation(op, left, right, _):
            a, b = (linear(x, sizes, extents, indices) for x in (left, right))
            return None if a is None or b is None else _operation(op, a, b)
        case _:
            return None


def _operation(op: str, a: Linear, b: Linear) -> Linear | None:
    match op:
        case "+" | "-":
            b = _times(b, -1) if op == "-" else b
            names = dict.fromkeys((*a.terms, *b.terms))
            terms = {n: a.terms.get(n, 0) + b.terms.get(n, 0) for n in names}
            return Linear({n: c for n, c in terms.items() if c}, a.const + b.const)
        case "*" if not a.terms or not b.terms:
            many, one = (a, b) if a.terms else (b, a)
            fixed = one.const.form is not None and not one.const.form.terms
            out = _times(many, one.const.value)
            return out if fixed else Linear(out.terms, Count(out.const.value, None))
        case "/" | "%" if not a.terms and not b.terms and b.const.value > 0 and a.const.value >= 0:
            n = b.const.value
            quotient = (
                a.const.over(n)
                if b.const.form is not None and not b.const.form.terms
                else Count(a.const.value // n, None)
            )
            return Linear({}, quotient if op == "/" else Count(a.const.value % n, None))
        case _:
            return None


def _times(a: Linear, n: int) -> Linear:
    return Linear({v: c * n for v, c in a.terms.items()} if n else {}, a.const.times(n))


@dataclass(frozen=True, slots=True)
class Subscript:
    """A subscript of an access: its sum, and the extent that it has to be less than."""

    sum: Linear
    extent: Count
    span: Span


def subscripts_of(
    accesses: Iterable[Application], sizes: Mapping[str, Count], extents: Lookup, indices: frozenset[str]
) -> list[Subscript]:
    """Those that are sums of indices, of tensors whose extents are known."""
    out = list[Subscript]()
    for access in accesses:
        known = extents(access.name)
        for e, extent in zip(access.arguments, known or (), strict=False):
            found = linear(e, sizes, extents, indices)
            if found is not None:
                out.append(Subscript(found, extent, access.whole))
    return out


def infer(
    known: Mapping[str, IndexRange], names: Iterable[str], subscripts: Iterable[Subscript]
) -> dict[str, IndexRange]:
    """The ranges of as many of `names` as the subscripts bound. known: those that `where` gives. Raises
    Failed T111 for an index whose range would not begin at 0, or would be empty."""
    ranges = dict(known)
    left = [n for n in names if n not in ranges]
    every = list(subscripts)
    while left:
        found: dict[str, IndexRange] = {}
        for s in every:
            unknown = [n for n in s.sum.terms if n in left]
            if len(unknown) == 1 and all(n in ranges for n in s.sum.terms if n not in unknown):
                found[unknown[0]] = _joined(found.get(unknown[0]), _bound(unknown[0], s, ranges))
        if not found:
            break
        ranges |= found
        left = [n for n in left if n not in found]
    return ranges


def _bound(name: str, s: Subscript, ranges: Mapping[str, IndexRange]) -> IndexRange:
    """The largest range from 0 on for which the subscript is inside of the tensor, whatever the others
    are."""
    low = high = s.sum.const
    for other, c in s.sum.terms.items():
        if other != name:
            r = ranges[other]
            first, last = number(r.first).times(c), (r.end + number(-1)).times(c)
            low, high = (low + first, high + last) if c > 0 else (low + last, high + first)
    c = s.sum.terms[name]
    over, under = s.extent + number(-1) + high.times(-1), low
    if c > 0:
        last, least = over.over(c), -(low.value // c)
    else:
        last, least = under.over(-c), -(over.value // -c)
    if least > 0:
        hint = f"give it: where {name} in {least}:{last.value + 1}"
        raise fail(EMPTY, f"the range of `{name}` would begin at {least}, not at 0", s.span, help=hint)
    if last.value < 0:
        raise fail(
            EMPTY,
            f"the range of `{name}` is empty: this access is outside of the tensor for any value",
            s.span,
            help="give the tensor larger sizes",
        )
    return IndexRange(0, last + number(1), s.span)


def _joined(a: IndexRange | None, b: IndexRange) -> IndexRange:
    """The intersection of two ranges that one round finds."""
    if a is None:
        return b
    less, more = (a, b) if a.end.value <= b.end.value else (b, a)
    same = a.end.form is not None and a.end.form == b.end.form
    return IndexRange(0, less.end, less.span, less.other if same else more.span)


def not_inferred(definition: Definition, names: list[str], uses: Mapping[str, list[Span]]) -> Failed:
    """T110 for indices that nothing bounds."""
    found = list[Diagnostic]()
    for n in names:
        places = uses.get(n) or [definition.span]
        among = [x for x in names if x != n]
        said = (
            f"it only stands beside {' and '.join(f'`{x}`' for x in among)}, open too"
            if among
            else "no tensor bounds it"
        )
        labels = tuple(Label(span, said if not k else "") for k, span in enumerate(places[:3]))
        found.append(
            Diagnostic(
                RANGE, f"the range of `{n}` cannot be inferred", labels, help=f"give it: where {n} in 0:2"
            )
        )
    return Failed(*found)


def accesses_of(e: Expression, tensors: Iterable[str]) -> list[Application]:
    """The accesses of tensors in a value, those inside of subscripts too."""
    known = frozenset(tensors)
    return [x for x in walk(e) if isinstance(x, Application) and x.name in known]


def names_in(e: Expression) -> list[NameUse]:
    return [x for x in walk(e) if isinstance(x, NameUse)]
