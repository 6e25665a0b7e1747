"""`mdh.compile(..., tune=…)` and `mdh.autotune`: the first call tunes, and what it found is kept."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mdh
from mdh.api import autotuner
from mdh.device.cache import open_cache
from mdh.tuner.order import Order
from tests.api.test_tune import ADD, SCHEDULE

BEST = "1: (de-)comp( {tile} ) ( ^ ; ^ ) ( BLK.x )\n2: (de-)comp( 1 ) ( ^ ; ^ ) ( FOR.1 )\n"
OPEN = """void add(int n, const float A[n], float C[n]) {
  for (int i = 0; i < n; i++)
    C[i] = A[i] + 1;
}
"""


@dataclass
class Tuner:
    """Stands for the tuner: finds tiles of 32, 64, … elements, one after another."""

    calls: int = 0
    records: tuple[bytes, ...] = ()

    def __call__(self, order: Order) -> Any:
        assert order.record is not None
        record = Path(order.record)
        self.calls += 1
        self.records += (record.read_bytes() if record.exists() else b"",)
        record.write_bytes(b"record %d" % self.calls)
        return type("Found", (), {"schedule": BEST.format(tile=16 << self.calls)})


@pytest.fixture
def tuner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tuner:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    stand_in = Tuner()
    monkeypatch.setattr(autotuner, "run_order", stand_in)
    return stand_in


def _run(tune: float | str, size: int = 256, **options: Any) -> str:
    kernel = mdh.compile(ADD, SCHEDULE, "c", tune=tune, defines={"N": size}, **options)
    a, c = np.arange(size, dtype=np.float32), np.zeros(size, np.float32)
    kernel(a, c)
    np.testing.assert_array_equal(c, a + 1)
    return next(iter(kernel.variants.values())).schedule


def test_the_first_kernel_tunes_and_later_ones_do_not(tuner: Tuner) -> None:
    assert "( 32 )" in _run("5s")
    assert "( 32 )" in _run(5)
    assert "( 32 )" in _run("2s")
    assert tuner.calls == 1


def test_a_longer_time_goes_on_from_the_record(tuner: Tuner) -> None:
    _run("5s")
    assert "( 64 )" in _run("1m")
    assert tuner.records == (b"", b"record 1")


@pytest.mark.parametrize("other", [{"size": 128}, {"strict_fp": True}, {"deterministic": True}])
def test_another_program_is_tuned_for_itself(tuner: Tuner, other: dict[str, Any]) -> None:
    _run("5s")
    _run("5s", **other)
    assert tuner.records == (b"", b"")


def test_open_sizes_are_tuned_at_the_first_call_with_each(tuner: Tuner) -> None:
    kernel = mdh.autotune(mdh.Source("open.c", OPEN), SCHEDULE, "c")
    assert tuner.calls == 0
    for size, calls in ((64, 1), (96, 2), (64, 2)):
        a, c = np.arange(size, dtype=np.float32), np.zeros(size, np.float32)
        kernel(a, c)
        np.testing.assert_array_equal(c, a + 1)
        assert tuner.calls == calls


def test_damaged_entries_are_tuned_anew(tuner: Tuner) -> None:
    _run("5s")
    for path in Path(open_cache().folder).glob("??/*.bin"):
        path.write_bytes(path.read_bytes()[:-1])
    _run("5s")
    assert tuner.records == (b"", b"")


@pytest.mark.parametrize("budget", ["soon", 0, -1.0])
def test_a_budget_that_is_no_time(tuner: Tuner, budget: float | str) -> None:
    with pytest.raises(mdh.Failed) as raised:
        _run(budget)
    assert raised.value.diagnostics[0].code == "F190"
    with pytest.raises(TypeError, match="tune takes seconds"):
        _run([1])  # type: ignore[arg-type]


def test_it_really_tunes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    # the space is small: the search ends long before
    assert "?" not in _run("2m")
