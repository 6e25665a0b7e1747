"""Local search: neighbours of the best known schedules, with the interface that the tuner's loop expects.

A point is the text of a schedule. So the loop, which asks for points and reports times, runs this search as
it does those over the holes of one schedule.
"""

from bisect import insort
from collections.abc import Callable, Mapping
from dataclasses import replace
from random import Random

from mdh.diagnostics import INTERNAL_ERRORS, Failed, internal_error
from mdh.ir.plan import Plan
from mdh.results.variable import Point
from mdh.schedule.model import Schedule, Section
from mdh.schedule.parser import parse_schedule
from mdh.schedule.printer import print_schedule
from mdh.source import Source
from mdh.tuner.local_search.moves import neighbour
from mdh.tuner.local_search.subject import SearchSubject
from mdh.tuner.search.make import AROUND
from mdh.tuner.space.identity import identity

PARENTS = 10
"""The number of fastest schedules that neighbours are made from."""
_TRIES = 200


class Neighbours:
    """A Planner and a Searcher. plan: the checker for a schedule without holes; it raises Failed."""

    name = AROUND
    count = 1 << 62
    """The size of the space is unknown; this is more than can be measured."""

    def __init__(
        self, plan: Callable[[Schedule], Plan], subjects: Mapping[str | None, SearchSubject], rng: Random
    ) -> None:
        self._check, self._subjects, self._rng = plan, subjects, rng
        self._starts: list[str] = []
        self._ranked: list[tuple[float, str]] = []
        self._parents: set[str] = set()
        # digests, because a long search makes hundreds of thousands of texts
        self._asked: set[int] = set()
        self._programs: dict[int, str] = {}
        self._read: dict[str, Schedule] = {}

    def begin(self, text: str) -> Point:
        """Adds a schedule to start from; it has neighbours before it has a time. Returns its point."""
        if text not in self._starts:
            self._starts.append(text)
        self._asked.add(hash(text))
        return (text,)

    def ask(self) -> Point | None:
        """A new neighbour, or an old one if no new one is found. None: nothing can be changed."""
        text: str | None = None
        for _ in range(_TRIES):
            text = self._drawn(self._rng) or text
            if text is not None and hash(text) not in self._asked:
                self._asked.add(hash(text))
                break
        return None if text is None else (text,)

    def claim(self, point: Point) -> bool:
        """Always true: no other tuner searches here."""
        return True

    def tell(self, point: Point, seconds: float | None) -> None:
        """Records the time of a point. Another spelling of a program does not become a parent too."""
        text = str(point[0])
        program = self._programs.get(hash(text), text)
        if seconds is not None and program not in self._parents:
            self._parents.add(program)
            insort(self._ranked, (seconds, text))

    def plausible(self, point: Point) -> bool:
        """Always true: only the checker can decide."""
        return True

    def draw_legal(self, rng: Random, tries: int) -> tuple[Point, Plan] | None:
        for _ in range(tries):
            text = self._drawn(rng)
            if text is None or hash(text) in self._asked:
                continue
            plan = self.plan((text,))
            if isinstance(plan, Plan):
                self._asked.add(hash(text))
                return (text,), plan
        return None

    def plan(self, point: Point) -> Plan | Failed:
        """The plan, or why there is none. B101: an internal error of mdh on an unusual schedule fails that
        schedule alone."""
        text = str(point[0])
        try:
            plan = self._check(self._schedule(text))
            self._programs[hash(text)] = identity(plan)
        except Failed as failed:
            return failed
        except INTERNAL_ERRORS as error:
            return internal_error(error)
        return plan

    def _drawn(self, rng: Random) -> str | None:
        parents = [text for _, text in self._ranked[:PARENTS]] or self._starts
        if not parents:
            return None
        found = neighbour(self._schedule(rng.choice(parents)), self._subjects, rng)
        return None if found is None else print_schedule(found)

    def _schedule(self, text: str) -> Schedule:
        if text not in self._read:
            if len(self._read) > 4 * PARENTS:
                self._read.clear()
            self._read[text] = _without_comments(parse_schedule(Source("<neighbour>", text)))
        return self._read[text]


def _without_comments(schedule: Schedule) -> Schedule:
    """The schedule without comments, because they may not be true of a neighbour."""
    sections = tuple(map(_silent, schedule.sections))
    return replace(schedule, sections=sections, sizes=(), comments=(), trailing=())


def _silent(section: Section) -> Section:
    return replace(
        section, steps=tuple(replace(s, comments=(), remark="") for s in section.steps), comments=()
    )
