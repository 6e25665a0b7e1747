"""What a comparison found, as values that reports are made of."""

from dataclasses import dataclass
from enum import StrEnum

from mdh.diagnostics import Diagnostic
from mdh.schedule.difference import SectionChange


class RowKind(StrEnum):
    """Where the time of a row comes from. FAILED: there is none, since the schedule does not fit, does not
    build or is wrong there; ABSENT: there is none for a reason that says nothing of it."""

    MEASURED = "measured"
    RECORDED = "recorded"
    ESTIMATED = "estimated"
    FAILED = "failed"
    ABSENT = "absent"


@dataclass(frozen=True, slots=True)
class Entry:
    """What is compared. name: how the report calls it; path: of the schedule, empty for mdh's default and for
    a library; library: a baseline."""

    name: str
    path: str = ""
    library: bool = False


@dataclass(frozen=True, slots=True)
class Platform:
    """Where it is compared: a device here, or a machine that is known by its file alone.

    name: `opencl:0`, `a100`; kind: `cpu` or `gpu`; here: a device of this machine. trouble: why nothing can
    be measured on it.
    """

    name: str
    title: str = ""
    machine: str = ""
    target: str = ""
    kind: str = ""
    here: bool = True
    trouble: Diagnostic | None = None


@dataclass(frozen=True, slots=True)
class Spread:
    """Seconds of one run. low, high: between them lies the median, with at least the confidence `level`;
    samples: timed runs; clock: `device`, `wall`, or `model` for an estimate, which has no interval."""

    seconds: float
    low: float
    high: float
    level: float
    samples: int
    clock: str


@dataclass(frozen=True, slots=True)
class Roof:
    """The least seconds that the machine's peak speeds allow, and what bounds them: `arithmetic` or
    `memory`."""

    seconds: float
    bound: str


@dataclass(frozen=True, slots=True)
class Row:
    """One entry on one platform.

    time: of runs one after another; cold: of runs before each of which the caches were evicted, None where
    there are none (libraries, estimates). how: which values its holes have and where those are from, empty
    for a schedule without holes; values: of the holes. share: of the roofline (1: as fast as the machine's
    peak speeds allow). ratio: its time over that of the fastest on the platform; tie: turn by turn, the two
    cannot be told apart. limit: what takes its time, by the model. model: the seconds that the model
    expects. occupancy: of a GPU's multiprocessors, from 0 to 1. schedule: without holes, source: emitted
    code, picture: the schedule's page, each empty where there is none. why: what it was refused with; note:
    a remark, or why a row that is absent is.
    """

    platform: str
    entry: str
    kind: RowKind
    time: Spread | None = None
    roof: Roof | None = None
    share: float | None = None
    ratio: float | None = None
    tie: bool = False
    limit: str = ""
    model: float | None = None
    occupancy: float | None = None
    how: str = ""
    values: tuple[tuple[str, int | str], ...] = ()
    note: str = ""
    why: Diagnostic | None = None
    schedule: str = ""
    source: str = ""
    cold: Spread | None = None
    picture: str = ""


@dataclass(frozen=True, slots=True)
class Portability:
    """Pennycook's figure of one entry over a set of platforms: the harmonic mean of its efficiencies there, 0
    where it does not run on one of them; None where one of the efficiencies is not known.

    application: with efficiencies against the fastest on each platform; architectural: against the roofline.
    over: the platforms. estimated: some of the times are the model's.
    """

    entry: str
    application: float | None
    architectural: float | None
    over: tuple[str, ...]
    estimated: bool = False


@dataclass(frozen=True, slots=True)
class Difference:
    """How the schedule `after` differs from `before`; both are entries' names. place: the platform whose
    default schedule is meant, empty where mdh's default is neither of them."""

    before: str
    after: str
    sections: tuple[SectionChange, ...]
    place: str = ""


@dataclass(frozen=True)
class Comparison:
    """rows: platform by platform, the entries in their order. portability: over the platforms whose times
    were measured, then, where there are estimates, over all. remarks: sentences about the whole. sizes: what
    -D bound; arrays: the program's, as `C f32[64][64]`."""

    program: str
    sizes: tuple[tuple[str, int | str], ...]
    arrays: tuple[str, ...]
    entries: tuple[Entry, ...]
    platforms: tuple[Platform, ...]
    rows: tuple[Row, ...]
    portability: tuple[Portability, ...]
    differences: tuple[Difference, ...]
    remarks: tuple[str, ...] = ()
    interrupted: bool = False

    def of_platform(self, name: str) -> tuple[Row, ...]:
        return tuple(r for r in self.rows if r.platform == name)
