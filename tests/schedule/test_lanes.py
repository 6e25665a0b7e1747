"""Threads of default products: which lanes of a warp share an operand."""

import pytest

from mdh.frontend.c.read import read_program
from mdh.hardware import Layer
from mdh.machine import load_machine
from mdh.schedule.default.contraction import find_contraction
from mdh.schedule.default.contraction_gpu import WARP, outline_of
from mdh.schedule.default.ladder import LADDER, BlockTile
from mdh.schedule.default.ladder_plans import plan_of
from mdh.schedule.default.shape import Shape
from mdh.schedule.model import Step, Unit
from mdh.source import Source

MATMUL = """void matmul(const float A[1024][1024], const float B[1024][1024], float C[1024][1024]) {
  for (int i = 0; i < 1024; i++) for (int j = 0; j < 1024; j++) {
    C[i][j] = 0.0f;
    for (int k = 0; k < 1024; k++) C[i][j] += A[i][k] * B[k][j]; } }"""
H200 = load_machine("h200")


@pytest.mark.parametrize("tile", LADDER, ids=str)
def test_each_operand_depends_on_one_of_the_two_lowest_bits_of_a_lane(tile: BlockTile) -> None:
    program = read_program(Source("matmul.c", MATMUL))
    shape = Shape(program, program.stages[0])
    found = find_contraction(shape)
    assert found is not None
    plan = plan_of(shape, found, H200, tile, 1)
    assert plan is not None
    places = [_place(outline_of(shape, found, H200, plan).steps, lane) for lane in range(WARP)]
    assert len(set(places)) == WARP
    for bit, side in ((1, 0), (2, 1)) if _moves(places, 2, 0) else ((1, 1), (2, 0)):
        assert not _moves(places, bit, side)


def _moves(places: list[tuple[int, int]], bit: int, side: int) -> bool:
    """Some lane's rows (0) or columns (1) change with that bit of the lane."""
    return any(places[lane][side] != places[lane ^ bit][side] for lane in range(WARP))


def _place(steps: list[Step], lane: int) -> tuple[int, int]:
    """A lane's position among rows and among columns, parts of outer steps before those of inner ones."""
    counts, order = dict[str, tuple[int, int]](), list[str]()
    left = [1024, 1024]
    for step in steps:
        for d in (0, 1):
            before, tile = left[d], step.tiles[d].value
            left[d] = tile if isinstance(tile, int) else before
            unit = step.cores[d].value
            if isinstance(unit, Unit) and unit.layer == Layer.THR:
                counts[unit.axis] = (d, before // left[d])
                order.append(unit.axis)
    at = [0, 0]
    parts = dict[str, int]()
    for axis in "xyz":
        if axis in counts:
            parts[axis] = lane % counts[axis][1]
            lane //= counts[axis][1]
    for axis in order:
        d, count = counts[axis]
        at[d] = at[d] * count + parts[axis]
    return at[0], at[1]
