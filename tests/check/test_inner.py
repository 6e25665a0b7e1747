"""Stages inside of their reader's kernel: how often they are computed, what is said of them, their holes."""

from itertools import product
from math import prod
from random import Random

import pytest

from mdh.checker.open_default import default_for
from mdh.checker.run import check
from mdh.cost.predict import predict
from mdh.cost.work import work_of
from mdh.diagnostics import Failed
from mdh.frontend.c.read import read_program
from mdh.ir.affine import Affine
from mdh.ir.inner import Side, computations
from mdh.ir.plan import Plan
from mdh.ir.program import Dim, DimKind, Program, Stage
from mdh.ir.turns import Turns
from mdh.lower.run import lower
from mdh.machine import load_machine
from mdh.report.dump import dump_text
from mdh.report.explain import as_json, explain_plan
from mdh.report.text import explanation_text
from mdh.schedule.binding import bind
from mdh.schedule.parser import parse_schedule
from mdh.schedule.printer import print_schedule
from mdh.source import Source
from mdh.target.emit import emit
from mdh.tuner.space.identity import identity
from mdh.tuner.space.make import make_space
from tests.support.cubins import cubin_of

H100 = load_machine("h100")
BLUR = """void blur(const float A[68], float O[64]) {
  float T[66];
  for (int i = 0; i < 66; i++) T[i] = A[i] + A[i + 1] + A[i + 2];
  for (int i = 0; i < 64; i++) O[i] = T[i] + T[i + 1] + T[i + 2];
}"""
READER = """stage O {
  1: (de-)comp( 16 ) ( T:SM[1] ; ^ ) ( BLK.x )
  2: (de-)comp( 1 ) ( ^ ; ^ ) ( THR.x )
}"""


def read(text: str = BLUR) -> Program:
    return read_program(Source("f.c", text))


def planned(program: Program, text: str, target: str = "cuda") -> Plan:
    given = parse_schedule(Source("s.mdh", text))
    return check(program, given, H100, target, default=default_for(program, H100, target, given=given))


def blurred(tile: object = 2, own: str = "^") -> Plan:
    """The stencil of a stencil."""
    inside = f"stage T in O:1 {{ 1: (de-)comp( {tile} ) ( {own} ; ^ ) ( THR.x ) }}"
    return planned(read(), f"{inside}\n{READER}")


@pytest.mark.parametrize("seed", range(30))
def test_points_are_counted(seed: int) -> None:
    """By going through all positions of a box."""
    rng = Random(f"box {seed}")
    dims = tuple(Dim(n, rng.randint(1, 9), DimKind.CC) for n in "ij"[: rng.randint(1, 2)])
    turns = tuple(Turns(v, v, rng.randint(1, 4), 0, 0, level=True) for v in "abc")
    free = list("abc")
    rng.shuffle(free)
    box = {}
    for d in dims:
        mine = [free.pop() for _ in range(rng.randint(0, min(2, len(free))))]
        corner = Affine.of({v: rng.choice((1, 2, 3, -1)) for v in mine}, rng.randint(-3, 3))
        box[d.name] = Side(corner, rng.randint(1, 5))
    count = 0
    for at in product(*(range(x.trips) for x in turns)):
        values = dict(zip("abc", at, strict=True))
        lows = [(box[d.name].corner.evaluate(values), box[d.name].extent, d.extent) for d in dims]
        count += prod(max(0, min(low + n, extent) - max(low, 0)) for low, n, extent in lows)
    assert computations(Stage("s", dims, (), ()), box, turns) == count


def test_one_kernel_without_the_array() -> None:
    plan = blurred()
    module = lower(plan)
    assert len(module.kernels) == 1
    assert module.workspaces == ()
    assert [b.name for b in module.kernels[0].buffers] == ["A", "O"]
    assert plan.stages[0].inner[0].computed == 72
    assert planned(read(), plan.text).text == plan.text


def test_what_is_said_of_it() -> None:
    plan = blurred()
    told = explain_plan(plan, lower(plan))
    text = explanation_text(told)
    assert "stage T: in O, at step 1: 72 computations of 66 points, 1.09 of each" in text
    assert "fill T:SM[1]" in text and "compute stage T" in text
    assert not any(m.buffer == "T" and "DM" in (m.source, m.sink) for s in told.stages for m in s.moves)
    assert as_json(told)["inner"][0]["computed"] == 72
    assert "stage T, in O at step 1" in dump_text(plan)


def test_work_is_that_of_both_stages() -> None:
    plan = blurred()
    kernels = planned(read(), "stage T kernel")
    assert work_of(plan)[0] == work_of(kernels)[0]
    assert work_of(plan)[1] == 4 * (68 + 64)
    assert predict(plan).seconds > 0


def test_work_inside_costs() -> None:
    """A costly function in the stage inside makes the kernel's instructions more."""
    plain, costly = (
        planned(read(text), "stage T in O:1 { 1: (de-)comp( 2 ) ( ^ ; ^ ) ( THR.x ) }\n" + READER)
        for text in (BLUR, BLUR.replace("+ A[i + 2];", "+ A[i + 2] / A[i] / A[i + 1];"))
    )
    assert dict(predict(costly).terms)["issue"] > dict(predict(plain).terms)["issue"]


def test_plans_differ_in_what_is_inside() -> None:
    assert identity(blurred(tile=2)) != identity(blurred(tile=3))


def test_holes_have_the_values_of_the_box() -> None:
    text = f"stage T in O:1 {{ 1: (de-)comp( ?t ) ( ^ ; ^ ) ( THR.x ) }}\n{READER}"
    given = parse_schedule(Source("s.mdh", text))
    space = make_space(read(), given, H100, "cuda")
    (tile,) = space.variables
    assert tile.extent == 18 and max(v for v in tile.values if isinstance(v, int)) == 18
    legal = 0
    for n in range(space.count):
        point = space.unrank(n)
        try:
            plan = check(read(), space.schedule(point), H100, "cuda")
        except Failed as failed:
            assert {d.code for d in failed.diagnostics} == {"K125"}
            continue
        legal += bool(plan.stages[0].inner)
    assert legal >= 3


def test_holes_of_the_reader_are_searched_around_steps_without() -> None:
    reader = READER.replace("( 16 )", "( ?{8,16} )")
    text = f"stage T in O:1 {{ 1: (de-)comp( 1 ) ( ^ ; ^ ) ( ^ ) }}\n{reader}"
    space = make_space(read(), parse_schedule(Source("s.mdh", text)), H100, "cuda")
    plans = [check(read(), space.schedule(space.unrank(n)), H100, "cuda") for n in range(space.count)]
    assert [p.stages[0].inner[0].computed for p in plans] == [72, 80]


def test_holes_of_both_are_refused() -> None:
    reader = READER.replace("( 16 )", "( ?{8,16} )")
    text = f"stage T in O:1 {{ 1: (de-)comp( ? ) ( ^ ; ^ ) ( ^ ) }}\n{reader}"
    with pytest.raises(Failed, match="both have holes"):
        make_space(read(), parse_schedule(Source("s.mdh", text)), H100, "cuda")


def test_a_hole_offers_the_steps_that_stage_it() -> None:
    reader = READER.replace("( 16 )", "( ?{8,16} )")
    given = parse_schedule(Source("s.mdh", f"stage T ?\n{reader}"))
    rest = default_for(read(), H100, "cuda", given=given)
    space = make_space(read(), given, H100, "cuda", default=rest)
    assert space.variables[0].values == ("kernel", "inline", "in O:1")
    found = []
    for n in range(space.count):
        point = space.unrank(n)
        assert space.rank(point) == n
        plan = space.plan(point)
        assert isinstance(plan, Plan)
        found.append((point[0], len(plan.stages), len(plan.stages[-1].inner)))
        assert planned(read(), plan.text).text == plan.text
    ways = [("kernel", 2, 0), ("inline", 1, 0), ("in O:1", 1, 1)]
    assert sorted(found) == sorted(2 * ways)


def test_a_named_hole_takes_a_step() -> None:
    given = parse_schedule(Source("s.mdh", f"stage T ?how{{kernel, in O:1}}\n{READER}"))
    assert parse_schedule(Source("again.mdh", print_schedule(given))) == given
    bound = bind(given, {"how": "in O:1"})
    default = default_for(read(), H100, "cuda", given=bound)
    plan = check(read(), bound, H100, "cuda", default=default)
    assert [x.stage.name for x in plan.stages[0].inner] == ["T"]
    with pytest.raises(Failed, match="does not take the value"):
        bind(given, {"how": "in O:2"})


def test_no_step_is_offered_where_none_stages_it() -> None:
    given = parse_schedule(Source("s.mdh", "stage T ?"))
    rest = default_for(read(), H100, "cuda", given=given)
    space = make_space(read(), given, H100, "cuda", default=rest)
    assert space.variables[0].values == ("kernel", "inline")


def test_a_tile_around_it_serves_what_it_reads() -> None:
    program = read("""void rows(const float A[8][32], float O[8][32]) {
      float T[8];
      for (int i = 0; i < 8; i++) { T[i] = 0; for (int j = 0; j < 32; j++) T[i] += A[i][j]; }
      for (int i = 0; i < 8; i++) for (int j = 0; j < 32; j++) O[i][j] = A[i][j] / T[i];
    }""")
    text = """stage T in O:1 { 1: (de-)comp( ^, 1 ) ( ^ ; ^ ) ( ^, THR.x ) }
    stage O {
      1: (de-)comp( 1, ^ ) ( A:SM[1,2], T:SM[1] ; ^ ) ( BLK.x, ^ )
      2: (de-)comp( ^, 1 ) ( ^, ^ ; ^ ) ( ^, THR.x )
    }"""
    plan = planned(program, text)
    assert dict(plan.stages[0].inner[0].plan.near) == {"A": "SM", "T": "SM"}
    source = emit(lower(plan), program).source
    assert source.count("A[") == 1, source


@pytest.mark.parametrize("tile, own", [(2, "^"), (18, "^"), (6, "A:RM[1]"), (2, "A:SM[1]"), (6, "A:SM[1]")])
def test_cuda_compiles(tile: int, own: str) -> None:
    """Also where a few of the threads fill the tile, and all meet."""
    assert cubin_of(emit(lower(blurred(tile, own)), read()), "sm_90")


def test_the_default_schedule_of_the_reader_stages_nothing() -> None:
    text = "stage T in O:1 { 1: (de-)comp( 2 ) ( ^ ; ^ ) ( THR.x ) }"
    with pytest.raises(Failed, match="K123"):
        planned(read(), text)


SHARES = """void shares(const float A[64][128], float O[64][128]) {
  float total[64];
  for (int i = 0; i < 64; i++) {
    total[i] = 0;
    for (int j = 0; j < 128; j++) total[i] += A[i][j];
  }
  for (int i = 0; i < 64; i++)
    for (int j = 0; j < 128; j++) O[i][j] = A[i][j] / total[i];
}"""
IN_REGISTERS = """stage total in O:1 @once { 1: (de-)comp( ^, 2 ) ( ^ ; ^ ) ( ^, THR.x ) }
stage O {
  1: (de-)comp( 1, ^ ) ( ^, total:RM[1] ; ^ ) ( BLK.x, ^ )
  2: (de-)comp( ^, 2 ) ( ^, ^ ; ^ ) ( ^, THR.x )
}"""


def test_each_thread_keeps_a_sum_that_all_share() -> None:
    program = read(SHARES)
    plan = planned(program, IN_REGISTERS)
    (inner,) = plan.stages[0].inner
    assert inner.computed == 64 * 128
    text = emit(lower(plan), program)
    assert "total_SM" not in text.source and text.source.count("__syncthreads") == 1
    assert cubin_of(text, "sm_90")
