"""How the parts of a sum that blocks share are joined, where the default schedules have a choice."""

from collections.abc import Iterable

from mdh.ir.atomics import hardware_obstacle, program_obstacle, starts_in_memory
from mdh.ir.dtype import F32
from mdh.ir.program import Program, Result
from mdh.machine import Machine
from mdh.schedule.default.outline import attribute
from mdh.schedule.default.shape import Shape
from mdh.schedule.model import Caret, Mem


def adds_in_place(shape: Shape, machine: Machine, target: str) -> bool:
    """Atomics on the outputs are the fastest way: they hold the starting value already, so that no kernel
    comes before, and the machine adds vectors of floats (CUDA, with clusters: compute capability 9.0), so
    that none need come after. Elsewhere a second kernel takes about as long, and sums in one order always.
    """
    wide = target == "cuda" and machine.float_atomics and machine.cluster > 1
    return wide and all(_adds(shape.program, r) for r in shape.stage.results)


def _adds(program: Program, result: Result) -> bool:
    able = hardware_obstacle(result) is None and program_obstacle(program, result) is None
    return able and result.types[0] == F32 and starts_in_memory(result)


def added(outputs: Iterable[str]) -> dict[str, Mem]:
    """`^@combine(atomic)` for each."""
    return {b: Mem(Caret(), (attribute("combine", "atomic"),)) for b in outputs}
