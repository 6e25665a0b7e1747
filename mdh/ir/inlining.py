"""Maps that the stages computing with them work out themselves: what to write in place of a load.

`T[i] = f(A[i])` and `O[j] = g(T[j + 1])` give `O[j] = g(f(A[j + 1]))`. The subscript of the load says at
which point of the map the element is computed. Whether that is legal is shown in `poly.inlining`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from math import prod

from mdh.ir.affine import Affine, from_expr, to_expr
from mdh.ir.domain import changing
from mdh.ir.dtype import I32, DType
from mdh.ir.expr import Binary, Cast, Const, Expr, Load, Select, Unary, loads, map_children, substitute
from mdh.ir.program import Condition, Dim, DimKind, Output, Program, Result, Stage, component


class InliningError(Exception):
    """A stage cannot be inline. why: in words. access: the array and index that forbids it, if one does.
    reader: the stage that reads it, if the reason lies there. witness: what shows it."""

    def __init__(
        self,
        why: str,
        access: tuple[str, tuple[Expr, ...]] | None = None,
        reader: Stage | None = None,
        witness: tuple[tuple[str, object], ...] = (),
    ) -> None:
        super().__init__(why)
        self.why, self.access, self.reader, self.witness = why, access, reader, witness


@dataclass(frozen=True, slots=True)
class MapOutput:
    """What a map stores in an array: `value` at `index`, at the points where all of `conds` hold. Elsewhere
    it leaves the element as it is. result: the number of the result. value: of the array's type."""

    stage: Stage
    result: int
    buffer: str
    index: tuple[Affine, ...]
    value: Expr
    conds: tuple[Condition, ...]

    @property
    def read(self) -> frozenset[str]:
        """The arrays that the value and the conditions need."""
        found = (self.value, *(c for c, _ in self.conds))
        return frozenset(n.buffer for e in found for n in loads(e))


def map_outputs(program: Program, stage: Stage) -> tuple[MapOutput, ...]:
    """Everything that a map stores. Raises InliningError for a stage of another class."""
    if any(d.kind is DimKind.PS for d in stage.dims):
        raise InliningError("it is a prefix sum, whose values depend on one another")
    if stage.scattered:
        raise InliningError("data decide where it stores its values")
    if any(d.kind is DimKind.PW for d in stage.dims) or any(r.op is not None for r in stage.results):
        raise InliningError("it is a reduction, whose value takes a loop")
    if stage.lets:
        raise InliningError("it has locals")
    return tuple(_stored(program, stage, n, o) for n, r in enumerate(stage.results) for o in r.outputs)


def _stored(program: Program, stage: Stage, number: int, o: Output) -> MapOutput:
    result = stage.results[number]
    index = [from_expr(substitute(e, program.size_constants)) for e in o.index]
    if any(f is None for f in index):
        raise InliningError("an index that it writes at is not affine", (o.buffer, o.index))
    if any(f.names & program.turns.keys() for f in index if f is not None):
        raise InliningError("a loop around it says which elements it writes", (o.buffer, o.index))
    value = converted(result.values[0], result.types[0])
    whole = converted(substitute(o.value, {component(0): value}), program.buffer_of[o.buffer].dtype)
    conds, inner = changing(whole, o)
    return MapOutput(stage, number, o.buffer, tuple(f for f in index if f is not None), inner, conds)


def converted(e: Expr, t: DType) -> Expr:
    """`e` in type t, as a store converts it."""
    return e if e.dtype == t else Cast(e, t)


@dataclass(frozen=True, slots=True)
class ComputingPoint:
    """The point of a map that computes a loaded element. terms: the element is computed where all of them
    hold. functions: the point's coordinates that are affine in the reader's dimensions."""

    point: Mapping[str, Expr]
    terms: tuple[Condition, ...]
    functions: Mapping[str, Affine]

    @property
    def affine(self) -> bool:
        return len(self.functions) == len(self.point)


def place_of(m: MapOutput, load: Load, program: Program, reader: Stage) -> ComputingPoint:
    """Where the map computes the element that `reader` loads. Raises InliningError if the element does not
    say."""
    solver = _Solver(m, load, program, reader)
    solver.solve()
    return solver.place()


class _Solver:
    """Solves the map's index for its dimensions, one subscript after the other."""

    def __init__(self, m: MapOutput, load: Load, program: Program, reader: Stage) -> None:
        self.m, self.load, self.program, self.reader = m, load, program, reader
        wanted = [substitute(e, program.size_constants) for e in load.index]
        self.wanted = [(from_expr(e), _as_int(e)) for e in wanted]
        self.found: dict[str, Affine] = {d.name: Affine() for d in m.stage.dims if d.extent == 1}
        self.computed: dict[str, Expr] = {}
        self.left = {d.name for d in m.stage.dims} - self.found.keys()
        self.used: dict[str, int] = {}

    def solve(self) -> None:
        while self.left:
            known = next(
                (
                    (k, name)
                    for k, f in enumerate(self.m.index)
                    if k not in self.used.values() and len(names := f.names & self.left) == 1
                    for name in names
                ),
                None,
            )
            if known is None:
                missing = min(self.left)
                raise self._unfit(f"an element does not say for which `{missing}` it is computed")
            self._coordinate(*known)

    def _coordinate(self, k: int, name: str) -> None:
        """Finds the coordinate `name` from subscript number k."""
        f, (function, e) = self.m.index[k], self.wanted[k]
        factor = f.coefficient(name)
        rest = Affine(tuple(t for t in f.terms if t[0] != name), f.const)
        self.left.discard(name)
        self.used[name] = k
        if function is not None and not rest.names & self.computed.keys():
            function += rest.substitute(self.found).scale(-1)
            whole = function.divided(factor)
            if whole is None:
                raise self._unfit("some of the elements that are read lie between those that it computes")
            self.found[name] = whole
            return
        if factor not in (1, -1):
            raise self._unfit("data decide which element is read, and it computes only some of them")
        away = substitute(to_expr(rest), self._values)
        self.computed[name] = _less(e, away) if factor == 1 else _less(away, e)

    @property
    def _values(self) -> dict[str, Expr]:
        return {**{n: to_expr(f) for n, f in self.found.items()}, **self.computed}

    def place(self) -> ComputingPoint:
        terms = [t for d in self.m.stage.dims if d.extent > 1 for t in self._inside(d)]
        values = self._values
        for k, f in enumerate(self.m.index):
            if k in self.used.values():
                continue
            function, e = self.wanted[k]
            if function is None or f.names & self.computed.keys():
                terms.append((Binary("==", e, substitute(to_expr(f), values), I32), True))
            elif function != f.substitute(self.found):
                there = to_expr(f.substitute(self.found))
                terms.append((Binary("==", to_expr(function), there, I32), True))
        terms += [(substitute(c, values), holds) for c, holds in self.m.conds]
        return ComputingPoint(values, tuple(terms), dict(self.found))

    def _inside(self, dim: Dim) -> list[Condition]:
        """That the coordinate is one of the dimension."""
        if dim.open is not None:
            function = self.found.get(dim.name)
            same = (d for d in self.reader.dims if function == Affine.var(d.name) and d.open == dim.open)
            if next(same, None) is None:
                raise self._unfit(f"the extent of `{dim.name}` stays open, and the reader goes over others")
            return []
        e = self._values[dim.name]
        if dim.name in self.computed and self._spans(dim):
            return []
        least = Binary(">=", e, Const(0, I32), I32)
        return [(least, True), (Binary("<", e, Const(dim.extent, I32), I32), True)]

    def _spans(self, dim: Dim) -> bool:
        """Whether the dimension goes along the whole array, where every legal subscript finds it."""
        k = self.used[dim.name]
        f, extent = self.m.index[k], self.program.buffer_of[self.m.buffer].shape[k]
        return f.names == {dim.name} and f.bounds({dim.name: (0, dim.extent - 1)}) == (0, extent - 1)

    def _unfit(self, why: str) -> InliningError:
        return InliningError(why, (self.load.buffer, self.load.index), self.reader)


def _as_int(e: Expr) -> Expr:
    return converted(e, I32)


def _less(a: Expr, b: Expr) -> Expr:
    return a if b == Const(0, I32) else Binary("-", a, b, I32)


def substituted(m: MapOutput, load: Load, place: ComputingPoint, open_terms: tuple[Condition, ...]) -> Expr:
    """What stands in place of the load. open_terms: those of the place's terms that may not hold; the array
    is read where they do not."""
    value = substitute(m.value, dict(place.point))
    for cond, holds in reversed(open_terms):
        then, other = (value, load) if holds else (load, value)
        value = Select(cond, then, other, load.dtype)
    return value


@dataclass(frozen=True, slots=True)
class Read:
    """A load that is no more: `reader` computes the element, for each point of `dims` where `conds` hold.
    turns: of loops around the reader that are not around the stage."""

    reader: str
    load: Load
    place: ComputingPoint
    dims: tuple[Dim, ...]
    conds: tuple[Condition, ...]
    turns: int = 1


@dataclass(frozen=True, slots=True)
class InlineStage:
    """A stage that its readers compute. kept: it has a kernel too, since its results are needed in memory."""

    name: str
    points: int
    reads: tuple[Read, ...]
    kept: bool

    @property
    def readers(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(r.reader for r in self.reads))

    @property
    def distinct(self) -> tuple[Read, ...]:
        """The reads, without those of an element that its reader computes anyway at the same point."""
        return tuple({(r.reader, r.load, r.dims): r for r in self.reads}.values())

    @property
    def computed(self) -> int:
        """How many points are computed, at most, the kernel's own ones included."""
        own = self.points if self.kept else 0
        return own + sum(prod(d.extent for d in r.dims) * r.turns for r in self.distinct)


Change = Callable[[Load, tuple[Condition, ...], bool], Expr]
"""What stands in place of a load that is made where all of some conditions hold; whether it is made for every
iteration of reduced dimensions too."""


def with_loads(stage: Stage, change: Change) -> Stage:
    """The stage with other expressions in place of its loads, save those in subscripts."""

    def each(e: Expr) -> Expr:
        return _changed(e, lambda load, conds: change(load, conds, True), ())

    def once(e: Expr) -> Expr:
        return _changed(e, lambda load, conds: change(load, conds, False), ())

    def result(r: Result) -> Result:
        outputs = tuple(replace(o, value=once(o.value)) for o in r.outputs)
        starts = tuple(None if s is None else once(s) for s in r.starts)
        return replace(r, values=tuple(map(each, r.values)), starts=starts, outputs=outputs)

    return replace(stage, results=tuple(map(result, stage.results)))


def _changed(
    e: Expr, change: Callable[[Load, tuple[Condition, ...]], Expr], conds: tuple[Condition, ...]
) -> Expr:
    def inside(x: Expr, *more: Condition) -> Expr:
        return _changed(x, change, (*conds, *more))

    match e:
        case Select(cond, then, other):
            sides = inside(then, (cond, True)), inside(other, (cond, False))
            return replace(e, cond=inside(cond), then=sides[0], other=sides[1])
        case Binary("&&" | "||", left, right):
            return replace(e, left=inside(left), right=inside(right, (left, e.op == "&&")))
        case Load():
            return change(e, conds)
        case _:
            return map_children(e, inside)


def negated(c: Condition) -> Condition:
    return c[0], not c[1]


def condition(c: Condition) -> Expr:
    """The condition as one expression."""
    return c[0] if c[1] else Unary("!", c[0], I32)
