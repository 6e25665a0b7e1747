"""The emitted text line by line, each line with the stage and the step of the schedule that it comes from.

The text itself tells: comments repeat the steps where their bodies start, loops and unit coordinates are
named after levels, and regions after buffers. A line without such a name belongs to the step whose body it is
in, by its indentation.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from mdh.ir.plan import Plan, StagePlan
from mdh.report.explain import stage_of
from mdh.target.text import KernelText

_LOOP = re.compile(r"\s*for \((?:int|long|size_t) (\w+) =")
_UNIT = re.compile(r"\s*const (?:int|long) (\w+) =")
_PREFIX = r"(?:(?:__shared__|__local|static|const|unsigned|__attribute__\(\(.*?\)\)|__align__\(\d+\)) )*"
_DECLARED = re.compile(rf"\s*{_PREFIX}\w+ (\w+_(?:SM|RM))(?:_\d+)?(?:\[\d+\])?(?: = .*)?;")
_FILLED = re.compile(r"\s*(\w+_SM)(?:_\d+)?\[.*\] = ")
_ENDS = (";", "{", "}")


@dataclass(frozen=True, slots=True)
class CodeLine:
    """A line. stage, step: indices into the plan; None if the line belongs to no step."""

    text: str
    stage: int | None = None
    step: int | None = None


@dataclass(frozen=True, slots=True)
class _Names:
    """The names of a stage's steps, levels and regions in the text: name -> index of the step."""

    comments: Mapping[str, int]
    levels: Mapping[str, int]
    regions: Mapping[str, int]


def code_lines(plan: Plan, text: KernelText) -> tuple[CodeLine, ...]:
    """Every line of the source; stages are told apart by the kernels' names."""
    names = [_names(stage) for stage in plan.stages]
    owner = {k.name: plan.stages.index(stage_of(plan, k.stage)) for k in text.kernels}
    rows = text.source.splitlines()
    starts = {n: owner[k] for n, row in enumerate(rows) for k in owner if _defines(row, k)}
    out: list[CodeLine] = []
    cuts = [*sorted(starts), len(rows)]
    out.extend(CodeLine(row) for row in rows[: cuts[0]])
    for first, stop in pairwise(cuts):
        stage = starts[first]
        steps = _steps_of(rows[first:stop], names[stage])
        out.extend(CodeLine(row, stage, s) for row, s in zip(rows[first:stop], steps, strict=True))
    return tuple(out)


def _defines(row: str, kernel: str) -> bool:
    return re.search(rf"\b{kernel}\(", row) is not None and not row.rstrip().endswith(";")


def _names(plan: StagePlan) -> _Names:
    comments = {}
    for s, step in enumerate(plan.steps):
        for said in (step.text, *step.wrapped[:1]):
            if said:
                comments[said.strip()] = s
    if plan.call is not None:
        return _Names({}, {}, {})
    levels = {level.var: level.step for level in plan.tiles.levels.all}
    regions: dict[str, int] = {}
    for node in plan.tiles.kept:
        if node.step is not None:
            regions.setdefault(f"{node.tile.buffer}_{node.tile.space}", node.step)
    return _Names(comments, levels, regions)


def _steps_of(rows: Sequence[str], names: _Names) -> list[int | None]:
    """The step of every line of one kernel: `inside[n]` is that of the code indented by n."""
    inside: dict[int, int | None] = {0: None}
    opened: dict[int, int | None] = {}
    out: list[int | None] = []
    whole = True
    for row in rows:
        body, depth = row.strip(), len(row) - len(row.lstrip())
        continued, whole = not whole, _is_whole(body)
        if continued:
            out.append(out[-1] if out else None)
            continue
        if body:
            inside = {n: s for n, s in inside.items() if n <= depth}
        around = inside[max(inside)]
        said = names.comments.get(body.removeprefix("//").strip()) if body.startswith("//") else None
        loop, unit, region = _LOOP.match(row), _UNIT.match(row), _DECLARED.match(row) or _FILLED.match(row)
        own = around
        if said is not None:
            own = inside[depth] = said
        elif loop and loop[1] in names.levels:
            own = inside[depth + 4] = names.levels[loop[1]]
        elif unit and unit[1] in names.levels:
            own = names.levels[unit[1]]
        elif region and region[1] in names.regions:
            own = names.regions[region[1]]
        if body.startswith("}"):
            own = opened.get(depth, around)
        elif body.endswith("{"):
            opened[depth] = own
        out.append(own)
    return _with_pragmas(rows, out)


def _is_whole(body: str) -> bool:
    """Whether the next line begins something new."""
    if not body or body.startswith(("//", "#", "for")) or body.partition("  //")[0].endswith(_ENDS):
        return True
    return body.startswith(("if (", "else", "while (")) and body.endswith(")")


def _with_pragmas(rows: Sequence[str], steps: list[int | None]) -> list[int | None]:
    """The steps, with each pragma given to the loop after it."""
    for n in reversed(range(len(rows) - 1)):
        if rows[n].lstrip().startswith("#pragma"):
            steps[n] = steps[n + 1]
    return steps
