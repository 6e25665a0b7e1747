"""scripts/bench gpu --set tc, --set diesel: the texts are the programs of C, and peers compute the same."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest

from bench.cases import ROOT, arrays_of, program_of, written
from bench.gpu import kernels, papers
from bench.gpu.cases import Case, cases
from bench.gpu.language_cases import SETS, diesel_cases, diesel_sizes, tc_cases
from bench.gpu.outcome import DEFAULT, Outcome, Result, Settings
from mdh.compare.calling import finish_of
from mdh.frontend.read import bound_text, read_bound
from mdh.ir.program import Program
from mdh.machine import load_machine
from mdh.pipeline import Pipeline
from mdh.reference import evaluate
from mdh.source import Source

H200 = load_machine("h200")
TC = {case.name: case for case in tc_cases()}
TWINS = {
    "TC tbmm 500,72,26,26": "tbmm 500,72,26,26", "TC 1LUT 10^7x64": "1LUT 10^7x64",
    **{name: name.removeprefix("TC ") for name in TC if "gconv" in name},
}  # fmt: skip
"""Cases of a text, and those of its twin in C at the same sizes."""
C_TEXTS = {
    "tmm": """void tmm(const float A[M][K], const float B[N][K], float C[M][N]) {
  for (int m = 0; m < M; m++)
    for (int n = 0; n < N; n++) {
      C[m][n] = 0.0f;
      for (int kk = 0; kk < K; kk++) C[m][n] += A[m][kk] * B[n][kk];
    }
}""",
    "MLP1": """#include <math.h>
void MLP1(const float I[B][M], const float W1[O][M], const float B1[O], float O1[B][O]) {
  for (int b = 0; b < B; b++)
    for (int n = 0; n < O; n++) {
      O1[b][n] = B1[n];
      for (int m = 0; m < M; m++) O1[b][n] += I[b][m] * W1[n][m];
      O1[b][n] = fmaxf(O1[b][n], 0.0f);
    }
}""",
    "2LUT": """void _2LUT(const float LUT1[E1][D], const int I1[B][L1],
           const float LUT2[E2][D], const int I2[B][L2], float O1[B][D], float O2[B][D]) {
  for (int i = 0; i < B; i++)
    for (int j = 0; j < D; j++) {
      O1[i][j] = 0.0f;
      for (int k = 0; k < L1; k++) O1[i][j] += LUT1[I1[i][k]][j];
    }
  for (int i = 0; i < B; i++)
    for (int j = 0; j < D; j++) {
      O2[i][j] = 0.0f;
      for (int k = 0; k < L2; k++) O2[i][j] += LUT2[I2[i][k]][j];
    }
}""",
    "matmul_bias_relu": """#include <math.h>
void matmul_bias_relu(const float A[M][K], const float B[K][N], const float bias[1][N], float C[M][N]) {
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      C[i][j] = 0.0f;
      for (int k = 0; k < K; k++) C[i][j] += A[i][k] * B[k][j];
      C[i][j] = fmaxf(C[i][j] + bias[0][j], 0.0f);
    }
}""",
}
"""Programs of texts that no file of inputs_c is, by hand, with the names of the texts."""


def kernel_text(program: Program) -> str:
    arrows = Pipeline()
    plan = arrows.check(program, None, H200, "cuda").plan
    return arrows.emit(arrows.lower(plan), program).source


def in_c(case: Case) -> Program:
    """The program of a text by hand, at the sizes of a case."""
    source = Source(f"{case.program}.c", C_TEXTS[case.program])
    return read_bound(bound_text(source, dict(case.sizes)))


@pytest.mark.parametrize("name", TC)
def test_tc_makes_the_kernels_of_its_twin_in_c(name: str) -> None:
    """By every schedule that ships for the twin, and by the derived one."""
    case = TC[name]
    if name not in TWINS:
        assert kernel_text(program_of(case)) == kernel_text(in_c(case))
        return
    twin = next(c for c in cases() if c.name == TWINS[name])
    assert case.flops == twin.flops and {*case.schedules} <= {*twin.schedules} | {"grouped_conv/h200/c8"}
    mine, its = (kernels.lowered(c, H200).texts for c in (case, twin))
    for schedule in mine.keys() & its.keys():
        assert mine[schedule].source == its[schedule].source, schedule
    assert DEFAULT in mine and DEFAULT in its


@pytest.mark.parametrize("number", [0, 17, 41, 99])
def test_diesel_makes_the_kernels_of_its_twin_in_c(number: int) -> None:
    for case in diesel_cases()[number::100]:
        path = ROOT / "inputs_c" / f"{case.program}.c"
        if case.program in C_TEXTS:
            twin = in_c(case)
        else:
            source = Source(str(path), path.read_text(encoding="utf-8"))
            twin = read_bound(bound_text(source, dict(case.sizes)))
        assert kernel_text(program_of(case)) == kernel_text(twin)


def test_schedules_of_the_bench_fit() -> None:
    for case in TC.values():
        refused = kernels.lowered(case, H200).refused
        assert all(why.startswith("K104 ") for why in refused.values()), refused
        assert len(refused) < len(case.schedules)


def test_sizes_are_rounded_as_in_the_paper() -> None:
    assert len(diesel_sizes()) == 100
    for size in (n for sizes in diesel_sizes() for n in sizes):
        assert 32 <= size <= 16384 and size % (32 if size < 128 else 128) == 0
    assert len({c.name for c in diesel_cases()}) == 300
    assert set(SETS) == {"fixed", "einsum", "tc", "diesel"}


SMALL = {
    "tmm": {"M": 5, "N": 7, "K": 6}, "MLP1": {"B": 5, "M": 6, "O": 7},
    "2LUT": {"E1": 9, "E2": 8, "B": 4, "L1": 3, "L2": 2, "D": 5},
    "batched_matmul_t": {"BATCH": 3, "M": 4, "N": 5, "K": 6}, "matmul_bias_relu": {"M": 5, "N": 7, "K": 6},
    "gather_sum": {"BAGS": 4, "LENGTH": 3, "ROWS": 9, "D": 5},
}  # fmt: skip


@pytest.mark.parametrize("program", SMALL)
def test_torch_computes_the_text(program: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """On the CPU, which has the same calls."""
    torch = pytest.importorskip("torch")
    monkeypatch.setitem(sys.modules, "cupy", SimpleNamespace())
    from bench.gpu import by_compile, by_torch  # noqa: PLC0415

    language = "diesel" if program == "matmul_bias_relu" else "tc"
    case = Case("small", program, SMALL[program], 1.0, language=language)
    read = program_of(case)
    rng, outputs = np.random.default_rng(1), sorted(written(read))
    arrays = {}
    for name in arrays_of(read):
        shape, whole = read.buffer_of[name].shape, read.buffer_of[name].dtype.name == "i32"
        arrays[name] = rng.integers(0, 8, shape).astype(np.int32 if whole else np.float32)
    expected = evaluate(read, {n: a.copy() for n, a in arrays.items()}, read.sizes)
    tensors = {n: torch.from_numpy(a) for n, a in arrays.items()}
    makers = [by_torch._CALLS[program]]
    makers += [m for n in (f"{program}.{language}", program) if (m := by_torch._OTHERS.get(n)) is not None]
    for make in makers:
        for name in outputs:
            tensors[name].fill_(-1)
        call = make(tensors)
        call()
        finish_of(call)()
        assert all(np.allclose(tensors[n].numpy(), expected[n]) for n in outputs)
    function, inputs, results = by_compile._FORMS[program]
    found = function(*(tensors[n] for n in inputs))
    for name, value in zip(results, found if isinstance(found, tuple) else (found,), strict=True):
        assert np.allclose(value.numpy(), expected[name])


def _result(case: Case, warm: dict[str, float], cold: dict[str, float]) -> Result:
    """Ours takes 10 µs; the others as many times that."""
    out = Outcome({"ours": "right"})
    out.warm = {n: [(1e-5, 1e-5 * ratio)] * 3 for n, ratio in warm.items()}
    out.cold = {n: [(2e-5, 2e-5 * ratio)] * 3 for n, ratio in cold.items()}
    return Result(case, {}, {}, [out])


SETTINGS = Settings(rounds=3, budget=1.0, turn=1e-3, tuning=1.0)


def test_page_of_tensor_comprehensions() -> None:
    assert set(papers.TC_PAPER) >= set(TC)
    shipped = _result(TC["TC tmm 128,1024,1024"], {"torch": 1.5, "compiled": 1.25}, {"torch": 2.0})
    shipped.outcomes[0].chosen = "mdh/reproduce/schedules/tmm/atomic.mdh"
    lost = Result(TC["TC MLP1 128,2000,128"], {}, {}, [Outcome({"case": "failed: did not end"})])
    text = papers.tc_page([shipped, lost], {"torch": "2"}, "scripts/bench gpu", SETTINGS, {})
    row = "| tmm 128,1024,1024 | 108 | 110 | 0.98 | 10 | **1.25** | 1.50 (15 µs) | – | 1.25 (12.5 µs) | – |"
    assert f"{row} tmm/atomic.mdh |" in text
    assert "| MLP1 128,2000,128 | 133 | 80 | 1.66 | – | case: failed: did not end |" in text
    assert "Best peer over ours, cold: geometric mean 2.00 over 1 kernels, least 2.00." in text


def test_page_of_diesel() -> None:
    every = {c.name.split()[1]: c for c in diesel_cases()}
    first, second = (c for c in diesel_cases() if c.name.split()[2] in ("00", "01") and "sgemm" in c.name)
    results = [
        _result(first, {"torch": 1.5}, {"torch": 2.0}), _result(second, {"torch": 0.75}, {"torch": 1.0}),
        _result(every["layer"], {"torch": 1.0, "other": 4.0}, {"torch": 1.0, "other": 2.0}),
    ]  # fmt: skip
    text = papers.diesel_page(results, {"torch": "2"}, "scripts/bench gpu", SETTINGS, {})
    assert "| SGEMM against cuBLAS: at least as fast, of 100 | 52 | 56 | 1 of 2 | 2 of 2 |" in text
    assert "| SGEMM against cuBLAS: least ratio | 0.8 | – | 0.75 | 1.00 |" in text
    assert "| DGEMM against cuBLAS: geometric mean | – | – | – | – |" in text
    assert "calls apart: at least as fast, of 100 | over 90 | over 90 | 1 of 1 | 1 of 1 |" in text
    size = first.name.split()[-1]
    assert f"| {size} | 10 | 1.50 (15 µs) | 2.00 (40 µs) |" in text
    assert f"- {second.name}: 0.75 of 0.8 warm" in text
