"""How the default schedules join the parts of a sum that blocks share."""

from collections.abc import Iterable

from mdh.cost.gpu import Joining
from mdh.hardware import Combine
from mdh.ir.atomics import hardware_obstacle, program_obstacle, starts_in_memory
from mdh.ir.dtype import F32
from mdh.ir.program import Program, Result
from mdh.language import LANGUAGES
from mdh.machine import Machine
from mdh.schedule.default.outline import attribute
from mdh.schedule.default.shape import Shape
from mdh.schedule.model import Caret, Mem


def joining_of(shape: Shape, machine: Machine, target: str) -> Joining:
    """Atomics, if the machine adds vectors of floats atomically (CUDA with clusters: compute capability 9.0).
    Otherwise a second kernel, which takes about as long there and always sums in one order. FRESH is only for
    contractions, because their estimate knows what the first kernel costs."""
    seen = LANGUAGES[target].seen(machine)
    wide = seen.float_atomics and seen.cluster > 1
    if not wide or not all(_adds(shape.program, r) for r in shape.stage.results):
        return Joining.KERNEL
    return Joining.IN_PLACE if all(map(starts_in_memory, shape.stage.results)) else Joining.FRESH


def _adds(program: Program, result: Result) -> bool:
    able = hardware_obstacle(result) is None and program_obstacle(program, result) is None
    return able and result.types[0] == F32


def added(outputs: Iterable[str]) -> dict[str, Mem]:
    """`^@combine(atomic)` for each output."""
    return {b: Mem(Caret(), (attribute("combine", Combine.ATOMIC),)) for b in outputs}
