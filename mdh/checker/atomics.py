"""Whether the parts of a result can be joined by hardware atomics on the output in device memory."""

from mdh.checker.subject import Subject
from mdh.ir.atomics import hardware_obstacle, program_obstacle
from mdh.ir.program import Result


def atomic_obstacle(subject: Subject, result: Result, *, explicit: bool) -> str | None:
    """Why not, or None. Floats add natively in CUDA; in OpenCL by a CAS loop, and only where `explicit`."""
    reason = hardware_obstacle(result)
    if reason:
        return reason
    dtype = result.types[0]
    if dtype.is_float and not subject.machine.float_atomics and not explicit:
        return f"{dtype} addition would need a CAS loop"
    if explicit and dtype.is_float and subject.draft.deterministic:
        return f"{dtype} sums by atomics depend on the order of arrival, and --deterministic was given"
    return program_obstacle(subject.program, result)
