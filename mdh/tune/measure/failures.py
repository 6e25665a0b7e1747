"""Which class a failure belongs to, by what refused the candidate and when."""

import signal
import tempfile

from mdh.diagnostics import Diagnostic, Failed, fail
from mdh.textfile import reason
from mdh.tune.values import Failure, Outcome

_RUNTIME = (
    "ILLEGAL", "MISALIGNED", "LAUNCH_FAILED", "INVALID_PC", "INVALID_ADDRESS_SPACE", "HARDWARE", "ASSERT",
    "LAUNCH_TIMEOUT", "ECC", "UNCORRECTABLE", "UNKNOWN", "EXEC_STATUS_ERROR",
)  # fmt: skip
"""Parts of the names of errors that a running kernel ends with; all others are refusals to start it."""
_OURS = frozenset({"D101", "D102", "D106", "D107", "D108", "D120", "D122", "D132"})
"""Codes that say something of the machine and nothing of the candidate."""


def of_the_machine(found: tuple[Diagnostic, ...]) -> bool:
    return any(d.code in _OURS for d in found)


def classify(found: tuple[Diagnostic, ...]) -> Failure:
    """Of the diagnostics of one candidate; the first decides."""
    first = found[0]
    match first.code[0], first.code:
        case "N", _:
            return Failure.WRONG
        case "D", "D109":
            return Failure.WRONG
        case "D", "D112":
            return Failure.TIMEOUT
        case "D", "D103" | "D121":
            return Failure.COMPILE
        case "D", _:
            return Failure.RUNTIME if poisons(first) else Failure.LAUNCH
        case "B", _:
            return Failure.COMPILE
        case _:
            return Failure.CONSTRAINTS


def poisons(found: Diagnostic) -> bool:
    """The error came from a running kernel: what a CUDA process does next fails as well."""
    witness = dict(found.witness)
    status = str(witness.get("status", "")).upper()
    running = witness.get("verb") == "finish" or any(word in status for word in _RUNTIME)
    return found.code == "D105" and running


def message_of(found: tuple[Diagnostic, ...]) -> str:
    """The first full message: the headline, and the compiler's own words where there are some."""
    first = found[0]
    return "; ".join((first.headline, *first.notes[:1]))


def refused(found: tuple[Diagnostic, ...]) -> Outcome:
    """The outcome of a candidate that mdh, a compiler, a device or the judge refuses."""
    return Outcome(classify(found), found[0].code, message_of(found))


def timed_out(stage: str, limit: float) -> Outcome:
    """D130. stage: `build`, `launch`, `measure` or `trial`."""
    return Outcome(Failure.TIMEOUT, "D130", f"the candidate did not end its {stage} in {limit:.3g} s")


def crashed(stage: str, status: int, words: str) -> Outcome:
    """D131. status: as of subprocess, negative for a signal; words: what the process said last."""
    how = f"by {signal_name(-status)}" if status < 0 else f"with status {status}"
    last = f": {words}" if words else ""
    return Outcome(Failure.CRASH, "D131", f"the process that did its {stage} ended {how}{last}")


def signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def no_room(error: OSError) -> Failed:
    """D132."""
    headline = f"the tuner cannot keep its files in `{tempfile.gettempdir()}`: {reason(error)}"
    return fail("D132", headline, help="free some room, or set TMPDIR to a folder on a larger disk")
