"""Stages that the kernel of their reader computes (`stage P in C:n`): their plans, inside of the reader's."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from mdh.checker.concrete import concrete
from mdh.checker.footprint import register_words, shared_bytes, store_bytes
from mdh.checker.inner_places import PLACE, Inner, misplaced, out_of_order
from mdh.checker.subject import Draft, at, parts
from mdh.decompose.accesses import access_groups
from mdh.decompose.image import covers, image
from mdh.diagnostics import Diagnostic
from mdh.hardware import THREADED, Combine, Layer, Space
from mdh.ir.inner import InnerError, Side, box_of, computations, inner_view, level_turns
from mdh.ir.layout import Level
from mdh.ir.plan import InnerStage, StagePlan
from mdh.ir.program import DimKind, Output, Program, Stage
from mdh.ir.tile import Copy, Hold, Loop, nested
from mdh.machine import Machine
from mdh.schedule.model import Section, Within
from mdh.source import Span

ONCE, SHARED, REGISTERS, UNITS = "K122", "K152", "K153", "K125"
WARP = 32
Checked = tuple[StagePlan | None, list[Diagnostic]]
Live = Mapping[str, Copy]
"""The tiles of arrays that are nowhere else, by array."""


@dataclass(frozen=True)
class Whole:
    """What the plans of inner stages are made of. program: with all stages. sections: of all stages, by name.
    check: makes the plan of a draft."""

    program: Program
    sections: Mapping[str, Section]
    machine: Machine
    check: Callable[[Draft, Section], Checked]

    def inside(self, reader: str) -> list[str]:
        """The stages that are computed in `reader`, in the order of the C."""
        hows = ((s.name, self.sections[s.name].how) for s in self.program.stages if s.name in self.sections)
        return [name for name, how in hows if isinstance(how, Within) and how.reader == reader]


@dataclass(frozen=True)
class _Around:
    """What stands around a stage's plan. live: tiles that its stages may read; threads: of the block; alone:
    whether each thread computes a box of its own."""

    live: Live
    threads: int
    alone: bool = False
    taken: frozenset[str] = frozenset()


def with_inner(
    plan: StagePlan, draft: Draft, whole: Whole, written: dict[str, Section]
) -> tuple[StagePlan, list[Diagnostic]]:
    """The plan of a kernel with the stages that it computes for itself. written: receives their sections.

    K122: `@once`, and a point is computed again. K123, K124: as of `inner_places`. K125: its units do not fit
    the reader's. K152, K153: the tiles of all do not fit. And what forbids the plan of a stage on its own.
    """
    if not whole.inside(plan.stage.name):
        return plan, []
    found: list[Diagnostic] = []
    plan = _filled(plan, draft, whole, _Around({}, plan.threads), written, found)
    if not found:
        found.extend(_capacity(plan, draft, whole))
    return plan, found


def _filled(
    plan: StagePlan, draft: Draft, whole: Whole, around: _Around, written: dict[str, Section],
    found: list[Diagnostic],
) -> StagePlan:  # fmt: skip
    """The plan with its inner stages, as far as nothing is wrong."""
    inner: list[InnerStage] = []
    taken = draft.taken | around.taken | {lv.var for lv in plan.tiles.levels.all}
    for name in whole.inside(plan.stage.name):
        section = whole.sections[name]
        stage = next(s for s in whole.program.stages if s.name == name)
        assert isinstance(section.how, Within)
        fused = bool(whole.sections[plan.stage.name].fuses)
        one = Inner(stage, section, section.how, draft, plan, fused)
        wrong = [*misplaced(one), *out_of_order(whole.program, one, whole.sections)]
        if wrong:
            found.extend(wrong)
            continue
        live = _live(one, around.live, inner)
        made = _made(one, whole, replace(around, live=live, taken=taken), written, found)
        if made is not None:
            inner.append(made)
            taken |= _variables(made.plan)
    return replace(plan, inner=tuple(inner))


def _variables(plan: StagePlan) -> frozenset[str]:
    own = frozenset(lv.var for lv in plan.tiles.levels.all)
    return own.union(*(_variables(x.plan) for x in plan.inner))


def _made(
    one: Inner, whole: Whole, around: _Around, written: dict[str, Section], found: list[Diagnostic]
) -> InnerStage | None:
    cpu = whole.machine.kind == "cpu"
    try:
        view = view_inside(one, cpu=cpu)
    except InnerError as unfit:
        found.append(one.wrong(PLACE, str(unfit), "leave `in` out"))
        return None
    draft = Draft(
        view.program, view.stage, one.section.steps, whole.machine, one.draft.target,
        one.draft.deterministic, one.section.span, around.taken,
    )  # fmt: skip
    plan, wrong = whole.check(draft, one.section)
    if plan is not None:
        wrong = [*_units(one, plan, around, cpu=cpu), *_unread(one, plan, around.live, whole)]
    if plan is None or wrong:
        found.extend(wrong)
        return None
    written[one.stage.name] = replace(
        concrete(one.section, draft), name=one.stage.name, how=one.how, attrs=one.section.attrs
    )
    alone = around.alone or _space(one) is Space.RM
    inside = replace(around, threads=plan.threads, alone=alone)
    plan = _filled(plan, draft, whole, inside, written, found)
    computed = computations(one.stage, view.box, tuple(x for x in view.program.loops if x.level))
    found.extend(_once(one, computed))
    assert one.step is not None
    return InnerStage(one.stage, one.step, plan, computed)


@dataclass(frozen=True)
class View:
    """A stage as its steps see it inside of its reader: its box in place of its extents."""

    program: Program
    box: Mapping[str, Side]

    @property
    def stage(self) -> Stage:
        return self.program.stages[0]


def view_inside(one: Inner, *, cpu: bool) -> View:
    """Requires what `misplaced` demands. Raises InnerError if the elements that are staged are no box."""
    axes = {b: one.copies(b)[0].tile.axes for b in one.outputs}
    assert one.step is not None
    levels = _levels_around(one.reader, one.step, shared=_space(one) is Space.SM, cpu=cpu)
    box = box_of(one.draft.program, one.stage, axes)
    return View(inner_view(one.draft.program, one.stage, axes, box, level_turns(levels)), box)


def _space(one: Inner) -> Space:
    return one.copies(one.outputs[0])[0].tile.space


def _levels_around(plan: StagePlan, step: int, *, shared: bool, cpu: bool) -> list[Level]:
    """The units and loops around the body of a step, without the threads that share what is staged there."""
    order = plan.tiles.order
    loops = {lv.var for lv in order if isinstance(lv, Level)}
    outside = {lv.var for lv in order[: order.index(step)] if isinstance(lv, Level)}
    threads = {lv.var for lv in plan.tiles.threads} if shared and not cpu else set[str]()
    levels = plan.tiles.levels.all
    return [lv for lv in levels if (lv.var in outside or lv.var not in loops) and lv.var not in threads]


def _live(one: Inner, outer: Live, before: list[InnerStage]) -> Live:
    """The tiles of inner stages that are filled before the one at hand, and hold what it may read."""
    order = one.reader.code_order
    assert one.step is not None
    place = order.index(one.step)
    out = dict(outer)
    for x in before:
        if order.index(x.step) <= place:
            names = {o.buffer for r in x.stage.results for o in r.outputs}
            held = (c for c in one.reader.tiles.copies if c.step == x.step and c.tile.buffer in names)
            out.update((c.tile.buffer, c) for c in held)
    return out


def _unread(one: Inner, plan: StagePlan, live: Live, whole: Whole) -> Iterator[Diagnostic]:
    """K123. What the stage reads of other inner stages lies in their tiles."""
    mine = {o.buffer for n in whole.inside(one.stage.name) for o in _outputs(whole, n)}
    every = frozenset(lv.var for lv in plan.tiles.levels.all)
    for g in access_groups(plan.program, plan.stage):
        if g.store or g.buffer in mine or g.buffer not in live:
            continue
        tile = live[g.buffer].tile
        where = f"the tile of `{g.buffer}`"
        if g.gather or not covers(tile.axes, image(plan.tiles.levels, g.affine, g.shifts, every)):
            hint = f"stage `{g.buffer}` in larger tiles, or at a step farther outside"
            yield one.wrong(PLACE, f"it reads elements of `{g.buffer}` that are not in {where}", hint)
        elif tile.space is Space.RM and _space(one) is not Space.RM:
            what = f"{where} lies in registers, and other threads need it"
            yield one.wrong(PLACE, what, f"`{g.buffer}:SM[…]`")


def _outputs(whole: Whole, name: str) -> Iterator[Output]:
    stage = next(s for s in whole.program.stages if s.name == name)
    return (o for r in stage.results for o in r.outputs)


def _units(one: Inner, plan: StagePlan, around: _Around, *, cpu: bool) -> Iterator[Diagnostic]:
    """K125. Only threads, vectors and loops split the box. The threads are the reader's, or some of them. In
    registers each thread computes all that it reads. No reduction stops and goes on."""
    blocks = [x for x in (Layer.NOD, Layer.DEV, Layer.CLU, Layer.BLK) if plan.units(x) > 1]
    if blocks:
        what = f"its steps use {blocks[0]}, and the box belongs to one block"
        yield one.wrong(UNITS, what, "split the box over THR, WRP, VEC and loops")
        return
    if plan.atoms is not None or plan.roles is not None or plan.grid.persistent:
        yield one.wrong(UNITS, "its steps use MMA, @roles or @persistent", "leave these out")
    for result, carried in _carried(plan):
        outputs = plan.stage.results[result].outputs
        hint = f"hold its partial results: `{outputs[0].buffer}:RM[…]` at the step of that loop"
        yield one.wrong(UNITS, f"the loop `{carried}` stops in the middle of its sums", hint)
    if cpu:
        return
    used, given = plan.threads, around.threads
    if around.alone and _space(one) is Space.SM:
        what = "each thread computes the stage around it, and SM belongs to all"
        yield one.wrong(UNITS, what, f"`{one.outputs[0]}:RM[…]`")
    elif _space(one) is Space.RM and used > 1:
        what = f"its results lie in registers of each thread, and its steps split them over {used} threads"
        yield one.wrong(UNITS, what, f"use loops, or `{one.outputs[0]}:SM[…]`")
    elif _space(one) is Space.RM and any(n.tile.space is Space.SM for n in plan.tiles.kept):
        what = "its results lie in registers of each thread, and its steps put tiles into SM, which belongs to all"
        yield one.wrong(UNITS, what, f"RM in its steps, or `{one.outputs[0]}:SM[…]`")
    elif used > given:
        what = f"it uses {parts_of(used)}, and its reader has {given}"
        yield one.wrong(UNITS, what, "larger tiles in the entries of threads")
    elif used < given and given % WARP and any(Combine.SHUFFLE in m for m in plan.combines):
        what = f"lanes of a warp combine its results, and the last of the reader's {given} threads are no warp"
        yield one.wrong(UNITS, what, "`@combine(shared)`")


def parts_of(n: int) -> str:
    return f"{n} threads"


def _carried(plan: StagePlan) -> Iterator[tuple[int, str]]:
    """Results that are reduced by loops outside of their outermost region, with the dimension of one."""
    seen = set[int]()
    for node, around in nested(plan.tiles.body):
        if isinstance(node, Hold) and node.result not in seen:
            seen.add(node.result)
            dims = [x.level.dim for x in around if isinstance(x, Loop)]
            summed = [d for d in dims if plan.stage.dims[d].kind is DimKind.PW]
            if summed and plan.stage.results[node.result].op is not None:
                yield node.result, plan.stage.dims[summed[0]].name


def _once(one: Inner, computed: int) -> Iterator[Diagnostic]:
    attr = next((a for a in one.section.attrs if a.name == "once"), None)
    points = 1
    for d in one.stage.dims:
        points *= d.extent
    if attr is None or computed <= points:
        return
    headline = f"stage `{one.stage.name}` is computed more often than once: {computed} computations of {points} points"
    hint = "larger tiles in its reader, a step farther outside, or leave `@once` out"
    witness = (("computed", computed), ("points", points))
    yield Diagnostic(ONCE, headline, at(attr.span), help=hint, witness=witness)


def _capacity(plan: StagePlan, draft: Draft, whole: Whole) -> Iterator[Diagnostic]:
    """K152, K153 for the tiles of a kernel's stages together."""
    cpu = whole.machine.kind == "cpu"
    used = shared_bytes(plan, plan.tiles, cpu=cpu) + store_bytes(draft.program, plan, plan.tiles)
    limit = whole.machine.shared_per_block
    first = plan.inner[0]
    place = at(_place(whole, first.stage.name))
    inside = ", ".join(f"`{x.stage.name}`" for x in plan.inner)
    if used > limit:
        what = "cache set aside for SM" if cpu else "shared memory"
        headline = f"with {inside} a block needs {used} bytes of {what}, `{whole.machine.name}` has {limit}"
        hint = f"smaller tiles, fewer buffers in SM: {used - limit} bytes too many"
        yield Diagnostic(SHARED, headline, place, help=hint, witness=(("bytes", used), ("limit", limit)))
    words, most = register_words(plan, plan.tiles), whole.machine.registers_per_thread
    if words > most:
        headline = f"with {inside} a thread holds {words} registers of RM buffers, `{whole.machine.name}` has {most}"
        witness = (("registers", words), ("limit", most))
        yield Diagnostic(REGISTERS, headline, place, help="smaller thread tiles", witness=witness)


def _place(whole: Whole, name: str) -> Span | None:
    how = whole.sections[name].how
    return how.span if isinstance(how, Within) else None
