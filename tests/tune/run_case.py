"""A tuning run with doubles: no device, no waiting."""

import asyncio
from collections.abc import Callable
from typing import Any

from mdh.ir.plan import Plan
from mdh.results.goal import Ended, Goal
from mdh.results.trial import Candidate, Trial
from mdh.results.tuning import RunProgress
from mdh.results.variable import Point
from mdh.tuner.candidates.proposals import CandidateQueue, Proposal
from mdh.tuner.loop.run import tune
from mdh.tuner.loop.state import Run
from mdh.tuner.runtime.interrupt import Interrupt
from tests.tune.doubles import VARIABLES, Drawing, Memory, SmallSpace, TableBench, made

TWELVE = Goal(trials=12)


def candidate_of(plan: Plan, point: Point) -> Candidate:
    names = (v.name for v in VARIABLES)
    return Candidate(plan.text, plan.text, tuple(zip(names, point, strict=True)))


class Case:
    def __init__(
        self, goal: Goal = TWELVE, *, bench: TableBench | None = None, seed: int = 0, **options: Any
    ) -> None:
        self.space = SmallSpace()
        self.searcher = Drawing(self.space, seed)
        self.bench = bench or TableBench()
        self.log, self.found, self.told = Memory(), list[Trial | None](), list[RunProgress]()
        self.interrupt: Interrupt | None = None
        self.goal, self.options = goal, options
        self.watch: Callable[[RunProgress, Trial | None], None] = lambda progress, _: self.told.append(
            progress
        )
        self.suggested: list[Proposal] = []
        self.known: dict[str, float | None] = {}

    def run(self) -> Ended:
        async def body() -> Ended:
            self.interrupt, self.loop = Interrupt(), asyncio.get_running_loop()
            proposals = CandidateQueue(
                self.space, self.searcher, candidate_of, known=self.known, identity=lambda plan: plan.text
            )
            for proposal in self.suggested:
                proposals.enqueue(proposal, made(proposal.candidate.schedule))
            self.state = Run(
                self.bench, proposals, self.log.append, self.goal, self.interrupt,
                self.watch, self.found.append, clock=self.bench.clock, **self.options,
            )  # fmt: skip
            return await tune(self.state)

        return asyncio.run(body())
