"""A Program as maps and reductions in order, whose arrays are assigned once.

A stage may overwrite an array, and may do more to a sum before it stores it. Derivatives need each of these
values. So a sum with an epilogue becomes two assignments with an array between them, and an array that
several stages write becomes several arrays: `versions`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from mdh.diagnostics import Failed, fail
from mdh.ir.dtype import I32, DType
from mdh.ir.expr import Cast, Const, Expr, Load, Var, loads, map_children, substitute, walk
from mdh.ir.names import fresh
from mdh.ir.open_size import OpenExtent
from mdh.ir.program import Buffer, Dim, DimKind, Output, Program, Result, Stage, component
from mdh.source import Span

CODE = "A120"
HINT = "give the backward program yourself: backward="


@dataclass(frozen=True, slots=True)
class GradientArray:
    """An array of the backward program. origin: the array of the given program whose values it holds, or None
    for the sum in front of an epilogue. final: it holds what the array holds in the end."""

    name: str
    dtype: DType
    shape: tuple[int, ...]
    open: tuple[OpenExtent | None, ...]
    origin: str | None
    final: bool = False


@dataclass(frozen=True, slots=True)
class GradientAssignment:
    """`target = value`, or with an operator `target = start, combined with value over all of `reduced``.

    kept, reduced: dimensions. before: the array that holds the elements which this one does not write, if it
    leaves some out; None if they have no values. scattered: the subscripts of the target are data, and values
    are added to what `before` holds.
    """

    kept: tuple[Dim, ...]
    reduced: tuple[Dim, ...]
    op: str
    value: Expr
    start: Expr | None
    target: Load
    type: DType
    before: str | None = None
    scattered: bool = False
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class Straight:
    """arrays: by name; those of the program's inputs are among them. last: the version that each array of the
    program has in the end."""

    assignments: tuple[GradientAssignment, ...]
    arrays: Mapping[str, GradientArray]
    last: Mapping[str, str]
    taken: set[str] = field(compare=False, repr=False)


def refused(what: str, span: Span | None = None) -> Failed:
    return fail(CODE, f"mdh derives no backward program: {what}", span, help=HINT)


def straight(program: Program) -> Straight:
    """Raises Failed A120 for what has no derivative here."""
    if program.loops:
        what = f"`{program.name}` has a loop whose turns depend on one another"
        raise refused(what, program.loops[0].span)
    return _StageWalk(program).run()


class _StageWalk:
    """The stages in order. versions: of each array, the one that holds its values now. constants: of sizes
    that are bound. Requires stages without locals, as front ends make them."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.taken = _names(program)
        opened = {s.name for s in program.opens}
        self.constants = {n: e for n, e in program.size_constants.items() if n not in opened}
        self.writes = [frozenset(s.written) for s in program.stages]
        self.arrays: dict[str, GradientArray] = {}
        self.versions: dict[str, str] = {}
        self.out: list[GradientAssignment] = []
        for b in program.buffers:
            if not any(b.name in w for w in self.writes):
                self.arrays[b.name] = GradientArray(b.name, b.dtype, b.shape, b.open, b.name, True)
                self.versions[b.name] = b.name

    def run(self) -> Straight:
        for number, stage in enumerate(self.program.stages):
            self._stage(number, stage)
        return Straight(tuple(self.out), self.arrays, self.versions, self.taken)

    def _stage(self, number: int, stage: Stage) -> None:
        if any(d.kind is DimKind.PS for d in stage.dims):
            raise refused("it has a prefix sum", stage.span)
        before, later = dict(self.versions), dict[str, str]()
        for result in stage.results:
            self._result(number, stage, result, before, later)
        self.versions.update(later)

    def _result(
        self, number: int, stage: Stage, r: Result, before: Mapping[str, str], later: dict[str, str]
    ) -> None:
        _demand_simple(stage, r)
        own = next((o for o in r.outputs if _passes(o, r.types[0])), None)
        reduced = tuple(d for d in stage.dims if d.kind is DimKind.PW) if r.op is not None else ()
        kept = tuple(d for d in stage.dims if d not in reduced)
        if r.op is None and any(d.kind is DimKind.PW for d in stage.dims):
            raise refused("a nest overwrites its results", stage.span)
        total = Var(component(0), r.types[0])
        if r.op is None:
            value: Expr = _converted(r.values[0], r.types[0])
            for o in r.outputs:
                whole = substitute(o.value, {total.name: value})
                self._assign(number, stage, o, whole, before, later, kept)
            return
        if own is None:
            held = self._sum_array(stage, r, kept)
            target = Load(held, tuple(Var(d.name) for d in kept) or (Const(0, I32),), r.types[0])
            self._reduce(stage, r, target, None, before, kept, reduced)
        else:
            name, old = self._version(number, own, before, later)
            target = Load(name, self._seen(own.index, before, stage), self.arrays[name].dtype)
            scattered = stage.scattered
            keep = None if not scattered and self._whole(own, stage) else old
            self._reduce(stage, r, target, keep, before, kept, reduced, scattered=scattered)
        for o in r.outputs:
            if o is not own:
                # what was stored may be narrower than what the epilogue reads
                if own is not None and self.arrays[target.buffer].dtype != r.types[0]:
                    raise refused("a sum is stored in a narrower type, and used beside that", stage.span)
                self._assign(number, stage, o, substitute(o.value, {total.name: target}), before, later, kept,
                             known=target.buffer)  # fmt: skip

    def _reduce(
        self,
        stage: Stage,
        r: Result,
        target: Load,
        keep: str | None,
        before: Mapping[str, str],
        kept: tuple[Dim, ...],
        reduced: tuple[Dim, ...],
        *,
        scattered: bool = False,
    ) -> None:
        assert r.op is not None
        start = r.starts[0]
        if scattered:
            own = isinstance(start, Load) and len(r.outputs) == 1 and start.index == r.outputs[0].index
            if r.op.name != "+" or not own:
                raise refused("it scatters by something else than a sum", stage.span)
            start = None
        seen = None if start is None else self._read(start, before, stage)
        value = self._read(r.values[0], before, stage)
        self.out.append(
            GradientAssignment(
                kept, reduced, r.op.name, value, seen, target, r.types[0], keep, scattered, stage.span
            )
        )

    def _assign(
        self,
        number: int,
        stage: Stage,
        o: Output,
        value: Expr,
        before: Mapping[str, str],
        later: dict[str, str],
        kept: tuple[Dim, ...],
        known: str = "",
    ) -> None:
        if stage.scattered:
            raise refused("it scatters by something else than a sum", stage.span)
        name, old = self._version(number, o, before, later)
        index = self._seen(o.index, before, stage)
        target = Load(name, index, self.arrays[name].dtype)
        keep = None if self._whole(o, stage) else old
        seen = self._read(value, before, stage, known)
        self.out.append(
            GradientAssignment(kept, (), "", seen, None, target, seen.dtype, keep, span=stage.span)
        )

    def _sum_array(self, stage: Stage, r: Result, kept: tuple[Dim, ...]) -> str:
        name = fresh(f"{r.outputs[0].buffer}_sum", self.taken)
        shape, opened = tuple(d.extent for d in kept) or (1,), tuple(d.open for d in kept)
        self.arrays[name] = GradientArray(name, r.types[0], shape, opened if any(opened) else (), None)
        return name

    def _version(
        self, number: int, o: Output, before: Mapping[str, str], later: dict[str, str]
    ) -> tuple[str, str | None]:
        """The array that this output becomes, and the version in front of it. Two outputs of a stage may
        write parts of one array."""
        b, old = self.program.buffer_of[o.buffer], later.get(o.buffer) or before.get(o.buffer)
        final = o.buffer not in later and not any(o.buffer in w for w in self.writes[number + 1 :])
        several = sum(x.buffer == o.buffer for r in self._stage_results(number) for x in r.outputs) > 1
        if several:
            raise refused(f"a nest writes `{o.buffer}` twice", b.span)
        mine = final and not b.temp
        name = o.buffer if mine else fresh(f"{o.buffer}_value", self.taken)
        self.arrays[name] = GradientArray(name, b.dtype, b.shape, b.open, o.buffer, mine)
        later[o.buffer] = name
        return name, old

    def _stage_results(self, number: int) -> tuple[Result, ...]:
        return self.program.stages[number].results

    def _whole(self, o: Output, stage: Stage) -> bool:
        return covers(o.index, stage.dims, self.program.buffer_of[o.buffer])

    def _seen(self, index: tuple[Expr, ...], before: Mapping[str, str], stage: Stage) -> tuple[Expr, ...]:
        return tuple(self._read(e, before, stage) for e in index)

    def _read(self, e: Expr, before: Mapping[str, str], stage: Stage, known: str = "") -> Expr:
        """The expression with the versions that arrays have in front of the stage. known: an array that is
        one already."""
        if isinstance(e, Load) and e.buffer != known:
            name = before.get(e.buffer)
            if name is None:
                what = f"it reads what `{e.buffer}` holds before the call, and overwrites that"
                raise refused(what, self.program.buffer_of[e.buffer].span)
            e = Load(name, e.index, e.dtype, e.lanes)
        if isinstance(e, Var):
            return self.constants.get(e.name, e)
        return map_children(e, lambda x: self._read(x, before, stage, known))


def _demand_simple(stage: Stage, r: Result) -> None:
    if len(r.values) > 1:
        raise refused("it looks for the place of a maximum or minimum", stage.span)
    if r.op is not None and r.types[0].is_float and r.op.name not in ("+", "max", "min"):
        raise refused(f"it reduces by `{r.op.name}`", stage.span)


def covers(index: tuple[Expr, ...], dims: tuple[Dim, ...], b: Buffer) -> bool:
    """Whether these subscripts name each element of the array, by dimensions of its extents."""
    of, used = {d.name: d for d in dims}, set[str]()
    opened = b.open or (None,) * len(b.shape)
    for e, extent, size in zip(index, b.shape, opened, strict=True):
        if isinstance(e, Const) and extent == 1 and size is None:
            continue
        if not isinstance(e, Var) or e.name in used or e.name not in of:
            return False
        d = of[e.name]
        if d.extent != extent or d.open != size:
            return False
        used.add(e.name)
    return True


def _passes(o: Output, t: DType) -> bool:
    """Whether the output is the combined value, converted at most to the type of its array."""
    e = o.value
    if isinstance(e, Cast) and e.dtype.is_float == t.is_float:
        e = e.arg
    return e == Var(component(0), t)


def _converted(e: Expr, t: DType) -> Expr:
    return e if e.dtype == t else Cast(e, t)


def _names(program: Program) -> set[str]:
    taken = {*program.params, *(b.name for b in program.buffers), program.name}
    for s in program.stages:
        taken |= {d.name for d in s.dims}
        taken |= {n.name for e in s.expressions() for n in walk(e) if isinstance(n, Var)}
    return taken


def arrays_read(e: Expr) -> Iterator[str]:
    return (x.buffer for x in loads(e))
