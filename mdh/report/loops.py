"""The loop tree of a stage in code order: who runs which part, and what is copied and held where."""

from collections.abc import Iterator
from dataclasses import dataclass

from mdh.decompose.stream import stream_level
from mdh.hardware import UNIT_AXES, Engine, Layer
from mdh.ir.atoms import GROUP_LANES
from mdh.ir.layout import Level
from mdh.ir.plan import PlanStep, StagePlan
from mdh.ir.tile import Copy, Hold


@dataclass(frozen=True, slots=True)
class LoopRow:
    """One line of the tree. kind: `unit` (a core layer takes the parts), `for`, `copy`, `fill` (with
    what is computed there), `compute` (the stage that fills it), `hold` or `body`.

    step: the number of the schedule step in the text. dim, parts, tile: empty for copies and regions.
    """

    depth: int
    kind: str
    name: str
    step: int
    dim: str = ""
    parts: int = 1
    tile: int = 1
    last: int = 0
    """Elements of the last part if it is smaller than the others, else 0."""
    detail: str = ""


def loop_rows(plan: StagePlan) -> tuple[LoopRow, ...]:
    rows: list[LoopRow] = []
    depth = 0
    for s in plan.code_order:
        for level in sorted((lv for lv in plan.tiles.levels.all if lv.step == s), key=_place):
            rows.append(_loop(plan, level, depth))
            depth += 1
        kept = (node for node in plan.tiles.kept if node.step == s)
        # several accesses of one buffer may be copied apart
        rows.extend(dict.fromkeys(row for node in kept for row in _kept(plan, node, depth)))
        rows.extend(_computed(plan, s, depth))
    rows.append(LoopRow(depth, "body", plan.stage.name, plan.steps[-1].number if plan.steps else 0))
    return tuple(rows)


def _computed(plan: StagePlan, s: int, depth: int) -> Iterator[LoopRow]:
    """The stages that are computed at a step."""
    for x in plan.inner:
        if x.step == s:
            yield LoopRow(depth, "compute", f"stage {x.stage.name}", plan.steps[s].number)


def _place(level: Level) -> tuple[bool, int]:
    """Units by axis, the slowest first; then loops, outermost first."""
    return level.layer is None, level.rank if level.layer is None else -level.axis


def _loop(plan: StagePlan, level: Level, depth: int) -> LoopRow:
    step, dim = plan.steps[level.step], plan.stage.dims[level.dim].name
    last = 0 if level.exact else level.parent - (level.parts - 1) * level.tile
    detail = [f"cyclic({level.cyclic})"] if level.cyclic else []
    if plan.streamed and level == stream_level(plan.stage, plan.tiles):
        detail.append("shared evenly by the blocks")
    if level.layer is None and step.stages > 1:
        detail.append(f"{step.stages} stages")
    if level.layer is None and step.unroll is not None and step.unroll != 1:
        detail.append("unrolled" if step.unroll == 0 else f"unrolled by {step.unroll}")
    detail += _of_atoms(plan, step)
    if level is next((lv for lv in plan.tiles.levels.all if lv.layer is Layer.BLK), None):
        detail += _of_teams(plan)
    name = f"{level.layer}.{UNIT_AXES[level.axis]}" if level.layer else "for"
    kind = "unit" if level.layer else "for"
    return LoopRow(depth, kind, name, step.number, dim, level.parts, level.tile, last, ", ".join(detail))


def _of_atoms(plan: StagePlan, step: PlanStep) -> list[str]:
    """What a loop has to do with the atoms of tensor cores."""
    if step.product is not None:
        atom = step.product.atom
        said = f"{'×'.join(map(str, atom.shape))} {atom.word}"
        return [said] if step.promote is None else [said, f"sums of {step.promote} added in f32"]
    return ["inside an atom"] if plan.atoms is not None and not step.text else []


def _of_teams(plan: StagePlan) -> list[str]:
    """Who takes the tiles of a block by turns."""
    groups = plan.threads // GROUP_LANES
    who = "warp groups" if groups == 1 else f"teams of {groups} warp groups"
    return [f"{plan.teams} {who} take tiles by turns"] if plan.teams > 1 else []


def _kept(plan: StagePlan, node: Copy | Hold, depth: int) -> Iterator[LoopRow]:
    """The rows of a copy or a region that a step asks for: one for each array. A region of records holds
    several."""
    assert node.step is not None
    tile, buffers, rank = node.tile, [node.tile.buffer], len(node.tile.layout)
    filled = any(x.step == node.step and tile.buffer in x.stage.written for x in plan.inner)
    kind, detail = "fill" if filled else "copy", [f"pad {tile.pad}"] if tile.pad else []
    if isinstance(node, Hold):
        outputs = plan.stage.results[node.result].outputs
        # the lanes of vectors are no dimension of the array
        kind, buffers, rank = "hold", [o.buffer for o in outputs], len(outputs[0].index)
    else:
        detail += [f"swizzle {tile.swizzle}"] if tile.swizzle else []
        alone = plan.roles is not None and node.engine is Engine.TMA
        by = " by a warp group that only copies" if alone else ""
        detail += [f"{node.engine} copy{by}"] if node.engine is not Engine.PLAIN else []
    layout, number = ",".join(str(k + 1) for k in tile.layout if k < rank), plan.steps[node.step].number
    for buffer in buffers:
        yield LoopRow(depth, kind, f"{buffer}:{tile.space}[{layout}]", number, detail=", ".join(detail))
