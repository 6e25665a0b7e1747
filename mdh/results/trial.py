"""What the parts of the tuner hand to one another. All of it is data that JSON can carry.

A `Job` says what is tuned and where; a `Candidate` is one schedule without holes; an `Effort` is how well it
is measured; an `Outcome` is what came of that; a `Trial` is the line of the record that keeps it.
"""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated

from mdh.schema import Meta

Value = int | str
"""Of a hole: a number or a canonical word such as `BLK.x`, `A:SM[2,1]`, `grouped(8)`, `^`."""

LONGEST = 1e11
"""Seconds, and MHz, that anything may have; three thousand years, so that moments fit."""
SHORTEST = 1e-12
"""Seconds that a timed run takes at least: less than a cycle of any clock. A shorter time would win for
ever."""
LAST = 1 << 62
"""Above every number of a trial."""
Number = Annotated[int, Meta(ge=0, lt=LAST)]
"""Of a trial."""
Duration = Annotated[float, Meta(ge=0.0, le=LONGEST)]
"""Seconds or MHz."""
Run = Annotated[float, Meta(ge=SHORTEST, le=LONGEST)]
"""Seconds of a timed run."""


class Failure(StrEnum):
    """Why a candidate has no time; the words of the T4 results format, and three of ours."""

    COMPILE = "compile"
    LAUNCH = "launch"
    RUNTIME = "runtime"
    TIMEOUT = "timeout"
    CRASH = "crash"
    WRONG = "wrong"
    CONSTRAINTS = "constraints"


@dataclass(frozen=True, slots=True)
class Job:
    """A program with its sizes on a device: all that a worker needs besides candidates.

    path, source: the C file's name and text; defines: sizes and macros; device: `cuda:0`; seed: of the
    arrays that candidates are judged on.
    """

    path: str
    source: str
    defines: tuple[tuple[str, int | str], ...] = ()
    function: str | None = None
    strict_fp: bool = False
    deterministic: bool = False
    device: str = "opencl:0"
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Candidate:
    """A schedule without holes, as canonical text. key: sha256 (hex) of what decides the kernel: canonical
    program, sizes, types, schedule text, machine, target. values: hole -> value, for people and searches."""

    key: str
    schedule: str
    values: tuple[tuple[str, Value], ...] = ()


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds after which a worker is killed: building, the first launch (with its check), the timed runs,
    and all of one trial."""

    build: float = 60.0
    launch: float = 30.0
    measure: float = 30.0
    trial: float = 120.0


@dataclass(frozen=True, slots=True)
class Effort:
    """How a candidate is measured. samples: timed runs, at least one; seconds: stop sampling after that
    long; cold: also time with evicted caches; inputs: sets of arrays that its results are judged on;
    give_up: seconds of one run above which, after three runs, the rest is left out (a clear loser)."""

    samples: int = 10
    seconds: float = 0.5
    cold: bool = False
    inputs: int = 2
    give_up: float | None = None


QUICK = Effort()
"""Every trial."""
THOROUGH = Effort(samples=100, seconds=3.0, cold=True, inputs=4)
"""Finalists and the winner."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one trial.

    failure None: right, and measured. code, message: the diagnostic of a failure, its first full sentence.
    warm, cold: seconds of each timed run; clock: `device` or `wall`. stopped: a clear loser, timed less.
    build_seconds, check_seconds, measure_seconds: what the trial cost. resources: what the compiler reported
    (registers, shared, local, spills) where it does. device, title, pid: who measured. clocks: MHz before and
    after, where the device tells. innocent: the worker died of another candidate; try again.
    """

    failure: Failure | None
    code: str = ""
    message: str = ""
    warm: tuple[Run, ...] = ()
    cold: tuple[Run, ...] = ()
    clock: str = ""
    stopped: bool = False
    build_seconds: Duration = 0.0
    check_seconds: Duration = 0.0
    measure_seconds: Duration = 0.0
    resources: tuple[tuple[str, int], ...] = ()
    clocks: tuple[Duration, ...] = ()
    device: str = ""
    title: str = ""
    versions: tuple[tuple[str, str], ...] = ()
    innocent: bool = False

    @property
    def seconds(self) -> float | None:
        """The median of the warm runs, the figure that candidates are compared by."""
        if self.failure is not None or not self.warm:
            return None
        ordered = sorted(self.warm)
        middle = len(ordered) // 2
        return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


@dataclass(frozen=True, slots=True)
class Trial:
    """One line of a record.

    origin: who proposed it (`default`, `given`, `record`, `tpe`, `random`, …); phase: `quick`, `final` or
    `winner`.
    started: seconds since the epoch; elapsed: of tuning time before it was told.
    """

    number: Number
    candidate: Candidate
    origin: str
    phase: str
    outcome: Outcome
    started: Duration = 0.0
    elapsed: Duration = 0.0
    extra: tuple[tuple[str, str], ...] = field(default=())
    """Fields of a newer mdh, kept as JSON text."""
