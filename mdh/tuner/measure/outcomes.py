"""Turns a worker's reply, or its death, into the outcome of a candidate."""

import signal
from typing import Any

from mdh.results.trial import QUICK, Effort, Outcome
from mdh.tuner.measure.failures import crashed, no_room, of_the_machine, refused, system_said
from mdh.tuner.measure.kills import Kills
from mdh.tuner.measure.process import Died
from mdh.tuner.measure.wire import Json, read_failed


def final(effort: Effort) -> bool:
    """Whether this measures candidates that may win."""
    return effort.inputs > QUICK.inputs


def refused_reply(reply: Json) -> Outcome:
    """The outcome of a reply that holds a failure. Raises Failed if the machine is at fault."""
    failed = read_failed(reply["failed"])
    if of_the_machine(failed.diagnostics):
        raise failed
    return refused(failed.diagnostics)


def after_death(name: str, stage: str, died: Died, kills: Kills) -> Outcome | None:
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
