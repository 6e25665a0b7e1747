"""`mdh.tune`: the tuner for programs in Python. It uses the same parts as the command."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from types import NoneType
from typing import Any

from mdh.api.compile import compile
from mdh.api.explained import explained
from mdh.api.kernel import Kernel
from mdh.api.notebook import tuned_page
from mdh.api.options import of_type, shown
from mdh.api.texts import ReadOptions, Text, read_given
from mdh.api.tuning import Watch, job_of, run_order, seconds_of, silent_watch, values_at
from mdh.default_device import default_device
from mdh.diagnostics import fail
from mdh.ir.open_size import OpenSize
from mdh.pipeline import Pipeline
from mdh.report.text import seconds_text
from mdh.results.goal import Goal
from mdh.results.trial import Job, Trial
from mdh.results.tuning import Tuned
from mdh.source import Source
from mdh.tuner.order import Order
from mdh.tuner.runtime.processors import too_many
from mdh.tuner.search.make import DEFAULT
from mdh.wording import plural


@dataclass(frozen=True)
class Tuning:
    """The result of `mdh.tune`. found: all results (mdh.results.tuning); job: what was tuned."""

    found: Tuned
    job: Job

    @property
    def schedule(self) -> str:
        """The best schedule, without holes."""
        assert self.found.schedule is not None
        return self.found.schedule

    @property
    def seconds(self) -> float:
        """Seconds of one run with the best schedule."""
        assert self.found.best is not None
        assert self.found.best.outcome.seconds is not None
        return self.found.best.outcome.seconds

    @property
    def speedup(self) -> float | None:
        """The factor by which the best beats the device's default schedule; None if that was wrong."""
        return self.found.speedup

    @property
    def trials(self) -> tuple[Trial, ...]:
        """The trials of this run, in the order in which they ended."""
        return self.found.trials

    @property
    def files(self) -> dict[str, str]:
        """The files that were written: `schedule`, `record`, `kernel`."""
        return dict(self.found.files)

    def __repr__(self) -> str:
        """`<mdh.Tuning matmul on opencl:0: 215 µs, 1.04 × the default schedule, 37 trials>`"""
        found = self.found
        faster = "" if self.speedup is None else f", {self.speedup:.2f} × the default schedule"
        trials = plural(len(self.trials), "trial")
        where = f"{found.program} on {', '.join(found.devices)}"
        return f"<mdh.Tuning {where}: {seconds_text(self.seconds)}{faster}, {trials}>"

    def _repr_html_(self) -> str:
        """The page of the tuning, which notebooks show."""
        return tuned_page(self.found)

    @property
    def source(self) -> str:
        """The text of the best schedule's kernels."""
        assert self.found.text is not None
        return self.found.text.source

    def kernel(self, device: str | None = None) -> Kernel:
        """The C function with the best schedule as a callable, on the device it was tuned on or another of
        the same machine."""
        return kernel_of(self.job, self.schedule, device)


def kernel_of(job: Job, schedule: str, device: str | None) -> Kernel:
    """The job's C function with a schedule, on a device; None: the one that the job names."""
    return compile(
        Source(job.path, job.source), Source("<tuned>", schedule), device or job.device,
        defines=job.compiled, function=job.function, strict_fp=job.strict_fp,
        deterministic=job.deterministic, allow=job.allow,
    )  # fmt: skip


def tune(
    file: Text,
    schedule: Text | None = None,
    device: str | Sequence[str] | None = None,
    *,
    budget: float | str | None = None,
    trials: int | None = None,
    until_speedup: float | None = None,
    defines: Mapping[str, str | int | OpenSize] = {},
    at: Mapping[str, int] = {},
    function: str | None = None,
    strict_fp: bool = False,
    deterministic: bool = False,
    allow: Sequence[str] = (),
    libraries: bool = False,
    holes: Mapping[str, int | str] = {},
    constants: Mapping[str, Any] = {},
    patterns: Mapping[str, Any] = {},
    seed: int = 0,
    sampler: str = DEFAULT,
    model: bool = True,
    jobs: int | None = None,
    storage: str | None = None,
    out: str | PathLike[str] = ".",
    record: str | PathLike[str] | None = None,
    resume: bool = True,
    watch: Watch | None = None,
) -> Tuning:
    """Finds the values of the schedule's holes that are fastest on `device`, or on several devices of one
    model. Without `device` that is the first GPU, else the faster of `opencl:0` and `c`.

    Ends at the first of `budget` (seconds, or a text such as "5m"; 5 minutes if no limit is given), `trials`
    and `until_speedup`. Without a schedule the tile sizes of the default one are searched. Sizes that stay
    open, `defines={"M": mdh.open(1, 4096)}`, take values for the tuning: `at={"M": 100}`. `constants`,
    `patterns` and `libraries`: as of `mdh.compile`. Writes the best schedule, the record and the kernel's
    folder into `out`, and continues a record that is there. `watch` is called with the progress and each
    trial. Candidates run in processes of their own; a script needs no `if __name__ == "__main__"` for them.

    Raises Failed as the command reports it, F195 if no candidate was right, and TypeError for an option of a
    wrong Python type. Ctrl-C raises KeyboardInterrupt; the best schedule so far and the record are on disk
    then.
    """
    with explained():
        goal = goal_of(budget, trials, until_speedup)
        _check_jobs(jobs)
        given = read_given(file, schedule, ReadOptions(
            defines=defines, function=function, strict_fp=strict_fp, allow=allow, libraries=libraries,
            holes=holes, constants=constants, patterns=patterns,
        )).single  # fmt: skip
        names = devices_of(device)
        program = given.read(Pipeline())
        sizes = values_at(program, given, at)
        job = job_of(given, names[0], seed, deterministic=deterministic, at=sizes)
        order = Order(
            job, program, given.schedule, names, goal, Path(fspath(out)),
            None if record is None else fspath(record), resume, sampler, model, seed, jobs, storage,
            command=f"mdh.tune({given.source.name!r}, …)",
        )  # fmt: skip
        found = run_order(order, watch or silent_watch)
    return Tuning(found, job)


def devices_of(given: str | Sequence[str] | None) -> tuple[str, ...]:
    wanted = default_device() if given is None else given
    return (wanted,) if isinstance(wanted, str) else tuple(wanted)


def goal_of(budget: float | str | None, trials: int | None, speedup: float | None) -> Goal:
    of_type("trials", trials, (int, NoneType), "a number")
    of_type("budget", budget, (int, float, str, NoneType), "seconds, or a text such as '5m'")
    if trials is not None and trials < 1:
        raise fail("F196", f"{shown(trials)} trials find nothing", help="give 1 or more")
    if speedup is not None and speedup <= 1:
        raise fail("F196", f"a speedup of {shown(speedup)} is no goal", help="give a number above 1")
    if budget is None and trials is None and speedup is None:
        budget = "5m"
    return Goal(trials, None if budget is None else seconds_of(budget), speedup)


def _check_jobs(jobs: int | None) -> None:
    of_type("jobs", jobs, (int, NoneType), "a number")
    many = None if jobs is None else too_many(jobs)
    if many is not None:
        raise fail("F196", many[0], help=many[1])
