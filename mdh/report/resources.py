"""What one kernel takes of a multiprocessor or core: threads, shared bytes, registers, residency."""

from collections.abc import Iterator
from dataclasses import dataclass

from mdh.ir.kernel import Alloc, For, If, Kernel, Space, Stmt, While
from mdh.machine import Machine

SPARE_REGISTERS = 20
"""Addresses, loop counters and temporaries beside the declared register buffers; a rule of thumb."""


@dataclass(frozen=True, slots=True)
class Resources:
    """limit: what bounds `resident` (threads, shared memory, registers, blocks); all empty on a CPU."""

    kernel: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared_bytes: int
    private_bytes: int
    registers: int
    resident: int
    occupancy: float
    limit: str
    waves: float

    @property
    def threads(self) -> int:
        return self.block[0] * self.block[1] * self.block[2]

    @property
    def blocks(self) -> int:
        return self.grid[0] * self.grid[1] * self.grid[2]


def resources_of(kernel: Kernel, machine: Machine) -> Resources:
    allocs = tuple(_allocs(kernel.body))
    shared = sum(a.buf.bytes for a in allocs if a.buf.space is Space.SM)
    private = sum(a.buf.bytes for a in allocs if a.buf.space is Space.RM)
    registers = min(machine.registers_per_thread or 255, -(-private // 4) + SPARE_REGISTERS)
    grid, block = kernel.launch.grid, kernel.launch.block
    threads, blocks = block[0] * block[1] * block[2], grid[0] * grid[1] * grid[2]
    if machine.kind == "cpu":
        waves = blocks / machine.units
        return Resources(kernel.name, grid, block, shared, private, registers, 0, 0.0, "", waves)
    limits = {"blocks": machine.blocks_per_unit, "threads": machine.threads_per_unit // threads}
    if shared:
        limits["shared memory"] = machine.shared_per_unit // shared
    limits["registers"] = machine.registers_per_unit // (registers * threads)
    limit = min(limits, key=lambda k: limits[k])
    resident = limits[limit]
    occupancy = resident * threads / machine.threads_per_unit
    waves = blocks / (machine.units * resident) if resident else 0.0
    return Resources(kernel.name, grid, block, shared, private, registers, resident, occupancy, limit, waves)


def _allocs(body: tuple[Stmt, ...]) -> Iterator[Alloc]:
    for stmt in body:
        match stmt:
            case Alloc():
                yield stmt
            case For() | While():
                yield from _allocs(stmt.body)
            case If():
                yield from _allocs(stmt.then)
                yield from _allocs(stmt.orelse)
            case _:
                continue
