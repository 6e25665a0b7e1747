"""Whether the parts of a result can be joined by hardware atomics on the output in device memory."""

from mdh.check.subject import Subject
from mdh.ir.dtype import DType
from mdh.ir.expr import Cast, Const, Expr, Load, Var
from mdh.ir.program import Output, Result, component

INTEGER_OPS = ("+", "min", "max", "&", "|", "^")
BITS = (32, 64)


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
    for output in result.outputs:
        if not _plain(output.value, dtype):
            return f"`{output.buffer}` has an epilogue, which needs the finished value"
        if subject.program.buffer_of[output.buffer].dtype != dtype:
            return f"it is held in {dtype} and stored as {subject.program.buffer_of[output.buffer].dtype}"
        start = result.starts[0]
        if not (start is None or isinstance(start, Const) or _loads_itself(start, output)):
            return "its starting value is computed, and would enter once for each part"
    return None


def hardware_obstacle(result: Result) -> str | None:
    """Why operator and type have no atomic, CAS loops included, or None."""
    if result.op is None:
        return "it is not a reduction"
    op = result.op.name
    if len(result.types) != 1:
        return f"`{op}` combines records of {len(result.types)} values, atomics one"
    dtype = result.types[0]
    if dtype.bits not in BITS:
        return f"atomics exist for 32 and 64 bits, the result has {dtype.bits}"
    if not dtype.is_float:
        return None if op in INTEGER_OPS else f"there is no atomic `{op}` (there are {' '.join(INTEGER_OPS)})"
    if op != "+":
        return f"there is no atomic `{op}` for {dtype}"
    return None


def _plain(value: Expr, dtype: DType) -> bool:
    match value:
        case Var(name, _):
            return name == component(0)
        case Cast(arg, to) if to == dtype:
            return _plain(arg, dtype)
        case _:
            return False


def _loads_itself(start: Expr, output: Output) -> bool:
    return isinstance(start, Load) and start.buffer == output.buffer and start.index == output.index
