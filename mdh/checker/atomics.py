"""Whether hardware atomics on the output in device memory can combine the parts of a result."""

from mdh.checker.subject import Subject
from mdh.ir.atomics import hardware_obstacle, program_obstacle
from mdh.ir.program import Result


def atomic_obstacle(subject: Subject, result: Result, *, explicit: bool) -> str | None:
    """Why they cannot, or None if they can. CUDA adds floats natively; OpenCL needs a CAS loop, which is used
    only if `explicit`."""
    reason = hardware_obstacle(result)
    if reason:
        return reason
    dtype = result.types[0]
    if dtype.is_float and not subject.machine.float_atomics and not explicit:
        return f"{dtype} addition would need a CAS loop"
    if explicit and dtype.is_float and subject.draft.deterministic:
        return f"{dtype} sums by atomics depend on the order of arrival, and --deterministic was given"
    return program_obstacle(subject.program, result)
