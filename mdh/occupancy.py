"""The number of blocks that a multiprocessor of a GPU holds at once, by each resource.

Source: CUDA C++ Programming Guide and the tuning guides of the architectures. A multiprocessor has
partitions, each with registers of its own, and a warp's registers all come from one of them.
"""

from mdh.machine import Machine

REGISTERS = 8
"""Registers of a thread come in multiples of this."""
RESERVED = 1024
"""Bytes of shared memory that the system takes of each block, if a block may not have all there is."""


def room(machine: Machine, threads: int, registers: int, shared: int) -> dict[str, int]:
    """Blocks that each limit allows: `blocks`, `threads`, `registers`, and `shared memory` if there is any.
    threads, shared: of a block; registers: of a thread."""
    warps = -(-threads // machine.warp)
    out = {
        "blocks": machine.blocks_per_unit,
        "threads": machine.threads_per_unit // (warps * machine.warp),
    }
    if shared:
        reserved = min(RESERVED, machine.shared_per_unit - machine.shared_per_block)
        out["shared memory"] = machine.shared_per_unit // (shared + reserved)
    out["registers"] = _warps(machine, registers) // warps
    return out


def resident(machine: Machine, threads: int, registers: int, shared: int) -> int:
    """Blocks at once, as `room` counts; 0 if one is too large."""
    return min(room(machine, threads, registers, shared).values())


def registers_at(machine: Machine, warps: int) -> int:
    """The most registers of a thread if a multiprocessor holds so many warps at once."""
    each = machine.registers_per_unit // machine.partitions // -(-warps // machine.partitions)
    return min(machine.registers_per_thread, each // machine.warp // REGISTERS * REGISTERS)


def _warps(machine: Machine, registers: int) -> int:
    """The number of warps that the registers allow."""
    warp = -(-max(registers, 1) // REGISTERS) * REGISTERS * machine.warp
    return machine.partitions * (machine.registers_per_unit // machine.partitions // warp)
