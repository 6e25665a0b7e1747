"""The order of a tuning."""

from dataclasses import dataclass, field
from pathlib import Path

from mdh.ir.program import Program
from mdh.machine import Machine
from mdh.results.goal import Goal
from mdh.results.trial import Job
from mdh.schedule.model import Schedule
from mdh.tuner.search.make import DEFAULT


@dataclass(frozen=True)
class Order:
    """What is tuned, how, and until when. Everything is read, but nothing is checked for a machine yet.

    schedule: as the user wrote it; None for the default one, with its tile sizes as holes. place: the folder
    of the outputs. record: its file; None for one beside the outputs. resume: whether to continue a record
    that is there. replay: a record to simulate from, on `machine` or the one that it names.
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
