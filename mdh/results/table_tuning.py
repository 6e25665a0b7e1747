"""The result of a tuning for ranges of sizes."""

from collections.abc import Mapping
from dataclasses import dataclass

from mdh.diagnostics import Diagnostic
from mdh.ir.open_size import OpenSize
from mdh.results.tuning import Tuned


@dataclass(frozen=True)
class CellTuning:
    """One cell of the ranges, and its tuning; None if the user ended it before anything was measured."""

    ranges: tuple[OpenSize, ...]
    at: tuple[tuple[str, int], ...]
    tuned: Tuned | None

    @property
    def name(self) -> str:
        return " ".join(f"{r.name}={r}" for r in self.ranges)


@dataclass(frozen=True)
class Measured:
    """Seconds of schedules at some sizes. chosen: the schedule that the table takes there. Schedules go by
    what they were made for: the name of a cell, `default of M=1..64`, or `default` for the whole ranges.
    one_kernel: of the last, compiled for the whole ranges."""

    sizes: tuple[tuple[str, int], ...]
    chosen: str
    seconds: Mapping[str, float]
    one_kernel: float | None = None

    @property
    def share(self) -> float | None:
        """The best time over that of the chosen schedule, at most 1; None if that was not measured here."""
        mine = self.seconds.get(self.chosen)
        return None if mine is None else min(self.seconds.values()) / mine


@dataclass(frozen=True)
class TableTuned:
    """table: the text; None if nothing right was found. cases: the ranges of each case in words, and what its
    schedule was made for. files: what was written, by kind. trouble: what ended the run early."""

    program: str
    defines: tuple[tuple[str, int | str], ...]
    title: str
    device: str
    cells: tuple[CellTuning, ...]
    points: tuple[Measured, ...]
    cases: tuple[tuple[str, str], ...]
    table: str | None
    elapsed: float
    files: tuple[tuple[str, str], ...] = ()
    trouble: tuple[Diagnostic, ...] = ()
