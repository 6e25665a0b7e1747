"""The arithmetic of a stage: floating point (or integer) operations, counted as the C writes them."""

from mdh.ir.expr import Binary, Call, Expr, Load, Unary, children
from mdh.ir.plan import Plan
from mdh.ir.program import DimKind, Stage
from mdh.machine import Machine
from mdh.report.accesses import compulsory_bytes

_ARITHMETIC = frozenset({"+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>"})


def work_of(plan: Plan) -> tuple[int, int]:
    """Operations and compulsory bytes of all stages."""
    ops = sum(operations(s.stage) for s in plan.stages)
    return ops, sum(compulsory_bytes(plan.program, s.stage) for s in plan.stages)


def peak_of(machine: Machine, *stages: Stage) -> float:
    """Operations a second at best: those of f64 where a result is of that type."""
    wide = any(t.bits == 64 and t.is_float for s in stages for r in s.results for t in r.types)
    return machine.peak_f64 if wide else machine.peak_f32


def operations_per_point(stage: Stage) -> int:
    """Operations of the scalar functions and of combining, at one point of the iteration space."""
    count = sum(_count(let.value) for let in stage.lets)
    for result in stage.results:
        count += sum(_count(value) for value in result.values)
        if result.op is not None:
            count += len(result.values)
    return count


def operations(stage: Stage) -> int:
    """All operations of a stage, epilogues included."""
    points = finished = 1
    for dim in stage.dims:
        points *= dim.extent
        finished *= dim.extent if dim.kind is not DimKind.PW else 1
    epilogue = sum(_count(o.value) for r in stage.results if r.op is not None for o in r.outputs)
    return points * operations_per_point(stage) + finished * epilogue


def _count(e: Expr) -> int:
    """Operations of `e`; index arithmetic is the address unit's and does not count."""
    if isinstance(e, Load):
        return 0
    return int(_is_operation(e)) + sum(_count(child) for child in children(e))


def _is_operation(e: Expr) -> bool:
    match e:
        case Binary(op, _, _, _):
            return op in _ARITHMETIC
        case Unary(op, _, _):
            return op == "-"
        case Call():
            return True
        case _:
            return False
