"""`scripts/bench polybench`: its kernels, what it keeps, and its page."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from bench.polybench import kernels
from bench.polybench.contest import measured
from bench.polybench.page import page
from bench.polybench.results import DIRECTIVES, OURS, PLAIN, SHIPPED, Round, Row, load, save
from bench.polybench.worker import Order
from tests.support.polybench import PROGRAMS

VERSIONS = {"machine": "- machine: one", "gcc": "12"}


def rounds(ours: float, peer: float, *, quiet: bool = True) -> list[Round]:
    return [Round({OURS: ours, PLAIN: 4 * peer, DIRECTIVES: peer}, quiet)] * 3


@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_every_kernel_is_read(name: str) -> None:
    kernel = kernels.kernel_of(name, 100)
    arrays = kernels.random_arrays(kernel)
    assert kernel.written
    assert set(kernel.written) <= arrays.keys()
    assert all(array.ctypes.data % 64 == 0 for array in arrays.values())
    assert all(isinstance(value, float) for value in kernel.scalars.values())


def test_sizes_are_the_large_ones() -> None:
    assert kernels.kernel_of("3mm").sizes == {"NI": 800, "NJ": 900, "NK": 1000, "NL": 1100, "NM": 1200}
    assert kernels.kernel_of("deriche").sizes == {"W": 4096, "H": 2160}


def test_wrong_results_are_found() -> None:
    kernel = kernels.kernel_of("gramschmidt", 100)
    right = kernels.random_arrays(kernel)
    found = {name: array.copy() for name, array in right.items()}
    assert kernels.wrong(kernel, found, right) == ""
    found["Q"][0, -1] += 1
    assert kernels.wrong(kernel, found, right) == "", "this column is noise"
    found["A"][0, 0] = np.nan
    assert kernels.wrong(kernel, found, right) == "wrong A"


def test_rows_are_kept_for_one_machine(tmp_path: Path) -> None:
    file, row = tmp_path / "rows.json", Row("gemm", verdicts={OURS: "right"}, rounds=rounds(1.0, 2.0))
    save(file, VERSIONS, {"gemm": row})
    assert load(file, VERSIONS) == {"gemm": row}
    assert load(file, {**VERSIONS, "gcc": "13"}) == {}
    assert load(tmp_path / "none.json", VERSIONS) == {}


def test_ratios_are_of_quiet_rounds() -> None:
    row = Row("gemm", rounds=[*rounds(1.0, 9.0, quiet=False), *rounds(1.0, 2.0)])
    assert row.ratio(DIRECTIVES) == 2.0
    assert row.seconds(SHIPPED) is None
    assert not Row("gemm", rounds=rounds(1.0, 9.0, quiet=False)).quiet


def test_page_names_what_is_slow_and_what_is_refused() -> None:
    rows = [
        Row("gemm", verdicts={OURS: "right"}, rounds=rounds(1.0, 2.0)),
        Row("lu", "C150", "`A` is updated", rounds=[]),
        Row("mvt", verdicts={OURS: "right", DIRECTIVES: "right"}, rounds=rounds(1.0, 0.5)),
    ]
    text = page(rows, VERSIONS, "scripts/bench polybench", 2, "-O3", 0.02)
    assert "mdh accepts 2 of 3 kernels." in text
    assert "geometric mean **1.00** over 2 kernels" in text
    assert "Below 0.9 of the directives: mvt 0.50." in text
    assert "- lu: C150, `A` is updated" in text


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
@pytest.mark.parametrize("name", ["gesummv", "trisolv"])
def test_a_kernel_is_measured(name: str, tmp_path: Path) -> None:
    row = measured(Order(name, 50, 1, 0.001, 0.0), tmp_path, 100)
    assert not row.code
    assert set(row.verdicts.values()) == {"right"}
    assert row.seconds(DIRECTIVES)
    assert OURS in row.verdicts
