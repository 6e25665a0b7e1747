"""K123, K124: where a stage can be computed inside of its reader, and what may lie between."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from mdh.checker.online import readers_of
from mdh.checker.subject import Draft, at, listed
from mdh.decompose.accesses import access_groups
from mdh.diagnostics import Diagnostic
from mdh.hardware import THREADED, CacheHint, Combine, Engine, Layer, Space
from mdh.ir.expr import Load, loads
from mdh.ir.plan import StagePlan, Staging
from mdh.ir.program import DimKind, Program, Result, Stage
from mdh.ir.tile import Copy, Hold, nested
from mdh.schedule.model import Library, Section, Unit, Within

PLACE, ORDER = "K123", "K124"
GRID_WIDE = {Combine.KERNEL, Combine.ATOMIC, Combine.TICKET, Combine.CLUSTER, Combine.STREAM}


@dataclass(frozen=True)
class Inner:
    """A stage with the step of its reader at which it is computed. draft: of the reader. fused:
    whether the reader fuses dimensions."""

    stage: Stage
    section: Section
    how: Within
    draft: Draft
    reader: StagePlan
    fused: bool = False

    @property
    def outputs(self) -> tuple[str, ...]:
        """The arrays that it fills tiles of the reader of."""
        written = dict.fromkeys(o.buffer for r in self.stage.results for o in r.outputs)
        return tuple(b for b in written if b not in self.stage.aside)

    @property
    def beside(self) -> tuple[str, ...]:
        """The arrays of a pass that lie beside these."""
        return () if self.stage.carried is None else self.stage.carried.arrays[1:]

    @property
    def step(self) -> int | None:
        """Index of the reader's step."""
        written = range(len(self.draft.splitting))
        return next((s for s in written if self.reader.steps[s].label == self.how.step), None)

    def staging(self, buffer: str) -> Staging | None:
        s = self.step
        found = () if s is None else self.reader.steps[s].stagings
        return next((x for x in found if x.buffer == buffer), None)

    def copies(self, buffer: str) -> tuple[Copy, ...]:
        tiles = self.reader.tiles
        return tuple(c for c in tiles.copies if c.step == self.step and c.tile.buffer == buffer)

    @property
    def space(self) -> Space:
        """Where the results lie. Requires what `misplaced` demands."""
        return self.copies(self.outputs[0])[0].tile.space

    @property
    def known_to_all(self) -> bool:
        """Whether threads share the work on results that each of them then has in its registers."""
        values = (core.value for step in self.section.steps for core in step.cores)
        split = any(isinstance(x, Unit) and x.layer in THREADED for x in values)
        threads = {lv.var for lv in self.reader.tiles.threads}
        axes = (axis for buffer in self.outputs for copy in self.copies(buffer) for axis in copy.tile.axes)
        return split and self.space is Space.RM and not any(axis.low.names & threads for axis in axes)

    def wrong(self, code: str, why: str, help: str, other: Stage | None = None) -> Diagnostic:
        """other: the stage in the way."""
        headline = f"stage `{self.stage.name}` cannot be computed in `{self.how.reader}`: {why}"
        named = () if other is None else at(other.span, f"stage `{other.name}`")
        return Diagnostic(code, headline, (*at(self.how.span), *named), help=help)


def unknown_readers(program: Program, sections: Mapping[str, Section]) -> Iterator[Diagnostic]:
    """K123. The reader of each inner stage is a stage behind it that has a kernel or is an inner one.
    sections: by name."""
    order = [s.name for s in program.stages]
    for name, section in sections.items():
        how = section.how
        if not isinstance(how, Within):
            continue
        stage = next(s for s in program.stages if s.name == name)
        headline = f"stage `{name}` cannot be computed in `{how.reader[:60]}`"
        readers = [s.name for s in program.stages if s.read & stage.written and s.name != name]
        hint = f"stages that read its results: {listed(readers)}" if readers else "leave `in` out"
        if how.reader not in order:
            yield Diagnostic(PLACE, f"{headline}: no such stage has a kernel", at(how.span), help=hint)
        elif order.index(how.reader) <= order.index(name):
            yield Diagnostic(PLACE, f"{headline}: that stage does not come after it", at(how.span), help=hint)
        elif how.reader in sections and isinstance(sections[how.reader].how, Library):
            what = f"{headline}: a library computes that stage, and reads arrays"
            yield Diagnostic(PLACE, what, at(how.span), help="leave `in` out")


def misplaced(inner: Inner) -> Iterator[Diagnostic]:
    """K123. The reader's step stages all results of the stage, each in one box, by copies of threads without
    slots. The stage is a map or a reduction."""
    stage, plan = inner.stage, inner.reader
    if any(d.kind is DimKind.PS for d in stage.dims) or stage.scattered:
        kind = "it scatters its results" if stage.scattered else "it is a prefix sum"
        yield inner.wrong(PLACE, f"{kind}, which needs all of its points", "leave `in` out")
        return
    if any(d.kind is DimKind.PS for d in plan.stage.dims) or plan.stage.scattered:
        yield inner.wrong(PLACE, "its reader is a prefix sum or a histogram", "leave `in` out")
        return
    if inner.draft.program.opens:
        yield inner.wrong(PLACE, "sizes stay open", "bind them: `-D NAME=value`")
        return
    if inner.section.fuses or inner.fused:
        yield inner.wrong(PLACE, "dimensions are fused", "leave `fuse` out of both sections")
        return
    s = inner.step
    for buffer in inner.outputs:
        entry = f"write `{buffer}:SM[…]` at that step"
        if s is None or inner.staging(buffer) is None:
            what = f"step {inner.how.step} of `{inner.how.reader}` does not stage `{buffer}`"
            yield inner.wrong(
                PLACE, what, entry if buffer in plan.stage.read else "name a stage that reads it"
            )
            return
    assert s is not None
    order = plan.code_order
    for buffer in inner.outputs:
        outer = [
            x for x in order[: order.index(s)] if any(g.buffer == buffer for g in plan.steps[x].stagings)
        ]
        if outer:
            what = f"step {plan.steps[outer[0]].label} stages `{buffer}` farther outside"
            yield inner.wrong(
                PLACE, what, f"compute it there: `in {inner.how.reader}:{plan.steps[outer[0]].label}`"
            )
    yield from _unfit_step(inner, s)
    for buffer in inner.outputs:
        yield from _unfit_reads(inner, s, buffer)


def _unfit_step(inner: Inner, s: int) -> Iterator[Diagnostic]:
    plan, step = inner.reader, inner.reader.steps[s]
    if step.stages > 1:
        yield inner.wrong(PLACE, f"step {step.label} has @stages({step.stages})", "leave `@stages` out there")
    if plan.roles is not None or plan.streamed or plan.atoms is not None:
        what = "@roles" if plan.roles else "@combine(stream)" if plan.streamed else str(Layer.MMA)
        yield inner.wrong(PLACE, f"its reader uses {what}", f"a reader without {what}")
    if any(x.engine is Engine.TMA for x in step.stagings):
        yield inner.wrong(PLACE, f"step {step.label} copies with `tma`", "use `@copy(async)` or a plain copy")
    for buffer in inner.outputs:
        staging = inner.staging(buffer)
        assert staging is not None
        copied = staging.engine is not Engine.PLAIN or staging.vec or staging.cache is not CacheHint.DEFAULT
        if copied or staging.window or staging.swizzle:
            what = f"`{buffer}` has attributes of a copy, and nothing is copied"
            yield inner.wrong(PLACE, what, "leave `@copy`, `@window`, `@cache` and `@swizzle` out")
    tiles = plan.tiles
    outside = tiles.order[: tiles.order.index(s)]
    if any(getattr(lv, "layer", None) is Layer.VEC for lv in outside):
        yield inner.wrong(PLACE, f"step {step.label} stands inside of a vector", "name a step outside of VEC")


def _unfit_reads(inner: Inner, s: int, buffer: str) -> Iterator[Diagnostic]:
    """The reader's accesses of an array. Tiles of a pass outlive the step."""
    draft, plan = inner.draft, inner.reader
    groups = [g for g in access_groups(draft.program, plan.stage) if g.buffer == buffer and not g.store]
    if any(g.gather for g in groups):
        yield inner.wrong(PLACE, f"data decide which elements of `{buffer}` are read", "leave `in` out")
    elif len(groups) > 1:
        what = f"`{plan.stage.name}` reads `{buffer}` in {len(groups)} ways, each in a box of its own"
        yield inner.wrong(PLACE, what, "leave `in` out")
    for n, result in enumerate(plan.stage.results if inner.stage.carried is None else ()):
        if result.op is not None and any(x.buffer == buffer for x in _finishing(result)):
            late = _outside(plan, s, n)
            if late:
                what = f"`{plan.stage.name}` reads `{buffer}` when its result is complete, {late}"
                yield inner.wrong(PLACE, what, "name a step outside of the loops that are reduced")


def _finishing(result: Result) -> Iterator[Load]:
    for e in (*(s for s in result.starts if s is not None), *(o.value for o in result.outputs)):
        yield from loads(e)


def _outside(plan: StagePlan, s: int, result: int) -> str:
    """Where a result is finished, if its step's tiles are gone there."""
    if GRID_WIDE & set(plan.combines[result]):
        return "behind the parts of all blocks"
    for hold, _ in nested(plan.tiles.body):
        if isinstance(hold, Hold) and hold.result == result:
            inside = (n for n, _ in nested(hold.body))
            if any(isinstance(n, Copy) and n.step == s for n in inside):
                return f"outside of step {plan.steps[s].label}"
    return ""


def out_of_order(whole: Program, inner: Inner, sections: Mapping[str, Section]) -> Iterator[Diagnostic]:
    """K124. Between the stage's place in the C and its reader's, nothing changes what it reads or writes. Its
    results are arrays of the function's own, which only it writes and only stages behind it read, inside of
    the same step."""
    names = [s.name for s in whole.stages]
    outermost = inner.how.reader
    while isinstance(how := _how(sections, outermost), Within):
        outermost = how.reader
    first, last = names.index(inner.stage.name), names.index(outermost)
    around = [{x.var for x in whole.loops if x.first <= n <= x.last} for n in (first, last)]
    if around[0] != around[1]:
        yield inner.wrong(ORDER, f"loops around `{outermost}` are not around it", "leave `in` out")
    for buffer in (*inner.outputs, *inner.beside):
        if not whole.buffer_of[buffer].temp:
            what = f"`{buffer}` is an argument of the function, and is needed in device memory"
            yield inner.wrong(ORDER, what, "leave `in` out")
        for other in whole.stages:
            if other.name != inner.stage.name and buffer in other.written:
                what = f"stage `{other.name}` writes `{buffer}`, too"
                yield inner.wrong(ORDER, what, "leave `in` out", other)
            elif (
                other.name != inner.stage.name
                and buffer in other.read
                and not _served_there(whole, inner, other, sections)
            ):
                at_step = f"step {inner.how.step} of `{inner.how.reader}`"
                what = f"stage `{other.name}` reads `{buffer}` outside of {at_step}"
                hint = f"compute `{other.name}` there, too, or leave `in` out"
                yield inner.wrong(ORDER, what, hint, other)
    own = [] if inner.stage.carried is not None else sorted(inner.stage.read & inner.stage.written)
    if own:
        yield inner.wrong(ORDER, f"it goes on with what is in `{own[0]}`", "leave `in` out")
    for other in whole.stages[first + 1 : last + 1]:
        if changed := sorted(other.written & inner.stage.read):
            what = f"stage `{other.name}` changes `{changed[0]}`, which it reads"
            yield inner.wrong(ORDER, what, "leave `in` out", other)


def _how(sections: Mapping[str, Section], name: str) -> object:
    return sections[name].how if name in sections else None


def _served_there(whole: Program, inner: Inner, other: Stage, sections: Mapping[str, Section]) -> bool:
    """Whether a stage that reads the results is computed where their tile is."""
    if inner.stage.carried is not None:
        return _behind(whole, inner, other, sections)
    return _inside(inner, other, sections)


def _inside(inner: Inner, other: Stage, sections: Mapping[str, Section]) -> bool:
    """Whether a stage is computed in the loops of the step at which the inner stage is, or at that step."""
    name, step = other.name, None
    if name == inner.how.reader:
        return True
    while name != inner.how.reader:
        how = _how(sections, name)
        if not isinstance(how, Within):
            return False
        name, step = how.reader, how.step
    labels = {x.label: s for s, x in enumerate(inner.reader.steps)}
    order = inner.reader.code_order
    mine = inner.step
    if step not in labels or mine is None:
        return True
    return order.index(labels[step]) >= order.index(mine)


def _behind(whole: Program, inner: Inner, other: Stage, sections: Mapping[str, Section]) -> bool:
    """Whether a stage is computed in the host of the pass, in each turn after the inner stage."""
    assert inner.stage.carried is not None
    mine, theirs = ([n, *readers_of(sections, n)] for n in (inner.stage.name, other.name))
    if theirs[-1] != inner.stage.carried.host:
        return False
    shared = next(name for name in mine if name in theirs)
    if shared == other.name:
        return True
    before, after = (way[way.index(shared) - 1] for way in (mine, theirs))
    steps = [how.step for n in (before, after) if isinstance(how := _how(sections, n), Within)]
    order = [s.name for s in whole.stages]
    return (steps[0], order.index(before)) < (steps[1], order.index(after))
