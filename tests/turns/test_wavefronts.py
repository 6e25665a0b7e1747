"""Pairs of loops that run as wavefronts: which there are, their sections, and the kernels."""

import pytest

from mdh.checker.open_default import default_for
from mdh.cost.predict import predict
from mdh.diagnostics import Failed
from mdh.frontend.c.read import read_program
from mdh.ir.kernel import For
from mdh.ir.plan import Plan
from mdh.ir.program import Program
from mdh.ir.walk import statements
from mdh.lower.run import lower
from mdh.machine import load_machine
from mdh.poly.wavefronts import crossing, wavefronts
from mdh.report.explain import explain_plan, skewable
from mdh.report.text import explanation_text, front_text
from mdh.schedule.model import Schedule
from mdh.schedule.parser import parse_schedule
from mdh.schedule.printer import print_schedule
from mdh.source import Source
from mdh.target.emit import emit
from mdh.tuner.space.make import make_space
from tests.support.pairs import planned

CPU = load_machine("generic-cpu")
SKEWED = "( BLK.x, FOR.1@skew(t, 2) )"
SEIDEL = """void f(double A[30][40]) {
  for (int t = 0; t < 20; t++)
    for (int i = 1; i < 29; i++)
      for (int j = 1; j < 39; j++)
        A[i][j] = (A[i - 1][j] + A[i][j - 1] + A[i][j] + A[i][j + 1] + A[i + 1][j]) / 5;
}"""
JACOBI = """void f(float A[30][40], float B[30][40]) {
  for (int t = 0; t < 20; t++) {
    for (int i = 1; i < 29; i++)
      for (int j = 1; j < 39; j++) B[i][j] = A[i - 1][j] + A[i][j - 1] + A[i][j + 1] + A[i + 1][j];
    for (int i = 1; i < 29; i++)
      for (int j = 1; j < 39; j++) A[i][j] = (B[i - 1][j] + B[i][j - 1] + B[i][j + 1] + B[i + 1][j]) / 16;
  }
}"""


def program_of(text: str) -> Program:
    return read_program(Source("f.c", text))


def schedule_of(text: str) -> Schedule:
    return parse_schedule(Source("f.mdh", text))


def found_in(text: str) -> list[tuple[str, tuple[str, str], int, tuple[int, ...]]]:
    return [
        (w.name, w.counters, w.factor, tuple(r.shift for r in w.rows)) for w in wavefronts(program_of(text))
    ]


def test_a_sweep_in_place_has_wavefronts_of_factor_two() -> None:
    assert found_in(SEIDEL) == [("t", ("t", "i"), 2, (0,))]
    assert [d.extent for d in program_of(SEIDEL).stages[0].dims] == [1]


def test_a_stage_that_reads_rows_behind_starts_later() -> None:
    assert found_in(JACOBI) == [("t", ("t", "i"), 3, (0, 1))]


@pytest.mark.parametrize(
    ("far", "counters", "factor"),
    [
        ("A[i - 1][j] + A[i + 1][j]", ("t", "i"), 2),
        ("A[i - 3][j] + A[i + 3][j]", ("t", "i"), 4),
        ("A[i - 1][j] + A[i + 3][j]", ("t", "i"), 4),
        # no small factor for sweeps, so rows of one sweep
        ("A[i - 9][j] + A[i + 9][j]", ("i", "j"), 1),
    ],
)
def test_far_rows_need_large_factors(far: str, counters: tuple[str, str], factor: int) -> None:
    text = f"""void f(float A[32][30]) {{
      for (int t = 0; t < 9; t++) for (int i = 10; i < 20; i++) for (int j = 1; j < 29; j++)
        A[i][j] = (A[i][j - 1] + {far}) / 3; }}"""
    assert [(w.counters, w.factor) for w in wavefronts(program_of(text))] == [(counters, factor)]


def test_loops_downwards_count_from_their_first_iteration() -> None:
    text = SEIDEL.replace("int i = 1; i < 29; i++", "int i = 28; i >= 1; i--")
    assert found_in(text) == [("t", ("t", "i"), 2, (0,))]


def test_a_smaller_factor_shows_two_iterations() -> None:
    program = program_of(SEIDEL)
    (w,) = wavefronts(program)
    met = crossing(program, w, 1)
    assert met is not None
    (t, i), (u, k) = met.first, met.second
    assert t < u and t + i >= u + k
    assert crossing(program, w, 3) is None


def test_one_loop_alone_is_refused_still() -> None:
    with pytest.raises(Failed) as failed:
        program_of("void f(float x[64]) { for (int i = 1; i < 64; i++) x[i] = x[i - 1] / 2 + 1; }")
    assert failed.value.diagnostics[0].code == "C150"


def test_the_default_has_bands_and_chains_side_by_side() -> None:
    program = program_of(SEIDEL.replace("t < 20", "t < 300"))
    plan = planned(program, None, CPU, "c")
    (x,) = plan.fronts
    assert (x.band, x.part, x.blocks, x.bands) == (128, 16, 8, 3)
    module = lower(plan)
    (kernel,) = module.kernels
    assert [(v.var, v.trips) for v in module.loops] == [("t_band", 3), ("t_time", 2 * 127 + 28)]
    wide = next(s for s in statements(kernel.body) if isinstance(s, For) and s.var == "j")
    assert sum(1 for _ in statements(wide.body)) >= 16
    told = explanation_text(explain_plan(plan, module))
    assert "loop t( t, i ): 300 turns, 3 bands of 128, each in 282 wavefronts by @skew(t, 2), 16 to" in told


def test_estimates_count_launches_and_units() -> None:
    program = program_of(SEIDEL)
    one, many = (
        predict(planned(program, schedule_of(f"loop t( t, i ) {{ (de-)comp( {n}, 1 ) {SKEWED} }}"), CPU, "c"))
        for n in (20, 5)
    )
    assert one.seconds > many.seconds > 0


def test_a_plan_says_its_wavefronts_again() -> None:
    program = program_of(JACOBI)
    text = """loop t( t, i ) {
    1: (de-)comp( 8, ^ ) ( FOR.1, ^ )
    2: (de-)comp( 4, 1 ) ( BLK.x, FOR.1@skew(t, 3) )
}
"""
    plan = planned(program, schedule_of(text), CPU, "c")
    assert text in plan.text and planned(program, schedule_of(plan.text), CPU, "c").text == plan.text
    assert print_schedule(schedule_of(text)) == text
    # one dimension is left of each stage, and a step for it
    assert "stage B {\n    1: (de-)comp( " in plan.text
    assert all([d.name for d in s.stage.dims] == ["j"] for s in plan.stages)


@pytest.mark.parametrize(("machine", "target"), [("h100", "cuda"), ("a100", "opencl")])
def test_a_launch_on_a_gpu_is_a_wavefront(machine: str, target: str) -> None:
    text = """loop t( t, i ) {
        (de-)comp( 8, 1 ) ( BLK.x, FOR.1@skew(t, 3) )
        (de-)comp( 1, ^ ) ( THR.x, ^ )
    }"""
    program = program_of(JACOBI)
    module = lower(planned(program, schedule_of(text), load_machine(machine), target))
    (kernel,) = module.kernels
    assert (kernel.launch.grid, kernel.launch.block) == ((3, 1, 1), (8, 1, 1))
    assert emit(module, program).counted


def test_strips_of_a_further_counter() -> None:
    program = program_of(JACOBI)
    text = """loop t( t, i, j ) {
    1: (de-)comp( 6, ^, ^ )  ( FOR.1, ^, ^ )
    2: (de-)comp( ^, ^, 10 ) ( ^, ^, FOR.1@skew(t, 2) )
    3: (de-)comp( 3, 1, ^ )  ( BLK.x, FOR.1@skew(t, 3), ^ )
}
"""
    plan = planned(program, schedule_of(text), CPU, "c")
    (x,) = plan.fronts
    # places to 2 * 5 + 38, and one iteration later for the second stage
    assert (x.bands, x.strip_count, x.times) == (4, 5, 3 * 5 + 28 + 1)
    module = lower(plan)
    assert [v.var for v in module.loops] == ["t_band", "j_strip", "t_time"]
    assert text in plan.text and planned(program, schedule_of(plan.text), CPU, "c").text == plan.text
    told = explanation_text(explain_plan(plan, module))
    assert "20 turns, 4 bands of 6, each in 5 strips, each in 44 wavefronts by @skew(t, 3), 3 to each" in told


def test_one_name_may_mean_two_kinds_of_loops() -> None:
    both = schedule_of("loop i( i ) { (de-)comp( 8 ) ( BLK.x ) } loop i( i, j ) { }")
    assert [s.counters for s in both.loops] == [("i",), ("i", "j")]


def test_without_the_section_stages_have_kernels() -> None:
    plan = planned(program_of(JACOBI), None, CPU, "c")
    assert not plan.fronts and len(lower(plan).kernels) == 2


def test_explain_says_which_loops_may_run_so() -> None:
    (row,) = skewable(program_of(SEIDEL))
    assert (
        front_text(row) == "loop t( t, i ): 20 turns that may run as wavefronts with @skew(t, 2) of\n    A\n"
    )


def test_tiles_of_stages_inside_are_searched() -> None:
    program = program_of(JACOBI)
    text = """loop t( t, i ) { (de-)comp( 4, 1 ) ( BLK.x, FOR.1@skew(t, 3) ) }
    stage A { (de-)comp( ?{1,2,19} ) ( ^ ; ^ ) ( ^ ) }"""
    given = schedule_of(text)
    space = make_space(program, given, CPU, "c", default=default_for(program, CPU, "c", given=given))
    plans = [space.plan(space.unrank(n)) for n in range(space.count)]
    assert len(plans) == 3 and all(isinstance(p, Plan) and p.fronts for p in plans)
