"""What rules look at: a stage's schedule as written (`Draft`) and as resolved (`Subject`)."""

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property

from mdh.decompose.tiles import decompose
from mdh.diagnostics import Label, labels_at
from mdh.hardware import Layer
from mdh.ir.plan import PlanStep, StagePlan
from mdh.ir.program import DimKind, Program, Stage
from mdh.ir.tile import Copy, Tiles
from mdh.machine import Machine
from mdh.schedule.model import Step
from mdh.source import Span
from mdh.wording import plural


@dataclass(frozen=True)
class Draft:
    """The steps of one stage as the user wrote them, holes bound. `machine` is as `target` sees it."""

    program: Program
    stage: Stage
    steps: tuple[Step, ...]
    machine: Machine
    target: str
    deterministic: bool
    span: Span | None = None
    taken: frozenset[str] = frozenset()
    """Names that variables of units and loops must not have, besides those of the program."""

    @cached_property
    def inputs(self) -> tuple[str, ...]:
        return self.program.inputs(self.stage)

    @cached_property
    def outputs(self) -> tuple[str, ...]:
        return self.program.outputs(self.stage)

    @property
    def extents(self) -> tuple[int, ...]:
        return tuple(d.extent for d in self.stage.dims)

    @property
    def dim_names(self) -> tuple[str, ...]:
        return tuple(d.name for d in self.stage.dims)

    @property
    def initial(self) -> Step | None:
        """The step labelled 0, which states the initial state and splits nothing."""
        return self.steps[0] if self.steps and self.steps[0].label == 0 else None

    @property
    def splitting(self) -> tuple[Step, ...]:
        return self.steps[1:] if self.initial else self.steps


@dataclass(frozen=True)
class Subject:
    """A resolved stage plan, with the written step behind each step; None for the implied last one."""

    draft: Draft
    plan: StagePlan

    @cached_property
    def tiles(self) -> Tiles:
        """The tile tree. Requires that the splits cover every dimension (K120, K121)."""
        cpu = self.machine.kind == "cpu"
        return decompose(self.program, self.plan, cpu=cpu, taken=self.draft.taken)

    def copies(self, s: int, buffer: str) -> tuple[Copy, ...]:
        """The copies of a buffer at step s: one for each group of accesses that differ only by constants."""
        return tuple(c for c in self.tiles.copies if c.step == s and c.tile.buffer == buffer)

    @property
    def program(self) -> Program:
        return self.draft.program

    @property
    def stage(self) -> Stage:
        return self.draft.stage

    @property
    def machine(self) -> Machine:
        return self.draft.machine

    @property
    def target(self) -> str:
        return self.draft.target

    def written(self, s: int) -> Step | None:
        steps = self.draft.splitting
        return steps[s] if s < len(steps) else None

    def reduces(self, d: int) -> bool:
        return self.stage.dims[d].kind is DimKind.PW

    def dim(self, d: int) -> str:
        return self.stage.dims[d].name

    def at_tile(self, s: int, d: int, message: str = "") -> tuple[Label, ...]:
        step = self.written(s)
        return () if step is None else at(step.tiles[d].span or step.span, message)

    def at_core(self, s: int, d: int, message: str = "") -> tuple[Label, ...]:
        step = self.written(s)
        return () if step is None else at(step.cores[d].span or step.span, message)

    def at_entry(self, s: int, buffer: str, message: str = "") -> tuple[Label, ...]:
        """The place of a buffer's memory entry."""
        step = self.written(s)
        if step is None:
            return ()
        names = (*self.draft.inputs, *self.draft.outputs)
        mem = (*step.inputs, *step.outputs)[names.index(buffer)]
        return at(mem.span or step.span, message)

    def at_step(self, s: int, message: str = "") -> tuple[Label, ...]:
        step = self.written(s)
        return () if step is None else at(step.span, message)

    def at_entry_attr(self, s: int, buffer: str, name: str, message: str = "") -> tuple[Label, ...]:
        """The place of an attribute of a buffer's memory entry, else of the entry."""
        step = self.written(s)
        if step is None:
            return ()
        names = (*self.draft.inputs, *self.draft.outputs)
        mem = (*step.inputs, *step.outputs)[names.index(buffer)]
        spans = (a.span for a in mem.attrs if a.name == name and a.span)
        return at(next(spans, mem.span or step.span), message)

    def at_step_attr(self, s: int, name: str, message: str = "") -> tuple[Label, ...]:
        """The place of an attribute of a step."""
        step = self.written(s)
        spans = (a.span for a in (step.attrs if step else ()) if a.name == name)
        return at(next(spans, None), message)

    def at_dim(self, d: int, message: str = "") -> tuple[Label, ...]:
        """The place of the loop in the C."""
        return at(self.stage.dims[d].span, message)

    def split_spans(self, layer: Layer) -> tuple[Label, ...]:
        """Every entry that gives parts to `layer`."""
        return tuple(
            label
            for s, step in enumerate(self.plan.steps)
            for split in step.splits
            if split.layer == layer
            for label in self.at_core(s, split.dim, parts(split.parts))
        )


at = labels_at
"""The label of a rule at its place."""


def step_name(step: Step | PlanStep, number: int) -> str:
    """The name of a step in messages: its label, else its position in the text."""
    return f"step {number if step.label is None else step.label}"


def listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{n}`" for n in names)


def parts(n: int) -> str:
    return plural(n, "part")


def nearest(word: str, known: Iterable[str]) -> str:
    """`did you mean …?`, or an empty text if no known word is similar."""
    names = list(known)
    by_lower = {n.lower(): n for n in names}
    near = get_close_matches(word.lower(), list(by_lower), 1, 0.5)
    return f"did you mean `{by_lower[near[0]]}`?" if near else ""
