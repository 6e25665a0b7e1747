"""Stages that share a launch: one kernel, whose blocks are those of each stage in turn."""

import re

import pytest

from mdh.checker.run import check
from mdh.cost.predict import predict
from mdh.frontend.c.read import read_program
from mdh.ir.plan import Plan
from mdh.ir.shared_launch import BesideError, Touched, arranged, loops_around
from mdh.ir.turns import Turns
from mdh.lower.run import lower
from mdh.machine import load_machine
from mdh.schedule.parser import parse_schedule
from mdh.source import Source
from mdh.target.emit import emit
from mdh.target.text import KernelText
from mdh.tuner.space.make import make_space

TWO = """
void two(const float A[64][256], const float B[32][128], float O[64], float U[32]) {
  for (int i = 0; i < 64; i++) {
    O[i] = 0;
    for (int j = 0; j < 256; j++)
      O[i] += A[i][j];
  }
  for (int i = 0; i < 32; i++)
    for (int j = 0; j < 128; j++)
      U[i] = U[i] > B[i][j] ? U[i] : B[i][j];
}
"""
SUMS = """
stage O {{ 1: (de-)comp( 4, ^ ) ( A:SM[1,2] ; ^ ) ( BLK.x, ^ )
          2: (de-)comp( 1, 4 ) ( ^ ; ^ )         ( THR.y, THR.x ) }}
stage U{how} {{ 1: (de-)comp( 2, ^ ) ( {b} ; ^ ) ( BLK.y, ^ )
                2: (de-)comp( 1, {tile} ) ( ^ ; ^ ) ( THR.{axis}, {core} ) }}
"""


def plan_of(schedule: str, target: str, c: str = TWO) -> Plan:
    program = read_program(Source("two.c", c))
    machine = load_machine("generic-cpu" if target == "c" else "h200" if target == "cuda" else "oclgrind")
    return check(program, parse_schedule(Source("two.mdh", schedule)), machine, target)


def text_of(schedule: str, target: str, c: str = TWO) -> KernelText:
    plan = plan_of(schedule, target, c)
    return emit(lower(plan), plan.program)


def sums(
    how: str = " beside O", b: str = "B:SM[1,2]", tile: str = "1", axis: str = "y", core: str = "THR.x"
) -> str:
    return SUMS.format(how=how, b=b, tile=tile, axis=axis, core=core)


@pytest.mark.parametrize("target", ["cuda", "opencl"])
def test_one_kernel_has_the_blocks_of_both(target: str) -> None:
    (kernel,) = text_of(sums(), target).kernels
    assert (kernel.launch.grid, kernel.launch.block) == ((32, 1, 1), (256, 1, 1))


@pytest.mark.parametrize("target", ["cuda", "opencl"])
def test_shared_memory_is_that_of_the_larger(target: str) -> None:
    apart = [k.static_shared for k in text_of(sums(""), target).kernels]
    (kernel,) = text_of(sums(), target).kernels
    assert len(apart) == 2 and min(apart) > 0 and kernel.static_shared == max(apart)


def test_a_stage_without_barriers_may_have_fewer_threads() -> None:
    text = text_of(sums(b="^", tile="^", axis="x", core="^"), "cuda")
    assert text.kernels[0].launch.block == (256, 1, 1)
    assert re.search(r"if \(\(?int\)?\(?threadIdx\.x\)? < 2\)|if \(thread\w* < 2\)", text.source), text.source


def test_packed_buffers_lie_in_branches_in_c() -> None:
    own = "( BLK.x, ^ )"
    schedule = f"""
    stage O {{ 1: (de-)comp( 4, ^ ) ( A:SM[1,2] ; ^ ) {own}
               2: (de-)comp( 1, 1 ) ( ^ ; ^ )         ( ^, ^ ) }}
    stage U beside O {{ 1: (de-)comp( 2, ^ ) ( B:SM[1,2] ; ^ ) {own}
                        2: (de-)comp( 1, 1 ) ( ^ ; ^ )         ( ^, ^ ) }}
    """
    (kernel,) = text_of(schedule, "c").kernels
    source = text_of(schedule, "c").source
    assert kernel.static_shared == 4 * 256 * 4 and source.count("#pragma omp parallel") == 1
    assert all(re.search(rf"^ {{8,}}_Alignas\(64\) float {n}_SM", source, re.MULTILINE) for n in "AB")


def test_the_estimate_is_that_of_stages_that_share_the_machine() -> None:
    apart, together = (predict(plan_of(sums(how), "cuda")).seconds for how in ("", " beside O"))
    assert apart / 2.2 < together < apart / 1.6


def touched(*each: tuple[str, str]) -> list[Touched]:
    return [Touched(frozenset(r), frozenset(w)) for r, w in each]


def test_stages_between_run_in_front_or_behind() -> None:
    # 1 reads what 0 writes; 2 does not
    order = arranged(touched(("a", "b"), ("b", "c"), ("a", "d"), ("d", "e")), (), [(0, 3)])
    assert order == ((2,), (0, 3), (1,))


def test_a_loop_between_moves_as_a_whole() -> None:
    loops = (Turns("t", "t", 3, 1, 2),)
    order = arranged(touched(("a", "b"), ("a", "c"), ("b", "d"), ("a", "e")), loops, [(0, 3)])
    assert order == ((0, 3), (1,), (2,))
    assert [(x.first, x.last) for x in loops_around(loops, order)] == [(1, 2)]


def test_what_stands_between_forbids() -> None:
    with pytest.raises(BesideError) as unfit:
        arranged(touched(("a", "b"), ("b", "c"), ("c", "d")), (), [(0, 2)])
    assert unfit.value.between == (1,)


def test_groups_that_wait_for_one_another_are_refused() -> None:
    each = touched(("", "a"), ("", "b"), ("b", "c"), ("a", "d"))
    assert arranged(each, (), [(0, 2)]) == ((1,), (0, 2), (3,))
    with pytest.raises(BesideError):
        arranged(each, (), [(0, 2), (1, 3)])


def test_a_way_of_a_hole() -> None:
    """A stage in front that a stage knows nothing of is among its ways."""
    program, machine = read_program(Source("two.c", TWO)), load_machine("oclgrind")
    given = parse_schedule(Source("two.mdh", sums(" ?")))
    space = make_space(program, given, machine, "opencl")
    (how,) = (v for v in space.variables if v.name.endswith("how"))
    assert "beside O" in how.values
    plans = {point[0]: space.plan(point) for point in map(space.unrank, range(space.count))}
    shared = plans["beside O"]
    assert isinstance(shared, Plan) and shared.order == ((0, 1),)
