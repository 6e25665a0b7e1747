"""Dimensions of a stage as one dimension: a Program in which a stage goes over arrays of fewer dimensions.

`O[n][p][q] = f(I[n][p][q])` goes over both arrays element after element, so n, p and q may be a single loop.
The arrays stay as they are. For this stage alone they are seen in another shape, as if `O` were
`O[N * P * Q]`: each element lies where it lay before.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from math import prod

from mdh.ir.affine import Affine, from_expr, to_expr
from mdh.ir.dtype import I32, integer_range
from mdh.ir.expr import Const, Expr, Load, Var, children, map_children, substitute, walk
from mdh.ir.names import unused
from mdh.ir.program import Buffer, Dim, DimKind, Output, Program, Result, Stage

Group = tuple[str, ...]
"""Names of dimensions that become one, in the order of their places in memory: the last one runs fastest."""


class FusionError(Exception):
    """Dimensions cannot be one. why: in words. access: the array and index that forbids it, if one does."""

    def __init__(self, why: str, access: tuple[str, tuple[Expr, ...]] | None = None) -> None:
        super().__init__(why)
        self.why, self.access = why, access


@dataclass(frozen=True, slots=True)
class DimensionRun:
    """The dimensions of an array that a group goes over: `first` to `last`."""

    first: int
    last: int


def fused(program: Program, stage: Stage, groups: Sequence[Group]) -> Program:
    """The program of this stage alone, in which each group of dimensions is one. Raises FusionError.

    The new dimension stands where the first of its group stood. It runs over the points of the group in the
    order of the names, which for reduced dimensions is C's. So each result combines the same values in the
    same order, and each access touches the same elements.

    Requires that groups share no dimension, and that each names dimensions of the stage.
    """
    for group in groups:
        stage, program = _Fusion(program, stage, group).done
    return replace(program, stages=(stage,), statements=(), syntax=None)


def obstacle(program: Program, stage: Stage, groups: Sequence[Group]) -> FusionError | None:
    """Why the groups cannot be fused; None if they can."""
    try:
        fused(program, stage, groups)
    except FusionError as unfit:
        return unfit
    return None


def fusible(program: Program, stage: Stage) -> tuple[Group, ...]:
    """The largest groups that can be fused, all of them together, in the order of their first dimensions.

    Each has at least two dimensions of more than one iteration. What the stage does with a dimension of one
    iteration is the same without it, so such a dimension belongs to a group only between two others.
    """
    names = [d.name for d in stage.dims]
    found: list[Group] = []
    for group in sorted(_candidates(stage), key=lambda g: (-len(g), names.index(g[0]))):
        taken = {name for other in found for name in other}
        if not taken & set(group) and obstacle(program, stage, (*found, group)) is None:
            found.append(group)
    return tuple(sorted(found, key=lambda g: min(map(names.index, g))))


def _candidates(stage: Stage) -> Iterator[Group]:
    """Dimensions that stand side by side in the C, or in the index of an access, by every run of them."""
    long = {d.name for d in stage.dims if d.extent > 1}
    orders = [[d.name for d in stage.dims if d.kind is kind] for kind in (DimKind.CC, DimKind.PW)]
    for _, index in _accesses(stage):
        orders.append([e.name for e in index if isinstance(e, Var) and e.name in long])
    runs = (tuple(o[a:b]) for o in orders for a in range(len(o)) for b in range(a + 2, len(o) + 1))
    yield from dict.fromkeys(r for r in runs if r[0] in long and r[-1] in long)


def _accesses(stage: Stage) -> Iterator[tuple[str, tuple[Expr, ...]]]:
    """(array, index) of every load and store."""
    for e in stage.expressions():
        yield from ((n.buffer, n.index) for n in walk(e) if isinstance(n, Load))
    yield from ((o.buffer, o.index) for r in stage.results for o in r.outputs)


def _direct(e: Expr) -> Iterator[Var]:
    """The variables of an expression, without those in the index of a load."""
    if isinstance(e, Var):
        yield e
    elif not isinstance(e, Load):
        for child in children(e):
            yield from _direct(child)


class _Fusion:
    """One group of a stage becomes one dimension. Makes each check where it needs what the check proves."""

    def __init__(self, program: Program, stage: Stage, group: Group) -> None:
        self.program, self.stage, self.group = program, stage, group
        self.dims = {d.name: d for d in stage.dims}
        self.long = tuple(name for name in group if self.dims[name].extent > 1)
        self.ranges = {d.name: (0, d.extent - 1) for d in stage.dims}
        self._demand_order()
        taken = {*program.params, *program.buffer_of, *self.dims, *(let.name for let in stage.lets)}
        self.name = unused("_".join(group), taken)
        self.extent = prod(self.dims[name].extent for name in group)
        if self.extent > integer_range(I32)[1]:
            raise FusionError(f"together they have {self.extent} iterations, more than an int counts")
        if any(self.dims[name].open is not None for name in group):
            raise FusionError("the extent of one of them is an open size")
        self.runs = self._runs()

    def _demand_order(self) -> None:
        kinds = {self.dims[name].kind for name in self.group}
        if DimKind.PS in kinds:
            raise FusionError("a prefix sum goes along one of them")
        if len(kinds) > 1:
            raise FusionError("some are reduced and some are not")
        reduced = [d.name for d in self.stage.dims if d.kind is DimKind.PW]
        places = [reduced.index(name) for name in self.group if name in reduced]
        if any(b != a + 1 for a, b in pairwise(places)):
            raise FusionError("reduced dimensions keep the order of the C, without others between them")

    @cached_property
    def done(self) -> tuple[Stage, Program]:
        stage = self.stage
        lets = tuple(replace(let, value=self.rewritten(let.value)) for let in stage.lets)
        results = tuple(map(self._result, stage.results))
        buffers = tuple(self._seen(b) for b in self.program.buffers)
        kept = replace(stage, dims=self._dims(), lets=lets, results=results)
        return kept, replace(self.program, buffers=buffers)

    def _dims(self) -> tuple[Dim, ...]:
        first = next(d for d in self.stage.dims if d.name in self.group)
        whole = Dim(self.name, self.extent, first.kind, span=first.span)
        return tuple(
            whole if d is first else d for d in self.stage.dims if d is first or d.name not in self.group
        )

    def _seen(self, buffer: Buffer) -> Buffer:
        run = self.runs.get(buffer.name)
        if run is None:
            return buffer
        first, last, shape = run.first, run.last, buffer.shape
        seen = (*shape[:first], prod(shape[first : last + 1]), *shape[last + 1 :])
        if not buffer.open:
            return replace(buffer, shape=seen)
        return replace(buffer, shape=seen, open=(*buffer.open[:first], None, *buffer.open[last + 1 :]))

    def _result(self, result: Result) -> Result:
        return replace(
            result,
            values=tuple(map(self.rewritten, result.values)),
            starts=tuple(None if s is None else self.rewritten(s) for s in result.starts),
            outputs=tuple(map(self._output, result.outputs)),
        )

    def _output(self, output: Output) -> Output:
        return replace(
            output, index=self._index(output.buffer, output.index), value=self.rewritten(output.value)
        )

    def rewritten(self, e: Expr) -> Expr:
        """An expression by the new dimension. Raises FusionError if it has another use of the group."""
        match e:
            case Load():
                return replace(e, index=self._index(e.buffer, e.index))
            case Var(name, dtype) if name in self.group:
                if name not in self.long:
                    return Const(0, dtype)
                if len(self.long) > 1:
                    raise FusionError(f"the value of `{name}` is used, not only to find elements of arrays")
                return Var(self.name, dtype)
            case _:
                return map_children(e, self.rewritten)

    # -- accesses ----------------------------------------------------------------------------------------

    def _runs(self) -> dict[str, DimensionRun]:
        """The array dimensions that become one. Raises FusionError if accesses of an array disagree."""
        out: dict[str, DimensionRun] = {}
        if len(self.long) < 2:
            return out
        for buffer, index in _accesses(self.stage):
            used = {v.name for e in index for v in _direct(e)} & set(self.long)
            if not used:
                continue
            if missing := [name for name in self.long if name not in used]:
                raise FusionError(f"an access uses `{min(used)}` without `{missing[0]}`", (buffer, index))
            run = self._run(buffer, index)
            if out.setdefault(buffer, run) != run:
                raise FusionError("another access has them elsewhere in the array", (buffer, index))
        return out

    def _run(self, buffer: str, index: tuple[Expr, ...]) -> DimensionRun:
        """The subscripts in which the dimensions of the group stand side by side. The first dimension may be
        one term of its subscript. Each other one is a whole subscript and runs along the array's extent."""
        shape = self.program.buffer_of[buffer].shape
        places = [
            [k for k, e in enumerate(index) if any(v.name == name for v in _direct(e))] for name in self.long
        ]
        if any(len(found) != 1 for found in places):
            raise FusionError("an access has one of them in several places", (buffer, index))
        at = [found[0] for found in places]
        between = [k for k in range(at[0], at[-1] + 1) if k not in at]
        if sorted(at) != at or len(set(at)) < len(at) or any(shape[k] > 1 for k in between):
            raise FusionError("an access does not have them side by side, in this order", (buffer, index))
        for k, name in zip(at, self.long, strict=True):
            function = self._affine(index[k])
            if function is None or function.coefficient(name) != 1 or not function.names <= self.dims.keys():
                raise FusionError(f"an access does not go along `{name}` in steps of one", (buffer, index))
            if k != at[0] and function != Affine.var(name):
                raise FusionError(f"an access adds something to `{name}`", (buffer, index))
            if k != at[0] and shape[k] != self.dims[name].extent:
                raise FusionError(
                    f"`{name}` runs over {self.dims[name].extent} of {shape[k]} elements", (buffer, index)
                )
        return DimensionRun(at[0], at[-1])

    def _affine(self, e: Expr) -> Affine | None:
        """The function of the dimensions. One of a single iteration is always 0."""
        function = from_expr(substitute(e, self.program.size_constants))
        still = {name: Affine() for name, dim in self.dims.items() if dim.extent == 1}
        return None if function is None else function.substitute(still)

    def _index(self, buffer: str, index: tuple[Expr, ...]) -> tuple[Expr, ...]:
        run = self.runs.get(buffer)
        if run is None:
            return tuple(map(self.rewritten, index))
        shape = self.program.buffer_of[buffer].shape
        inner, whole = range(run.first, run.last + 1), Affine()
        for k in inner:
            function = self._affine(index[k])
            if function is None or not function.names <= self.dims.keys():
                raise FusionError("data decides where an access of the same array goes", (buffer, index))
            low, high = function.bounds(self.ranges)
            # beside the first one, an index that leaves the array would come out in another row
            if k > run.first and (low < 0 or high >= shape[k]):
                raise FusionError("another access of the array may leave its rows", (buffer, index))
            whole += function.scale(prod(shape[k + 1 : run.last + 1]))
        joined = to_expr(self._in_one(whole))
        before, after = index[: run.first], index[run.last + 1 :]
        return (*map(self.rewritten, before), joined, *map(self.rewritten, after))

    def _in_one(self, place: Affine) -> Affine:
        """A place in the array by the new dimension instead of those of the group."""
        if not any(place.coefficient(name) for name in self.long):
            return place
        rest = Affine(tuple((n, c) for n, c in place.terms if n not in self.long), place.const)
        return rest + Affine.var(self.name)
