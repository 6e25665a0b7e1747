"""What a tuning begins from: the order, the ground it is measured on, the book of its trials."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from mdh.ir.program import Program
from mdh.machine import Machine
from mdh.results.goal import Goal
from mdh.results.trial import Job, Trial
from mdh.schedule.model import Schedule
from mdh.tuner.loop.state import Log
from mdh.tuner.search.make import DEFAULT


@dataclass(frozen=True)
class Order:
    """What is tuned, how and until when; everything is read, nothing is checked for a machine yet.

    schedule: as the user wrote it, None: the default, its tile sizes left open where holes are searched.
    place: the folder of the outputs. record: a file, None: beside the outputs. resume: go on with the record
    that is there. replay: a record to simulate from, on `machine` or the one it names.
    """

    job: Job
    program: Program
    schedule: Schedule | None
    devices: tuple[str, ...]
    goal: Goal = field(default_factory=Goal)
    place: Path = Path()
    record: str | None = None
    resume: bool = True
    sampler: str = DEFAULT
    model: bool = True
    seed: int = 0
    jobs: int | None = None
    storage: str | None = None
    cluster: str | None = None
    replay: str | None = None
    machine: Machine | None = None
    command: str = ""


class Book(Log, Protocol):
    """A log with the trials of earlier runs in it."""

    trials: list[Trial]

    def close(self) -> None: ...


class Forgetful:
    """A book for runs that leave nothing behind."""

    def __init__(self) -> None:
        self.trials: list[Trial] = []

    def append(self, trial: Trial) -> None:
        """The run itself has the trial."""

    def close(self) -> None:
        """Nothing is open."""


class Ground(Protocol):
    """What a bench says of where it measures."""

    @property
    def machine(self) -> Machine: ...

    @property
    def target(self) -> str: ...

    @property
    def title(self) -> str: ...

    @property
    def versions(self) -> tuple[tuple[str, str], ...]: ...
