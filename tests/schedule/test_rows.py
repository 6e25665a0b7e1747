"""Default schedules of stages that work on the same rows: which become one kernel, and how."""

import pytest

from mdh.checker.open_default import default_for
from mdh.checker.run import check
from mdh.frontend.c.read import read_program
from mdh.ir.open_size import OpenSize
from mdh.ir.plan import Plan
from mdh.ir.program import Program
from mdh.machine import load_machine
from mdh.pipeline import Pipeline
from mdh.schedule.default.rows_gpu import Deal, deal, lanes
from mdh.schedule.parser import parse_schedule
from mdh.schedule.printer import print_schedule
from mdh.source import Source
from mdh.tuner.candidates.open_tiles import open_values, opened
from mdh.tuner.space.make import make_space
from tests.support.corpus import WORKLOADS
from tests.support.source_tree import ROOT

ROW, LOOP = "for (int i = 0; i < M; i++)", "for (int j = 0; j < N; j++)"
EACH = f"  {ROW} {LOOP}"


def sums(name: str, value: str, finish: str = "", start: str = "0.0f") -> str:
    return f"  {ROW} {{ {name}[i] = {start}; {LOOP} {name}[i] += {value}; {finish} }}\n"


def program(body: str, params: str = "", own: str = "float a[M], b[M];", **sizes: int) -> Program:
    text = f"#include <math.h>\nvoid rows(const float X[M][N], float Y[M][N]{params}) {{\n{own}\n{body}}}\n"
    return read_program(Source("rows.c", text), defines={"M": 4096, "N": 1024, **sizes})


def planned(of: Program, machine: str = "h100", target: str = "cuda", *, deterministic: bool = False) -> Plan:
    on = load_machine(machine)
    default = default_for(of, on, target, deterministic=deterministic)
    return check(of, default, on, target, deterministic=deterministic, default=default)


MAXIMUM = f"  {ROW} {{ a[i] = -INFINITY; {LOOP} a[i] = fmaxf(a[i], X[i][j]); }}\n"
TOTAL = sums("b", "expf(X[i][j] - a[i])")
MEAN = sums("a", "X[i][j]", "a[i] = a[i] / N;")
VAR = sums("b", "(X[i][j] - a[i]) * (X[i][j] - a[i])", "b[i] = b[i] / N;")
CLASSES = {
    "softmax": MAXIMUM + TOTAL + f"{EACH} Y[i][j] = expf(X[i][j] - a[i]) / b[i];\n",
    "log softmax": MAXIMUM + TOTAL + f"{EACH} Y[i][j] = X[i][j] - a[i] - logf(b[i]);\n",
    "layer norm": MEAN + VAR + f"{EACH} Y[i][j] = (X[i][j] - a[i]) / sqrtf(b[i] + 1e-5f);\n",
    "RMS norm": sums("a", "X[i][j] * X[i][j]") + f"{EACH} Y[i][j] = X[i][j] / sqrtf(a[i] / N + 1e-5f);\n",
    "by maximum": MAXIMUM + f"{EACH} Y[i][j] = X[i][j] / a[i];\n",
    "stored": MAXIMUM
    + f"{EACH} E[i][j] = expf(X[i][j] - a[i]);\n"
    + sums("b", "E[i][j]")
    + f"{EACH} Y[i][j] = E[i][j] / b[i];\n",
}
SIZES = (
    (4096, 1024),
    (4096, 16384),
    (4096, 1000),
    (4096, 333),
    (65536, 64),
    (65536, 17),
    (100, 1024),
    (1, 4096),
)


@pytest.mark.parametrize(("m", "n"), SIZES)
@pytest.mark.parametrize("name", CLASSES)
def test_one_kernel_on_a_gpu(name: str, m: int, n: int) -> None:
    own = "float a[M], b[M], E[M][N];" if name == "stored" else "float a[M], b[M];"
    plan = planned(program(CLASSES[name], own=own, M=m, N=n))
    (stage,) = plan.stages
    assert stage.inner and stage.stage.name == "Y"
    assert stage.threads % 4 == 0 or n in (1000, 333)


@pytest.mark.parametrize("name", ["softmax", "layer norm", "RMS norm"])
def test_one_kernel_on_a_cpu(name: str) -> None:
    plan = planned(program(CLASSES[name]), "generic-cpu", "c")
    assert len(plan.stages) == 1 and plan.stages[0].inner
    # of few rows, cores share each
    assert len(planned(program(CLASSES[name], M=2, N=4096), "generic-cpu", "c").stages) > 1
    # rows that fill the cache come from memory each time
    assert len(planned(program(CLASSES[name], N=65536), "generic-cpu", "c").stages) > 1


@pytest.mark.parametrize(
    ("name", "variant", "columns"),
    [
        ("softmax", "in", 1024),
        ("softmax", "in_4096", 4096),
        ("softmax", "in_16384", 16384),
        ("layer_norm", "in_4096", 4096),
    ],
)
def test_the_schedule_is_the_shipped_one(name: str, variant: str, columns: int) -> None:
    path = ROOT / "schedules" / name / "h100" / f"{variant}.mdh"
    shipped = parse_schedule(Source(path.name, path.read_text(encoding="utf-8")))
    of = read_program(WORKLOADS[name].source, defines={"M": 4096, "N": columns})
    assert default_for(of, load_machine("h100"), "cuda").sections == shipped.sections


def test_nested_in_the_stage_that_reads_it() -> None:
    plan = planned(program(CLASSES["stored"], own="float a[M], b[M], E[M][N];"))
    (stage,) = plan.stages
    (e, b) = stage.inner
    assert (e.stage.name, b.stage.name) == ("E", "b")
    assert [x.stage.name for x in e.plan.inner] == ["a"]


def test_several_rows_of_a_block() -> None:
    (stage,) = planned(program(CLASSES["softmax"], M=65536, N=32)).stages
    assert stage.threads == 128
    assert "( 16, ^ ) ( X:SM[1,2]" in print_schedule(
        default_for(program(CLASSES["softmax"], M=65536, N=32), load_machine("h100"), "cuda")
    )


def test_rows_side_by_side() -> None:
    columns = """#include <math.h>
    void columns(const float X[N][M], float Y[N][M]) {
      float a[M];
      for (int i = 0; i < M; i++) { a[i] = 0.0f; for (int j = 0; j < N; j++) a[i] += X[j][i]; }
      for (int j = 0; j < N; j++) for (int i = 0; i < M; i++) Y[j][i] = X[j][i] / a[i];
    }"""
    of = read_program(Source("c.c", columns), defines={"M": 8192, "N": 256})
    (stage,) = planned(of).stages
    assert stage.inner and stage.threads == 1024
    assert len(planned(of, "generic-cpu", "c").stages) == 2


KEPT = {
    "few long rows": {"M": 4, "N": 49152},
    "rows that do not fit": {"N": 65536},
}


@pytest.mark.parametrize("sizes", KEPT.values(), ids=KEPT)
def test_kernels_where_they_are_better(sizes: dict[str, int]) -> None:
    assert len(planned(program(CLASSES["softmax"], **sizes)).stages) == 3


def test_what_the_user_gets_is_written() -> None:
    plan = planned(program(CLASSES["layer norm"], ", float a[M]", own="float b[M];"))
    assert "a" in {s.stage.name for s in plan.stages}
    assert [x.stage.name for s in plan.stages for x in s.inner] == ["b"]


def test_kernels_if_two_stages_need_a_result_at_the_end() -> None:
    more = f"  {ROW} Z[i] = a[i] + b[i];\n{EACH} U[i][j] = X[i][j] * b[i];\n"
    plan = planned(program(CLASSES["softmax"] + more, ", float Z[M], float U[M][N]"))
    assert not any(s.inner for s in plan.stages)


def test_strict_sums_keep_their_order() -> None:
    body = f"{MEAN}{EACH} Y[i][j] = X[i][j] - a[i];"
    text = f"void rows(const float X[M][N], float Y[M][N]) {{ float a[M];\n{body} }}"
    of = read_program(Source("s.c", text), defines={"M": 4096, "N": 1024}, strict_fp=True)
    assert len(planned(of).stages) == 2


def test_products_stay_apart() -> None:
    text = """void layers(const float X[128][64], const float W[64][64], const float V[64][32],
                            float Y[128][32]) {
      float T[128][64];
      for (int i = 0; i < 128; i++) for (int j = 0; j < 64; j++) {
        T[i][j] = 0.0f; for (int k = 0; k < 64; k++) T[i][j] += X[i][k] * W[k][j]; }
      for (int i = 0; i < 128; i++) for (int j = 0; j < 32; j++) {
        Y[i][j] = 0.0f; for (int k = 0; k < 64; k++) Y[i][j] += T[i][k] * V[k][j]; }
    }"""
    assert len(planned(read_program(Source("l.c", text))).stages) == 2


def test_a_stage_that_the_user_gives_has_its_kernel() -> None:
    of, on = program(CLASSES["softmax"]), load_machine("h100")
    given = parse_schedule(Source("s.mdh", "stage b kernel"))
    default = default_for(of, on, "cuda", given=given)
    plan = check(of, given, on, "cuda", default=default)
    assert [s.stage.name for s in plan.stages] == ["a", "b", "Y"]


def test_open_sizes_have_kernels() -> None:
    text = """void rows(int M, const float X[M][64], float Y[M][64]) { float a[M];
      for (int i = 0; i < M; i++) { a[i] = 0.0f; for (int j = 0; j < 64; j++) a[i] += X[i][j]; }
      for (int i = 0; i < M; i++) for (int j = 0; j < 64; j++) Y[i][j] = X[i][j] - a[i]; }"""
    of = Pipeline().read(Source("o.c", text), defines={"M": OpenSize("M", 1, 4096)})
    assert len(planned(of).stages) == 2


@pytest.mark.parametrize("machine", ["h100", "rtx4090", "v100", "oclgrind", "generic-cpu"])
def test_the_space_of_its_tiles(machine: str) -> None:
    """Holes of all stages at once, but of those whose box depends on the reader's."""
    of, on = program(CLASSES["softmax"], M=512, N=256), load_machine(machine)
    target = on.targets[0]
    default = default_for(of, on, target)
    template = opened(default, of, on)
    rest = default_for(of, on, target, given=template)
    space = make_space(of, template, on, target, default=rest)
    plan = space.plan(space.nearest(open_values(default, of, on)))
    assert isinstance(plan, Plan)
    assert plan.text == check(of, default, on, target).text


@pytest.mark.parametrize("extent", [1, 2, 3, 5, 17, 32, 33, 64, 100, 333, 512])
def test_lanes(extent: int) -> None:
    for wide in (1, 4) if extent % 4 == 0 else (1,):
        found = lanes(extent, 32, wide)
        assert found.threads & (found.threads - 1) == 0 and found.threads <= 32
        assert (found.threads - 1) * found.tile < extent <= found.threads * found.tile
    assert lanes(64, 32, 4) == Deal(16, 4, 4)
    assert deal(1000, 128, 4) == Deal(125, 8, 4)
