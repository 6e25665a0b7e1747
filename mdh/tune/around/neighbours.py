"""The search around schedules: neighbours of the best ones that are known, as the tuner's loop knows points.

A point is the text of a schedule. So the loop, which asks for points and is told times, serves this search as
it does those over the holes of one schedule.
"""

from bisect import insort
from collections.abc import Callable, Mapping
from random import Random

from mdh.diagnostics import Failed
from mdh.ir.plan import Plan
from mdh.schedule.model import Schedule
from mdh.schedule.parser import parse_schedule
from mdh.schedule.printer import print_schedule
from mdh.source import Source
from mdh.tune.around.moves import neighbour
from mdh.tune.around.subject import Subject
from mdh.tune.search.make import AROUND
from mdh.tune.space.model import Point

PARENTS = 10
"""The fastest schedules, any of which the next neighbour is one of."""
_TRIES = 200


class Neighbours:
    """A Planner and a Searcher. plan: the checker's, of a schedule without holes, raises Failed."""

    name = AROUND
    count = 1 << 62
    """Nobody knows how many there are; more than can be measured."""

    def __init__(
        self, plan: Callable[[Schedule], Plan], subjects: Mapping[str | None, Subject], rng: Random
    ) -> None:
        self._check, self._subjects, self._rng = plan, subjects, rng
        self._starts: list[str] = []
        self._ranked: list[tuple[float, str]] = []
        self._asked: set[int] = set()
        self._read: dict[str, Schedule] = {}

    def begin(self, text: str) -> Point:
        """A schedule to start from: it has neighbours before it has a time. Returns its point."""
        if text not in self._starts:
            self._starts.append(text)
        self._asked.add(hash(text))
        return (text,)

    def ask(self) -> Point | None:
        """A neighbour that was not asked for before; None: none was found."""
        for _ in range(_TRIES):
            text = self._drawn(self._rng)
            if text is not None:
                self._asked.add(hash(text))
                return (text,)
        return None

    def claim(self, point: Point) -> bool:
        """Nobody else searches here."""
        return True

    def tell(self, point: Point, seconds: float | None) -> None:
        # a second spelling of a program comes with the very time of the first one
        if seconds is not None and all(known != seconds for known, _ in self._ranked):
            insort(self._ranked, (seconds, str(point[0])))

    def plausible(self, point: Point) -> bool:
        """Only the checker knows."""
        return True

    def draw_legal(self, rng: Random, tries: int) -> tuple[Point, Plan] | None:
        for _ in range(tries):
            text = self._drawn(rng)
            plan = None if text is None else self.plan((text,))
            if text is not None and isinstance(plan, Plan):
                self._asked.add(hash(text))
                return (text,), plan
        return None

    def plan(self, point: Point) -> Plan | Failed:
        try:
            return self._check(self._schedule(str(point[0])))
        except Failed as failed:
            return failed

    def _drawn(self, rng: Random) -> str | None:
        parents = [text for _, text in self._ranked[:PARENTS]] or self._starts
        if not parents:
            return None
        found = neighbour(self._schedule(rng.choice(parents)), self._subjects, rng)
        text = None if found is None else print_schedule(found)
        return None if hash(text) in self._asked else text

    def _schedule(self, text: str) -> Schedule:
        if text not in self._read:
            if len(self._read) > 4 * PARENTS:
                self._read.clear()
            self._read[text] = parse_schedule(Source("<neighbour>", text))
        return self._read[text]
