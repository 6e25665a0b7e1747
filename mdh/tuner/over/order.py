"""What is tuned for ranges of sizes, and the programs of its cells."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from mdh.diagnostics import Failed
from mdh.ir.open_size import OpenSize
from mdh.ir.plan import Plan
from mdh.ir.program import Program
from mdh.machine import Machine
from mdh.pipeline import Pipeline
from mdh.schedule.parser import parse_schedule
from mdh.source import Source
from mdh.tuner.order import Order
from mdh.tuner.over.cells import Cell


@dataclass(frozen=True)
class OverOrder:
    """order: of one cell; its job has neither the ranges nor values of their sizes. ranges: of all cells."""

    order: Order
    ranges: tuple[OpenSize, ...]

    def program(self, ranges: Sequence[OpenSize]) -> Program:
        """The program whose sizes are open in these ranges. Raises Failed C1xx."""
        job = self.order.job
        return Pipeline().read(
            Source(job.path, job.source), defines=dict(job.defines), function=job.function,
            strict_fp=job.strict_fp, allow=job.allow, ranges=ranges,
        )  # fmt: skip

    def of_cell(self, cell: Cell) -> Order:
        """The order of one cell. Its files go to a folder of their own."""
        place = self.order.place / f"{self.order.program.name}.cells" / cell.name.replace(" ", ",")
        return replace(self.at(cell.ranges, cell.at), place=place)

    def at(self, ranges: tuple[OpenSize, ...], at: dict[str, int]) -> Order:
        job = replace(self.order.job, ranges=ranges, at=tuple(at.items()))
        return replace(self.order, job=job, program=self.program(ranges))

    def plan(self, schedule: str, ranges: Sequence[OpenSize], machine: Machine, target: str) -> Plan | None:
        """The plan of a schedule for the sizes of these ranges; None if it is illegal for them."""
        given = parse_schedule(Source("<schedule>", schedule))
        deterministic = self.order.job.deterministic
        try:
            program = self.program(ranges)
            return Pipeline().check(program, given, machine, target, deterministic=deterministic).plan
        except Failed:
            return None
