"""The results of a comparison, as values that reports are made of."""

from dataclasses import dataclass
from enum import StrEnum

from mdh.diagnostics import Diagnostic
from mdh.schedule.difference import SectionChange
from mdh.shown import Shown


class RowKind(StrEnum):
    """Where the time of a row comes from. FAILED: it has none, because the schedule does not fit, does not
    build or is wrong there. ABSENT: it has none for a reason that says nothing about the schedule."""

    MEASURED = "measured"
    RECORDED = "recorded"
    ESTIMATED = "estimated"
    FAILED = "failed"
    ABSENT = "absent"


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing that is compared. name: in the report. path: of the schedule; empty for mdh's default and for
    a library. library: a baseline."""

    name: str
    path: str = ""
    library: bool = False


@dataclass(frozen=True, slots=True)
class Peer:
    """What a library computes beside the schedules. name: of its row. library: `numpy`, `torch`, `mkl` or
    `cublas`. call: the name that mdh has for a computation by it; empty: the product that is recognised in
    the program."""

    name: str
    library: str
    call: str = ""

    @classmethod
    def product(cls, library: str) -> "Peer":
        """The product of a program, in a row called like the library."""
        return cls(library, library)


@dataclass(frozen=True, slots=True)
class Platform:
    """A device here, or a machine that is known only by its file.

    name: `opencl:0`, `a100`. kind: `cpu` or `gpu`. here: whether it is a device of this machine. trouble: why
    nothing can be measured on it.
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
    """The time of one run, in seconds. low, high: an interval that contains the median with at least the
    confidence `level`. samples: timed runs. clock: `device`, `wall`, or `model` for an estimate, which has no
    interval."""

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

    time: of runs one after another. cold: of runs before each of which the caches were evicted; None if there
    are none (libraries, estimates). how: the values of its holes and their origin; empty for a schedule
    without holes. values: of the holes. share: of the roofline; 1 means as fast as the machine's peak speeds
    allow. ratio: its time divided by that of the fastest on the platform. tie: whether the two cannot be told
    apart, turn by turn. limit: what takes its time, by the cost model. model: the seconds that the model
    expects. occupancy: of a GPU's multiprocessors, from 0 to 1. schedule: without holes; source: emitted
    code; picture: the schedule's page; each empty if there is none. why: the error of a failed row. note: a
    remark, or why a row is absent.
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
    """Pennycook's metric of one entry over a set of platforms: the harmonic mean of its efficiencies there.
    It is 0 if the entry does not run on one of them, and None if one of the efficiencies is unknown.

    application: with efficiencies against the fastest on each platform. architectural: against the roofline.
    over: the platforms. estimated: whether some of the times are the model's.
    """

    entry: str
    application: float | None
    architectural: float | None
    over: tuple[str, ...]
    estimated: bool = False


@dataclass(frozen=True, slots=True)
class Difference:
    """The difference of the schedule `after` from `before`; both are entries' names. place: the platform
    whose default schedule is meant; empty if neither is mdh's default."""

    before: str
    after: str
    sections: tuple[SectionChange, ...]
    place: str = ""


@dataclass(frozen=True)
class Comparison(Shown):
    """A whole comparison. rows: platform by platform, with the entries in their order. portability: over the
    platforms with measured times, and then, if there are estimates, over all. remarks: sentences about the
    whole. sizes: what -D bound. arrays: the program's, as `C f32[64][64]`."""

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

    def __repr__(self) -> str:
        """`<mdh.Comparison matmul: mine, default on opencl:0, a100>`"""
        names, places = (", ".join(x.name for x in some) for some in (self.entries, self.platforms))
        return f"<mdh.Comparison {self.program}: {names} on {places}>"

    def of_platform(self, name: str) -> tuple[Row, ...]:
        return tuple(r for r in self.rows if r.platform == name)
