"""Whether atomics on the outputs can combine the parts of a result, as far as the program decides it."""

from mdh.ir.dtype import DType
from mdh.ir.expr import Cast, Const, Expr, Load, Var
from mdh.ir.program import Output, Program, Result, component

INTEGER_OPS = ("+", "min", "max", "&", "|", "^")
BITS = (32, 64)


def hardware_obstacle(result: Result) -> str | None:
    """Why no atomic (CAS loops included) exists for the operator and type, or None if one exists."""
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


def program_obstacle(program: Program, result: Result) -> str | None:
    """Why the stored value is not the plain sum of the parts, or None if it is."""
    dtype = result.types[0]
    for output in result.outputs:
        if not _plain(output.value, dtype):
            return f"`{output.buffer}` has an epilogue, which needs the finished value"
        if program.buffer_of[output.buffer].dtype != dtype:
            return f"it is held in {dtype} and stored as {program.buffer_of[output.buffer].dtype}"
        start = result.starts[0]
        if not (start is None or isinstance(start, Const) or _loads_itself(start, output)):
            return "its starting value is computed, and would enter once for each part"
    return None


def starts_in_memory(result: Result) -> bool:
    """Whether the parts are added to what the outputs hold, so that no starting value is written first."""
    start = result.starts[0]
    return start is not None and all(_loads_itself(start, output) for output in result.outputs)


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
