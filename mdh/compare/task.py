"""What is compared on which platforms."""

from dataclasses import dataclass, field

from mdh.compare.recorded import Shelf
from mdh.compare.timing import INPUTS
from mdh.ir.program import Program
from mdh.machine import Machine
from mdh.results.comparison import Entry, Peer
from mdh.results.trial import Job
from mdh.schedule.model import Schedule


@dataclass(frozen=True)
class Contender:
    """A schedule with its name; None is mdh's default for each platform."""

    entry: Entry
    schedule: Schedule | None


@dataclass(frozen=True, slots=True)
class Away:
    """A machine that is not here, with the name of its rows: its own, or that of its file."""

    name: str
    machine: Machine


@dataclass(frozen=True)
class Task:
    """job: the program for the workers, its device left open. devices: of this machine; machines: known by
    their files alone; libraries: what they compute; shelf: earlier tunings. budget: seconds of
    tuning all together, None: nothing is tuned; place: the folder of what is tuned, None: nothing of it is
    kept. samples, seconds: timed runs of each entry at most, and about how long. inputs: sets of arrays that
    results are judged on. drawn: with the page of each schedule."""

    job: Job
    program: Program
    contenders: tuple[Contender, ...]
    devices: tuple[str, ...] = ()
    machines: tuple[Away, ...] = ()
    libraries: tuple[Peer, ...] = ()
    shelf: Shelf = field(default_factory=Shelf)
    budget: float | None = None
    place: str | None = None
    samples: int = 60
    seconds: float = 3.0
    inputs: int = INPUTS
    command: str = ""
    drawn: bool = False

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The schedules, then the libraries."""
        return (*(c.entry for c in self.contenders), *(Entry(p.name, library=True) for p in self.libraries))
