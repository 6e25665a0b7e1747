"""What rules of performance look at: the plan of a stage, what the cost model says of it, and of remedies."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from mdh.checker.performance.remedies import Remedy, staged_at
from mdh.checker.run import check_stage
from mdh.checker.subject import Draft, at
from mdh.cost.nest import AccessView, CostNest, nest_of
from mdh.cost.predict import terms_of
from mdh.cost.prediction import NOMINAL, TERMS, seconds_of
from mdh.cost.work import StageWork, stage_work
from mdh.diagnostics import Diagnostic, Label, Severity
from mdh.hardware import Layer
from mdh.ir.layout import Level
from mdh.ir.plan import Plan, StagePlan
from mdh.machine import Machine
from mdh.schedule.model import Schedule, Section, Step

WORTH = 0.9
"""Seconds with a remedy over those without it, at most. The cost model ranks schedules and promises no
seconds: between schedules that it sees closer together than this, it is as often wrong as right."""
NEGLIGIBLE = {"gpu": 12e-6, "cpu": 20e-6}
"""Seconds of a stage, its start left out, below which no warning is given: the time of starting two kernels
of a GPU, and of waking the threads of a CPU. A call would hardly be faster if such a stage wasted nothing."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A warning. remedy: a change that the checker accepts and the cost model prefers; None: the help says
    in words what to do. stage: its name."""

    diagnostic: Diagnostic
    stage: str
    remedy: Remedy | None = None


@dataclass(frozen=True)
class Weighed:
    """Stage `number` of a plan. given: the whole plan's text, parsed."""

    whole: Plan
    number: int
    given: Schedule

    @property
    def plan(self) -> StagePlan:
        return self.whole.stages[self.number]

    @property
    def machine(self) -> Machine:
        return self.whole.machine

    @property
    def target(self) -> str:
        return self.whole.target

    @property
    def steps(self) -> tuple[Step, ...]:
        """The steps of the stage as they are written."""
        named = (None, self.plan.stage.name)
        return next(s.steps for s in self.given.sections if s.name in named)

    @cached_property
    def last(self) -> int:
        """The last step that the user wrote."""
        return max(s for s, step in enumerate(self.plan.steps) if step.span is not None)

    @cached_property
    def work(self) -> StageWork:
        return stage_work(self.plan.program, self.plan.stage)

    @cached_property
    def nest(self) -> CostNest:
        return nest_of(self.work, self.plan, self.machine)

    @cached_property
    def terms(self) -> dict[str, float]:
        """The seconds of each term, before they overlap."""
        found, _ = terms_of(self.nest)
        weights, names = NOMINAL[self.machine.kind].weights, TERMS[self.machine.kind]
        return {name: w * n for name, w, n in zip(names, weights, found, strict=True)}

    @cached_property
    def seconds(self) -> float:
        return self.seconds_of(self.nest)

    @property
    def negligible(self) -> bool:
        return self.seconds - self.terms["launch"] < NEGLIGIBLE[self.machine.kind]

    def seconds_of(self, nest: CostNest) -> float:
        found, _ = terms_of(nest)
        return float(seconds_of(NOMINAL[self.machine.kind], found))

    def seconds_with(self, remedy: Remedy) -> float | None:
        """None where the remedy makes an illegal schedule."""
        draft = Draft(
            self.plan.program, self.plan.stage, self.steps, self.machine, self.target,
            self.whole.deterministic,
        )  # fmt: skip
        steps = remedy.applied(draft.steps)
        if steps is None:
            return None
        plan, _ = check_stage(replace(draft, steps=steps), Section(None, steps))
        return None if plan is None else self.seconds_of(nest_of(self.work, plan, self.machine))

    def best(self, remedies: Iterable[Remedy], worth: float = WORTH) -> tuple[Remedy, float] | None:
        """The legal remedy with the fewest seconds, and what share of the seconds remains; None where that
        is more than `worth`."""
        tried = [(self.seconds_with(r), r) for r in remedies]
        found = [(t / self.seconds, r) for t, r in tried if t is not None]
        share, remedy = min(found, key=lambda one: one[0], default=(1.0, None))
        return None if remedy is None or share > worth else (remedy, share)

    def copies_of(self, buffer: str, layout: tuple[int, ...], pad: int = 0) -> Iterator[Remedy]:
        """Copies of an input in shared memory, at each step that stages nothing of it."""
        inputs = self.plan.program.inputs(self.plan.stage)
        if buffer not in inputs:
            return
        entry = f"{buffer}:SM[{','.join(map(str, layout))}]" + (f"@pad({pad})" if pad else "")
        for s, step in enumerate(self.plan.steps):
            if step.span is not None and not any(x.buffer == buffer for x in step.stagings):
                change = staged_at(s, inputs.index(buffer), buffer, layout, pad)
                yield Remedy(f"`{entry}` at step {step.label}", change)

    def name(self, d: int) -> str:
        return self.plan.stage.dims[d].name

    def at_core(self, s: int, d: int, message: str = "") -> tuple[Label, ...]:
        """The entry of the third group of a dimension; of an implied step, that of the step before it."""
        written = [n for n, step in enumerate(self.plan.steps) if step.span is not None and n <= s]
        step = self.plan.steps[written[-1] if written else 0]
        return at(step.splits[d].span or step.span, message)

    def at_layers(self, *layers: Layer) -> tuple[Label, ...]:
        """Every entry that gives parts to the layers, else the first step."""
        found = tuple(
            label
            for s, step in enumerate(self.plan.steps)
            for x in step.splits
            if x.layer in layers
            for label in self.at_core(s, x.dim, f"{x.parts} parts of `{self.name(x.dim)}`")
        )
        return found or at(self.plan.steps[0].span)

    def at_entry(self, s: int, buffer: str, message: str = "") -> tuple[Label, ...]:
        """The memory entry of a buffer that step s stages or holds."""
        step = self.plan.steps[s]
        spans = [x.span for x in step.stagings if x.buffer == buffer]
        spans += [x.span for x in step.holdings if x.buffer == buffer]
        return at(next(iter(spans), None) or step.span, message)

    def level(self, d: int) -> Level | None:
        """The level of a dimension whose neighbouring parts are neighbouring indices."""
        levels = self.plan.tiles.levels
        return next((x for x in levels.by_dim[d] if levels.index[d].coefficient(x.var) == 1), None)

    def stride(self, view: AccessView, d: int) -> int | None:
        """Bytes between what an access reads or writes for neighbouring indices of dimension d; None where
        data decides, or where no level takes single indices."""
        level = self.level(d)
        if level is None:
            return 0 if self.plan.stage.dims[d].extent == 1 else None
        return view.strides.get(level.var, None if view.access.gather else 0)

    def warning(
        self, code: str, headline: str, labels: tuple[Label, ...], help: str, *,
        notes: tuple[str, ...] = (), remedy: Remedy | None = None,
    ) -> Finding:  # fmt: skip
        found = Diagnostic(code, headline, labels, notes, help, severity=Severity.WARNING)
        return Finding(found, self.plan.stage.name, remedy)


def share_text(share: float) -> str:
    """A note on what the cost model expects of a remedy."""
    return f"the cost model expects that the stage takes {1.0 - share:.0%} less time with that"
