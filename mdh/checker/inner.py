"""Stages that the kernel of their reader computes (`stage P in C:n`): their plans, inside of the reader's."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from mdh.checker.concrete import concrete
from mdh.checker.footprint import register_words, shared_bytes, store_bytes
from mdh.checker.inner_pass import copied, near_in_pass, pass_part, placed
from mdh.checker.inner_places import PLACE, Inner, misplaced, out_of_order, unknown_readers
from mdh.checker.inner_units import unfit_units
from mdh.checker.online import CODE as PASS
from mdh.checker.online import Part, PassError
from mdh.checker.subject import Draft, at
from mdh.decompose.accesses import access_groups
from mdh.decompose.image import covers, image
from mdh.diagnostics import Diagnostic, Failed
from mdh.hardware import Space
from mdh.ir.inner import InnerError, Side, box_of, computations, inner_view, level_turns
from mdh.ir.layout import Level
from mdh.ir.plan import InnerStage, StagePlan
from mdh.ir.program import Output, Program, Stage
from mdh.ir.tile import Copy, Tile
from mdh.machine import Machine
from mdh.schedule.default.inner_steps import inner_steps
from mdh.schedule.holes import HolePlace, section_holes
from mdh.schedule.model import Caret, Core, Section, Step, TileEntry, Within
from mdh.source import Span

ONCE, SHARED, REGISTERS = "K122", "K152", "K153"
Checked = tuple[StagePlan | None, list[Diagnostic]]
Live = Mapping[str, Copy]
"""The innermost tiles of arrays, by array."""


@dataclass(frozen=True)
class Whole:
    """What the plans of inner stages are made of.

    program: It has all stages, also those that others compute.
    sections: Each stage has one, by its name.
    check: It makes the plan of a draft.
    """

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
    """What stands around a stage's plan.

    live: The stages inside may read these tiles.
    threads: So many threads compute the stage.
    inner: These arrays lie nowhere but in tiles.
    alone: Each thread computes a box of its own.
    taken: The variables of all levels around have these names.
    part: What each turn of a pass takes, if the stages are in one.
    carried: The tiles of the pass that have been placed, by array.
    """

    live: Live
    threads: int
    inner: frozenset[str] = frozenset()
    alone: bool = False
    taken: frozenset[str] = frozenset()
    part: Part | None = None
    carried: dict[str, Tile] = field(default_factory=dict)


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
    around = _Around({}, plan.threads)
    if plan.stage.host is not None:
        try:
            around = replace(around, part=pass_part(plan, whole.sections, cpu=whole.machine.kind == "cpu"))
        except PassError as unfit:
            headline = f"stage `{plan.stage.name}` cannot be online: {unfit}"
            return plan, [Diagnostic(PASS, headline, at(draft.span), help=unfit.help)]
    plan = _filled(plan, draft, whole, around, written, found)
    if not found and plan.stage.host is not None:
        plan = replace(
            plan,
            near={**plan.near, **near_in_pass(plan, around.carried, whole.sections, found)},
        )
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
        if section.chosen:
            section = replace(section, fuses=(), steps=())
        stage = next(s for s in whole.program.stages if s.name == name)
        assert isinstance(section.how, Within)
        fused = bool(whole.sections[plan.stage.name].fuses)
        one = Inner(stage, section, section.how, draft, plan, fused)
        wrong = [*misplaced(one), *out_of_order(whole.program, one, whole.sections)]
        if wrong:
            found.extend(wrong)
            continue
        live = _live(one, around.live)
        before = around.inner.union(*(x.stage.written for x in inner))
        made = _made(one, whole, replace(around, live=live, inner=before, taken=taken), written, found)
        if made is not None:
            inner.append(made)
            taken |= _variables(made.plan)
    found.extend(copied(plan, around.carried, whole.program, whole.sections))
    return replace(plan, inner=tuple(inner))


def _variables(plan: StagePlan) -> frozenset[str]:
    own = frozenset(lv.var for lv in plan.tiles.levels.all)
    return own.union(*(_variables(x.plan) for x in plan.inner))


def _made(
    one: Inner, whole: Whole, around: _Around, written: dict[str, Section], found: list[Diagnostic]
) -> InnerStage | None:
    cpu = whole.machine.kind == "cpu"
    try:
        view = view_inside(one, cpu=cpu, part=around.part)
    except InnerError as unfit:
        found.append(one.wrong(PLACE, str(unfit), "leave `in` out"))
        return None
    if one.stage.carried is not None and (why := placed(one, around.part, around.carried)):
        found.append(one.wrong(PASS, why, "its tile at a step whose loops do not change it"))
        return None
    alone = around.alone or (one.space is Space.RM and not one.known_to_all)
    if one.section.chosen:
        # its steps are those of a kernel
        steps = inner_steps(view.program, view.stage, whole.machine, around.threads, alone=alone)
        one = replace(one, section=replace(one.section, steps=steps))
    draft = Draft(
        view.program, view.stage, one.section.steps, whole.machine, one.draft.target,
        one.draft.deterministic, one.section.span, around.taken,
    )  # fmt: skip
    plan, wrong = whole.check(draft, one.section)
    if plan is not None:
        near = {
            **_served(one, plan, around.live),
            **near_in_pass(plan, around.carried, whole.sections, found),
        }
        plan = replace(plan, near=near)
        given = None if cpu else around.threads
        wrong = [*unfit_units(one, plan, given, alone=around.alone), *_unread(one, plan, around, whole)]
    if plan is None or wrong:
        found.extend(wrong)
        return None
    written[one.stage.name] = replace(
        concrete(one.section, draft), name=one.stage.name, how=one.how, attrs=one.section.attrs
    )
    inside = replace(around, threads=plan.threads, alone=alone)
    plan = _filled(plan, draft, whole, inside, written, found)
    computed = computations(one.stage, view.box, tuple(x for x in view.program.loops if x.level))
    found.extend(_once(one, computed))
    assert one.step is not None
    return InnerStage(one.stage, one.step, plan, computed)


def view_for(whole: Whole, name: str, target: str, *, deterministic: bool) -> "View":
    """What the steps of an inner stage see, if no hole of its reader's steps is one that its box depends on.
    Raises Failed."""
    section = whole.sections[name]
    how = section.how
    assert isinstance(how, Within)
    known = {n: s for n, s in whole.sections.items() if n in (name, how.reader)}
    found = list(unknown_readers(whole.program, known))
    if found:
        raise Failed(*found)
    program = whole.program
    reader = _without_splits(whole, name, whole.sections[how.reader])
    if section_holes(reader):
        headline = (
            f"the steps of `{name}` and of `{how.reader}` both have holes, and its box depends on those"
        )
        hint = f"give the holes of one of them values; `{name}` is computed in `{how.reader}`"
        raise Failed(Diagnostic(PLACE, headline, at(how.span), help=hint))
    stage, mine = (next(s for s in whole.program.stages if s.name == n) for n in (how.reader, name))
    if isinstance(reader.how, Within):
        view = view_for(whole, how.reader, target, deterministic=deterministic)
        program, stage = view.program, view.stage
    draft = Draft(program, stage, reader.steps, whole.machine, target, deterministic, reader.span)
    plan, found = whole.check(draft, reader)
    if plan is None:
        raise Failed(*found)
    one = Inner(mine, section, how, draft, plan, bool(reader.fuses))
    found = list(misplaced(one))
    if found:
        raise Failed(*found)
    try:
        return view_inside(one, cpu=whole.machine.kind == "cpu")
    except InnerError as unfit:
        raise Failed(one.wrong(PLACE, str(unfit), "leave `in` out")) from unfit


def _without_splits(whole: Whole, name: str, reader: Section) -> Section:
    """The reader's section without the splits of dimensions that have holes for tiles, if these do not move
    what the stage writes: its box is the same, whatever the holes are."""
    stages = {s.name: s for s in whole.program.stages}
    assert reader.name is not None
    stage, written = stages[reader.name], stages[name].written
    groups = [g for g in access_groups(whole.program, stage) if g.buffer in written]
    found = section_holes(reader)
    open_dims = {h.dim for h in found if h.place is HolePlace.TILE and h.dim is not None}
    if any(g.gather for g in groups) or any(g.dims & open_dims for g in groups):
        return reader

    def whole_dims(step: Step) -> Step:
        tiles = tuple(TileEntry(Caret()) if d in open_dims else t for d, t in enumerate(step.tiles))
        cores = tuple(Core(Caret()) if d in open_dims else c for d, c in enumerate(step.cores))
        return replace(step, tiles=tiles, cores=cores)

    return replace(reader, steps=tuple(map(whole_dims, reader.steps)))


@dataclass(frozen=True)
class View:
    """A stage as its steps see it inside of its reader: its box in place of its extents."""

    program: Program
    box: Mapping[str, Side]

    @property
    def stage(self) -> Stage:
        return self.program.stages[0]


def view_inside(one: Inner, *, cpu: bool, part: Part | None = None) -> View:
    """Requires what `misplaced` demands. Raises InnerError if the elements that are staged are no box."""
    axes = {b: one.copies(b)[0].tile.axes for b in one.outputs}
    carried, along = one.stage.carried, dict[str, Side]()
    if carried is not None and part is not None:
        axes |= dict.fromkeys(carried.arrays, axes[carried.buffer])
        along = {mine: part.sides[theirs] for mine, theirs in carried.along}
    assert one.step is not None
    shared = one.space is Space.SM or one.known_to_all
    levels = _levels_around(one.reader, one.step, shared=shared, cpu=cpu)
    box = box_of(one.draft.program, one.stage, axes, along)
    return View(inner_view(one.draft.program, one.stage, axes, box, level_turns(levels)), box)


def _levels_around(plan: StagePlan, step: int, *, shared: bool, cpu: bool) -> list[Level]:
    """The units and loops around the body of a step, without the threads that share what is staged there."""
    order = plan.tiles.order
    loops = {lv.var for lv in order if isinstance(lv, Level)}
    outside = {lv.var for lv in order[: order.index(step)] if isinstance(lv, Level)}
    threads = {lv.var for lv in plan.tiles.threads} if shared and not cpu else set[str]()
    levels = plan.tiles.levels.all
    return [lv for lv in levels if (lv.var in outside or lv.var not in loops) and lv.var not in threads]


def _live(one: Inner, outer: Live) -> Live:
    """The tiles that the kernel fills before it computes this stage."""
    order = one.reader.code_order
    assert one.step is not None
    place = order.index(one.step)
    copies = (c for c in one.reader.tiles.copies if order.index(c.step) <= place and c.tile.slots == 1)
    return {**outer, **{c.tile.buffer: c for c in copies if c.tile.buffer not in one.outputs}}


def _served(one: Inner, plan: StagePlan, live: Live) -> dict[str, Space]:
    """The arrays whose tiles hold all that the stage reads of them, and those that it writes."""
    every = frozenset(lv.var for lv in plan.tiles.levels.all)
    out = dict.fromkeys(one.outputs, one.space)
    for buffer, copy in live.items():
        groups = [g for g in access_groups(plan.program, plan.stage) if g.buffer == buffer and not g.store]
        images = (not g.gather and image(plan.tiles.levels, g.affine, g.shifts, every) for g in groups)
        if groups and all(x and covers(copy.tile.axes, x) for x in images):
            out[buffer] = copy.tile.space
    return out


def _unread(one: Inner, plan: StagePlan, around: _Around, whole: Whole) -> Iterator[Diagnostic]:
    """K123. What the stage reads of other inner stages lies in their tiles."""
    mine = {o.buffer for n in whole.inside(one.stage.name) for o in _outputs(whole, n)}
    for buffer in sorted((around.inner & one.stage.read) - mine - plan.near.keys()):
        tile = around.live[buffer].tile if buffer in around.live else None
        if tile is not None and tile.space is Space.RM and one.space is not Space.RM:
            what = f"the tile of `{buffer}` lies in registers, and other threads need it"
            yield one.wrong(PLACE, what, f"`{buffer}:SM[…]`")
        else:
            hint = f"stage `{buffer}` in larger tiles, or at a step farther outside"
            yield one.wrong(PLACE, f"it reads elements of `{buffer}` that are not in its tile", hint)


def _outputs(whole: Whole, name: str) -> Iterator[Output]:
    stage = next(s for s in whole.program.stages if s.name == name)
    return (o for r in stage.results for o in r.outputs)


def _once(one: Inner, computed: int) -> Iterator[Diagnostic]:
    attr = next((a for a in one.section.attrs if a.name == "once"), None)
    points = 1
    for d in one.stage.dims:
        points *= d.extent
    if attr is None or computed <= points:
        return
    count = f"{computed} computations of {points} points"
    headline = f"stage `{one.stage.name}` is computed more often than once: {count}"
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
        headline = (
            f"with {inside} a thread holds {words} registers of RM buffers, `{whole.machine.name}` has {most}"
        )
        witness = (("registers", words), ("limit", most))
        yield Diagnostic(REGISTERS, headline, place, help="smaller thread tiles", witness=witness)


def _place(whole: Whole, name: str) -> Span | None:
    how = whole.sections[name].how
    return how.span if isinstance(how, Within) else None
