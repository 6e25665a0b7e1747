"""The values that the parts of the tuner exchange. JSON can hold all of them.

A `Job` says what is tuned and where. A `Candidate` is one schedule without holes. An `Effort` says how
thoroughly it is measured, and an `Outcome` is the result. A `Trial` is the line of the record that keeps it.
"""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated

from mdh.frontend.constant_arrays import shortened
from mdh.ir.open_size import OpenSize
from mdh.schema import Meta

Value = int | str
"""The value of a hole: a number or a canonical word such as `BLK.x`, `A:SM[2,1]`, `grouped(8)`, `^`."""

LONGEST = 1e11
"""The largest number of seconds, or MHz, of anything: three thousand years, so that dates fit."""
SHORTEST = 1e-12
"""The least seconds of a timed run: less than a cycle of any clock. A shorter time would always win."""
LAST = 1 << 62
"""More than every number of a trial."""
Number = Annotated[int, Meta(ge=0, lt=LAST)]
"""The number of a trial."""
Duration = Annotated[float, Meta(ge=0.0, le=LONGEST)]
"""Seconds or MHz."""
Run = Annotated[float, Meta(ge=SHORTEST, le=LONGEST)]
"""Seconds of a timed run."""


class Failure(StrEnum):
    """Why a candidate has no time: the words of the T4 results format, and three more."""

    COMPILE = "compile"
    LAUNCH = "launch"
    RUNTIME = "runtime"
    TIMEOUT = "timeout"
    CRASH = "crash"
    WRONG = "wrong"
    CONSTRAINTS = "constraints"


@dataclass(frozen=True, slots=True)
class Job:
    """A program with its sizes on a device: everything that a worker needs besides candidates.

    path, source: the C file's name and text. defines: sizes and macros. device: `cuda:0`. seed: of the arrays
    that candidates are judged on. allow: what they may do to numbers. ranges: of the sizes that stay open,
    which may have one value; at: the values of these sizes at which candidates are judged and timed.
    """

    path: str
    source: str
    defines: tuple[tuple[str, int | str], ...] = ()
    function: str | None = None
    strict_fp: bool = False
    deterministic: bool = False
    device: str = "opencl:0"
    seed: int = 0
    allow: tuple[str, ...] = ()
    ranges: tuple[OpenSize, ...] = ()
    at: tuple[tuple[str, int], ...] = ()

    @property
    def sizes(self) -> tuple[tuple[str, int | str], ...]:
        """Defines for people: with the open sizes, `M=100 of 1..4096`."""
        at = dict(self.at)
        opened = ((r.name, f"{at[r.name]} of {r}" if r.value is None else r.least) for r in self.ranges)
        return (*((name, shortened(value)) for name, value in self.defines), *opened)

    @property
    def compiled(self) -> dict[str, int | str]:
        """The defines of the kernel that the tuning finds: open sizes are ranges."""
        return {**dict(self.defines), **{r.name: r.least if r.value else str(r) for r in self.ranges}}


@dataclass(frozen=True, slots=True)
class Candidate:
    """A schedule without holes, as canonical text. key: SHA-256 (hex) of what decides the kernel: canonical
    program, sizes, types, schedule text, machine, target. values: hole -> value, for people and searches."""

    key: str
    schedule: str
    values: tuple[tuple[str, Value], ...] = ()


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds after which a worker is killed: for building, for the first launch (with its check), for the
    timed runs, and for a whole trial."""

    build: float = 60.0
    launch: float = 30.0
    measure: float = 30.0
    trial: float = 120.0


@dataclass(frozen=True, slots=True)
class Effort:
    """How a candidate is measured. samples: timed runs, at least one. seconds: sampling stops after so long.
    cold: also time with evicted caches. inputs: sets of arrays that its results are judged on. give_up:
    seconds of one run above which a candidate is a clear loser, and only three runs are made."""

    samples: int = 10
    seconds: float = 0.5
    cold: bool = False
    inputs: int = 2
    give_up: float | None = None


QUICK = Effort()
"""The effort for every trial."""
THOROUGH = Effort(samples=100, seconds=3.0, cold=True, inputs=4)
"""The effort for finalists and the winner."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of one trial.

    failure: None if it was right and was measured. code, message: the diagnostic of a failure, with its first
    full sentence. warm, cold: seconds of each timed run. clock: `device` or `wall`. stopped: a clear loser,
    timed less. build_seconds, check_seconds, measure_seconds: what the trial cost. resources: what the
    compiler reported (registers, shared, local, spills), if it does. device, title, pid: who measured.
    clocks: MHz before and after, if the device tells. innocent: the worker died because of another candidate;
    try again.
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
        """The median of the warm runs, by which candidates are compared."""
        if self.failure is not None or not self.warm:
            return None
        ordered = sorted(self.warm)
        middle = len(ordered) // 2
        return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


@dataclass(frozen=True, slots=True)
class Trial:
    """One line of a record.

    origin: who proposed it (`default`, `given`, `record`, `tpe`, `random`, …). phase: `quick`, `final` or
    `winner`. started: seconds since the epoch. elapsed: seconds of tuning before it was reported.
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
