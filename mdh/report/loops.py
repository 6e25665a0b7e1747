"""The loop tree of a stage plan in code order: who runs which part, and what is copied and held where."""

from dataclasses import dataclass

from mdh.hardware import Engine
from mdh.ir.plan import PlanStep, Split, StagePlan
from mdh.ir.program import Program

_AXES = "xyz"


@dataclass(frozen=True, slots=True)
class LoopRow:
    """One line of the tree. kind: `unit` (a core layer takes the parts), `for`, `copy`, `hold` or `body`.

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


def loop_rows(program: Program, plan: StagePlan) -> tuple[LoopRow, ...]:
    rows: list[LoopRow] = []
    depth = 0
    for s in plan.code_order:
        step = plan.steps[s]
        for split in _in_order(step):
            rows.append(_loop(plan, step, split, depth))
            depth += 1
        rows.extend(_memory_rows(plan, step, depth))
    rows.append(LoopRow(depth, "body", plan.stage.name, plan.steps[-1].number if plan.steps else 0))
    return tuple(rows)


def _in_order(step: PlanStep) -> list[Split]:
    """The splits of a step: units by axis, the slowest first; then sequential loops, outermost first."""
    units = [x for x in step.splits if x.layer is not None and x.parts > 1]
    loops = [x for x in step.splits if x.layer is None and x.parts > 1]
    return [*sorted(units, key=lambda x: -x.axis), *sorted(loops, key=lambda x: x.rank)]


def _loop(plan: StagePlan, step: PlanStep, split: Split, depth: int) -> LoopRow:
    dim = plan.stage.dims[split.dim].name
    last = 0 if split.exact else split.parent - (split.parts - 1) * split.tile
    detail = []
    if split.cyclic:
        detail.append(f"cyclic({split.cyclic})")
    if split.layer is None and step.stages > 1:
        detail.append(f"{step.stages} stages")
    if split.layer is None and step.unroll is not None and step.unroll != 1:
        detail.append("unrolled" if step.unroll == 0 else f"unrolled by {step.unroll}")
    detail += _of_atoms(plan, step)
    name = f"{split.layer}.{_AXES[split.axis]}" if split.layer else "for"
    kind = "unit" if split.layer else "for"
    return LoopRow(depth, kind, name, step.number, dim, split.parts, split.tile, last, ", ".join(detail))


def _of_atoms(plan: StagePlan, step: PlanStep) -> list[str]:
    """What a loop has to do with the atoms of tensor cores."""
    if step.product is not None:
        atom = step.product.atom
        return [f"{'×'.join(map(str, atom.shape))} {atom.word}"]
    return ["inside an atom"] if plan.atoms is not None and not step.text else []


def _memory_rows(plan: StagePlan, step: PlanStep, depth: int) -> list[LoopRow]:
    rows = []
    for x in step.stagings:
        extra = [f"pad {x.pad}"] if x.pad else []
        extra += [f"swizzle {x.swizzle}"] if x.swizzle else []
        by = " by a warp group that only copies" if plan.roles is not None and x.engine == Engine.TMA else ""
        extra += [f"{x.engine} copy{by}"] if x.engine != Engine.PLAIN else []
        rows.append(
            LoopRow(depth, "copy", _place(x.buffer, x.region, x.layout), step.number, detail=", ".join(extra))
        )
    for h in step.holdings:
        if h.region is not None:
            rows.append(LoopRow(depth, "hold", _place(h.buffer, h.region, h.layout), step.number))
    return rows


def _place(buffer: str, region: str, layout: tuple[int, ...]) -> str:
    return f"{buffer}:{region}[{','.join(str(k + 1) for k in layout)}]"
