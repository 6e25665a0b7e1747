"""Emitted folders of programs with constants judge their kernels by the text as it was written."""

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from mdh.cli.main import run

C_TEXT = """
void f(const float A[6][40], const float C[5][6], float O[5][40]) {
  for (int n = 0; n < 40; n++)
    for (int j = 0; j < 5; j++)
      for (int k = 0; k < 6; k++)
        O[j][n] += C[j][k] * A[k][n];
}
"""
TC_TEXT = "def f(float(K,N) A, float(J,K) C) -> (O) { O(j,n) +=! C(j,k) * A(k,n) }\n"


@pytest.mark.parametrize("option", ["--const", "--const-pattern"])
@pytest.mark.parametrize("name", ["f.c", "f.tc"])
def test_folder(name: str, option: str, tmp_path: Path) -> None:
    if shutil.which("make") is None or shutil.which("cc") is None:
        pytest.skip("no C compiler")
    rng = np.random.default_rng(3)
    array = np.where(rng.random((5, 6)) < 0.4, rng.random((5, 6)), 0).astype(np.float32)
    np.save(tmp_path / "C.npy", array)
    (tmp_path / name).write_text(C_TEXT if name == "f.c" else TC_TEXT)
    sizes = [] if name == "f.c" else ["-D", "J=5", "-D", "K=6", "-D", "N=40"]
    given = [option, f"C={tmp_path / 'C.npy'}", "--device", "c", "-o", str(tmp_path / "out")]
    assert run(["compile", str(tmp_path / name), *sizes, *given]) == 0
    subprocess.run(["make", "-s"], cwd=tmp_path / "out", check=True, capture_output=True, timeout=120)
    done = subprocess.run(
        ["./f"], cwd=tmp_path / "out", capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0 and "f: ok" in done.stdout + done.stderr, done
