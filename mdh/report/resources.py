"""What one kernel takes of a multiprocessor or core: threads, shared bytes, registers, residency."""

from dataclasses import dataclass
from math import prod

from mdh.hardware import Space
from mdh.ir.copy_engine import SetRegisters
from mdh.ir.kernel import Alloc, For, If, Kernel, Stmt, While
from mdh.ir.walk import statements
from mdh.machine import Machine
from mdh.occupancy import registers_at, room
from mdh.target.shared import shared_layout

SPARE_REGISTERS = 20
"""Addresses, loop counters and temporaries besides the declared register buffers; a rule of thumb."""


@dataclass(frozen=True, slots=True)
class Resources:
    """The resources of a kernel. kernel: its name in the text. private_bytes: the most register bytes of a
    thread in use at once. limit: what bounds `resident` (threads, shared memory, registers, blocks). limits:
    the blocks that each of these allows. All are empty on a CPU. own: whether it computes the stage, and does
    not only start or combine results."""

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
    limits: tuple[tuple[str, int], ...] = ()
    own: bool = True
    shares: tuple[int, ...] = ()
    """Registers of a thread that computes, and of one that copies, where `@roles` says them."""

    @property
    def threads(self) -> int:
        return self.block[0] * self.block[1] * self.block[2]

    @property
    def blocks(self) -> int:
        return self.grid[0] * self.grid[1] * self.grid[2]


def resources_of(kernel: Kernel, name: str, machine: Machine) -> Resources:
    shared = max((slot.end for slot in shared_layout(kernel)), default=0)
    private = _private(kernel.body)
    registers = min(machine.registers_per_thread or 255, -(-private // 4) + SPARE_REGISTERS)
    grid, block = kernel.launch.grid, kernel.launch.block
    shares = tuple(s.count for s in statements(kernel.body) if isinstance(s, SetRegisters))
    if shares:
        # the block begins with an equal share for each
        registers = registers_at(machine, prod(block) // machine.warp * max(1, kernel.launch.min_blocks))
    threads, blocks = block[0] * block[1] * block[2], grid[0] * grid[1] * grid[2]
    limits = {} if machine.kind == "cpu" else room(machine, threads, registers, shared)
    limit = min(limits, key=lambda k: limits[k], default="")
    resident = limits.get(limit, 0)
    occupancy = resident * threads / machine.threads_per_unit if limits else 0.0
    at_once = machine.units * (resident if limits else 1)
    waves = blocks / at_once if at_once else 0.0
    return Resources(
        name, grid, block, shared, private, registers, resident, occupancy, limit, waves,
        tuple(limits.items()),
        shares=shares,
    )  # fmt: skip


def _private(body: tuple[Stmt, ...]) -> int:
    """Register bytes of the body's own buffers, plus those of the largest scope in it, because each scope
    ends before the next."""
    own, inner = 0, 0
    for stmt in body:
        match stmt:
            case Alloc(buf, _) if buf.space is Space.RM:
                own += buf.bytes
            case For() | While():
                inner = max(inner, _private(stmt.body))
            case If():
                inner = max(inner, _private(stmt.then), _private(stmt.orelse))
            case _:
                continue
    return own + inner
