"""Default schedules of stages that work on the same rows: one kernel for all of them, or one each.

Both are planned, and the cost model compares them. What the checker refuses is not taken.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from mdh.checker.fusing import stage_in, view_of
from mdh.checker.inner import Whole, with_inner
from mdh.checker.run import check_stage
from mdh.checker.subject import Draft
from mdh.cost.predict import seconds_of_stages
from mdh.diagnostics import Failed
from mdh.ir.plan import StagePlan
from mdh.ir.program import Program
from mdh.language import LANGUAGES
from mdh.machine import Machine
from mdh.schedule.default.row_groups import RowGroup, row_groups
from mdh.schedule.default.rows_cpu import rows_cpu
from mdh.schedule.default.rows_gpu import rows_gpu
from mdh.schedule.model import Section, Within

BETTER = 0.9
"""One kernel has to be predicted to take this share of the time of several, or less."""


def with_rows(
    program: Program, sections: Mapping[str, Section], among: Collection[str], machine: Machine,
    target: str, *, deterministic: bool,
) -> dict[str, Section]:  # fmt: skip
    """The sections of kernels, with those of stages that the kernel of another one should compute instead.
    among: the stages that may change."""
    out = dict(sections)
    if program.opens or len(program.stages) < 2:
        return out
    plan = _Planner(program, machine, target, deterministic)
    for group in row_groups(program, among):
        found = _on_cpu(plan, group) if machine.kind == "cpu" else _on_gpu(plan, group, out)
        out.update(found)
    return out


def _on_cpu(plan: "_Planner", group: RowGroup) -> Mapping[str, Section]:
    """The model sees no stage find in the cache what another one has read, so a rule decides."""
    candidate = rows_cpu(group, plan.machine)
    if candidate is None:
        return {}
    named = {s.name: x for s, x in zip(group.stages, candidate, strict=True)}
    return {} if plan.of(named) is None else named


def _on_gpu(plan: "_Planner", group: RowGroup, sections: Mapping[str, Section]) -> Mapping[str, Section]:
    """The first candidate that fits, if it is faster."""
    before = plan.of({s.name: sections[s.name] for s in group.stages})
    for candidate in rows_gpu(group, LANGUAGES[plan.target].seen(plan.machine)):
        named = {s.name: x for s, x in zip(group.stages, candidate, strict=True)}
        after = plan.of(named)
        if before is not None and after is not None:
            seconds = (seconds_of_stages(plans, plan.machine) for plans in (before, after))
            return named if BETTER * next(seconds) >= next(seconds) else {}
    return {}


@dataclass(frozen=True)
class _Planner:
    program: Program
    machine: Machine
    target: str
    deterministic: bool

    def of(self, sections: Mapping[str, Section]) -> tuple[StagePlan, ...] | None:
        """The plans of the kernels that compute these stages; None where one is not legal."""
        seen = LANGUAGES[self.target].seen(self.machine)
        whole, out = Whole(self.program, sections, seen, check_stage), list[StagePlan]()
        for stage in self.program.stages:
            section = sections.get(stage.name)
            if section is None or isinstance(section.how, Within):
                continue
            try:
                view = view_of(self.program, stage, section)
            except Failed:
                return None
            mine = stage_in(view, stage.name)
            draft = Draft(view, mine, section.steps, seen, self.target, self.deterministic)
            plan, found = check_stage(draft, section)
            if plan is not None:
                plan, found = with_inner(plan, draft, whole, {})
            if plan is None or found:
                return None
            out.append(plan)
        return tuple(out)
