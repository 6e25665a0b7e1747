"""How many blocks a multiprocessor holds, against what the CUDA toolkit's occupancy calculator says."""

from dataclasses import replace

import pytest

from mdh.machine import load_machine
from mdh.occupancy import registers_at, resident, room

TOLD = (
    # machine, registers, threads, shared bytes, blocks
    ("h200", 139, 128, 0, 3),
    ("h200", 136, 64, 16896, 6),
    ("h200", 84, 64, 12800, 10),
    ("h200", 84, 128, 20992, 5),
    ("h200", 40, 256, 15360, 6),
    ("h200", 32, 256, 15360, 8),
    ("h200", 32, 256, 33792, 6),
    ("h200", 255, 256, 0, 1),
    ("h200", 72, 1024, 0, 0),
    ("h200", 168, 32, 0, 12),
    ("h200", 168, 96, 0, 4),
    ("h200", 168, 160, 0, 2),
    ("a100", 135, 64, 12032, 6),
    ("a100", 16, 32, 0, 32),
    ("rtx4090", 40, 256, 15360, 6),
    ("rtx4090", 255, 64, 22784, 4),
    ("rtx4090", 16, 32, 1024, 24),
    ("v100", 32, 1024, 98304, 1),
    ("v100", 32, 1024, 49152, 2),
)


@pytest.mark.parametrize(("machine", "registers", "threads", "shared", "blocks"), TOLD)
def test_as_the_toolkit_counts(machine: str, registers: int, threads: int, shared: int, blocks: int) -> None:
    assert resident(load_machine(machine), threads, registers, shared) == blocks


def test_each_limit() -> None:
    limits = room(load_machine("h200"), 128, 139, 9000)
    assert limits == {"blocks": 32, "threads": 16, "shared memory": 23, "registers": 3}
    assert "shared memory" not in room(load_machine("h200"), 128, 139, 0)


def test_a_warp_does_not_lie_in_two_partitions() -> None:
    machine = load_machine("a100")
    assert resident(machine, 32, 136, 0) == 12
    assert resident(replace(machine, partitions=1), 32, 136, 0) == 15


@pytest.mark.parametrize("warps", [1, 3, 4, 8, 15, 16, 17, 32, 48, 64])
def test_most_registers_for_so_many_warps(warps: int) -> None:
    machine = load_machine("h200")
    most = registers_at(machine, warps)
    assert resident(machine, 32 * min(warps, 32), most, 0) >= warps // min(warps, 32)
    if most < machine.registers_per_thread:
        partition = machine.registers_per_unit // machine.partitions
        assert partition // ((most + 8) * machine.warp) * machine.partitions < warps
