"""Two loops of the C around stages whose iterations depend on their neighbours: wavefronts.

In `for (t …) for (i …) …` of a Gauss-Seidel sweep, row i of sweep t needs row i - 1 of the same sweep and row
i + 1 of the sweep before. So sweep t may be at row w - 2 t when sweep 0 is at row w. All rows of one time w
are independent of one another: they form a wavefront, and units share them. Time goes forward in order.

Source: Lamport, "The parallel execution of DO loops", CACM 17(2), 1974; Wolfe, "Loop skewing: the wavefront
method revisited", International Journal of Parallel Programming 15(4), 1986.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from mdh.ir.dtype import I32
from mdh.ir.expr import Expr, Var, substitute
from mdh.ir.names import fresh
from mdh.ir.program import Dim, DimKind, Output, Program, Result, Stage
from mdh.ir.turns import Turns
from mdh.source import Span


@dataclass(frozen=True, slots=True)
class Rows:
    """Stages number `first` to `last` in one inner loop.

    var: the variable of the loop of the program that it is, or the name of the dimension of the only stage.
    trips: its iterations. shift: the time of its first iteration in turn 0 of the outer loop.
    """

    first: int
    last: int
    var: str
    trips: int
    shift: int


@dataclass(frozen=True, slots=True)
class Wavefronts:
    """A loop of the program and the loops directly inside of it, all of which have one counter in the C.

    name: in schedules. counters: C's, the outer one first. outer: the variable of the loop of the program.
    trips: its turns. rows: the inner loops, which have all stages of a turn, in their order. factor: the
    least for which iteration n of an inner loop, in turn t, may run at the time factor * t + n + shift.
    """

    name: str
    counters: tuple[str, str]
    outer: str
    trips: int
    rows: tuple[Rows, ...]
    factor: int
    span: Span | None = field(default=None, compare=False, repr=False)

    @property
    def first(self) -> int:
        return self.rows[0].first

    @property
    def last(self) -> int:
        return self.rows[-1].last

    def times(self, factor: int, turns: int) -> int:
        """How many times there are in so many turns of the outer loop."""
        return factor * (turns - 1) + max(r.trips + r.shift for r in self.rows)


def in_rows(program: Program, fronts: Sequence[Wavefronts]) -> tuple[Program, tuple[Wavefronts, ...]]:
    """The program in which all loops of the wavefronts are loops of the program: a stage with the inner loop
    as a dimension has a turn for each of its iterations instead. That is the same, whatever its dependences
    are, since points of a stage run in any order."""
    taken = {*program.params, *(b.name for b in program.buffers), *program.turns}
    taken |= {d.name for s in program.stages for d in s.dims}
    stages, loops = list(program.stages), list(program.loops)
    out: list[Wavefronts] = []
    for w in fronts:
        rows: list[Rows] = []
        for r in w.rows:
            if r.var in program.turns:
                rows.append(r)
                continue
            assert r.first == r.last, "a dimension is one stage's"
            var = fresh(f"{w.counters[1]}_turn", taken)
            stages[r.first], dim = _turned(stages[r.first], r.var, var, taken)
            loops.append(
                Turns(w.counters[1], var, dim.extent, r.first, r.last, dim.start, dim.step, dim.span)
            )
            rows.append(replace(r, var=var))
        out.append(replace(w, rows=tuple(rows)))
    if tuple(stages) == program.stages:
        return program, tuple(out)
    # outer loops come first; a new one is inside of those around its stage
    order = sorted(loops, key=lambda x: (x.first, -x.last))
    return replace(program, stages=tuple(stages), loops=tuple(order), statements=()), tuple(out)


def _turned(stage: Stage, name: str, var: str, taken: set[str]) -> tuple[Stage, Dim]:
    """The stage in one turn of what was its dimension `name`, and that dimension."""
    dim = next(d for d in stage.dims if d.name == name)
    values: dict[str, Expr] = {name: Var(var, I32)}

    def new(e: Expr) -> Expr:
        return substitute(e, values)

    def output(o: Output) -> Output:
        return replace(o, index=tuple(map(new, o.index)), value=new(o.value))

    def result(r: Result) -> Result:
        starts = tuple(None if s is None else new(s) for s in r.starts)
        outputs = tuple(map(output, r.outputs))
        return replace(r, values=tuple(map(new, r.values)), starts=starts, outputs=outputs)

    dims = tuple(d for d in stage.dims if d is not dim)
    if not dims:
        dims = (Dim(fresh("one", taken), 1, DimKind.CC),)
    lets = tuple(replace(x, value=new(x.value)) for x in stage.lets)
    return replace(stage, dims=dims, lets=lets, results=tuple(map(result, stage.results))), dim


@dataclass(frozen=True, slots=True)
class FrontPlan:
    """Wavefronts as a schedule says them, of the program that has their loops as its own (`in_rows`).

    first, last: the numbers of the stages among those with kernels. factor: the time of iteration n in turn t
    is factor * t + n + shift. band: turns of the outer loop that run together; bands run one after another.
    part: how many of these one unit has. blocks, threads: the units of a band, threads in each block.

    strips: a further dimension of all stages, whose iteration n in turn t is at the place factor * t + n +
    shift. It runs in strips of `strip` places, one after another, each with all wavefronts of the band. No
    dependence goes to an earlier place. So a strip is as narrow as the caches ask for, and what it leaves at
    its edge the next one finds there.
    """

    fronts: Wavefronts
    factor: int
    band: int
    part: int
    blocks: int
    threads: int = 1
    strips: Wavefronts | None = None
    strip: int = 0

    @property
    def first(self) -> int:
        return self.fronts.first

    @property
    def last(self) -> int:
        return self.fronts.last

    @property
    def bands(self) -> int:
        return -(-self.fronts.trips // self.band)

    @property
    def times(self) -> int:
        """Wavefronts of a band."""
        return self.fronts.times(self.factor, self.band)

    @property
    def strip_count(self) -> int:
        """Strips of a band."""
        if self.strips is None:
            return 1
        return -(-self.strips.times(self.strips.factor, self.band) // self.strip)

    @property
    def launches(self) -> int:
        """How many wavefronts there are."""
        return self.bands * self.strip_count * self.times

    @property
    def turns(self) -> frozenset[str]:
        """The variables of the loops that wavefronts take the place of."""
        along = () if self.strips is None else self.strips.rows
        return frozenset({self.fronts.outer, *(r.var for r in (*self.fronts.rows, *along))})


def inner_loops(program: Program, first: int, last: int, outer: frozenset[str]) -> Iterator[Turns]:
    """The loops around some of the stages number `first` to `last`, but for those of `outer`."""
    return (x for x in program.loops if first <= x.first and x.last <= last and x.var not in outer)
