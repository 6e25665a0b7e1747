"""What a step does, as data: how it splits each dimension, who takes the parts, and what lies where.

Of a legal schedule the plan says it. Else the tiles alone are known, from the text and the extents.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from mdh.checker.fusing import stage_in, view_of
from mdh.diagnostics import Failed
from mdh.editor.analysis import Analysis
from mdh.hardware import UNIT_AXES, Engine, Layer, Space
from mdh.ir.plan import Plan, PlanStep, StagePlan
from mdh.ir.program import Program, Stage
from mdh.ir.tile import Copy, Hold
from mdh.schedule.model import Caret, Core, ForEntry, Schedule, Section, Step, Unit
from mdh.schedule.printer import print_value


@dataclass(frozen=True, slots=True)
class SplitRow:
    """A dimension at a step: `parts` tiles of `tile` out of `parent`. who: the units or the loop that take
    them. last: elements of a smaller last part, else 0."""

    dim: str
    parent: int
    tile: int
    parts: int
    who: str
    last: int = 0


@dataclass(frozen=True, slots=True)
class TileRow:
    """A part of an array that a step puts somewhere. verb: copied, held or computed. bytes: of all slots."""

    buffer: str
    place: str
    verb: str
    shape: tuple[int, ...]
    bytes: int
    slots: int
    detail: str


@dataclass(frozen=True, slots=True)
class StepFacts:
    """stage: of the step. units: how many of each layer, so far from outside. shared: bytes of SM of the
    whole stage; None if they are not known. whole: whether all of this is proven."""

    stage: str
    splits: tuple[SplitRow, ...]
    tiles: tuple[TileRow, ...] = ()
    units: tuple[tuple[str, int], ...] = ()
    shared: int | None = None
    whole: bool = True


def facts_of(analysis: Analysis, step: Step) -> StepFacts | None:
    """Of a step of the analysed text; None if no stage is known for it."""
    if analysis.checked is not None:
        for plan in _plans(analysis.checked.plan):
            for s, one in enumerate(plan.steps):
                if one.span is not None and step.span is not None and one.span == step.span:
                    return _of_plan(plan, s)
    if analysis.schedule is None or analysis.program is None:
        return None
    return _of_text(analysis.schedule, analysis.program, step)


def _plans(plan: Plan) -> Iterator[StagePlan]:
    for stage in plan.stages:
        yield stage
        yield from _inner(stage)


def _inner(plan: StagePlan) -> Iterator[StagePlan]:
    for x in plan.inner:
        yield x.plan
        yield from _inner(x.plan)


def _of_plan(plan: StagePlan, s: int) -> StepFacts:
    step = plan.steps[s]
    splits = []
    for x in step.splits:
        if x.parts > 1 or x.layer is not None:
            last = 0 if x.exact else x.parent - (x.parts - 1) * x.tile
            who = f"{x.layer}.{UNIT_AXES[x.axis]}" if x.layer is not None else "loop"
            who += f", {x.cyclic} at a time in turns" if x.cyclic else ""
            splits.append(SplitRow(plan.stage.dims[x.dim].name, x.parent, x.tile, x.parts, who, last))
    tiles = tuple(row for node in plan.tiles.kept if node.step == s for row in _tiles(plan, node, step))
    units = [(str(layer), n) for layer in Layer if layer is not Layer.VEC and (n := plan.units(layer)) > 1]
    return StepFacts(plan.stage.name, tuple(splits), tiles, tuple(units), plan.tiles.bytes_in(Space.SM))


def _tiles(plan: StagePlan, node: Copy | Hold, step: PlanStep) -> Iterator[TileRow]:
    tile, verb, buffers = node.tile, "copied", [node.tile.buffer]
    detail = [f"pad {tile.pad}"] if tile.pad else []
    detail += [f"swizzle {tile.swizzle}"] if tile.swizzle else []
    rank = len(tile.layout)
    if isinstance(node, Hold):
        outputs = plan.stage.results[node.result].outputs
        verb, buffers, rank = "held", [o.buffer for o in outputs], len(outputs[0].index)
    elif any(x.step == node.step and tile.buffer in x.stage.written for x in plan.inner):
        verb = "computed"
    elif node.engine is not Engine.PLAIN:
        detail.append(f"{node.engine} copy")
    layout = ",".join(str(k + 1) for k in tile.layout if k < rank)
    for buffer in buffers:
        place = f"{tile.space}[{layout}]"
        yield TileRow(buffer, place, verb, tile.shape[:rank], tile.room, tile.slots, ", ".join(detail))


def section_of(schedule: Schedule, step: Step) -> Section | None:
    """The section of a stage or loop that has the step."""
    cases = (s for case in schedule.cases for s in case.sections)
    every = (*schedule.sections, *cases, *schedule.loops)
    return next((s for s in every if any(x.span == step.span for x in s.steps)), None)


def stage_of(program: Program, section: Section) -> Stage | None:
    """The stage of a section, with its fused dimensions as one; None if there is none."""
    names = [s.name for s in program.stages]
    if section.counters or (section.name is None and len(names) > 1):
        return None
    if section.name is not None and section.name not in names:
        return None
    stage = stage_in(program, section.name)
    try:
        return stage_in(view_of(program, stage, section), stage.name)
    except Failed:
        return None


def _of_text(schedule: Schedule, program: Program, step: Step) -> StepFacts | None:
    section = section_of(schedule, step)
    stage = None if section is None else stage_of(program, section)
    if section is None or stage is None:
        return None
    above: list[int | None] = [d.extent for d in stage.dims]
    for one in section.steps:
        if len(one.tiles) != len(above) or len(one.cores) != len(above):
            return None
        tiles = [t.value if isinstance(t.value, int) else None for t in one.tiles]
        if one.span == step.span:
            rows = zip(stage.dims, above, tiles, one.cores, strict=True)
            found = [SplitRow(d.name, a, t, -(-a // t), _who(c), a % t) for d, a, t, c in rows if a and t]
            return StepFacts(stage.name, tuple(x for x in found if x.parts > 1), whole=False)
        carets = [isinstance(t.value, Caret) for t in one.tiles]
        above = [a if caret else t for a, t, caret in zip(above, tiles, carets, strict=True)]
    return None


def _who(core: Core) -> str:
    match core.value:
        case Unit(layer, axis):
            return f"{layer}.{axis}"
        case ForEntry():
            return "loop"
        case _:
            return print_value(core.value)


def sizes_text(shape: tuple[int, ...]) -> str:
    return "×".join(map(str, shape)) or "1"
