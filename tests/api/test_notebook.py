"""What notebooks show of values, and kernels as folders."""

import json
from pathlib import Path

import numpy as np
import pytest

import mdh
from mdh.diagnostics import Failed
from mdh.results.comparison import Comparison, Entry, Platform

SOURCE = mdh.Source(
    "scale.c",
    "void scale(int n, float s, const float x[n], float y[n]) {"
    " for (int i = 0; i < n; i++) y[i] = s * x[i]; }",
)


@pytest.fixture(scope="module")
def kernel() -> mdh.Kernel:
    return mdh.compile(SOURCE, device="c")


def arrays(n: int = 100) -> tuple[np.ndarray, np.ndarray]:
    return np.arange(n, dtype=np.float32), np.zeros(n, np.float32)


def test_a_plan_is_short_and_has_a_picture() -> None:
    plan = mdh.check(SOURCE, machine="a100", defines={"n": 128})
    assert repr(plan) == "<mdh.Plan scale for a100 (cuda)>"
    page = plan._repr_html_()
    assert page is not None
    assert page.startswith("<iframe style=")
    assert "scale on a100" in page


def test_a_kernel_shows_what_was_built(kernel: mdh.Kernel) -> None:
    fresh = mdh.compile(SOURCE, device="c")
    assert fresh._repr_html_() is None
    with pytest.raises(Failed, match="A101: `scale` is not built: no call has told n"):
        _ = fresh.source
    x, y = arrays()
    kernel(2.0, x, y)
    assert "scale" in kernel.source
    assert kernel.schedule.splitlines()[-1] in kernel.explain(n=100)
    page = kernel._repr_html_()
    assert page is not None
    assert "iframe" in page
    timing = kernel.time(2.0, x, y, samples=3)
    assert len(timing.warm) == 3
    assert repr(timing).startswith("<median ")


def test_a_saved_kernel_computes_the_same(kernel: mdh.Kernel, tmp_path: Path) -> None:
    x, y = arrays()
    kernel(2.0, x, y)
    kernel.save(tmp_path / "scale")
    assert {"Makefile", "main.c", "manifest.json", "kernel.json"} <= {
        p.name for p in (tmp_path / "scale").iterdir()
    }
    loaded = mdh.load(tmp_path / "scale")
    other = np.zeros_like(y)
    loaded(100, 2.0, x, other)
    assert np.array_equal(other, y)
    assert loaded.schedule == kernel.schedule


def test_files_of_others_stay(kernel: mdh.Kernel, tmp_path: Path) -> None:
    kernel(2.0, *arrays())
    (tmp_path / "Makefile").write_text("all:\n")
    with pytest.raises(Failed, match=r"F111: .*Makefile. is there"):
        kernel.save(tmp_path)
    kernel.save(tmp_path / "own")
    kernel.save(tmp_path / "own")


def test_open_sizes_stay_open_in_a_folder(tmp_path: Path) -> None:
    opened = mdh.compile(SOURCE, device="c", defines={"n": mdh.open(1, 500)})
    x, y = arrays()
    opened(2.0, x, y)
    opened.save(tmp_path)
    assert json.loads((tmp_path / "kernel.json").read_text())["defines"] == {"n": "1..500"}
    x, y = arrays(37)
    mdh.load(tmp_path)(2.0, x, y)
    assert np.array_equal(y, 2 * x)


def test_a_comparison_is_short() -> None:
    found = Comparison("scale.c", (), (), (Entry("mine"), Entry("default")), (Platform("c"),), (), (), ())
    assert repr(found) == "<mdh.Comparison scale.c: mine, default on c>"
    page = found._repr_html_()
    assert page is not None
    assert "iframe" in page
