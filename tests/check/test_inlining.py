"""Stages that their readers compute: what the readers are then, what is said of them, and which ones default
schedules choose."""

from itertools import pairwise
from random import Random

import pytest

from mdh.checker.inlining import staged
from mdh.checker.open_default import default_for
from mdh.checker.run import check
from mdh.diagnostics import Failed
from mdh.frontend.c.read import read_program
from mdh.ir.plan import Plan
from mdh.ir.program import Program
from mdh.lower.run import lower
from mdh.machine import load_machine
from mdh.report.dump import dump_text
from mdh.report.explain import as_json, explain_plan
from mdh.report.text import explanation_text
from mdh.schedule.binding import bind
from mdh.schedule.difference import differences
from mdh.schedule.model import Schedule
from mdh.schedule.parser import parse_schedule
from mdh.schedule.printer import print_schedule
from mdh.source import Source
from mdh.tuner.candidates.open_tiles import open_values, opened
from mdh.tuner.local_search.neighbours import neighbour
from mdh.tuner.local_search.subject import Subjects
from mdh.tuner.space.identity import identity
from mdh.tuner.space.make import make_space
from tests.check.programs import smoothed

H200 = load_machine("h200")
STEPS = """\
stage O {
  1: (de-)comp( 8 ) ( T:SM[1] ; ^ ) ( BLK.x )
  2: (de-)comp( 1 ) ( ^ ; ^ )       ( THR.x )
}
"""
EACH = "for (int i = 0; i < 64; i++)"
INNER = "for (int i = 1; i < 63; i++)"
HALF = "for (int i = 0; i < 32; i++)"


def parsed(text: str) -> Schedule:
    return parse_schedule(Source("s.mdh", text))


def planned(program: Program, text: str = "", **values: str) -> Plan:
    given = bind(parsed(text), values)
    default = default_for(program, H200, "cuda", given=given)
    return check(program, given, H200, "cuda", default=default)


def read(body: str, arrays: str = "const float A[64], float O[64]") -> Program:
    return read_program(Source("f.c", f"#include <math.h>\nvoid f({arrays}) {{\n{body}\n}}\n"))


def test_readers_have_the_entries_of_what_they_read_now() -> None:
    plan = planned(smoothed(), "stage T inline\nstage O {\n 1: (de-)comp( 8 ) ( A:SM[1] ; ^ ) ( BLK.x )\n}")
    assert [s.stage.name for s in plan.stages] == ["O"]
    assert plan.computed.inputs(plan.stages[0].stage) == ("A",)
    assert [b.name for b in plan.computed.buffers] == ["A", "O"]
    assert lower(plan).workspaces == ()
    assert planned(smoothed(), plan.text).text == plan.text


def test_the_value_of_a_hole_leaves_the_entries_as_they_are_written() -> None:
    text = f"stage T ?way {{ 1: (de-)comp( 16 ) ( ^ ; ^ ) ( BLK.x ) }}\n{STEPS}"
    kernel, inline = (planned(smoothed(), text, way=way) for way in ("kernel", "inline"))
    assert [s.stage.name for s in kernel.stages] == ["T", "O"]
    assert "T:SM[1]" in kernel.text and "stage T inline\n" in inline.text and "T:SM" not in inline.text
    assert identity(kernel) != identity(inline)


def test_an_output_has_a_kernel_too() -> None:
    arrays = "const float A[64], float T[64], float O[64]"
    program = read(f"{EACH} T[i] = 2 * A[i];\n{EACH} O[i] = T[63 - i];", arrays)
    plan = planned(program, "stage T inline { 1: (de-)comp( 16 ) ( ^ ; ^ ) ( BLK.x ) }")
    assert [s.stage.name for s in plan.stages] == ["T", "O"]
    assert plan.computed.inputs(plan.stages[1].stage) == ("A",)
    assert "stage T inline {" in plan.text
    assert identity(plan) != identity(planned(program, "stage T { 1: (de-)comp( 16 ) ( ^ ; ^ ) ( BLK.x ) }"))


def test_what_is_said() -> None:
    plan = planned(smoothed(), "stage T inline")
    told = explain_plan(plan, lower(plan))
    assert "stage T: inline in O: 186 computations of 64 points, 2.91 of each\n" in explanation_text(told)
    assert as_json(told)["inline"][0]["computed"] == 186
    assert "stage O {" in explanation_text(told)
    assert "buffer T" not in dump_text(plan)


FREE = {
    "once": f"{EACH} T[i] = expf(A[i]);\n{EACH} O[i] = T[63 - i] + 1;",
    "cheap": f"{EACH} T[i] = 2 * A[i];\n{INNER} O[i] = T[i - 1] + T[i + 1];",
    "mean of means": f"{INNER} T[i] = A[i - 1] + A[i] + A[i + 1];\n"
    "for (int i = 2; i < 62; i++) O[i] = T[i - 1] + T[i] + T[i + 1];",
    "squares": f"{EACH} T[i] = A[i] * 3;\n{EACH} O[0] += T[i] * T[i];",
    "sum": f"{EACH} T[i] = A[i] * A[i];\n{EACH} O[0] += T[i];",
    "two readers": f"{EACH} T[i] = A[i] + 1;\n{EACH} O[i] = T[i];\n{HALF} O[i] += T[2 * i];",
}
COSTLY = {
    "divided": f"{EACH} T[i] = 2 / A[i];\n{INNER} O[i] = T[i - 1] + T[i + 1];",
    "many": f"{EACH} T[i] = A[i] * A[i] + 2 * A[i] + 1;\n"
    f"for (int i = 3; i < 61; i++) O[i] = T[i - 3] + T[i - 1] + T[i] + T[i + 1] + T[i + 3];",
    "stencil": f"{EACH} T[i] = expf(A[i]);\n{INNER} O[i] = T[i - 1] + T[i + 1];",
    "turns": f"{EACH} T[i] = 2 * A[i];\n"
    f"for (int t = 0; t < 9; t++) {{\n  {EACH} O[i] = U[i] + T[i];\n  {INNER} U[i] = O[i - 1];\n}}",
    "sums": f"{EACH} T[i] = 2 * A[i];\n{EACH}\n  for (int j = 0; j < 64; j++)\n    O[i] += T[j] * A[i];",
}


def default_inline(body: str) -> set[str]:
    program = read(f"float T[64];\n{body}", "const float A[64], float O[64], float U[64]")
    return {one.name for one in planned(program).inline}


@pytest.mark.parametrize("name", FREE)
def test_default_schedules_compute_what_is_free_where_it_is_read(name: str) -> None:
    assert default_inline(FREE[name]) == {"T"}


@pytest.mark.parametrize("name", COSTLY)
def test_default_schedules_keep_what_is_computed_again(name: str) -> None:
    assert default_inline(COSTLY[name]) == set()


def test_conversions_to_short_floats_are_not_cheap() -> None:
    body = f"_Float16 T[64];\n{EACH} T[i] = 2 * A[i];\n{INNER} O[i] = T[i - 1] + T[i + 1];"
    assert planned(read(body)).inline == ()


def test_factors_of_products_stay_in_memory() -> None:
    i, j, k = (f"for (int {x} = 0; {x} < 32; {x}++)" for x in "ijk")
    body = f"float T[32][32];\n{i} {k} T[i][k] = A[i][k] * 2;\n{i} {j} {k} C[i][j] += T[i][k] * A[k][j];"
    assert planned(read(body, "const float A[32][32], float C[32][32]")).inline == ()


def test_steps_of_a_reader_keep_the_kernel_of_what_it_reads() -> None:
    program = read(f"float T[64];\n{FREE['once']}")
    steps = "1: (de-)comp( 8 ) ( ^ ; ^ ) ( BLK.x )"
    for text in (f"stage O {{ {steps} }}", f"stage T {{ {steps} }}", "stage T kernel"):
        assert planned(program, text).inline == ()
    assert "stage T inline\n" in planned(program).text


def test_the_space_has_all_ways() -> None:
    program, template = smoothed(), parsed(f"stage T ?\n{STEPS}")
    rest = default_for(program, H200, "cuda", given=template)
    space = make_space(program, template, H200, "cuda", default=rest)
    assert [(v.name, v.values) for v in space.variables] == [("T.how", ("kernel", "inline", "in O:1"))]
    plans = [space.plan(space.unrank(n)) for n in range(space.count)]
    assert all(isinstance(p, Plan) for p in plans)
    assert sorted(len(p.stages) for p in plans if isinstance(p, Plan)) == [1, 1, 2]
    assert all(space.plausible(space.unrank(n)) for n in range(3))


def test_spaces_and_neighbours_of_schedules_with_inline_stages() -> None:
    program = read(f"float T[64];\n{FREE['cheap']}")
    default = default_for(program, H200, "cuda")
    template = opened(default, program, H200)
    space = make_space(program, template, H200, "cuda", default=default)
    plan = space.plan(open_values(default, program, H200))
    assert isinstance(plan, Plan) and plan.text == planned(program).text
    subjects = Subjects(staged(program, default, H200, None).program, H200, "cuda")
    changed = neighbour(default, subjects.of, Random(1))
    assert changed is not None and "stage T inline" in print_schedule(changed)


def test_the_difference_of_two_ways() -> None:
    one, two = differences(parsed(f"stage T inline\n{STEPS}"), parsed(f"stage T kernel\n{STEPS}"))
    assert (one.gone, one.come, two.same) == (("stage T inline",), ("stage T kernel",), True)


def test_chains_of_values_that_are_written_twice_end() -> None:
    names = [f"T{n}" for n in range(24)]
    steps = [f"{EACH} {b}[i] = {a}[i] * {a}[63 - i];" for a, b in pairwise(["A", *names, "O"])]
    program = read("\n".join([*(f"float {n}[64];" for n in names), *steps]))
    assert 8 <= len(planned(program).inline) < 24
    with pytest.raises(Failed, match="more than 4,096 parts"):
        planned(program, "\n".join(f"stage {n} inline" for n in names))
