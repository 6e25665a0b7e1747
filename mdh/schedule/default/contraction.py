"""Contractions: two inputs that are combined over shared dimensions (matmul, convolution, CCSD(T)).

A stage is one because of the dimensions that its inputs use, whatever function it computes, so this module
does not ask `mdh.ir.product_sum`. Dimensions fall into rows (in the first operand only), columns (in the
second only), batch (in both or neither) and reduced ones. `contraction_cpu` and `contraction_gpu` choose the
steps.
"""

from itertools import permutations

from mdh.cost.gpu import Joining
from mdh.ir.program import DimKind
from mdh.machine import Machine
from mdh.schedule.default.contraction_cpu import contraction_cpu
from mdh.schedule.default.contraction_gpu import Timed, contraction_gpu
from mdh.schedule.default.fusing import joined
from mdh.schedule.default.operands import Contraction
from mdh.schedule.default.outline import ScheduleBuilder, stageable
from mdh.schedule.default.shape import Shape, ShapeAccess

FUSED = 0.95
"""Of the estimate, from which on fused dimensions are believed to be faster without tensor cores."""


def find_contraction(shape: Shape, *, gpu: bool = False) -> Contraction | None:
    """The two operands with the largest rows x columns; None if no two inputs are combined like this.

    gpu: copies of operands lie in registers, too.
    """
    results, reduced = shape.of_kind(DimKind.CC), shape.of_kind(DimKind.PW)
    operands = [
        a
        for a in shape.reads
        if a.affine and stageable(shape, a.buffer) and any(shape.uses(a, k) for k in reduced)
    ]
    found: list[tuple[int, Contraction]] = []
    for first, second in permutations(operands, 2):
        if (
            gpu
            and first.buffer != second.buffer
            and max(map(shape.patterns, (first.buffer, second.buffer))) > 1
        ):
            # registers hold what all reads of a thread need
            continue
        rows = tuple(d for d in results if shape.uses(first, d) and not shape.uses(second, d))
        columns = tuple(d for d in results if shape.uses(second, d) and not shape.uses(first, d))
        shared = [k for k in reduced if shape.uses(first, k) and shape.uses(second, k)]
        if rows and columns and shared:
            batch = tuple(d for d in results if d not in (*rows, *columns))
            size = 1
            for d in (*rows, *columns):
                size *= shape.extents[d]
            candidate = Contraction(first.buffer, second.buffer, rows, columns, batch, reduced)
            found.append((size, _oriented(shape, candidate, first, second)))
    return max(found, key=lambda c: c[0])[1] if found else None


def _oriented(shape: Shape, found: Contraction, first: ShapeAccess, second: ShapeAccess) -> Contraction:
    """The contraction with main dimensions first in each group. Columns are the side along which the output
    is contiguous."""
    out = shape.contiguous(shape.writes[0])
    if out in found.rows:
        flipped = Contraction(
            found.second, found.first, found.columns, found.rows, found.batch, found.reduced
        )
        return _oriented(shape, flipped, second, first)

    def main_first(dims: tuple[int, ...], access: ShapeAccess) -> tuple[int, ...]:
        near = shape.contiguous(access)
        return tuple(sorted(dims, key=lambda d: (d != out, d != near, -shape.extents[d])))

    return Contraction(
        found.first,
        found.second,
        main_first(found.rows, first),
        main_first(found.columns, second),
        found.batch,
        found.reduced,
    )


def contraction(
    shape: Shape, found: Contraction, machine: Machine, target: str, joining: Joining = Joining.KERNEL
) -> ScheduleBuilder:
    """The steps. joining: how blocks that share a sum may add to the outputs."""
    # nothing is fused in a stage without its conditions, which may use the dimensions
    whole = joined(shape) if any(s is shape.stage for s in shape.program.stages) else shape
    same = None if whole is shape else find_contraction(whole)
    if machine.kind == "cpu":
        # longer rows and columns fill vectors and register tiles better
        return contraction_cpu(*((shape, found) if same is None else (whole, same)), machine)
    plain = contraction_gpu(shape, found, machine, target, joining)
    if same is None:
        return plain[0]
    one = contraction_gpu(whole, same, machine, target, joining)
    if not _better(one, plain, same):
        return plain[0]
    estimate = one[0].estimate
    if estimate is not None:
        one[0].estimate = lambda there: estimate(joined(there))
    return one[0]


def _better(one: Timed, plain: Timed, found: Contraction) -> bool:
    """Whether a contraction is faster with its neighbouring dimensions fused. found: the fused contraction.

    The estimate decides. Of equal plans on tensor cores, rows of one dimension have the simpler addresses: on
    an H100 ccsdt_1 takes 114 instead of 142 µs in fp64. Without tensor cores, products of matrices are better
    as such: 15.5 instead of 31.6 µs for a 1×1 convolution in fp32, and no slower in five others. Of equal
    plans with more dimensions, two take 80 and 106 instead of 69 and 72 µs fused, one 59 instead of 69.
    """
    if one[0].on_tensor_cores or plain[0].on_tensor_cores:
        return one[0].on_tensor_cores and one[1] <= plain[1]
    return len(found.rows) == len(found.columns) == len(found.reduced) == 1 or one[1] < FUSED * plain[1]
