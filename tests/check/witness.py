"""Does the witness of a refusal hold? Judged by enumeration, without the code that found it."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

from mdh.diagnostics import Diagnostic
from mdh.ir.plan import Split, StagePlan
from mdh.ir.program import Program


@dataclass(frozen=True)
class Visit:
    """One iteration: `time` orders visits of one unit, `unit` tells units apart, `place` where each works."""

    point: dict[str, int]
    time: tuple[int, ...]
    unit: tuple[tuple[str, int], ...]


def position(split: Split) -> tuple[int, int]:
    """Sequential loops in rank order; vector lanes last."""
    return (1, split.rank) if split.layer is None else (2 if split.layer == "VEC" else 0, split.dim)


def element(plan: StagePlan, d: int, parts: tuple[int, ...]) -> int | None:
    """Iteration of dimension d, step by step from the whole to the single element (language.md section 3)."""
    held = list(range(plan.stage.dims[d].extent))
    for step, part in zip(plan.steps, parts, strict=True):
        split = step.splits[d]
        if split.cyclic:
            held = [e for n, e in enumerate(held) if (n // split.cyclic) % split.parts == part]
        else:
            held = held[part * split.tile : (part + 1) * split.tile]
    return held[0] if len(held) == 1 else None


def visits(plan: StagePlan, dims: tuple[int, ...]) -> Iterator[Visit]:
    """Every iteration of these dims that the plan works on."""
    loops = [
        (s, split)
        for s in plan.code_order
        for split in sorted(plan.steps[s].splits, key=position)
        if split.parts > 1 and split.dim in dims
    ]
    for values in product(*(range(split.parts) for _, split in loops)):
        chosen = {(s, split.dim): v for (s, split), v in zip(loops, values, strict=True)}
        point = {}
        for d in dims:
            e = element(plan, d, tuple(chosen.get((s, d), 0) for s in range(len(plan.steps))))
            if e is None:
                break
            point[plan.stage.dims[d].name] = e
        if len(point) == len(dims):
            unit = tuple(
                (split.layer, v)
                for (_, split), v in zip(loops, values, strict=True)
                if split.layer is not None
            )
            yield Visit(point, values, unit)


def holds(diagnostic: Diagnostic, program: Program, plan: StagePlan) -> bool:
    """Whether the counter-example is one. `plan` is the resolved plan that was refused."""
    witness = dict(diagnostic.witness)
    match diagnostic.code:
        case "K112":
            return plan.units(witness["layer"]) == witness["product"] != witness["wanted"]
        case "K120":
            return _covered_wrongly(plan, witness)
        case "K130" | "K132":
            return _exchanged(plan, witness)
        case "K131" | "K133":
            return _split_over(plan, witness["dim"], witness["layer"]) > 1
        case "K140":
            return _apart(plan, witness["dim"], witness["first"], witness["second"], ("BLK", "CLU"))
        case "K152" | "K153":
            amount = witness["bytes" if diagnostic.code == "K152" else "registers"]
            return amount > witness["limit"] > 0
        case "K160":
            threads = plan.units("WGP") * plan.units("WRP") * plan.units("THR")
            return threads == witness["threads"] > witness["limit"]
        case "K161" | "K162" | "K163" | "K164":
            return _too_many(plan, diagnostic.code, witness)
        case _:
            return bool(witness)


def _covered_wrongly(plan: StagePlan, witness: dict[str, Any]) -> bool:
    d = next(n for n, dim in enumerate(plan.stage.dims) if dim.name == witness["dim"])
    found = [v for v in _definition(plan, d) if v == witness["iteration"]]
    return len(found) != 1


def _definition(plan: StagePlan, d: int) -> list[int]:
    """Elements that selections of parts reach, each part with `tile` places (language.md section 3)."""
    out = []
    for parts in product(*(range(step.splits[d].parts) for step in plan.steps)):
        e, inside = 0, True
        for step, part in zip(reversed(plan.steps), reversed(parts), strict=True):
            split = step.splits[d]
            inside = inside and e < split.tile
            n, units = split.cyclic, split.parts
            e = (e // n) * n * units + part * n + e % n if n else e + part * split.tile
            inside = inside and e < split.parent
        if inside:
            out.append(e)
    return out


def _exchanged(plan: StagePlan, witness: dict[str, Any]) -> bool:
    """C runs `first` before `second`; the plan runs them the other way round, or on units side by side."""
    names = witness["dims"]
    dims = tuple(n for n, dim in enumerate(plan.stage.dims) if dim.name in names)
    first = dict(zip(names, witness["first"], strict=True))
    second = dict(zip(names, witness["second"], strict=True))
    if tuple(first.values()) >= tuple(second.values()):
        return False
    when = {tuple(v.point.items()): v for v in visits(plan, dims)}
    a, b = when[tuple(first.items())], when[tuple(second.items())]
    return a.time > b.time or a.unit != b.unit


def _split_over(plan: StagePlan, dim: str, layer: str) -> int:
    return max(
        (
            s.parts
            for step in plan.steps
            for s in step.splits
            if s.layer == layer and plan.stage.dims[s.dim].name == dim
        ),
        default=1,
    )


def _apart(plan: StagePlan, dim: str, first: int, second: int, layers: tuple[str, ...]) -> bool:
    """The two iterations belong to different units of these layers."""
    d = next(n for n, x in enumerate(plan.stage.dims) if x.name == dim)
    unit = {v.point[dim]: tuple(u for u in v.unit if u[0] in layers) for v in visits(plan, (d,))}
    return unit[first] != unit[second]


def _too_many(plan: StagePlan, code: str, witness: dict[str, Any]) -> bool:
    if code == "K161":
        layer, axis = witness["axis"].split(".")
        found = [
            s.parts for step in plan.steps for s in step.splits if (s.layer, "xyz"[s.axis]) == (layer, axis)
        ]
        return witness["parts"] in found and witness["parts"] > witness["limit"]
    if code == "K162":
        axis = "xyz".index(witness["axis"])
        blocks = plan.axis_parts("BLK", axis) * plan.axis_parts("CLU", axis)
        return blocks == witness["parts"] > witness["limit"]
    if code == "K163":
        return plan.units("BLK") == witness["blocks"] > witness["limit"]
    lanes = [s.parts for step in plan.steps for s in step.splits if s.layer == "VEC"]
    return witness["lanes"] in lanes and witness["lanes"] not in witness["widths"]
