"""Turns a worker's reply, its silence or its death into the outcome of a candidate: how long a worker is
waited for, and whether the candidate is to blame."""

import signal
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import replace
from time import monotonic
from typing import Any

from mdh.results.trial import QUICK, Effort, Limits, Outcome
from mdh.tuner.measure.failures import (
    crashed,
    doubtful,
    no_room,
    of_the_machine,
    refused,
    system_said,
    timed_out,
)
from mdh.tuner.measure.process import Died, Late, Worker
from mdh.tuner.measure.wire import Json, read_failed

_SPELL = 60.0
"""Seconds for which kills of other workers count."""
_ALONE, _AMONG_OTHERS = 3, 6
"""The number of kills that a candidate is blamed for: if it alone is hit, and if other workers are killed
too. A candidate that uses up the machine's memory is killed again and again. Somebody who ends processes hits
any of them."""
_LAUNCH_FLOOR = 10.0
_MEASURE_FLOOR = 3.0
_FACTOR = 10.0
"""A candidate that takes this many times as long as every good one before cannot win."""
_STAGES = {
    "build": ("build", "build_seconds"),
    "load": ("launch", "check_seconds"),
    "time": ("measure", "measure_seconds"),
}
"""For each request its stage, and the field of an outcome for its seconds."""


class Kills:
    """The kills of one bench. Each trial has its own name, so a repeated candidate starts from zero."""

    def __init__(self) -> None:
        self._of: Counter[str] = Counter()
        self._crashes: Counter[str] = Counter()
        self._late: Counter[str] = Counter()
        self._recent: deque[tuple[float, str]] = deque(maxlen=32)

    def blame(self, name: str) -> bool:
        """Counts a kill; call it once for each. Returns True if the candidate is at fault."""
        self._recent.append((monotonic(), name))
        self._of[name] += 1
        return self._of[name] >= (_AMONG_OTHERS if self._others(name) else _ALONE)

    def overran(self, name: str, *, outside: bool) -> bool:
        """Counts a passed time limit; call it once for each. Returns True if the candidate is at fault.
        outside: its process was stopped or got no processor time, which tells as little of the candidate as a
        kill among others. While processes are being killed, others are slowed down too, so only the second
        limit counts then."""
        if outside:
            self.blame(name)
            return self._of[name] >= _AMONG_OTHERS
        self._late[name] += 1
        return self._late[name] > 1 or not self._others(name)

    def believe(self, name: str) -> bool:
        """Counts a crash or refusal that may come from a lack of memory or files; call it once for each.
        Returns True if the candidate is at fault, which is the third time: two faults of a machine do happen
        to one candidate."""
        self._crashes[name] += 1
        return self._crashes[name] >= _ALONE

    def elsewhere(self) -> None:
        """Records that a process was killed that worked on no candidate."""
        self._recent.append((monotonic(), ""))

    def forget(self, name: str) -> None:
        """Forgets a trial that has ended."""
        del self._of[name], self._crashes[name], self._late[name]

    def _others(self, name: str) -> bool:
        """Whether other workers were killed a short time ago."""
        now = monotonic()
        return any(other != name and now - at < _SPELL for at, other in self._recent)


class Patience:
    """The limits of one bench: shorter in a search (`Effort.give_up` is set), full for finalists."""

    def __init__(self) -> None:
        self._check = 0.0

    def saw(self, outcome: Outcome) -> None:
        if outcome.failure is None:
            self._check = max(self._check, outcome.check_seconds)

    def launch(self, effort: Effort, limits: Limits) -> float:
        if effort.give_up is None or not self._check:
            return limits.launch
        return min(limits.launch, max(_LAUNCH_FLOOR, _FACTOR * self._check))

    def measure(self, effort: Effort, limits: Limits) -> float:
        """Seconds that a measurement may take. Sampling ends by itself after `Effort.seconds`, so a longer
        one hangs in a run."""
        if effort.give_up is None:
            return limits.measure
        return min(limits.measure, max(_MEASURE_FLOOR, 4 * effort.seconds + 20 * _FACTOR * effort.give_up))


def final(effort: Effort) -> bool:
    """Whether this measures candidates that may win."""
    return effort.inputs > QUICK.inputs


async def asked(
    worker: Worker, request: Json, limit: float, name: Callable[[], str], kills: Kills
) -> Json | Outcome | None:
    """The worker's reply, or the outcome of the candidate that it failed on; None if that is to be tried
    again. name: of the candidate that the worker is busy with. Raises Failed if the machine is at fault."""
    stage, seconds = _STAGES[request["do"]]
    try:
        reply = await worker.ask(request, limit)
    except Late as late:
        # a compiler that only waits does so because of the machine
        if not kills.overran(name(), outside=late.stopped or (late.idle and stage == "build")):
            return None
        spent: dict[str, Any] = {seconds: limit}
        return replace(timed_out(stage, limit), **spent)
    except Died as died:
        return _after_death(name(), stage, died, kills)
    if reply.get("poisoned"):
        await worker.kill()
    if "failed" not in reply:
        return reply
    outcome = refused_reply(reply)
    return None if doubtful(outcome) and not kills.blame(name()) else outcome


def refused_reply(reply: Json) -> Outcome:
    """The outcome of a reply that holds a failure. Raises Failed if the machine is at fault."""
    failed = read_failed(reply["failed"])
    if of_the_machine(failed.diagnostics):
        raise failed
    return refused(failed.diagnostics)


def _after_death(name: str, stage: str, died: Died, kills: Kills) -> Outcome | None:
    """The outcome of a candidate whose worker died; None if it is to be tried again. Raises Failed D132 if
    the process reported what the system denied it."""
    if died.status > 0 and system_said(died.words):
        raise no_room(OSError(died.words))
    if died.doubtful and not kills.blame(name):
        return None
    # compilers that get no memory crash, and so does a process that maps a file for which the disk has no
    # room; runtimes that get neither files nor memory abort
    starved = stage == "build" or died.status in (-signal.SIGBUS, -signal.SIGABRT)
    if not died.doubtful and starved and not kills.believe(name):
        return None
    return crashed(stage, died.status, died.words)


def timed(result: dict[str, Any]) -> Outcome:
    return Outcome(
        None, warm=tuple(result["warm"]), cold=tuple(result["cold"]), clock=result["clock"],
        stopped=result["stopped"],
    )  # fmt: skip
