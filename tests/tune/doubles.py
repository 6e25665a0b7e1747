"""Parts of the tuner without a device: a small space, a searcher, a bench that computes its times."""

import asyncio
import itertools
import random
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from mdh.diagnostics import Failed, fail
from mdh.ir.plan import Plan
from mdh.results.trial import Candidate, Effort, Failure, Limits, Outcome, Trial
from mdh.results.variable import Metric, Point, Variable

VARIABLES = (
    Variable("?bm", Metric.TILE, (1, 2, 4, 8, 16), "i", 16),
    Variable("?bn", Metric.TILE, (1, 2, 4, 8, 16), "j", 16),
    Variable("2.core.i", Metric.WORD, ("BLK.x", "FOR.1")),
)


def made(text: str) -> Plan:
    """As much of a plan as a search looks at."""
    plan: Any = SimpleNamespace(text=text)
    return plan  # type: ignore[no-any-return]


class SmallSpace:
    """Fifty points; those with bm * bn > 64 are illegal."""

    def __init__(self, variables: tuple[Variable, ...] = VARIABLES) -> None:
        self.variables = variables
        self.points = list(itertools.product(*(v.values for v in variables)))
        self.count = len(self.points)

    def amended(self, point: Point) -> Point:
        return point

    def plausible(self, point: Point) -> bool:
        return True

    def draw_legal(self, rng: random.Random, tries: int = 100, after: int = 0) -> tuple[Point, Plan] | None:
        for _ in range(tries):
            point = rng.choice(self.points)
            plan = self.plan(point)
            if not isinstance(plan, Failed):
                return point, plan
        return None

    def plan(self, point: Point) -> Plan | Failed:
        numbers = [v for v in point if isinstance(v, int)]
        product = 1
        for n in numbers:
            product *= n
        if product > 64:
            return fail("K150", "too many threads")
        return made(f"schedule {point}\n")


class Drawing:
    """Random order without repetition; keeps what it was told."""

    name = "random"

    def __init__(self, space: SmallSpace, seed: int = 0) -> None:
        self._rest = list(space.points)
        random.Random(seed).shuffle(self._rest)
        self.heard: list[tuple[Point, float | None]] = []
        self.elsewhere: set[Point] = set()

    def ask(self) -> Point | None:
        return self._rest.pop() if self._rest else None

    def claim(self, point: Point) -> bool:
        return point not in self.elsewhere

    def tell(self, point: Point, seconds: float | None) -> None:
        self.heard.append((point, seconds))


class Clock:
    """Time that passes only when somebody says so."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def bowl(candidate: Candidate) -> Outcome:
    """Fastest at bm 8, bn 4, BLK.x."""
    values = dict(candidate.values)
    bm, bn = int(values.get("?bm", 1)), int(values.get("?bn", 1))
    seconds = 1e-3 * (1 + abs(bm - 8) + abs(bn - 4)) * (1 if values.get("2.core.i") == "BLK.x" else 2)
    return Outcome(None, warm=(seconds,) * 5, clock="device", measure_seconds=0.1)


class TableBench:
    """Answers from a function of the candidate, one second of its clock a trial."""

    def __init__(
        self, answer: Callable[[Candidate], Outcome] = bowl, clock: Clock | None = None, slots: int = 1
    ) -> None:
        self.answer, self.clock, self.slots = answer, clock or Clock(), slots
        self.seen: list[Candidate] = []
        self.efforts: list[Effort] = []
        self.duels: list[tuple[Candidate, ...]] = []
        self.closed = False

    async def trial(self, candidate: Candidate, effort: Effort, limits: Limits) -> Outcome:
        self.seen.append(candidate)
        self.efforts.append(effort)
        await asyncio.sleep(0)
        self.clock.now += 1.0
        return self.answer(candidate)

    async def duel(
        self, finalists: tuple[Candidate, ...], effort: Effort, limits: Limits
    ) -> tuple[Outcome, ...]:
        self.duels.append(finalists)
        self.clock.now += 1.0
        return tuple(self.answer(c) for c in finalists)

    def ahead(self, finalists: tuple[Candidate, ...]) -> float:
        return 0.0

    async def close(self) -> None:
        self.closed = True


class GreetingWorker:
    """A worker's process that says `hello` and does nothing more."""

    def __init__(self, hello: dict[str, Any]) -> None:
        self._hello = hello
        self.alive = self.running = True

    async def ask(self, request: None, limit: float) -> dict[str, Any]:
        return self._hello

    async def kill(self) -> int:
        self.alive = self.running = False
        return 0


class StartingPost:
    """A place of a worker whose first attempts to start fail."""

    def __init__(self, spec: str, failures: int = 0, code: str = "D133") -> None:
        self.spec, self.failures, self.code = spec, failures, code
        self.tries = 0

    async def worker(self) -> object:
        self.tries += 1
        if self.tries <= self.failures:
            raise fail(self.code, "no worker")
        return object()

    async def renew(self) -> None:
        """Nothing is lost."""

    async def close(self) -> None:
        """Nothing runs."""


class Memory:
    """A record that is not on disk."""

    def __init__(self) -> None:
        self.trials: list[Trial] = []

    def append(self, trial: Trial) -> None:
        self.trials.append(trial)


def failing(failure: Failure, message: str = "it fails") -> Outcome:
    return Outcome(failure, code="D103", message=message)
