"""Loops around stages: their order, programs on devices, the folder, and what they refuse to be."""

import json
import shutil
import subprocess
import sys
import time
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from mdh.device.api import open_device
from mdh.device.protocols import Device
from mdh.diagnostics import Failed
from mdh.frontend import blocking, packing
from mdh.frontend.c.read import read_program
from mdh.ir.affine import Affine
from mdh.ir.kernel import Launch
from mdh.ir.program import Program
from mdh.ir.turns import Turns, around, run_order, times
from mdh.lower.run import lower
from mdh.machine import load_machine
from mdh.reference import evaluate
from mdh.reference.interpreter import interpret_bounded
from mdh.reference.numbers import numpy_dtype
from mdh.schedule.model import Schedule
from mdh.schedule.parser import parse_schedule
from mdh.source import Source
from mdh.target.emit import emit
from mdh.target.folder import folder
from mdh.target.host import in_loops
from mdh.target.nvrtc import compile_cubin
from mdh.target.text import EntryPoint, KernelText
from mdh.tuner.measure.wire import read_text, text_json
from tests.soundness.verdict import EQUAL, compared
from tests.support.native import compiler
from tests.support.pairs import planned

PROGRAMS = {
    "time steps": """void f(float A[19][19], float B[19][19], const float w[4]) {
      for (int t = 0; t < 4; t++) {
        for (int i = 1; i < 18; i++)
          for (int j = 1; j < 18; j++)
            B[i][j] = w[t] * (A[i][j] + A[i - 1][j] + A[i + 1][j] + A[i][j - 1] + A[i][j + 1]);
        for (int i = 1; i < 18; i++)
          for (int j = 1; j < 18; j++) A[i][j] = B[i][j] - t;
      } }""",
    "layers": """#include <math.h>
      void f(float x[24], const float W[3][24][24], const float b[3][24]) {
      float y[24];
      for (int l = 0; l < 3; l++) {
        for (int i = 0; i < 24; i++) {
          y[i] = b[l][i];
          for (int j = 0; j < 24; j++) y[i] += W[l][i][j] * x[j];
        }
        for (int i = 0; i < 24; i++) x[i] = fmaxf(y[i], 0);
      } }""",
    "sums in turns": """void f(int x[50], int s[1]) {
      for (int t = 2; t < 7; t += 2) {
        s[0] = t;
        for (int i = 0; i < 50; i++) s[0] += x[i];
        for (int i = 0; i < 50; i++) x[i] = x[i] - s[0] % 5;
      } }""",
    "elimination": """void f(float A[21][21]) {
      for (int k = 0; k < 21; k++)
        for (int i = k + 1; i < 21; i++)
          for (int j = k + 1; j < 21; j++) A[i][j] -= A[i][k] * A[k][j] * 0.01f; }""",
    "locals": """void f(float x[20], const float w[3][20], int at[1]) {
      for (int t = 0; t < 3; t++) {
        float m = -1000;
        int p = 0;
        for (int i = 0; i < 20; i++) if (x[i] > m) { m = x[i]; p = i; }
        for (int i = 0; i < 20; i++) x[i] = x[i] * 0.5f - m * w[t][i];
        at[0] = p;
      } }""",
    "two loops": """void f(float x[16], float y[16]) {
      for (int i = 0; i < 16; i++) y[i] = 1;
      for (int s = 0; s < 2; s++) {
        for (int t = 0; t < 3; t++) {
          for (int i = 0; i < 16; i++) x[i] = 0.5f * y[15 - i] + t;
          for (int i = 0; i < 15; i++) y[i] = y[i + 1] + x[i];
        }
        for (int i = 0; i < 16; i++) x[i] += y[i] * s;
      }
      for (int i = 0; i < 16; i++) y[i] += x[i]; }""",
    "rows": """void f(float x[9][33]) {
      for (int k = 1; k < 9; k++)
        for (int i = 0; i < 33; i++) x[k][i] = x[k - 1][32 - i] - 0.5f * x[k][i]; }""",
    "state": """void f(double y[21], const double r[21]) {
      double a = r[0];
      for (int k = 1; k < 21; k++) {
        double s = 0;
        for (int i = 0; i < k; i++) s += r[k - i] * y[i];
        a = r[k] - 0.25 * a - 0.125 * s;
        for (int i = 0; i < k; i++) y[i] = y[i] + 0.125 * a;
        y[k] = a;
      } }""",
    "a row that conditions fill in part": """void f(const float x[9][9], float y[9][9], float t[9]) {
      for (int i = 0; i < 9; i++) {
        for (int j = 0; j < 9; j++) { int c = j > 0 && x[i][j] > 0; if (c != 0) t[j] = x[i][j]; }
        for (int j = 1; j < 9; j++) y[i][j] = t[j];
      } }""",
    "recurrences along rows": """void f(float y[18][21], const float x[18][21]) {
      for (int i = 0; i < 18; i++) {
        float p = 0, q = 0;
        for (int j = 20; j >= 0; j--) {
          y[i][j] = x[i][j] - 0.5f * p + 0.25f * q;
          q = p;
          p = y[i][j];
        }
      } }""",
    "back substitution": """void f(const double A[57][57], double x[57], const double y[57]) {
      for (int i = 56; i >= 0; i--) {
        double w = y[i];
        for (int j = i + 1; j < 57; j++) w -= 0.0625 * A[i][j] * x[j];
        x[i] = w - 0.5 * x[i];
      } }""",
    "factors": """void f(float A[19][19]) {
      for (int i = 0; i < 19; i++) {
        for (int j = 0; j < i; j++) {
          for (int k = 0; k < j; k++) A[i][j] -= 0.01f * A[i][k] * A[k][j];
          A[i][j] /= A[j][j] > 0 ? 2 : 4;
        }
        for (int j = i; j < 19; j++)
          for (int k = 0; k < i; k++) A[i][j] -= 0.01f * A[i][k] * A[k][j];
      } }""",
    "all pairs": """void f(int p[11][11]) {
      for (int k = 0; k < 11; k++)
        for (int i = 0; i < 11; i++)
          for (int j = 0; j < 11; j++)
            p[i][j] = p[i][j] < p[i][k] + p[k][j] ? p[i][j] : p[i][k] + p[k][j]; }""",
    "best splits": """void f(const int s[12], int t[12][12]) {
      for (int i = 11; i >= 0; i--)
        for (int j = i + 1; j < 12; j++) {
          if (t[i][j - 1] > t[i][j]) t[i][j] = t[i][j - 1];
          if (t[i + 1][j] > t[i][j]) t[i][j] = t[i + 1][j];
          for (int k = i + 1; k < j; k++)
            if (t[i][k] + t[k + 1][j] > t[i][j]) t[i][j] = t[i][k] + t[k + 1][j];
        } }""",
}
LOOPS = dict.fromkeys(PROGRAMS, 1) | {"two loops": 2, "best splits": 2}
TICKETS = """stage s {
  1: (de-)comp( 25 ) ( ^ ; ^@combine(ticket) ) ( BLK.x )
  2: (de-)comp( 5 ) ( ^ ; s:RM[1]@combine(shared) ) ( THR.x )
}"""


@cache
def _device(spec: str) -> Device:
    return open_device(spec)


def _program(name: str) -> Program:
    return read_program(Source("f.c", PROGRAMS[name]))


def _text(program: Program, device: Device, schedule: Schedule | None = None) -> KernelText:
    return emit(lower(planned(program, schedule, device.machine, device.target)), program)


def _runs_right(program: Program, device: Device, text: KernelText) -> None:
    rng = np.random.default_rng(4)
    arrays = {
        b.name: rng.integers(-3, 4, b.shape).astype(numpy_dtype(b.dtype))
        for b in program.buffers
        if not b.temp
    }
    assert program.syntax is not None
    judge = interpret_bounded(program.syntax, arrays, {})
    for _ in range(2):
        found = {n: a.copy() for n, a in arrays.items()}
        device.build(text).call(found, {}).launch()
        assert compared(program, found, judge, device.spec) == EQUAL


def test_the_order_of_items_in_loops() -> None:
    loops = (Turns("s", "s", 2, 1, 3), Turns("t", "t", 3, 1, 2))
    found = [(k, tuple(at.values())) for k, at in run_order(loops, 5)]
    inner = [(k, (t,)) for t in range(3) for k in (1, 2)]
    turns = [x for s in range(2) for x in [*((k, (s, *at)) for k, at in inner), (3, (s,))]]
    assert found == [(0, ()), *turns, (4, ())]
    assert [times(loops, k) for k in range(5)] == [1, 6, 6, 2, 1]
    assert [(x.first, x.last) for x in around(loops, [1, 2, 1, 3, 1])] == [(1, 6), (1, 3)]


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("spec", ["c", "opencl:0", "oclgrind"])
def test_programs_on_devices(name: str, spec: str) -> None:
    if spec == "c" and compiler() is None:
        pytest.skip("no C compiler here")
    if spec == "opencl:0" and name not in ("time steps", "two loops", "rows", "factors"):
        pytest.skip("its kernels are those of oclgrind")
    program = _program(name)
    assert len(program.loops) == LOOPS[name]
    device = _device(spec)
    text = _text(program, device)
    assert read_text(json.loads(json.dumps(text_json(text)))) == text
    _runs_right(program, device, text)


def test_workspaces_begin_anew_in_each_turn() -> None:
    """The counter of the blocks that have ended must be 0 in front of each sum."""
    program, device = _program("sums in turns"), _device("oclgrind")
    schedule = parse_schedule(Source("s.mdh", TICKETS))
    text = emit(lower(planned(program, schedule, load_machine("h100"), "cuda")), program)
    assert [x.clear for x in text.launches if x.at] == [True, True] * 3
    files = folder(text, program, "", arch="sm_90")
    assert files["f_launch.cu"].count("cudaMemsetAsync") == 3
    _runs_right(program, device, _text(program, device))


@pytest.mark.parametrize("name", PROGRAMS)
def test_texts_for_cuda(name: str) -> None:
    program, machine = _program(name), load_machine("h100")
    text = emit(lower(planned(program, None, machine, "cuda")), program)
    assert compile_cubin(text, "sm_90")


@pytest.mark.skipif(shutil.which("cc") is None or shutil.which("make") is None, reason="no C compiler here")
def test_the_folder_knows_how_far_rounding_reaches(tmp_path: Path) -> None:
    """Sums that build over turns, of which some are small and all terms are large: each order of additions
    gives other last places. A wrong factor is found nevertheless."""
    source = tmp_path / "sums.c"
    source.write_text("""void f(const float A[100][100], float x[100], float y[100]) {
  for (int t = 0; t < 40; t++) {
    for (int i = 0; i < 100; i++) {
      y[i] = 0;
      for (int j = 0; j < 100; j++) y[i] += A[i][j] * x[j];
    }
    for (int i = 0; i < 100; i++) x[i] = x[i] - 0.375f * y[i] / 64;
  }
}
""")
    out = tmp_path / "out"
    command = [sys.executable, "-m", "mdh", "compile", str(source), "--device", "c", "-o", str(out)]
    subprocess.run(command, check=True, capture_output=True)
    main = (out / "main.c").read_text()
    # a bound that nearly every rounding passes
    (out / "main.c").write_text(main.replace("4e-3, 3e-2, 2e-5,", "4e-3, 3e-2, 2e-9,"))
    subprocess.run(["make", "-s"], cwd=out, check=True, capture_output=True)
    done = subprocess.run(["./f", "--repeat", "0"], cwd=out, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "move by their last place" in done.stderr
    kernels = (out / "f_kernels.c").read_text()
    assert "0.375f" in kernels
    (out / "f_kernels.c").write_text(kernels.replace("0.375f", "0.37501f"))
    subprocess.run(["make", "-s"], cwd=out, check=True, capture_output=True)
    done = subprocess.run(["./f", "--repeat", "0"], cwd=out, capture_output=True, text=True, check=False)
    assert done.returncode == 4 and "WRONG" in done.stdout


def test_one_turn_has_the_stages_of_many() -> None:
    text = """void f(int T, float x[9], float y[9]) {
  for (int t = 0; t < T; t++) {
    for (int i = 1; i < 8; i++) y[i] = x[i - 1] + x[i + 1];
    for (int i = 1; i < 8; i++) x[i] = y[i] / 2;
  }
}"""
    one, many = (read_program(Source("f.c", text), defines={"T": n}) for n in (1, 20))
    assert [x.trips for x in one.loops] == [1]
    assert [(s.name, s.dims) for s in one.stages] == [(s.name, s.dims) for s in many.stages]


@pytest.mark.skipif(shutil.which("cc") is None or shutil.which("make") is None, reason="no C compiler here")
def test_the_folder_has_the_loops(tmp_path: Path) -> None:
    source = tmp_path / "two.c"
    source.write_text(PROGRAMS["two loops"])
    command = ["python", "-m", "mdh", "compile", str(source), "--device", "c", "-o", str(tmp_path / "out")]
    subprocess.run([sys.executable, *command[1:]], check=True, capture_output=True)
    kernels = (tmp_path / "out" / "f_kernels.c").read_text()
    assert "for (int s = 0; s < 2; ++s) {" in kernels and "for (int t = 0; t < 3; ++t) {" in kernels
    assert "f_turns(" in (tmp_path / "out" / "f_launch.c").read_text()
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert [x["turns"] for x in manifest["loops"]] == [2, 3]
    subprocess.run(["make", "-s"], cwd=tmp_path / "out", check=True, capture_output=True)
    done = subprocess.run(["./f"], cwd=tmp_path / "out", capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "ok" in done.stdout


@pytest.mark.parametrize(
    "text",
    [
        # a recurrence has no loops left inside
        "void f(float x[99]) { for (int i = 1; i < 99; i++) x[i] = x[i] / x[i - 1]; }",
        # a sweep has none, whichever loop is held, and reads rows that are too far for wavefronts
        "void f(float x[99][99]) { for (int i = 1; i < 99; i++) for (int j = 1; j < 99; j++)"
        " x[i][j] = x[i][j - 1] - x[i - 1][99 - j]; }",
        # data and the counter choose what is written
        "void f(float x[9][9], float y[9], const int p[9]) { for (int k = 0; k < 9; k++) {"
        " for (int i = 0; i < 9; i++) y[i] = y[i] / x[0][8 - i]; x[p[k]][k] += y[0]; } }",
        # a local has kept what the first turn overwrites
        "void f(float x[9]) { float c = x[0]; for (int t = 0; t < 3; t++)"
        " for (int i = 0; i < 9; i++) x[i] = x[i] * c - x[8 - i]; }",
    ],
)
def test_what_is_no_loop_around_stages(text: str) -> None:
    with pytest.raises(Failed) as failed:
        read_program(Source("f.c", text))
    assert failed.value.diagnostics[0].code == "C150"


@pytest.mark.parametrize(
    "line", ["y[i] = x[i - 1] + {k};", "x[i] = x[i + 1] * x[i + 2] + {k};"], ids=["one nest", "many reads"]
)
def test_large_nests_are_answered_soon(line: str) -> None:
    lines = "".join(line.format(k=k) + "\n" for k in range(380))
    text = (
        f"void f(float x[99], float y[99]) {{ for (int i = 1; i < 90; i++) {{\n{lines} x[i] /= x[i - 1];}}}}"
    )
    start = time.process_time()
    with pytest.raises(Failed):
        read_program(Source("f.c", text))
    assert time.process_time() - start < 10


FACTORS = """void f(double A[14][14], double w[14]) {
  for (int i = 0; i < 14; i++) {
    for (int j = 0; j < i; j++) {
      for (int k = 0; k < j; k++) A[i][j] -= 0.125 * A[i][k] * A[j][k];
      A[i][j] = A[i][j] - 0.25 * A[j][j];
    }
    for (int k = 0; k < i; k++) A[i][i] -= 0.125 * A[i][k] * A[i][k];
    w[i] = A[i][i];
  } }"""


@pytest.mark.parametrize("size", [2, 3, 5])
@pytest.mark.parametrize("name", ["cholesky", "factors", "elimination"])
def test_turns_in_blocks(name: str, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of turns that do not divide the turns, with sums behind them and copies of what they read."""
    monkeypatch.setattr(blocking, "BLOCK", size)
    monkeypatch.setattr(blocking, "LEAST", 2)
    monkeypatch.setattr(packing, "SMALLER", 1)
    program = read_program(Source("f.c", FACTORS if name == "cholesky" else PROGRAMS[name]))
    outer, inner = program.loops
    assert (inner.trips, len(inner.where)) == (size, 1) and outer.first == 0
    assert any(b.name.startswith("A_part") for b in program.buffers)
    _means_what_c_says(program)


def test_few_turns_are_in_no_blocks() -> None:
    assert [x.var for x in read_program(Source("f.c", FACTORS)).loops] == ["k_3"]


def _means_what_c_says(program: Program) -> None:
    rng = np.random.default_rng(2)
    arrays = {b.name: rng.uniform(1, 2, b.shape).astype(numpy_dtype(b.dtype)) for b in program.buffers
              if not b.temp}  # fmt: skip
    assert program.syntax is not None
    judge = interpret_bounded(program.syntax, arrays, {})
    assert compared(program, evaluate(program, arrays, {}), judge, "the Program") == EQUAL


def test_turns_that_are_left_out() -> None:
    inner = Turns("j", "j", 4, 0, 0, where=(Affine.of({"i": 1, "j": -1}, -1),))
    loops = (Turns("i", "i", 4, 0, 0), inner)
    assert [(at["i"], at["j"]) for _, at in run_order(loops, 1)] == [
        (i, j) for i in range(4) for j in range(i)
    ]
    assert times(loops, 0) == 6
    bounds = (Affine.of({"i": 1, "j": 1}, -3), Affine.of({"j": -1}, 2), Affine.of({"j": 2, "i": -1}, 1))
    text = KernelText(
        "f", "c", "m", "", (_entry("a"),), (), (), (), loops=(loops[0], replace(inner, where=bounds))
    )
    lines = in_loops(text, {"i": "i", "j": "j"}, lambda k: ["    a();"], [])
    assert lines[1].strip() == "for (int j = -i + 3 > 0 ? -i + 3 : 0; j < 4 && j <= 2; ++j) {"
    assert "if (2 * j - i + 1 < 0)" in lines[2]


def _entry(name: str) -> EntryPoint:
    return EntryPoint(name, "s", Launch((1, 1, 1), (1, 1, 1)), ())


@pytest.mark.skipif(compiler() is None, reason="no C compiler here")
def test_sums_whose_ends_turns_move_on_vectors() -> None:
    """GCC 12 gave masked reads in front of the ends of sums wrong masks."""
    text = PROGRAMS["back substitution"].replace("57", "100").replace("56", "99")
    program, device = read_program(Source("f.c", text)), _device("c")
    _runs_right(program, device, _text(program, device))
