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
from mdh.tuner.local_search.attributes import attributed, moved_by
from mdh.tuner.local_search.cores import exchanged, handed_over, interleaved, shared_out
from mdh.tuner.local_search.places import placed, turned
from mdh.tuner.local_search.subject import Move, SearchSubject, Steps, SubjectOf
from mdh.tuner.local_search.tiles import dropped, resized, scaled, split, swapped
from mdh.tuner.search.make import AROUND
from mdh.tuner.space.identity import identity

MOVES: Mapping[Move, int] = {
    resized: 8, scaled: 3, placed: 3, turned: 1, attributed: 5, moved_by: 1, exchanged: 1, handed_over: 1,
    shared_out: 2, interleaved: 1, split: 2, dropped: 1, swapped: 1,
}  # fmt: skip
"""The relative frequency of each move. Sizes are the largest part of a schedule."""
_COUNTS = (1, 1, 1, 2, 2, 3)
"""The number of changes of a neighbour. Some changes help only together."""
_MOVES_TRIED = 20
PARENTS = 10
"""The number of fastest schedules that neighbours are made from."""
_TRIES = 200


class Neighbours:
    """A Planner and a Searcher. plan: the checker for a schedule without holes; it raises Failed."""

    name = AROUND
    count = 1 << 62
    """The size of the space is unknown; this is more than can be measured."""

    def __init__(self, plan: Callable[[Schedule], Plan], subject: SubjectOf, rng: Random) -> None:
        self._check, self._subject, self._rng = plan, subject, rng
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

    def draw_legal(self, rng: Random, tries: int, after: int = 0) -> tuple[Point, Plan] | None:
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
        found = neighbour(self._schedule(rng.choice(parents)), self._subject, rng)
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
    steps = tuple(replace(s, comments=(), remark="") for s in section.steps)
    fuses = tuple(replace(f, comments=(), remark="") for f in section.fuses)
    return replace(section, steps=steps, fuses=fuses, comments=(), remark="")


def neighbour(schedule: Schedule, subject: SubjectOf, rng: Random) -> Schedule | None:
    """A changed schedule, legal or not; None if nothing could be changed."""
    sections = list(schedule.sections)
    # a stage of a single element has no steps to change
    telling = [i for i, section in enumerate(sections) if section.steps and subject(section).extents]
    if not telling:
        return None
    for _ in range(rng.choice(_COUNTS)):
        at = rng.choice(telling)
        steps = _moved(sections[at].steps, subject(sections[at]), rng)
        if steps is not None:
            sections[at] = _labelled(sections[at], steps)
    changed = replace(schedule, sections=tuple(sections))
    return None if changed == schedule else changed


def _moved(steps: Steps, subject: SearchSubject, rng: Random) -> Steps | None:
    for _ in range(_MOVES_TRIED):
        (move,) = rng.choices(list(MOVES), list(MOVES.values()))
        found = move(steps, subject, rng)
        if found is not None:
            return found
    return None


def _labelled(section: Section, steps: Steps) -> Section:
    """The section with labels for its new steps. Steps keep their place in the code order, and a new one
    follows the one above it. A code order that was the text order stays so."""
    labels = [step.label for step in section.steps if step.label is not None]
    if not labels or labels == sorted(labels):
        return replace(section, steps=tuple(replace(s, label=n + 1) for n, s in enumerate(steps)))
    places, last = [], 0.0
    for step in steps:
        last = last + 0.5 if step.label is None else float(step.label)
        places.append(last)
    first = 0 if 0 in (step.label for step in steps) else 1
    order = sorted(range(len(steps)), key=lambda i: (places[i], i))
    label = {i: first + n for n, i in enumerate(order)}
    return replace(section, steps=tuple(replace(s, label=label[i]) for i, s in enumerate(steps)))
