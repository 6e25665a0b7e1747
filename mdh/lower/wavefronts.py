"""Wavefronts (`ir.wavefronts`): the kernels of all stages of two loops become one, which is launched for each
time.

A unit has some turns of the outer loop. At each time it runs one iteration of the inner loop for each of its
turns, if there is one. These do not depend on one another. So where an iteration is itself a loop over single
points, each of which awaits the one before it, that loop is around all turns of the unit: the points of one
turn then run while those of others wait for the processor. This is what hides the latency of a chain.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import prod

from mdh.ir.affine import Affine, to_expr
from mdh.ir.construct import ZERO, add, at_least, conjunction, less, mul, num, scaled, shifted, sub
from mdh.ir.dtype import I32
from mdh.ir.expr import Call, Expr, Var, substitute
from mdh.ir.intrinsic import Intrinsic
from mdh.ir.kernel import For, If, Kernel, Let, Stmt
from mdh.ir.names import fresh
from mdh.ir.plan import Plan
from mdh.ir.turns import Turns
from mdh.ir.walk import statements, substitute_in
from mdh.ir.wavefronts import FrontPlan, Rows
from mdh.lower.one_kernel import arrays_of, own_names
from mdh.lower.parallel_loop import in_turns

FEW = 4
"""Points of a stage in one turn of the loops inside that count as single ones."""
MOST_SIDE_BY_SIDE = 32
"""Turns whose points are written out one after another."""
Bodies = Sequence[tuple[Stmt, ...]]


def in_wavefronts(
    plan: Plan, front: FrontPlan, name: str, kernels: Sequence[Sequence[Kernel]]
) -> tuple[Kernel, tuple[Turns, ...]]:
    """The kernel of all stages of the loops at one time, and the loops that launch it: over bands, if there
    are several, and over times. kernels: those of each stage."""
    assert all(len(k) == 1 for k in kernels), "no units of a stage have parts to combine"
    each = [k for (k,) in kernels]
    assert all(prod((*k.launch.grid, *k.launch.block)) == 1 for k in each), "a unit runs a stage alone"
    first, program = each[0], plan.computed
    inside = _inside(program.loops, front)
    counters = front.turns | {x.var for x in inside}
    buffers, constants = arrays_of(each)
    own = [x for x in program.loops if x.var in counters]
    used = {n for k in each for n, _ in k.scalars} | {n for x in own for f in x.where for n in f.names}
    scalars = [(s.name, s.dtype) for s in program.numbers if s.name in used - counters]
    taken = {*program.params, *program.buffer_of, *program.turns, *(b.name for b in (*buffers, *constants))}
    taken |= {d.name for s in program.stages for d in s.dims}
    launches = _launches(front, taken)
    names = {b.name for b in (*buffers, *constants)} | {n for n, _ in scalars} | counters
    names |= {x.var for x in launches}
    body = _Unit(plan, front, each, inside, [x.var for x in launches], names).body()
    known = dict.fromkeys(s for k in each for s in k.launch.sizes if s[0] not in counters)
    sizes = (*known, *((x.var, 0, x.trips - 1) for x in launches))
    where = tuple(dict.fromkeys(f for k in each for f in k.launch.where if not f.names & counters))
    launch = replace(
        first.launch, grid=(front.blocks, 1, 1), block=(front.threads, 1, 1), sizes=sizes, where=where,
        early=False, steady=front.blocks > 1,
    )  # fmt: skip
    kernel = replace(
        first, name=name, buffers=buffers, constants=constants, launch=launch, body=tuple(body),
        scalars=(*scalars, *((x.var, I32) for x in launches)),
    )  # fmt: skip
    return kernel, launches


def around_wavefronts(
    loops: Sequence[Turns], front: FrontPlan, launches: Sequence[Turns], first: int, last: int
) -> tuple[Turns, ...]:
    """The loops around what is left when launches number `first` to `last`, those of the stages of the
    wavefronts, are one kernel."""

    def place(n: int) -> int:
        return n if n < first else max(first, n - (last - first))

    gone = front.turns | {x.var for x in _inside(loops, front)}
    outside = [replace(x, first=place(x.first), last=place(x.last)) for x in loops if x.var not in gone]
    own = [replace(x, first=first, last=first) for x in launches]
    return tuple(sorted((*outside, *own), key=lambda x: (x.first, -x.last)))


def _launches(front: FrontPlan, taken: set[str]) -> tuple[Turns, ...]:
    w, n = front.fronts, front.first
    times = Turns(w.name, fresh(f"{w.name}_time", taken), front.times, n, n, span=w.span)
    out = [times]
    if front.strips is not None:
        name = front.strips.counters[1]
        out.insert(0, Turns(name, fresh(f"{name}_strip", taken), front.strip_count, n, n, span=w.span))
    if front.bands > 1:
        out.insert(0, Turns(w.name, fresh(f"{w.name}_band", taken), front.bands, n, n, span=w.span))
    return tuple(out)


def _inside(loops: Sequence[Turns], front: FrontPlan) -> tuple[Turns, ...]:
    """The loops inside of the inner ones."""
    found = []
    for n, x in enumerate(loops):
        around = {y.var for y in loops[:n] if y.first <= x.first and x.last <= y.last}
        if x.var not in front.turns and front.fronts.outer in around:
            found.append(x)
    return tuple(found)


@dataclass
class _Unit:
    """What one unit does at one time. inside: loops inside of the inner ones. launched: the variables of the
    loops around the launches, the band's first if there are several. names: in use; receives new ones."""

    plan: Plan
    front: FrontPlan
    kernels: Sequence[Kernel]
    inside: Sequence[Turns]
    launched: Sequence[str]
    names: set[str]

    def body(self) -> list[Stmt]:
        front = self.front
        bodies = [own_names(k, self.names) for k in self.kernels]
        unit: Expr = ZERO
        if front.blocks > 1:
            unit = Call(Intrinsic.BLOCK_ID, (ZERO,), I32)
        if front.threads > 1:
            thread = Call(Intrinsic.THREAD_ID, (ZERO,), I32)
            unit = add(mul(unit, front.threads), thread) if front.blocks > 1 else thread
        first = fresh(f"{front.fronts.outer}_first", self.names)
        out: list[Stmt] = [Let(first, scaled(unit, front.part))]
        together = [self._side_by_side(r, bodies) for r in front.fronts.rows]
        if any(together):
            for r, wide in zip(front.fronts.rows, together, strict=True):
                out += self._wide(r, bodies, Var(first)) if wide else self._each([r], bodies, Var(first))
            return out
        return [*out, *self._each(front.fronts.rows, bodies, Var(first))]

    def _side_by_side(self, r: Rows, bodies: Bodies) -> bool:
        """Whether an iteration is a loop over single points."""
        if not 1 < self.front.part <= MOST_SIDE_BY_SIDE or not self._loops_of(r):
            return False
        stages = self.plan.computed.stages[r.first : r.last + 1]
        single = all(prod(d.extent for d in s.dims) <= FEW for s in stages)
        plain = not any(isinstance(s, For) for n in _numbers(self.front, r) for s in statements(bodies[n]))
        # turns of which one has fewer points than another are not side by side
        alike = all(not f.names & self.front.turns for x in self._loops_of(r) for f in x.where)
        return single and plain and alike

    def _loops_of(self, r: Rows) -> list[Turns]:
        return [x for x in self.inside if r.first <= x.first and x.last <= r.last]

    def _nest(self, r: Rows, bodies: Bodies) -> list[Stmt]:
        """One iteration of the inner loop."""
        shift = self.front.first
        loops = [replace(x, first=x.first - shift, last=x.last - shift) for x in self._loops_of(r)]
        return in_turns(loops, bodies, r.first - shift, r.last - shift)

    def _each(self, rows: Sequence[Rows], bodies: Bodies, first: Expr) -> list[Stmt]:
        """One turn after another."""
        turn = fresh(f"{self.front.fronts.outer}_local", self.names)
        local = add(first, Var(turn)) if self.front.part > 1 else first
        out: list[Stmt] = [Let(self.front.fronts.outer, self._turn(local))]
        for r in rows:
            out.append(Let(r.var, self._iteration(r, local)))
            cond = conjunction(self._inside_of(r, local))
            nest = self._along(r, self._nest(r, bodies), local)
            out += nest if cond is None else [If(cond, tuple(nest))]
        if self.front.part == 1:
            return out
        return [For(turn, ZERO, num(self.front.part), num(1), tuple(out))]

    def _along(self, r: Rows, body: list[Stmt], local: Expr) -> list[Stmt]:
        """The iteration's part in this strip."""
        strips = self.front.strips
        if strips is None:
            return body
        (row,) = (x for x in strips.rows if x.first == r.first)
        strip = Var(self.launched[-2])
        place = sub(scaled(strip, self.front.strip), scaled(local, strips.factor))
        low = shifted(place, -row.shift)
        first = Call(Intrinsic.IMAX, (ZERO, low), I32)
        end = Call(Intrinsic.IMIN, (num(row.trips), shifted(low, self.front.strip)), I32)
        return [For(row.var, first, end, num(1), tuple(body))]

    def _wide(self, r: Rows, bodies: Bodies, first: Expr) -> list[Stmt]:
        """Points of all turns of the unit side by side, if all have this iteration."""
        part, w = self.front.part, self.front.fronts
        turn, at = fresh(f"{w.outer}_0", self.names), fresh(f"{r.var}_0", self.names)
        out: list[Stmt] = [Let(turn, self._turn(first)), Let(at, self._iteration(r, first))]
        copies = list(bodies)
        for n in _numbers(self.front, r):
            each = (self._copy(n, r, Var(turn), Var(at), k) for k in range(part))
            copies[n] = tuple(s for copy in each for s in copy)
        ends = [c for k in (0, part - 1) for c in self._inside_of(r, shifted(first, k))]
        cond = conjunction(list(dict.fromkeys(ends)))
        wide = tuple(self._nest(r, copies))
        if cond is None:
            return [*out, *wide]
        return [*out, If(cond, wide, tuple(self._each([r], bodies, first)))]

    def _copy(self, n: int, r: Rows, turn: Expr, at: Expr, k: int) -> tuple[Stmt, ...]:
        """The body of stage number n for turn number k of the unit."""
        values: dict[str, Expr] = {
            self.front.fronts.outer: shifted(turn, k), r.var: shifted(at, -self.front.factor * k)
        }  # fmt: skip
        note, *body = own_names(self.kernels[n], self.names)
        return (*(() if k else (note,)), *substitute_in(tuple(body), values))

    def _turn(self, local: Expr) -> Expr:
        """The number of a turn, from that in its band."""
        if self.front.bands == 1:
            return local
        return add(mul(Var(self.launched[0]), self.front.band), local)

    def _iteration(self, r: Rows, local: Expr) -> Expr:
        """The iteration that a turn of the band runs at this time."""
        return shifted(sub(Var(self.launched[-1]), scaled(local, self.front.factor)), -r.shift)

    def _inside_of(self, r: Rows, local: Expr) -> list[Expr]:
        """What holds if a turn of the band has an iteration at this time."""
        front, w = self.front, self.front.fronts
        out: list[Expr] = []
        if front.blocks * front.threads * front.part > front.band:
            out.append(less(local, front.band))
        if front.bands * front.band > w.trips:
            out.append(less(self._turn(local), w.trips))
        at = self._iteration(r, local)
        out += [at_least(at, 0), less(at, r.trips)]
        values = {w.outer: self._turn(local), r.var: at}
        around = (x for x in self.plan.computed.loops if x.var in (w.outer, r.var))
        conds: Iterator[Affine] = (f for x in around for f in x.where)
        return [*out, *(substitute(at_least(to_expr(f), 0), values) for f in conds)]


def _numbers(front: FrontPlan, r: Rows) -> range:
    """Of the stages of an inner loop, among those of the wavefronts."""
    return range(r.first - front.first, r.last - front.first + 1)
