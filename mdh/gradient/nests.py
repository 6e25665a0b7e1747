"""Sums of terms for each element of an array: the loops that gather what belongs to an element.

A term is added to the element that some subscripts name, for all points of a box. Points that name one
element are a sum. So subscripts are solved for dimensions: the element is given, and the other dimensions are
summed over. `X[i + r]` becomes `X[x]` with i = x - r, where that is inside of i's range. With a stride,
`X[2 * i + r]`, the elements are dealt out: x = 2 * q + p, r = p + 2 * t and i = q - t. Subscripts that have
no such form, and those that are data, stay as they are.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from mdh.frontend.typing_rules import binary, select
from mdh.gradient.adjoint import GradientTerm
from mdh.gradient.assignments import GradientArray
from mdh.ir.affine import Affine, from_expr, to_expr
from mdh.ir.dtype import I32
from mdh.ir.expr import Binary, Const, Expr, Var, substitute
from mdh.ir.names import fresh
from mdh.ir.open_size import OpenExtent
from mdh.ir.program import Condition, Dim


@dataclass(frozen=True, slots=True)
class GradientLoop:
    """A loop: `name` from 0 to `extent`, which may be a function of open sizes."""

    name: str
    extent: int
    open: OpenExtent | None = None

    @property
    def end(self) -> Expr:
        return Const(self.extent, I32) if self.open is None else self.open.expr


@dataclass(frozen=True, slots=True)
class GradientNest:
    """For all of `outer`: `index` += the sum of `value` over `inner`, where all of `conds` hold. whole: the
    outer loops name each element of the array once."""

    outer: tuple[GradientLoop, ...]
    inner: tuple[GradientLoop, ...]
    index: tuple[Expr, ...]
    value: Expr
    conds: tuple[Condition, ...]
    whole: bool


def gathered(
    term: GradientTerm, dims: Sequence[Dim], array: GradientArray, taken: frozenset[str]
) -> list[GradientNest]:
    """The sums of a term over the points of a box. There are several where elements are dealt out, and their
    number is no multiple of the stride."""
    ranges = {d.name: GradientLoop(d.name, d.extent, d.open) for d in dims}
    forms = tuple(from_expr(e) for e in term.load.index)
    known = [f for f in forms if f is not None and f.names <= ranges.keys()]
    if len(known) < len(forms):
        return [_scattered(term, ranges)]
    solvers = [_SubscriptSolver(ranges, array, {*taken, *ranges})]
    for axis, form in enumerate(known):
        solvers = [more for solver in solvers for more in solver.solve(axis, form)]
    return [solver.nest(term) for solver in solvers]


def together(nests: Sequence[GradientNest]) -> list[GradientNest]:
    """Fewer nests that add the same: those of the same loops as one, and conditions in the values of maps."""
    sums: dict[tuple[object, ...], GradientNest] = {}
    for given in nests:
        nest = _unconditional(given) if given.whole and not given.inner else given
        key = nest.outer, nest.inner, nest.index, nest.conds, nest.value.dtype
        known = sums.get(key)
        sums[key] = nest if known is None else replace(known, value=binary("+", known.value, nest.value))
    return list(sums.values())


def _unconditional(nest: GradientNest) -> GradientNest:
    zero = Const(0.0, nest.value.dtype)
    value = nest.value
    for cond, holds in reversed(nest.conds):
        value = select(cond, value, zero) if holds else select(cond, zero, value)
    return replace(nest, value=value, conds=())


def _scattered(term: GradientTerm, ranges: Mapping[str, GradientLoop]) -> GradientNest:
    """Subscripts that are data, as they are."""
    return GradientNest(tuple(ranges.values()), (), term.load.index, term.value, term.conds, whole=False)


@dataclass
class _SubscriptSolver:
    """The subscripts one after the other. values: dimensions that are solved for, as functions of others.
    index: of the element. whole: so far, each element is named once."""

    ranges: dict[str, GradientLoop]
    array: GradientArray
    taken: set[str]
    outer: dict[str, GradientLoop] = field(default_factory=dict)
    values: dict[str, Affine] = field(default_factory=dict)
    conds: list[Condition] = field(default_factory=list)
    index: list[Expr] = field(default_factory=list)
    whole: bool = True
    inner: dict[str, GradientLoop] = field(default_factory=dict)

    def solve(self, axis: int, form: Affine) -> "list[_SubscriptSolver]":
        """The same with one more subscript, for all elements."""
        form = form.substitute(self.values)
        opened = self.array.open[axis] if self.array.open else None
        size = GradientLoop("", self.array.shape[axis], opened)
        free = [n for n, _ in form.terms if n in self.ranges and n not in self.outer]
        if not free:
            self.index.append(to_expr(form))
            self.whole &= not form.terms and form.const == 0 and size.extent == 1 and opened is None
            return [self]
        units = [n for n in free if abs(form.coefficient(n)) == 1]
        same = next((n for n in units if form == Affine.var(n) and _alike(self.ranges[n], size)), None)
        if same is not None:
            self.outer[same] = self.ranges[same]
            self.index.append(Var(same))
            return [self]
        strided = self._strided(form, free, units)
        if strided is not None:
            return self._deal_out(form, *strided, size)
        if units:
            self._solve_for(max(units, key=lambda n: self.ranges[n].extent), form, size)
            return [self]
        # several points may reach one element: the nest adds to it, behind a nest that writes zeros
        for n in free:
            self.outer[n] = self.ranges[n]
        self.index.append(to_expr(form))
        self.whole = False
        return [self]

    def _solve_for(self, name: str, form: Affine, size: GradientLoop) -> None:
        """form = x gives the dimension `name`."""
        x = fresh("x", self.taken)
        self.outer[x] = GradientLoop(x, size.extent, size.open)
        self.index.append(Var(x))
        sign = form.coefficient(name)
        rest = form + Affine.of({name: -sign})
        value = (Affine.var(x) + rest.scale(-1)).scale(sign)
        self._give(name, value)

    def _give(self, name: str, value: Affine) -> None:
        """The value of a dimension, where that is inside of its range."""
        own = self.ranges[name]
        self.values = {n: f.substitute({name: value}) for n, f in self.values.items()}
        self.values[name] = value
        if self._least(value) < 0:
            self.conds.append((Binary(">=", to_expr(value), Const(0, I32), I32), True))
        past = self._most(value) >= own.extent
        opened = own.open is not None or any(self._range(n).open is not None for n in value.names)
        if past or opened:
            self.conds.append((Binary("<", to_expr(value), own.end, I32), True))

    def _strided(self, form: Affine, free: list[str], units: list[str]) -> tuple[str, str, int] | None:
        """The dimension with a stride, the one inside of it and the stride, for subscripts of these two."""
        if len(free) != 2 or len(units) != 1 or len(form.terms) != 2:
            return None
        (inner,) = units
        outer = next(n for n in free if n != inner)
        stride = form.coefficient(outer)
        fits = stride > 1 and form.coefficient(inner) == 1
        closed = self.ranges[outer].open is None and self.ranges[inner].open is None
        return (outer, inner, stride) if fits and closed else None

    def _deal_out(
        self, form: Affine, outer: str, inner: str, stride: int, size: GradientLoop
    ) -> "list[_SubscriptSolver]":
        """x = stride * q + p + const, with inner = p + stride * t and outer = q - t. The last q may have
        fewer elements than the others. There are loops of their own for these."""
        self.whole = False
        count = self.ranges[outer].extent + (self.ranges[inner].extent - 1) // stride
        whole, left = divmod(size.extent - form.const, stride)
        found = [self]
        if whole < count and left:
            found.append(self._copy())
            found[1]._deal(form.const, outer, inner, stride, None, whole, left)
        q = fresh("q", self.taken)
        self.outer[q] = GradientLoop(q, min(whole, count))
        self._deal(form.const, outer, inner, stride, q, 0, stride)
        return found

    def _deal(
        self, const: int, outer: str, inner: str, stride: int, q: str | None, at: int, phases: int
    ) -> None:
        """The elements of all `q`, or those at the number `at`; each has so many phases."""
        p, t = fresh("p", self.taken), fresh("t", self.taken)
        self.outer[p] = GradientLoop(p, phases)
        self.inner[t] = GradientLoop(t, -(-self.ranges[inner].extent // stride))
        row = Affine((), at) if q is None else Affine.var(q)
        self.index.append(to_expr(row.scale(stride) + Affine.var(p).shift(const)))
        self._give(inner, Affine.of({p: 1, t: stride}))
        self._give(outer, row + Affine.of({t: -1}))

    def _copy(self) -> "_SubscriptSolver":
        return _SubscriptSolver(
            self.ranges, self.array, set(self.taken), dict(self.outer), dict(self.values), list(self.conds),
            list(self.index), self.whole, dict(self.inner),
        )  # fmt: skip

    def _range(self, name: str) -> GradientLoop:
        return self.outer.get(name) or self.inner.get(name) or self.ranges[name]

    def _least(self, form: Affine) -> int:
        return form.bounds({n: (0, self._range(n).extent - 1) for n in form.names})[0]

    def _most(self, form: Affine) -> int:
        return form.bounds({n: (0, self._range(n).extent - 1) for n in form.names})[1]

    def nest(self, term: GradientTerm) -> GradientNest:
        names = {n: to_expr(f) for n, f in self.values.items()}
        left = (r for n, r in self.ranges.items() if n not in self.values and n not in self.outer)
        inner = (*left, *self.inner.values())
        # in this order: what terms ask may be read only inside of the box
        conds = tuple((substitute(c, names), holds) for c, holds in (*self.conds, *term.conds))
        value = substitute(term.value, names)
        return GradientNest(tuple(self.outer.values()), inner, tuple(self.index), value, conds, self.whole)


def _alike(a: GradientLoop, b: GradientLoop) -> bool:
    return (a.extent, a.open) == (b.extent, b.open)
