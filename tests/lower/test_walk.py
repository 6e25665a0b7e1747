"""The expressions of a statement are those that a map of expressions meets, in the same order."""

import pytest

from mdh.frontend.c.read import read_program
from mdh.ir.expr import Expr
from mdh.ir.kernel import Stmt
from mdh.ir.matrix import GroupMma, Mma, StoreMatrix
from mdh.ir.walk import expressions, map_expressions, statements
from mdh.lower.run import lower
from mdh.machine import load_machine
from mdh.schedule.binding import bind
from mdh.schedule.parser import parse_schedule
from tests.support.corpus import WORKLOADS, schedules
from tests.support.pairs import planned


def met(s: Stmt) -> list[Expr]:
    """By a map, and the registers that a statement is given."""
    out: list[Expr] = []

    def note(e: Expr) -> Expr:
        out.append(e)
        return e

    map_expressions(s, note)
    match s:
        case Mma():
            return [*out, *s.acc, *s.a, *s.b]
        case GroupMma():
            return [*out, s.acc, *s.held]
        case StoreMatrix():
            return [*out, s.src]
        case _:
            return out


@pytest.mark.parametrize("name", [
    "matmul_bf16/h200/cluster", "matmul_bf16/h200/stream", "matmul_tf32/h200/registers",
    "matmul_fp8/h200/promoted", "conv2d_half/h200/first_few", "grouped_conv_half/h200/c8",
])  # fmt: skip
def test_expressions_are_those_of_a_map(name: str) -> None:
    [shipped] = [s for s in schedules() if s.name == name]
    use = shipped.small[0]
    program = read_program(WORKLOADS[use.program].source, defines=dict(use.sizes))
    schedule = bind(parse_schedule(shipped.source), dict(use.sets))
    for kernel in lower(planned(program, schedule, load_machine("h200"), "cuda")).kernels:
        for s in statements(kernel.body):
            assert [*expressions(s)] == met(s), type(s)
