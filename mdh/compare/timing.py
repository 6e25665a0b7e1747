"""Times schedules and libraries on one device, in rounds.

In each round the schedules run in turns on the same arrays, in a process that may crash or hang. After that
each library runs in this process.
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import perf_counter

import numpy as np

from mdh.compare.calm import calm
from mdh.compare.library import Bound, UnfitError, bound_call, open_library
from mdh.decompose.contraction import contraction_of
from mdh.diagnostics import Diagnostic, Failed
from mdh.ir.program import Program
from mdh.reference.numbers import Array, numpy_dtype
from mdh.results.comparison import Peer
from mdh.results.trial import Candidate, Effort, Limits, Outcome
from mdh.tuner.measure.inputs import read_set
from mdh.tuner.measure.local import LocalBench
from mdh.tuner.runtime.interrupt import Interrupt, unless_asked
from mdh.verify.arguments import Guarded, guarded
from mdh.verify.verdict import judge
from mdh.wording import plural

ROUNDS = 3
INPUTS = 4
"""Sets of arrays for judging results before anything is timed. Two are used again in later rounds."""
JUDGED = 2
"""Sets of arrays that libraries are judged on: exact numbers and random ones."""
_LIMITS = Limits(build=120.0, launch=120.0, measure=60.0, trial=300.0)
Say = Callable[[str], None]


@dataclass
class Runs:
    """The results of one entry. seconds: of each timed run, in turns with the others'. cold: of those with
    evicted caches. why: its error. absent: in words, why a library does not take part. note: how it
    computes."""

    seconds: list[float] = field(default_factory=list)
    clock: str = ""
    why: Diagnostic | None = None
    absent: str = ""
    note: str = ""
    cold: list[float] = field(default_factory=list)

    @property
    def over(self) -> bool:
        return self.why is not None or self.absent != ""


@dataclass(frozen=True)
class Contest:
    """What is timed. candidates, libraries: by the entries' names. samples: the most runs of each. seconds:
    about how long each is timed. inputs: sets of arrays that schedules are judged on first."""

    program: Program
    bench: LocalBench
    spec: str
    seed: int
    candidates: Mapping[str, Candidate]
    libraries: tuple[Peer, ...]
    samples: int
    seconds: float
    inputs: int = INPUTS


async def timed(contest: Contest, interrupt: Interrupt, say: Say) -> dict[str, Runs]:
    """By entry. What the user ends is left out where it has not run. Raises Failed where the device can run
    nothing any more."""
    runs = {name: Runs() for name in contest.candidates}
    libraries: dict[str, _Turn] = {}
    for number in range(ROUNDS if contest.candidates or contest.libraries else 0):
        pending = [name for name in contest.candidates if runs[name].why is None]
        say(f"{contest.spec}: round {number + 1} of {ROUNDS}, {_counted(pending, contest)}")
        if pending:
            effort = _effort(contest, number)
            duel = contest.bench.duel(tuple(contest.candidates[n] for n in pending), effort, _LIMITS)
            outcomes = await unless_asked(interrupt, duel)
            if outcomes is None:
                break
            for name, outcome in zip(pending, outcomes, strict=True):
                _keep(runs[name], outcome)
        if number == 0 and contest.libraries:
            contest.bench.doing("computes the results to judge by")
            expected = await unless_asked(interrupt, contest.bench.expected(JUDGED))
            if expected is not None:
                libraries = await asyncio.to_thread(_opened, contest, expected, runs)
        for name, turn in libraries.items():
            contest.bench.doing(f"times {name}")
            if not interrupt.asked:
                await asyncio.to_thread(turn.take, contest, runs)
        if interrupt.asked:
            break
    return {name: r for name, r in runs.items() if r.seconds or r.over}


def _counted(pending: list[str], contest: Contest) -> str:
    schedules = plural(len(pending), "schedule")
    return ", ".join([schedules, *(peer.name for peer in contest.libraries)])


def _effort(contest: Contest, number: int) -> Effort:
    samples = -(-contest.samples // ROUNDS)
    return Effort(
        samples, contest.seconds / ROUNDS, cold=True, inputs=contest.inputs if number == 0 else JUDGED
    )


def _keep(runs: Runs, outcome: Outcome) -> None:
    if outcome.failure is not None:
        runs.why = Diagnostic(outcome.code or "B101", outcome.message or str(outcome.failure))
        runs.seconds.clear()
        runs.cold.clear()
        return
    runs.seconds.extend(outcome.warm)
    runs.cold.extend(outcome.cold)
    runs.clock = outcome.clock


def _opened(contest: Contest, expected: Path, runs: dict[str, Runs]) -> dict[str, "_Turn"]:
    """The libraries that know the program and were right. The others get their reason."""
    out: dict[str, _Turn] = {}
    for peer in contest.libraries:
        name = peer.name
        runs[name] = Runs()
        try:
            out[name] = _open(contest, peer, expected)
            runs[name].clock = "wall" if out[name].bound.seconds is None else "device"
            runs[name].note = out[name].bound.note
        except UnfitError as unfit:
            runs[name].absent = str(unfit)
        except Failed as failed:
            runs[name].why = failed.diagnostics[0]
        except Exception as error:  # a library's own error must not end the comparison
            runs[name].absent = f"{name} failed: {error}"
    return out


@dataclass
class _Turn:
    """A library bound to arrays that stay where they are."""

    name: str
    bound: Bound
    held: Mapping[str, Guarded]

    def take(self, contest: Contest, runs: dict[str, Runs]) -> None:
        """Takes a share of the samples, after one call that does not count."""
        mine = runs[self.name]
        if mine.over:
            return
        calm()
        try:
            self.bound.call()
            end = perf_counter() + contest.seconds / ROUNDS
            for taken in range(-(-contest.samples // ROUNDS)):
                if taken and perf_counter() > end:
                    break
                mine.seconds.append(self._sample())
        except Exception as error:  # a library's own late error: its row says so, and the others continue
            mine.absent = f"{self.name} failed: {error}"
        calm()

    def _sample(self) -> float:
        if self.bound.seconds is not None:
            return self.bound.seconds()
        start = perf_counter()
        self.bound.call()
        return perf_counter() - start


def _open(contest: Contest, peer: Peer, expected: Path) -> _Turn:
    """A library, judged like schedules but on fewer sets of arrays. Raises UnfitError, Failed N1xx."""
    what = "" if peer.call else contraction_of(contest.program)
    if isinstance(what, str) and not peer.call:
        raise UnfitError(f"{peer.name} knows products alone, and `{contest.program.name}` is none: {what}")
    kind = contest.bench.ground.machine.kind
    library = open_library(peer.library, kind, contest.spec)
    place = "cpu" if kind == "cpu" else contest.spec
    turn = None
    for number in range(JUDGED):
        inputs = read_set(contest.program, contest.seed, number, expected)
        held = {n: guarded(a) for n, a in inputs.before.items()}
        arrays = {n: g.array for n, g in held.items()}
        if isinstance(what, str):
            values = {**_constants(contest.program), **inputs.scalars, **arrays}
            bound = bound_call(library, peer, values, place)
        else:
            bound = library.bind(what, arrays, place)
        bound.call()
        bound.fetch()
        found = judge(contest.program, inputs.before, held, inputs.want)
        if found:
            raise Failed(*found)
        version = library.version()
        turn = _Turn(peer.name, replace(bound, note="; ".join(w for w in (version, bound.note) if w)), held)
    assert turn is not None
    return turn


def _constants(program: Program) -> dict[str, Array]:
    """The arrays whose values the program holds itself."""
    return {
        b.name: np.array(b.values, numpy_dtype(b.dtype)).reshape(b.shape)
        for b in program.buffers
        if b.values is not None
    }
