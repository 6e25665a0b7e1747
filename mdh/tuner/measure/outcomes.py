"""What a worker's reply, or its death, makes of a candidate."""

import signal
from typing import Any

from mdh.results.trial import QUICK, Effort, Outcome
from mdh.tuner.measure.failures import crashed, no_room, of_the_machine, refused, system_said
from mdh.tuner.measure.kills import Kills
from mdh.tuner.measure.process import Died
from mdh.tuner.measure.wire import Json, read_failed


def final(effort: Effort) -> bool:
    """Is it the measurement of candidates that may win?"""
    return effort.inputs > QUICK.inputs


def refused_reply(reply: Json) -> Outcome:
    """Raises Failed where the fault is the machine's."""
    failed = read_failed(reply["failed"])
    if of_the_machine(failed.diagnostics):
        raise failed
    return refused(failed.diagnostics)


def after_death(name: str, stage: str, died: Died, kills: Kills) -> Outcome | None:
    """None: it is to be tried again. Raises Failed D132 where the process said what the system denied it."""
    if died.status > 0 and system_said(died.words):
        raise no_room(OSError(died.words))
    if died.doubtful and not kills.blame(name):
        return None
    # compilers that get no memory crash, and so does what maps a file that the disk has no room for; runtimes
    # that get neither files nor memory give up
    starved = stage == "build" or died.status in (-signal.SIGBUS, -signal.SIGABRT)
    if not died.doubtful and starved and not kills.believe(name):
        return None
    return crashed(stage, died.status, died.words)


def timed(result: dict[str, Any]) -> Outcome:
    return Outcome(
        None, warm=tuple(result["warm"]), cold=tuple(result["cold"]), clock=result["clock"],
        stopped=result["stopped"],
    )  # fmt: skip
