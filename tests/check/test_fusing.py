"""Which dimensions can be one, what the stage then sees, and that nothing else changes."""

from random import Random

import pytest

from mdh.checker.run import check
from mdh.frontend.c.read import read_program
from mdh.ir.fusion import fused, fusible, obstacle
from mdh.ir.program import Program
from mdh.lower.run import lower
from mdh.machine import load_machine
from mdh.schedule.default import default_schedule
from mdh.schedule.difference import differences
from mdh.schedule.parser import parse_schedule
from mdh.schedule.printer import print_schedule
from mdh.source import Source
from mdh.target.emit import emit
from mdh.tuner.candidates.open_tiles import open_values, opened
from mdh.tuner.local_search.neighbours import neighbour
from mdh.tuner.local_search.subject import Subjects
from mdh.tuner.space.make import make_space
from tests.support.corpus import WORKLOADS

TWO = """void two(const float x[6][5][7], const float b[7], float y[6][5][7], float s[6]) {
  for (int n = 0; n < 6; n++)
    for (int p = 0; p < 5; p++)
      for (int q = 0; q < 7; q++)
        y[n][p][q] = 2.0f * x[n][p][q];
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 5; j++)
      for (int k = 0; k < 7; k++)
        s[i] += y[i][j][k] * b[k];
}
"""


def read(text: str) -> Program:
    return read_program(Source("input.c", text))


def a_map(value: str, x: str = "[6][5][7]", y: str = "[6][5][7]") -> Program:
    return read(f"""void f(const float x{x}, const float w[5][7], float y{y}) {{
  for (int n = 0; n < 6; n++)
    for (int p = 0; p < 5; p++)
      for (int q = 0; q < 7; q++)
        y[n][p][q] = {value};
}}
""")


@pytest.mark.parametrize(
    ("program", "groups"),
    [
        (a_map("x[n][p][q]"), (("n", "p", "q"),)),
        (a_map("x[n + 1][p][q]", "[9][5][7]"), (("n", "p", "q"),)),
        (a_map("x[n][p][q] * w[p][q]"), (("p", "q"),)),
        (a_map("x[n][p][q] + x[0][p][q]"), (("p", "q"),)),
        (a_map("x[n][p][q] + x[n][p][0]"), (("n", "p"),)),
        (a_map("x[n][p][q]", y="[6][6][7]"), (("p", "q"),)),
        (a_map("x[n][p][q]", y="[6][5][8]"), (("n", "p"),)),
        (a_map("x[q][p][n]", "[7][5][6]"), ()),
        (a_map("x[n][p][q] * n"), (("p", "q"),)),
        (a_map("x[n][p][q] + x[2 * n][p][q]", "[12][5][7]"), (("p", "q"),)),
    ],
)
def test_the_largest_groups(program: Program, groups: tuple[tuple[str, ...], ...]) -> None:
    assert fusible(program, program.stages[0]) == groups


def test_loops_in_another_order_are_fused_in_that_of_the_memory() -> None:
    program = read("""void f(const float x[5][7], float y[5][7]) {
  for (int q = 0; q < 7; q++)
    for (int p = 0; p < 5; p++)
      y[p][q] = x[p][q];
}
""")
    assert fusible(program, program.stages[0]) == (("p", "q"),)
    assert obstacle(program, program.stages[0], [("q", "p")]) is not None


def test_a_view_is_of_one_stage() -> None:
    program = read(TWO)
    view = fused(program, program.stages[0], [("n", "p", "q")])
    assert [s.name for s in view.stages] == ["y"]
    assert [(d.name, d.extent) for d in view.stages[0].dims] == [("n_p_q", 210)]
    assert [view.buffer_of[b].shape for b in "xys"] == [(210,), (210,), (6,)]
    assert program.buffer_of["y"].shape == (6, 5, 7)


def test_an_unused_name_is_found() -> None:
    program = read("""void f(const float n_p[6][5], float y[6][5]) {
  for (int n = 0; n < 6; n++)
    for (int p = 0; p < 5; p++)
      y[n][p] = n_p[n][p];
}
""")
    assert fused(program, program.stages[0], [("n", "p")]).stages[0].dims[0].name == "n_p_2"


def test_more_iterations_than_an_int_counts_are_refused() -> None:
    program = read("""void f(const float x[65536][32768], float y[65536][32768]) {
  for (int n = 0; n < 65536; n++)
    for (int p = 0; p < 32768; p++)
      y[n][p] = x[n][p];
}
""")
    unfit = obstacle(program, program.stages[0], [("n", "p")])
    assert unfit is not None and "2147483648 iterations" in unfit.why


def test_the_emitted_arrays_and_parameters_stay() -> None:
    program, machine = read(TWO), load_machine("h200")
    plan = check(program, default_schedule(program, machine, "cuda"), machine, "cuda")
    assert [s.fused for s in plan.stages] == [(("n", "p", "q"),), ()]
    text = emit(lower(plan), program)
    assert "// fuse n, p, q" in text.source
    shapes = {a.name: a.shape for kernel in text.kernels for a in kernel.args if hasattr(a, "shape")}
    assert (shapes["x"], shapes["y"]) == ((6, 5, 7), (6, 5, 7))


def point_convolution() -> Program:
    sizes = {"N": 16, "H": 14, "W": 14, "C": 256, "K": 128, "R": 1, "S": 1, "STRIDE": 1}
    return read_program(WORKLOADS["conv2d_half"].source, defines=sizes)


def test_spaces_and_neighbours_keep_the_line() -> None:
    program, machine = point_convolution(), load_machine("h200")
    default = default_schedule(program, machine, "cuda")
    space = make_space(program, opened(default, program, machine), machine, "cuda", default=default)
    point = open_values(default, program, machine)
    assert space.rank(point) is not None and "n_p_q" in {v.dim for v in space.variables}
    assert space.schedule(point).sections[0].groups == (("n", "p", "q"),)
    found = space.draw_legal(Random(1))
    assert found is not None and found[1].stages[0].fused == (("n", "p", "q"),)
    subject, rng = Subjects(program, machine, "cuda").of, Random(2)
    changed = [neighbour(default, subject, rng) for _ in range(50)]
    assert all(s.sections[0].groups == (("n", "p", "q"),) for s in changed if s is not None)
    assert any(s is not None for s in changed)


def test_differences_tell_of_the_line() -> None:
    one = "1: (de-)comp( 64 ) ( ^ ; ^ ) ( BLK.x )"
    three = "1: (de-)comp( 1, ^, ^ ) ( ^ ; ^ ) ( BLK.x, ^, ^ )"
    before, after = (parse_schedule(Source("s", t)) for t in (three, f"fuse n, p, q\n{one}"))
    (found,) = differences(before, after)
    assert (found.gone, found.come, found.alien) == ((), ("fuse n, p, q",), False)
    assert [(s.before, s.after) for s in found.steps] == [(1, None), (None, 1)]


def test_the_text_is_printed_and_read() -> None:
    text = "// rows\nfuse n, p // of the image\nfuse r, s\n1: (de-)comp( 64, ^ ) ( ^ ; ^ ) ( BLK.x, ^ )\n"
    schedule = parse_schedule(Source("s", text))
    assert schedule.sections[0].groups == (("n", "p"), ("r", "s"))
    assert parse_schedule(Source("s", print_schedule(schedule))) == schedule
    assert "fuse n, p  // of the image" in print_schedule(schedule)
