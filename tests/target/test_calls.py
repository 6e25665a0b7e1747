"""Texts in C that call OpenBLAS: beside kernels, in loops, with numbers that are 0, and in folders."""

import json
import subprocess
from pathlib import Path

import numpy as np
import pytest

import mdh
from mdh.cli.main import run as run_cli
from mdh.device.openblas import find_openblas
from mdh.ir.library_call import LibraryCall
from mdh.source import Source
from mdh.target.names import is_free, is_free_function

NEST = "for (int i = 0; i < 8; i++) for (int j = 0; j < 6; j++)"
GEMM = f"""void gemm(const float A[8][7], const float B[7][6], float C[8][6], float alpha, float beta) {{
  {NEST} {{
    float s = 0;
    for (int k = 0; k < 7; k++) s += A[i][k] * B[k][j];
    C[i][j] = alpha * s + beta * C[i][j];
  }}
}}
"""
STEPS = f"""void steps(float X[8][6], const float M[4][6][6], float C[4][8][6]) {{
  for (int t = 0; t < 4; t++) {{
    {NEST} {{ C[t][i][j] = 0; for (int k = 0; k < 6; k++) C[t][i][j] += X[i][k] * M[t][k][j]; }}
    {NEST} X[i][j] = C[t][i][j] * 0.5f;
  }}
}}
"""


def compiled(text: str, schedule: str, **options: object) -> mdh.Kernel:
    return mdh.compile(Source("f.c", text), Source("f.mdh", schedule), "c", **options)  # type: ignore[arg-type]


def random(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).random(shape, np.float32)


@pytest.mark.parametrize(("alpha", "beta"), [(2.0, 3.0), (0.0, 1.0), (0.0, 0.0), (1.0, 0.0), (-1.0, 1.0)])
def test_numbers_that_a_call_gives(alpha: float, beta: float) -> None:
    """BLAS reads no factors if alpha is 0, and no result if beta is 0; C does, and keeps NaN."""
    kernel = compiled(GEMM, "stage C = library(openblas)")
    a, b, c = random(8, 7), random(7, 6), random(8, 6)
    a[2, 3] = np.nan
    c[5, 4] = np.nan
    wanted = np.float32(alpha) * (a @ b) + np.float32(beta) * c
    kernel(a, b, c, alpha, beta)
    assert np.allclose(c, wanted, rtol=1e-5, equal_nan=True)
    assert np.isnan(c[2]).all() and np.isnan(c[5, 4])


def test_a_call_in_a_loop_around_stages_moves_with_the_turns() -> None:
    kernel = compiled(STEPS, "stage C_2 = library(openblas)")
    x, m, c = random(8, 6), random(4, 6, 6), np.zeros((4, 8, 6), np.float32)
    held, wanted = x.copy(), []
    for t in range(4):
        wanted.append(held @ m[t])
        held = wanted[-1] * np.float32(0.5)
    kernel(x, m, c)
    assert np.allclose(c, np.array(wanted), rtol=1e-5)
    assert np.allclose(x, held, rtol=1e-5)
    assert "by openblas: cblas_sgemm" in kernel.explain(x, m, c)


def test_plans_say_who_computes() -> None:
    schedule, machine = Source("f.mdh", "stage C = library(openblas)"), "generic-cpu"
    plan = mdh.check(Source("f.c", GEMM), schedule, machine, target="c")
    call = plan.stages[0].call
    assert isinstance(call, LibraryCall)
    assert (call.library, call.call.m, call.call.n, call.call.k) == ("openblas", 8, 6, 7)
    assert plan.text.splitlines()[-1] == "stage C = library(openblas)"
    # what a plan says is a schedule again
    assert mdh.check(Source("f.c", GEMM), Source("g.mdh", plan.text), machine, target="c").text == plan.text


LARGE = GEMM.replace("8", "80").replace("7", "90").replace("6", "100")


@pytest.mark.parametrize(("text", "chosen"), [(LARGE, True), (GEMM, False)])
def test_defaults_call_libraries_only_if_they_may(text: str, *, chosen: bool) -> None:
    plain = mdh.check(Source("f.c", text), machine="generic-cpu", target="c")
    assert plain.stages[0].call is None
    plan = mdh.check(Source("f.c", text), machine="generic-cpu", target="c", libraries=True)
    assert (plan.stages[0].call is not None) == chosen
    gpu = mdh.check(Source("f.c", text), machine="a100", libraries=True)
    assert gpu.stages[0].call is None


def test_explain_says_by_library(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "f.c").write_text(STEPS)
    (tmp_path / "f.mdh").write_text("stage C_2 = library(openblas)\n")
    words = ["explain", str(tmp_path / "f.c"), "-s", str(tmp_path / "f.mdh"), "-m", "generic-cpu"]
    assert run_cli([*words, "--target", "c"]) == 0
    said = capfd.readouterr().out
    assert "by openblas: cblas_sgemm, 8×6 = 8×6 · 6×6" in said
    assert run_cli([*words, "--target", "c", "--json"]) == 0
    assert run_cli([*words, "--target", "c", "--html", str(tmp_path / "f.html")]) == 0
    assert "by openblas" in (tmp_path / "f.html").read_text()


def test_a_folder_links_the_library(tmp_path: Path) -> None:
    (tmp_path / "f.c").write_text(STEPS)
    (tmp_path / "f.mdh").write_text("stage C_2 = library(openblas)\n")
    out = tmp_path / "out"
    words = ["compile", str(tmp_path / "f.c"), "-s", str(tmp_path / "f.mdh"), "-m", "generic-cpu"]
    assert run_cli([*words, "--target", "c", "-o", str(out)]) == 0
    assert json.loads((out / "manifest.json").read_text())["libraries"] == ["openblas"]
    assert "LIBRARIES ?= -lopenblas\n" in (out / "Makefile").read_text()
    found = find_openblas()
    flags = [f"LIBRARIES={' '.join(found.link)}", f"CPPFLAGS={' '.join(found.options)}"]
    subprocess.run(["make", "-C", str(out), *flags], check=True, capture_output=True)
    done = subprocess.run([str(out / "steps")], check=True, capture_output=True, text=True)
    assert "FAILED" not in done.stdout


SCALED = f"""void scaled(const float A[8][7], const float B[7][6], float C[8][6], float D[8][6]) {{
  float T[8][7];
  for (int i = 0; i < 8; i++) for (int k = 0; k < 7; k++) T[i][k] = 2 * A[i][k];
  {NEST} {{ C[i][j] = 0; for (int k = 0; k < 7; k++) C[i][j] += T[i][k] * B[k][j]; }}
  {NEST} D[i][j] = C[i][j] > 1 ? C[i][j] : 1 + C[i][j];
}}
"""


@pytest.mark.parametrize(
    "schedule", ["stage C = library(openblas)", "stage C = ?way{steps, library(openblas)}"]
)
def test_stages_around_a_call_have_kernels(schedule: str) -> None:
    """What it reads is in memory, and what the C makes of its result is computed behind it."""
    holes = {"way": "library(openblas)"} if "?" in schedule else {}
    kernel = compiled(SCALED, schedule, holes=holes)
    a, b, c, d = random(8, 7), random(7, 6), np.zeros((8, 6), np.float32), np.zeros((8, 6), np.float32)
    kernel(a, b, c, d)
    wanted = 2 * a @ b
    assert np.allclose(c, wanted, rtol=1e-5)
    assert np.allclose(d, np.where(wanted > 1, wanted, 1 + wanted), rtol=1e-5)


def test_names_of_cblas_are_kept_free() -> None:
    assert not is_free("cblas_sgemm", "c")
    assert not is_free("BLAS_INT", "c")
    assert not is_free_function("cblas_dgemv")
