"""`mdh.tune_over`: a table of schedules for ranges of sizes."""

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from mdh.api.explained import explained, say
from mdh.api.kernel import Kernel
from mdh.api.options import defines_of, of_type
from mdh.api.texts import ReadOptions, Text, read_given
from mdh.api.tune import devices_of, goal_of, kernel_of
from mdh.api.tuning import Watch, job_of, silent_watch, waited_for
from mdh.diagnostics import Failed, fail
from mdh.ir.open_size import OpenSize
from mdh.pipeline import Pipeline
from mdh.results.table_tuning import CellTuning, Measured, TableTuned
from mdh.results.trial import Job
from mdh.schedule.cases import demand_one
from mdh.tuner.order import Order
from mdh.tuner.over.order import OverOrder
from mdh.tuner.over.run import tune_over as run_over
from mdh.tuner.runtime.interrupt import Interrupt
from mdh.tuner.search.make import DEFAULT


@dataclass(frozen=True)
class TableTuning:
    """The result of `mdh.tune_over`. found: all results (mdh.results.table_tuning); job: what was tuned."""

    found: TableTuned
    job: Job

    @property
    def schedule(self) -> str:
        """The table."""
        assert self.found.table is not None
        return self.found.table

    @property
    def points(self) -> tuple[Measured, ...]:
        """The times of all schedules at sizes of the ranges."""
        return self.found.points

    @property
    def cells(self) -> tuple[CellTuning, ...]:
        return self.found.cells

    @property
    def files(self) -> dict[str, str]:
        """The files that were written: `table`, `kernel`."""
        return dict(self.found.files)

    def kernel(self, device: str | None = None) -> Kernel:
        """The C function with the table as a callable, on the device it was tuned on or another of the same
        machine. Each call passes the sizes, or leaves them to the extents of its arrays."""
        return kernel_of(self.job, self.schedule, device)


def tune_over(
    file: Text,
    over: Mapping[str, str | OpenSize],
    schedule: Text | None = None,
    device: str | None = None,
    *,
    budget: float | str | None = None,
    trials: int | None = None,
    defines: Mapping[str, str | int] = {},
    function: str | None = None,
    strict_fp: bool = False,
    deterministic: bool = False,
    allow: Sequence[str] = (),
    holes: Mapping[str, int | str] = {},
    constants: Mapping[str, Any] = {},
    patterns: Mapping[str, Any] = {},
    seed: int = 0,
    sampler: str = DEFAULT,
    model: bool = True,
    jobs: int | None = None,
    out: str | PathLike[str] = ".",
    resume: bool = True,
    watch: Watch | None = None,
) -> TableTuning:
    """A table of schedules for the ranges of `over`: `{"M": mdh.open(1, 4096)}` or `{"M": "1..4096"}`.

    Each cell of the ranges, in which sizes differ by a factor of about four, is tuned as by `mdh.tune`. Then
    all schedules are measured at sizes of all cells, and each case of the table has the fastest. `budget` is
    the time of the whole; `trials` are those of each cell. All other sizes are bound by `defines`;
    `constants` and `patterns` are those of `mdh.compile`. Writes the table and the folder of its kernels
    into `out`, and the records of the cells into folders beside them.

    Raises Failed as `mdh.tune` does, F195 if no schedule was right, and TypeError for an option of a wrong
    Python type.
    """
    with explained():
        of_type("over", over, Mapping, "a mapping of sizes to ranges")
        goal = goal_of(budget, trials, None)
        ranges = defines_of(over)
        given = read_given(file, schedule, ReadOptions(
            defines={**defines, **ranges}, function=function, strict_fp=strict_fp, allow=allow, holes=holes,
            constants=constants, patterns=patterns,
        ))  # fmt: skip
        demand_one(given.schedule)
        program = given.read(Pipeline())
        _check_ranges(program.opens, ranges)
        name, *_ = devices_of(device)
        whole = job_of(given, name, seed, deterministic=deterministic)
        job = replace(whole, ranges=())
        order = Order(
            job, program, given.schedule, (name,), place=Path(fspath(out)), resume=resume, sampler=sampler,
            model=model, seed=seed, jobs=jobs, command=f"mdh.tune_over({given.source.name!r}, …)",
        )  # fmt: skip
        each = nullcontext(watch or silent_watch)
        work = run_over(OverOrder(order, whole.ranges), goal, lambda _: each, Interrupt(), say)
        found = waited_for(work)
        if found.trouble:
            raise Failed(*found.trouble)
    return TableTuning(found, job)


def _check_ranges(opens: Sequence[OpenSize], ranges: Mapping[str, object]) -> None:
    """Raises Failed F107 unless exactly the sizes of `over` stay open."""
    names = {size.name for size in opens}
    wrong = next((name for name in (*ranges, *names) if name not in names or name not in ranges), None)
    if wrong is not None or not names:
        what = f"`{wrong}`" if wrong else "nothing"
        hint = "write over={'M': mdh.open(1, 4096)}, and bind all other sizes by defines"
        raise fail("F107", f"over and the open sizes of the program differ in {what}", help=hint)
