"""Classifies a failure by what refused the candidate and when."""

import errno
import signal

from mdh.device.pocl_linker import unlinked
from mdh.diagnostics import Diagnostic, Failed, fail
from mdh.folders import temporary_place
from mdh.results.trial import Failure, Outcome
from mdh.textfile import reason

_RUNTIME = (
    "ILLEGAL", "MISALIGNED", "LAUNCH_FAILED", "INVALID_PC", "INVALID_ADDRESS_SPACE", "HARDWARE", "ASSERT",
    "LAUNCH_TIMEOUT", "ECC", "UNCORRECTABLE", "UNKNOWN", "EXEC_STATUS_ERROR",
)  # fmt: skip
"""Parts of the names of errors that a running kernel ends with. All other errors are refusals to start it."""
MACHINE = {
    "D101": "the device is not there",
    "D102": "OpenCL cannot be used",
    "D106": "CUDA cannot be used",
    "D107": "the process was forked",
    "D108": "Oclgrind is not installed",
    "D113": "the C compiler does not start, or fails on every text",
    "D114": "no room for a compiler's files, or none may be executed",
    "D120": "NVRTC is not installed, or fails on every text",
    "D122": "NVRTC is too old",
    "D132": "no room for the tuner's files",
    "D133": "no worker starts",
}
"""Codes that tell of the machine and not of the candidate. Such a fault is waited for
(mdh.tuner.measure.outage) and the candidate tried again. No trial is recorded for it."""
_SYSTEM = (
    "no space left on device", "disk quota exceeded", "read-only file system", "too many open files",
    "resource temporarily unavailable", "input/output error", "oserror: ", "permissionerror: ",
    "filenotfounderror: ", "blockingioerror: ", "failed to map segment", "cuda_error_operating_system",
    "cudaerroroperatingsystem", "cudaerrordevicesunavailable", "cuda_error_device_unavailable",
)  # fmt: skip
"""Parts of system messages in the output of compilers and of ended processes. No kernel text causes them."""
_WORDLESS = " fails on the kernel text"
"""The words of mdh.device and mdh.target.nvrtc for a text of which the compiler names no line."""
_STARVED = "no room for the compiler of the opencl runtime"
"""The OpenCL compiler takes memory of its process, whatever the text is, and keeps most of it."""
_HANDLES = ("INVALID_HANDLE", "INVALID_CONTEXT", "CONTEXT_IS_DESTROYED", "NOT_INITIALIZED", "DEINITIALIZED")
"""CUDA errors that tell of the process, for example of a driver that got no open file at its start."""
_KILLED = (
    "killed signal terminated program", "terminated signal terminated program", "it was ended by signal 9 (",
    "it was ended by signal 15 (",
)  # fmt: skip
"""Messages of killed compilers. A run tries again several times whether the text was the cause, and the next
run tries once more."""
_DAMAGED = (
    "kernels.so: file too short",
    "kernels.so: invalid elf header",
    "kernels.so: cannot read file data",
)
"""Messages about libraries that a linker left unfinished, which earlier versions took for complete."""
_ROOM = "free some room, or set TMPDIR to a folder on a larger disk"
_PROCESSES = "end other programs, or allow more processes and memory: ulimit -u, ulimit -v"
_REPAIRS = {
    errno.EMFILE: "allow more open files: ulimit -n",
    errno.ENFILE: "end other programs: the system has no more open files to give",
    errno.EAGAIN: _PROCESSES,
    errno.ENOMEM: _PROCESSES,
}
_CALLED = frozenset({"D103", "D105", "D121", "D131"})
"""Codes whose message holds the words of another program."""
_OWN = (
    signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGABRT, signal.SIGTRAP,
    signal.SIGSYS, signal.SIGXCPU, signal.SIGXFSZ,
)  # fmt: skip
"""Signals that a process gets for its own errors. All others are sent by a person or the system."""


def of_the_machine(found: tuple[Diagnostic, ...]) -> bool:
    return any(d.code in MACHINE or _by_system(d.code, d.headline, *d.notes) for d in found)


def misbooked(outcome: Outcome) -> bool:
    """Whether a recorded failure was probably the machine's. A run keeps those that came again and again, and
    earlier versions recorded others as the candidate's."""
    return outcome.failure is not None and (
        outcome.code in MACHINE
        or _by_system(outcome.code, outcome.message)
        or any(words in outcome.message.lower() for words in (*_KILLED, *_DAMAGED))
        or (outcome.code == "D131" and unlinked(outcome.message))
        or _starved(outcome)
    )


def of_candidate(outcome: Outcome) -> bool:
    """Whether the failure is the candidate's, so that it need not be measured again."""
    return not outcome.innocent and not misbooked(outcome)


def wordless(outcome: Outcome) -> bool:
    """Whether a compiler refused the text and named no line of it: it may have been killed."""
    return outcome.code in ("D103", "D121") and _WORDLESS in outcome.message.partition(";")[0]


def doubtful(outcome: Outcome) -> bool:
    """Whether to try again in a fresh process: a compiler named no line or got no memory, or a driver lost
    its state."""
    lost = outcome.code == "D105" and any(name in outcome.message.upper() for name in _HANDLES)
    return lost or wordless(outcome) or _starved(outcome)


def _starved(outcome: Outcome) -> bool:
    return outcome.code == "D104" and _STARVED in outcome.message.lower()


def system_said(words: str) -> bool:
    """Whether the last words of a process tell of the machine."""
    return _by_system("D131", words)


def _by_system(code: str, *said: str) -> bool:
    return code in _CALLED and any(words in text.lower() for text in said for words in _SYSTEM)


def from_outside(status: int) -> bool:
    """Whether a person or the system probably killed the process. status: as in subprocess."""
    return status < 0 and -status not in _OWN


def classify(found: tuple[Diagnostic, ...]) -> Failure:
    """The class of a failure by the diagnostics of one candidate; the first one decides."""
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
    """Whether the error came from a running kernel. A CUDA process cannot be used after that."""
    witness = dict(found.witness)
    status = str(witness.get("status", "")).upper()
    running = witness.get("verb") == "finish" or any(word in status for word in _RUNTIME)
    return found.code == "D105" and running


def message_of(found: tuple[Diagnostic, ...]) -> str:
    """The first full message: the headline, and the compiler's own words if there are any."""
    first = found[0]
    return "; ".join((first.headline, *first.notes[:1]))


def refused(found: tuple[Diagnostic, ...]) -> Outcome:
    """The outcome of a candidate that mdh, a compiler, a device or the judge refuses."""
    return Outcome(classify(found), found[0].code, message_of(found))


def timed_out(stage: str, limit: float) -> Outcome:
    """D130: a time limit passed. stage: `build`, `launch`, `measure` or `trial`."""
    return Outcome(Failure.TIMEOUT, "D130", f"the candidate did not end its {stage} in {limit:.3g} s")


def crashed(stage: str, status: int, words: str) -> Outcome:
    """D131: the process crashed. status: as in subprocess, negative for a signal. words: its last output."""
    how = f"by {signal_name(-status)}" if status < 0 else f"with status {status}"
    last = f": {words}" if words else ""
    return Outcome(Failure.CRASH, "D131", f"the process that did its {stage} ended {how}{last}")


def different(devices: tuple[str, ...], titles: list[str]) -> Failed:
    """D134: the devices are of different models."""
    headline = f"{', '.join(devices)} are devices of different models: {', '.join(titles)}"
    return fail(
        "D134", headline, help="times of one search must be comparable: tune for each model by itself"
    )


def unstarted(why: str) -> Failed:
    """D133: no worker process starts."""
    hint = "`mdh doctor` says what is missing; `mdh run` on the same device shows it in the open"
    return fail("D133", f"a worker of the tuner does not start: {why}", help=hint)


def unjudged(why: str) -> Failed:
    """D135: the expected results could not be computed."""
    headline = f"the reference did not finish, so no result can be judged: {why}"
    return fail(
        "D135", headline, help="smaller sizes: -D N=…; the reference takes several times the arrays' memory"
    )


def signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def no_room(error: OSError) -> Failed:
    """D132: no room for files."""
    headline = f"the tuner cannot keep its files in `{temporary_place()}`: {reason(error)}"
    return fail("D132", headline, help=_REPAIRS.get(error.errno or 0, _ROOM))
