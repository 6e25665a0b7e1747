"""Estimates of products by warp groups, and of products by warps, beside what was timed on an H100."""

from math import exp, log

import pytest

from mdh.cost.gpu import Joining
from mdh.cost.groups import GroupWork, group_seconds
from mdh.frontend.c.read import read_program
from mdh.ir.atoms import ATOMS
from mdh.machine import load_machine
from mdh.schedule.default.atoms import find_matrices
from mdh.schedule.default.contraction_atoms import best_plan
from mdh.schedule.default.contraction_groups import best_group_plan
from mdh.schedule.default.group_products import find_groups
from mdh.schedule.default.shape import Shape
from mdh.source import Source

H100 = load_machine("h100")
PRODUCT = """void mm(__bf16 A[{m}][{k}], __bf16 B[{k}][{n}], float C[{m}][{n}]) {{
  for (int i = 0; i < {m}; i++) for (int j = 0; j < {n}; j++) {{
    C[i][j] = 0.0f;
    for (int k = 0; k < {k}; k++) C[i][j] += (float)A[i][k] * (float)B[k][j]; }} }}
"""
TIMED = {
    (4096, 4096, 4096): 181.2, (2048, 2048, 2048): 25.5, (1024, 1024, 1024): 5.4, (3072, 3072, 3072): 79.0,
    (4096, 4096, 512): 38.9, (936, 160, 328): 2.3, (3360, 712, 112): 4.9, (96, 192, 544): 2.2,
    (176, 1496, 4920): 12.9, (792, 160, 5152): 8.5, (72, 160, 3640): 3.0, (13760, 1488, 824): 70.7,
    (849, 4361, 137): 14.9, (4433, 105, 849): 16.5, (1201, 4265, 265): 30.6, (105, 73, 2073): 3.8,
}  # fmt: skip
"""Microseconds of default schedules in bf16, by m, n, k: warm, from CUDA graphs."""


def estimate(m: int, n: int, k: int) -> float:
    """Microseconds of the default schedule."""
    program = read_program(Source("mm.c", PRODUCT.format(m=m, n=n, k=k)))
    shape = Shape(program, program.stages[0])
    groups = find_groups(shape, H100, "cuda")
    found = None if groups is None else best_group_plan(shape, groups, H100, Joining.FRESH)
    if found is None:
        matrices = find_matrices(shape, H100, "cuda")
        assert matrices is not None
        found = best_plan(shape, matrices, H100, Joining.FRESH)
    assert found is not None
    return found[1] * 1e6


def test_estimates_are_near_what_was_timed() -> None:
    ratios = {size: estimate(*size) / timed for size, timed in TIMED.items()}
    assert all(0.65 < r < 1.5 for r in ratios.values()), ratios
    off = exp(sum(abs(log(r)) for r in ratios.values()) / len(ratios))
    assert off < 1.15, ratios


def work(shared: tuple[int, int], tiles: int = 120) -> GroupWork:
    atom = next(a for a in ATOMS if a.name == "m64n128k16_f32_bf16_bf16" and a.grouped)
    return GroupWork(atom, (128, 128), 2, 64, 64, tiles, moved=1, written=1, result=4, shared=shared)


@pytest.mark.parametrize("shared", [(1, 2), (2, 2), (2, 4)], ids=str)
def test_clusters_run_in_waves(shared: tuple[int, int]) -> None:
    """An H100 runs 66 clusters of 2, 30 of 4, or 15 of 8 blocks at once."""
    one = group_seconds(work(shared=shared), H100)
    full = {2: 132, 4: 120, 8: 120}[shared[0] * shared[1]]
    assert group_seconds(work(shared=shared, tiles=full), H100) == pytest.approx(one, rel=0.1)
    assert group_seconds(work(shared=shared, tiles=full + 8), H100) > 1.5 * one


def test_clusters_of_a_machine_that_does_not_say() -> None:
    a100 = load_machine("a100")
    assert [a100.clusters(n) for n in (1, 2, 4, 8)] == [108, 54, 27, 13]
    assert [H100.clusters(n) for n in (1, 2, 4, 8)] == [132, 66, 30, 15]
