"""Loops around turns whose iterations units share: which there are, their sections, and the kernels."""

import re
from functools import cache

import pytest

from mdh.checker.open_default import default_for
from mdh.diagnostics import Failed
from mdh.frontend.c.read import read_program
from mdh.ir.dtype import I32
from mdh.ir.kernel import For, Module
from mdh.ir.plan import Plan
from mdh.ir.program import Program
from mdh.ir.walk import statements
from mdh.lower.run import lower
from mdh.machine import load_machine
from mdh.poly.parallel_loops import parallel_loops
from mdh.report.explain import explain_plan
from mdh.report.text import explanation_text
from mdh.schedule.binding import bind
from mdh.schedule.difference import differences
from mdh.schedule.model import Schedule
from mdh.schedule.parser import parse_schedule
from mdh.schedule.printer import print_schedule
from mdh.source import Source
from mdh.target.emit import emit
from mdh.tuner.space.make import make_space
from tests.support.pairs import planned

CPU, H100 = load_machine("generic-cpu"), load_machine("h100")
SWEEPS = """void f(float u[40][30], float v[30][40], float p[40][30]) {
  for (int t = 0; t < 3; t++) {
    for (int i = 1; i < 39; i++) {
      p[i][0] = 0;
      for (int j = 1; j < 29; j++) p[i][j] = u[i][j] / (p[i][j - 1] + 2);
      for (int j = 28; j >= 1; j--) v[j][i] = p[i][j] * v[j + 1][i] + u[i][j];
    }
    for (int i = 1; i < 39; i++)
      for (int j = 1; j < 29; j++) u[i][j] = v[j][i - 1] + v[j][i + 1] - t;
  }
}"""


@cache
def program_of(text: str) -> Program:
    return read_program(Source("f.c", text))


def schedule_of(text: str) -> Schedule:
    return parse_schedule(Source("f.mdh", text))


def loops_of(text: str) -> list[tuple[str, str, tuple[str, ...]]]:
    return [(x.name, x.counter, x.stages) for x in parallel_loops(program_of(text))]


def test_the_loop_around_two_sweeps_is_one() -> None:
    assert loops_of(SWEEPS) == [("i", "i", ("p", "p_2", "v"))]


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("y[i][j] = x[i][j] - y[i][j - 1] / 2;", ["y"]),
        # in a later turn, another iteration reads what this one has written
        ("y[i][j] = x[i][j] - y[19 - i][j - 1] / 2;", []),
        # it writes column 0, of which no iteration reads anything
        ("{ y[i][j] = x[i][j] - y[i][j - 1] / 2; x[19 - i][0] = y[i][j]; }", ["y x"]),
        # iteration 5 reads what iteration 15 writes, in another stage: that has a kernel of its own
        ("if (i < 10) y[i][j] = x[i + 10][j] - y[i][j - 1] / 2; else x[i][j] = 1;", ["y"]),
    ],
)
def test_iterations_that_meet_are_not_shared(line: str, found: list[str]) -> None:
    text = f"""void f(float x[20][30], float y[20][30]) {{
      for (int i = 0; i < 20; i++) for (int j = 1; j < 30; j++) {{ {line} }} }}"""
    assert [" ".join(stages) for _, _, stages in loops_of(text)] == found


def test_turns_around_a_loop_are_the_same_for_both_iterations() -> None:
    """What another iteration wrote in an earlier turn of t does not matter: the turns of t are launched."""
    text = """void f(float x[20][30], float y[20][30]) {
      for (int t = 0; t < 4; t++) {
        for (int i = 0; i < 20; i++) for (int j = 1; j < 30; j++) y[i][j] = x[i][j] - y[i][j - 1] / 2;
        for (int i = 0; i < 20; i++) for (int j = 0; j < 30; j++) x[i][j] = y[19 - i][j];
      } }"""
    assert loops_of(text) == [("i", "i", ("y",))]


def lowered(schedule: Schedule | None, machine: str, target: str) -> Module:
    model = load_machine(machine)
    return lower(planned(program_of(SWEEPS), schedule, model, target))


@pytest.mark.parametrize(("machine", "target"), [("generic-cpu", "c"), ("h100", "cuda"), ("a100", "opencl")])
def test_a_shared_loop_is_one_kernel(machine: str, target: str) -> None:
    module = lowered(None, machine, target)
    first, second = module.kernels
    assert [(x.var, x.first, x.last) for x in module.loops] == [("t", 0, 1)]
    assert [s.var for s in statements(first.body) if isinstance(s, For)].count("j") == 1
    # neither the turns inside nor those around are arguments, since nothing names t
    assert not first.scalars and second.scalars
    assert not first.launch.where
    text = emit(module, program_of(SWEEPS))
    if target == "c":
        # the map behind the sweeps has so few points that one core computes them
        assert text.source.count("#pragma omp parallel for") == 1


def test_without_the_section_each_turn_is_a_launch() -> None:
    steps = "".join(f"stage {s} {{ }}\n" for s in ("p", "p_2", "v"))
    module = lowered(schedule_of(steps), "generic-cpu", "c")
    assert len(module.kernels) == 4 and len(module.loops) == 3


def test_turns_inside_may_depend_on_turns_around() -> None:
    text = """void f(float x[20][30], float y[20][30]) {
      for (int t = 0; t < 9; t++) {
        for (int i = 0; i < 20; i++)
          for (int j = 1; j < 3 * t + 2; j++) y[i][j] = x[i][j] - y[i][j - 1] / 2;
        for (int i = 0; i < 20; i++) x[i][t] = y[19 - i][t];
      } }"""
    module = lower(planned(program_of(text), None, H100, "cuda"))
    first = module.kernels[0]
    assert first.scalars == (("t", I32),) and first.launch.sizes == (("t", 0, 8),)
    assert "if (" in emit(module, program_of(text)).source


def test_a_plan_says_its_loops_again() -> None:
    program = program_of(SWEEPS)
    plan = planned(program, schedule_of("loop i( i ) { (de-)comp( 5 ) ( BLK.y ) }"), CPU, "c")
    assert "loop i( i ) {\n    (de-)comp( 5 ) ( BLK.y )\n}" in plan.text
    assert planned(program, schedule_of(plan.text), CPU, "c").text == plan.text
    (loop,) = plan.loops
    assert (loop.units, loop.part, loop.first, loop.last) == (8, 5, 0, 2)
    told = explanation_text(explain_plan(plan, lower(plan)))
    assert (
        "loop i( i ): 38 iterations, 5 to each of 8 units, which runs all turns of\n    p, p_2, v\n" in told
    )


def test_labels_of_stages_count_from_one() -> None:
    text = """loop i( i ) { 1: (de-)comp( 8 ) ( BLK.x ) }
stage p { }
stage p_2 { 1: (de-)comp( 4 ) ( ^ ; ^ ) ( ^ ) 2: (de-)comp( 1 ) ( ^ ; ^ ) ( VEC.x ) }
stage v   { 0: (de-)comp( 38 ) ( ^, ^ ; ^ ) ( ^ ) 1: (de-)comp( 2 ) ( ^, ^ ; ^ ) ( ^ ) }
"""
    plan = planned(program_of(SWEEPS), schedule_of(text), CPU, "c")
    assert re.search(r"stage p_2 \{\n    1: \(de-\)comp\( 4 \)", plan.text)
    assert planned(program_of(SWEEPS), schedule_of(plan.text), CPU, "c").text == plan.text


def test_stages_that_a_schedule_names_share_nothing_by_themselves() -> None:
    plan = planned(
        program_of(SWEEPS), schedule_of("stage v { 1: (de-)comp( 4 ) ( ^, ^ ; ^ ) ( BLK.x ) }"), CPU, "c"
    )
    assert not plan.loops
    plan = planned(
        program_of(SWEEPS), schedule_of("stage u { 1: (de-)comp( 4, ^ ) ( ^ ; ^ ) ( BLK.x, ^ ) }"), CPU, "c"
    )
    assert len(plan.loops) == 1


TEXT = """// both sweeps
loop i( i ) {
    // whole cache lines
    1: (de-)comp( ?rows{4,8} ) ( BLK.x )  // of v
}

stage p {
    1: (de-)comp( 4 ) ( ; ^ ) ( ^ )
}
"""


def test_sections_are_read_and_printed() -> None:
    schedule = schedule_of(TEXT)
    assert print_schedule(schedule) == TEXT
    assert [h.name for h in (s.value for s in schedule.loops[0].steps[0].tiles)] == ["rows"]  # type: ignore[union-attr]
    bound = bind(schedule, {"rows": 8})
    assert "(de-)comp( 8 ) ( BLK.x )" in print_schedule(bound)
    (found, *_) = differences(bound, bind(schedule, {"rows": 4}))
    assert found.stage == "loop i" and found.steps[0].changes[0].what == "tile"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("loop i( i ) { 1: (de-)comp( 8 ) ( ^ ; ^ ) ( BLK.x ) }", "S101"),
        ("loop i( i ) { 1: (de-)comp( 8 ) }", "S112"),
        ("loop i( i ) { 1: (de-)comp( 8 ) ( BLK.x ) ( BLK.x ) }", "S112"),
        ("loop i { 1: (de-)comp( 8 ) ( BLK.x ) }", "S101"),
        ("loop i( i ) { 1: (de-)comp( 8 ) ( BLK.x )", "S106"),
        ("loop i( i ) { fuse i, j }", "S101"),
        ("loop i( i ) { } loop i( i ) { }", "S114"),
        ("over N=1..4 { loop i( i ) { } }", "S101"),
        ("over N=1..4 { 1: (de-)comp( 8 ) ( ; ^ ) ( BLK.x ) } loop i( i ) { }", "S114"),
    ],
)
def test_what_no_section_of_a_loop_is(text: str, code: str) -> None:
    with pytest.raises(Failed) as failed:
        schedule_of(text)
    assert [d.code for d in failed.value.diagnostics] == [code]


def test_tiles_of_loops_are_searched() -> None:
    program = program_of(SWEEPS)
    steps = "stage p { 1: (de-)comp( ? ) ( ; ^ ) ( ^ ) }"
    given = schedule_of(f"loop i( i ) {{ 1: (de-)comp( ?{{4,8,19}} ) ( BLK.x ) }} {steps}")
    space = make_space(program, given, CPU, "c", default=default_for(program, CPU, "c", given=given))
    assert [v.name for v in space.variables] == ["loop i.1.tile.i", "p.1.tile.i"]
    found = {space.unrank(n): space.plan(space.unrank(n)) for n in range(space.count)}
    assert all(isinstance(plan, Plan) for plan in found.values())
    assert {loop for loop, _ in found} == {4, 8, 19}
    assert all(int(tile) <= int(loop) for loop, tile in found)
    assert all(p.loops[0].part == loop for (loop, _), p in found.items() if isinstance(p, Plan))
    given = schedule_of(f"loop i( i ) {{ 1: (de-)comp( 8 ) ( BLK.x ) }} {steps}")
    space = make_space(program, given, CPU, "c", default=default_for(program, CPU, "c", given=given))
    assert [v.values for v in space.variables] == [(1, 2, 4, 8)]
