"""S159, K138: pairs of loops that run as wavefronts (`loop NAME( t, i ) { … }`), and the stages in them.

The steps of such a section split the turns of the outer loop: into bands, which run one after another, and
over units, which share those of a band. The inner loop is skewed: `@skew(t, n)` adds n t to its time, and
each of its iterations becomes a turn of its own. So the stages inside have neither counter among their
dimensions, and one unit runs a whole stage for one turn of both.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

from mdh.checker.holes import unbound_holes
from mdh.checker.inlining import Staged
from mdh.checker.options import argument, no_effect
from mdh.checker.parallel_loops import Shared
from mdh.checker.strips import CODE, SKEW, strips_in, wrong
from mdh.checker.subject import at, listed, nearest
from mdh.diagnostics import Diagnostic, Failed, labels_at
from mdh.hardware import Layer, Space
from mdh.ir.expr import Var
from mdh.ir.parallel_loop import LoopPlan
from mdh.ir.plan import Plan, StagePlan
from mdh.ir.program import DimKind, Program, Result
from mdh.ir.turns import MOST_TURNS
from mdh.ir.wavefronts import FrontPlan, Rows, Wavefronts, in_rows
from mdh.machine import Machine
from mdh.poly.wavefronts import crossing, wavefronts
from mdh.schedule.canonical import canonical_section
from mdh.schedule.model import (
    Beside,
    Caret,
    Core,
    ForEntry,
    Hole,
    Library,
    Schedule,
    Section,
    Step,
    Unit,
    Within,
)

NAME, FEW = "S159", "K137"


@dataclass(frozen=True)
class Skewed:
    """Wavefronts that a schedule has a section of."""

    plan: FrontPlan
    section: Section
    stages: tuple[str, ...]

    @property
    def said(self) -> Section:
        """The section without what is no part of the schedule."""
        steps = tuple(replace(s, comments=(), remark="") for s in self.section.steps)
        return canonical_section(replace(self.section, steps=steps, comments=()))


def is_skewed(section: Section) -> bool:
    """Whether the section of a loop is one of wavefronts: it has two counters."""
    return len(section.counters) > 1


def skewed_stages(program: Program, schedule: Schedule | None) -> set[str | None]:
    """The stages of wavefronts that the schedule has sections of."""
    names = set() if schedule is None else {str(s.name) for s in schedule.loops if is_skewed(s)}
    found = wavefronts(program) if names else ()
    return {s.name for w in found if w.name in names for s in program.stages[w.first : w.last + 1]}


def skewed_loops(
    program: Program, schedule: Schedule, default: Schedule | None, machine: Machine
) -> tuple[Skewed, ...]:
    """The wavefronts that the schedule has sections of, or the default one, where the schedule names none of
    their stages. program: of the stages that have kernels. Raises Failed. S159: there are no such loops.
    S154: a hole is open. K138: its steps are none of wavefronts. K110: an attribute has no effect."""
    wanted = [s for s in schedule.loops if is_skewed(s)]
    spare = [] if default is None else [s for s in default.loops if is_skewed(s)]
    if not wanted and not spare:
        return ()
    known = {w.name: w for w in wavefronts(program)}
    found: list[Diagnostic] = []
    out: dict[str, Skewed] = {}
    for section in wanted:
        w = known.get(str(section.name))
        problems = list(_unknown(section, known) if w is None else unbound_holes(section))
        read = None if problems or w is None else plan_of(program, w, section, machine)
        if isinstance(read, FrontPlan):
            out[str(section.name)] = _skewed(program, read, section)
        found += problems if read is None or isinstance(read, FrontPlan) else [read]
    if found:
        raise Failed(*found)
    given = {s.name for s in schedule.sections if not s.derived}
    inside = {name for x in out.values() for name in x.stages}
    for section in spare:
        w = known.get(str(section.name))
        read = None if w is None or w.name in out else plan_of(program, w, section, machine)
        if isinstance(read, FrontPlan):
            one = _skewed(program, read, section)
            if None not in given and given.isdisjoint(one.stages) and inside.isdisjoint(one.stages):
                out[str(section.name)] = one
    return tuple(x for name in known if (x := out.get(name)) is not None)


def _skewed(program: Program, plan: FrontPlan, section: Section) -> Skewed:
    names = tuple(s.name for s in program.stages[plan.first : plan.last + 1])
    return Skewed(plan, section, names)


def in_turns(
    whole: Staged, schedule: Schedule, default: Schedule | None, machine: Machine
) -> tuple[Staged, tuple[Skewed, ...]]:
    """The stages as those of wavefronts see them, with both loops around them. Raises Failed as
    `skewed_loops` does."""
    found = skewed_loops(whole.program, schedule, default, machine)
    if not found:
        return whole, ()
    program, fronts = turned(whole.program, found)
    stages = {s.name: s for s in program.stages}
    kernels = tuple((stages[s.name], section) for s, section in whole.kernels)
    return replace(whole, program=program, kernels=kernels), fronts


def turned(program: Program, found: Sequence[Skewed]) -> tuple[Program, tuple[Skewed, ...]]:
    """The program that has all loops of the wavefronts as its own, and the wavefronts of that."""
    program, fronts = in_rows(program, [x.plan.fronts for x in found])
    program, strips = in_rows(program, [x.plan.strips for x in found if x.plan.strips is not None])
    along = iter(strips)
    changed = []
    for x, w in zip(found, fronts, strict=True):
        mine = None if x.plan.strips is None else next(along)
        changed.append(replace(x, plan=replace(x.plan, fronts=w, strips=mine)))
    return program, tuple(changed)


def _unknown(section: Section, known: Mapping[str, Wavefronts]) -> Iterator[Diagnostic]:
    name = str(section.name)
    headline = f"the program has no loops `{name[:60]}` that can run as wavefronts"
    loops = ", ".join(f"`loop {w.name}( {', '.join(w.counters)} )`" for w in known.values())
    hint = f"{nearest(name, known)} its loops: {loops}".strip()
    if not known:
        hint = "leave the section out: no two loops of it depend on neighbours alone"
    yield Diagnostic(NAME, headline, at(section.span), help=hint)


def plan_of(program: Program, w: Wavefronts, section: Section, machine: Machine) -> FrontPlan | Diagnostic:
    """The wavefronts as the steps of a section say them, or what is wrong with these."""
    if section.counters[:2] != w.counters or len(section.counters) > 3:
        headline = f"the counters of loop `{w.name}` are {listed(w.counters)}, not {listed(section.counters)}"
        hint = f"write `loop {w.name}( {', '.join(w.counters)} )`"
        return Diagnostic(NAME, headline, at(section.span), help=hint)
    along = strips_in(program, w, section)
    if isinstance(along, Diagnostic):
        return along
    found = _StepReader(w, along.rest).read()
    if isinstance(found, Diagnostic):
        return found
    found = replace(found, strips=along.strips, strip=along.tile)
    if machine.kind == "cpu":
        # the threads of a group are loops
        found = replace(found, part=found.part * found.threads, threads=1)
    if found.threads > machine.threads_per_block:
        headline = f"{found.threads} threads in a block, more than {machine.threads_per_block}"
        return wrong(w, section.steps[-1], headline, "give more of its parts to BLK")
    return _in_order(program, found, section) or found


class _StepReader:
    """Reads the steps of a section from outside in."""

    def __init__(self, w: Wavefronts, section: Section) -> None:
        self.w, self.section = w, section
        self.form = f"(de-)comp( n, 1 ) ( BLK.x, FOR.1@skew({w.counters[0]}, {w.factor}) )"

    def read(self) -> FrontPlan | Diagnostic:
        w, size = self.w, self.w.trips
        band, factor, blocks, threads = size, 0, 1, 1
        for s in self.section.steps:
            problem = self._shape(s, size) or self._attributes(s, skewed=factor > 0)
            if problem is not None:
                return problem
            (tile, _), (core, inner) = s.tiles, s.cores
            parent, size = size, tile.value if isinstance(tile.value, int) else size
            parts = -(-parent // size)
            unit = core.value
            if not factor and isinstance(inner.value, Caret):
                if isinstance(unit, Unit) or band < w.trips:
                    hint = "it splits the outer loop alone: (de-)comp( 16, ^ ) ( FOR.1, ^ )"
                    return wrong(w, s, "a step before the one with `@skew` makes no bands", hint)
                band = size
                continue
            if not factor:
                factor = self._factor(inner)
            if isinstance(unit, Unit) and unit.layer is Layer.BLK and threads == 1:
                blocks *= parts
            elif isinstance(unit, Unit) and unit.layer is Layer.THR:
                threads *= parts
            elif parts > 1:
                return wrong(w, s, "it gives turns of a band to no units", "write `BLK.x`, then `THR.x`")
        if not factor:
            return wrong(w, self.section, "no step skews the inner loop", f"write {self.form}")
        return FrontPlan(w, factor, band, size, blocks, threads)

    def _shape(self, s: Step, size: int) -> Diagnostic | None:
        if (len(s.tiles), len(s.cores)) != (2, 2):
            return wrong(self.w, s, "a step needs two entries in each group", "it has two counters")
        (tile, other), (core, inner) = s.tiles, s.cores
        if isinstance(tile.value, int) and tile.value > size:
            what = f"tile {tile.value} is larger than the {size} turns above it"
            return wrong(self.w, s, what, f"write at most {size}")
        if isinstance(core.value, Unit) and core.value.layer not in (Layer.BLK, Layer.THR):
            return wrong(self.w, s, f"it gives turns to {core.value.layer}", "write `BLK.x`, then `THR.x`")
        if isinstance(inner.value, Unit | Hole) or isinstance(core.value, Hole):
            return wrong(self.w, s, "the inner loop is its time, which no units share", f"write {self.form}")
        wanted = 1 if isinstance(inner.value, ForEntry) else Caret()
        if other.value not in (wanted, 1):
            return wrong(self.w, s, "the inner loop runs one iteration at a time", f"write {self.form}")
        return None

    def _attributes(self, s: Step, *, skewed: bool) -> Diagnostic | None:
        inner = s.cores[1]
        if skewed and isinstance(inner.value, ForEntry):
            return wrong(self.w, s, "the inner loop is skewed twice", "write `^` in further steps")
        own = [a for a in inner.attrs if a.name == SKEW and isinstance(inner.value, ForEntry)]
        every = [*(a for t in s.tiles for a in t.attrs), *(a for c in s.cores for a in c.attrs)]
        for attr in (*every, *s.attrs):
            if attr not in own:
                return no_effect(attr, "a step of these loops")
        if isinstance(inner.value, ForEntry) and not own:
            return wrong(self.w, s, "the inner loop lacks `@skew`", f"write {self.form}")
        said = argument(own[0]) if own else None
        if said is not None and said.value != self.w.counters[0]:
            what = f"`@skew({said.value})` does not name its outer counter"
            headline = f"loop `{self.w.name}`: {what}"
            return Diagnostic(CODE, headline, at(own[0].span), help=f"write {self.form}")
        return None

    @staticmethod
    def _factor(inner: Core) -> int:
        (attr,) = inner.attrs
        return next((a.value for a in attr.args[1:] if isinstance(a.value, int)), 1)


def _in_order(program: Program, found: FrontPlan, section: Section) -> Diagnostic | None:
    """K138. The times keep every dependence."""
    w = found.fronts
    if found.factor == w.factor:
        return None
    met = crossing(program, w, found.factor)
    if met is None:
        return None
    step = next(s for s in section.steps if s.cores[1].attrs)
    outer, inner = w.counters
    (t, i), (u, k) = met.first, met.second
    headline = f"loop `{w.name}`: with `@skew({outer}, {found.factor})` its times do not keep a dependence"
    said = (
        f"iteration {k} of turn {u} depends on iteration {i} of turn {t} by `{met.buffer}`, but its time "
        f"is {met.times[1]}, and that of the other one {met.times[0]}"
    )
    span = step.cores[1].span or step.span
    witness = ((outer, t), (inner, i), (f"{outer}'", u), (f"{inner}'", k))
    hint = f"write `@skew({outer}, {w.factor})`: {said}"
    return Diagnostic(CODE, headline, at(span), help=hint, witness=witness)


def demand_alone(found: Sequence[Skewed], loops: Sequence[Shared], sections: Mapping[str, Section]) -> None:
    """Raises Failed K138 if a stage of wavefronts is in a loop that units share, or is computed in another
    stage, or computes one. loops: those that units share. sections: by stage."""
    out: list[Diagnostic] = []
    inside = {name: x for x in found for name in x.stages}
    for x in found:
        if any(not set(x.stages).isdisjoint(loop.loop.stages) for loop in loops):
            headline = f"loop `{x.section.name}`: another section shares a loop of its stages"
            out.append(Diagnostic(CODE, headline, at(x.section.span), help="leave one of the two out"))
    for name, section in sections.items():
        how = section.how
        if isinstance(how, Within) and (name in inside or how.reader in inside):
            one = inside.get(name) or inside[how.reader]
            headline = f"stage `{name}` is computed in `{how.reader}`, in loop `{one.section.name}`"
            out.append(Diagnostic(CODE, headline, at(how.span), help="leave `in` out, or the section"))
        if isinstance(how, Beside) and (name in inside or how.host in inside):
            one = inside.get(name) or inside[how.host]
            headline = f"stage `{name}` shares a launch, and loop `{one.section.name}` is one kernel"
            out.append(Diagnostic(CODE, headline, at(how.span), help="leave `beside` out, or the section"))
        if isinstance(how, Library) and name in inside:
            headline = f"stage `{name}` is a call, and loop `{inside[name].section.name}` is one kernel"
            out.append(Diagnostic(CODE, headline, at(how.span), help="leave `library` out, or the section"))
    if out:
        raise Failed(*out)


def front_plans(program: Program, computed: Program, found: Sequence[Skewed]) -> tuple[FrontPlan, ...]:
    """program: whose stages the wavefronts number. computed: without those inside of others."""
    names = [s.name for s in computed.stages]
    place = {n: names.index(s.name) for n, s in enumerate(program.stages) if s.name in names}
    out = []
    for x in found:
        placed, along = (
            None if y is None else replace(y, rows=tuple(_renumbered(r, place) for r in y.rows))
            for y in (x.plan.fronts, x.plan.strips)
        )
        assert placed is not None
        out.append(replace(x.plan, fronts=placed, strips=along))
    return tuple(sorted(out, key=lambda x: x.first))


def _renumbered(r: Rows, place: Mapping[int, int]) -> Rows:
    return replace(r, first=place[r.first], last=place[r.last])


def with_few_launches(plan: Plan) -> Plan:
    """The plan. Raises Failed K137 if the turns of the loops around some kernel are too many to launch it in
    each. Only loops around single points have so many, which wavefronts make few."""
    joined: list[LoopPlan | FrontPlan] = [*plan.loops, *plan.fronts]
    inside = {n for x in joined for n in range(x.first, x.last + 1)}
    for n, stage in enumerate(plan.computed.stages):
        around = [x for x in plan.computed.loops if x.first <= n <= x.last]
        count = prod(x.trips for x in around)
        if n not in inside and count > MOST_TURNS:
            headline = f"a kernel of stage `{stage.name}` would be launched {count:,} times"
            known = wavefronts(plan.computed)
            form = ", ".join(f"`loop {w.name}( {', '.join(w.counters)} ) {{ … }}`" for w in known)
            hint = f"give its loops a section: {form}" if known else "make the loops around it shorter"
            raise Failed(Diagnostic(FEW, headline, labels_at(around[0].span), help=hint))
    return plan


def alone_in_front(found: Sequence[Skewed], plan: StagePlan, machine: Machine) -> Iterator[Diagnostic]:
    """K138. One unit runs a stage of wavefronts for a turn: its steps have no units besides the lanes of
    vectors, it stages nothing in memory that units of a GPU share, and no partial results in device memory,
    which other units would use at the same time."""
    x = next((x for x in found if plan.stage.name in x.stages), None)
    if x is None:
        return
    why = f"in loop `{x.section.name}` one unit runs a turn of stage `{plan.stage.name}`"
    for step in plan.steps:
        for split in step.splits:
            if split.layer not in (None, Layer.VEC) and split.parts > 1:
                headline = f"{why}, whose step gives parts to {split.layer}"
                hint = "write `^`: a loop; the steps of the loop around it say which units there are"
                yield Diagnostic(CODE, headline, at(split.span or step.span), help=hint)
        entries = [(s.buffer, s.region, s.span) for s in step.stagings]
        entries += [(h.buffer, h.region, h.span) for h in step.holdings if h.region is not None]
        for buffer, region, span in entries:
            if region is Space.SM and machine.kind != "cpu":
                headline = f"{why}, and `{buffer}:SM` would be one for all units of a block"
                yield Diagnostic(CODE, headline, at(span or step.span), help=f"hold it in {Space.RM}, or `^`")
    if plan.atoms is not None:
        yield Diagnostic(CODE, f"{why}, which has no warps", at(plan.steps[plan.atoms].span), help="no MMA")
    if any(_unfinished(plan.program, r) and not _held(plan, r) for r in plan.stage.results):
        headline = f"{why}, whose unfinished results would lie in memory that all units share"
        hint = f"hold its output in {Space.RM}, at or above the step that splits the reduction"
        yield Diagnostic(CODE, headline, at(x.section.span), help=hint)


def _unfinished(program: Program, r: Result) -> bool:
    """Whether the outputs of a result cannot hold what it has combined so far."""
    if r.op is None:
        return False
    types = [program.buffer_of[o.buffer].dtype for o in r.outputs]
    plain = all(isinstance(o.value, Var) for o in r.outputs)
    return len(types) > 1 or len(r.types) > 1 or types[0] != r.types[0] or not plain


def _held(plan: StagePlan, r: Result) -> bool:
    """Whether registers hold what a result has combined, outside of all loops over the reduction."""
    reduced = [d for d, dim in enumerate(plan.stage.dims) if dim.kind is DimKind.PW]
    for n in plan.code_order:
        step = plan.steps[n]
        if any(h.region is Space.RM and h.buffer == r.outputs[0].buffer for h in step.holdings):
            return True
        if any(step.splits[d].parts > 1 for d in reduced):
            return False
    return True
