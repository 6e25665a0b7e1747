"""Intervals, ratios, shares of the roofline and the portability figure, against numbers by hand."""

from dataclasses import replace

import pytest

from mdh.compare.figures import compared, harmonic, portability, roof_of, spread, tied
from mdh.diagnostics import Diagnostic
from mdh.frontend.c.read import read_program
from mdh.machine import load_machine
from mdh.pipeline import Pipeline
from mdh.results.comparison import Entry, Platform, Roof, Row, RowKind, Spread
from mdh.source import Source


def _time(seconds: float) -> Spread:
    return Spread(seconds, seconds, seconds, 0.95, 9, "device")


def _row(platform: str, entry: str, seconds: float | None, kind: RowKind = RowKind.MEASURED) -> Row:
    time = None if seconds is None else _time(seconds)
    return Row(platform, entry, kind, time=time, roof=Roof(1.0, "arithmetic"))


@pytest.mark.parametrize(
    ("n", "low", "high", "level"),
    [
        (1, 1, 1, 0.0),
        (5, 1, 5, 1 - 2 / 32),
        (6, 1, 6, 1 - 2 / 64),
        (10, 2, 9, 1 - 2 * 11 / 1024),
        (60, 22, 39, pytest.approx(0.9726, abs=1e-4)),
    ],
)
def test_interval_of_the_median(n: int, low: int, high: int, level: float) -> None:
    """Ranks as in tables of the sign test."""
    found = spread(range(n, 0, -1), "wall")
    assert (found.low, found.high, found.samples) == (low, high, n)
    assert found.level == level


def test_interval_of_very_many_samples() -> None:
    assert spread(range(5000), "wall").level >= 0.95


def test_times_in_turns_are_told_apart_though_both_drift() -> None:
    drift = [1.0 + 0.1 * n for n in range(12)]
    assert not tied([1.01 * t for t in drift], drift)
    assert tied([t * (0.99, 1.01)[n % 2] for n, t in enumerate(drift)], drift)
    assert not tied([], [])


def test_harmonic_mean() -> None:
    assert harmonic([0.5, 1.0]) == pytest.approx(2 / 3)
    assert harmonic([0.5, 0.0, None]) == 0.0
    assert harmonic([0.5, None]) is None
    assert harmonic([]) is None


def test_ratios_are_to_the_fastest_on_the_platform() -> None:
    rows = compared([_row("c", "a", 2.0), _row("c", "b", 4.0)], {"a": [2.0] * 9, "b": [4.0] * 9})
    assert [(r.ratio, r.share, r.tie) for r in rows] == [(1.0, 0.5, False), (2.0, 0.25, False)]
    same = compared([_row("c", "a", 2.0), _row("c", "b", 2.0)], {"a": [2.0] * 9, "b": [2.0] * 9})
    assert [r.tie for r in same] == [False, True]


def test_estimates_are_compared_with_one_another_alone() -> None:
    rows = [_row("a100", "a", 2.0, RowKind.ESTIMATED), _row("a100", "b", 4.0, RowKind.RECORDED)]
    assert [r.ratio for r in compared(rows, {})] == [0.5, 1.0]


def test_portability_over_measured_platforms_then_with_estimates() -> None:
    entries = (Entry("a"), Entry("b"), Entry("numpy", library=True))
    platforms = (Platform("c"), Platform("cuda:0"), Platform("a100", here=False), Platform("opencl:9"))
    why = Diagnostic("K152", "too large")
    rows = (
        *compared([_row("c", "a", 2.0), _row("c", "b", 4.0), _row("c", "numpy", 1.0)], {}),
        *compared(
            [_row("cuda:0", "a", 1.0), replace(_row("cuda:0", "b", None, RowKind.FAILED), why=why)], {}
        ),
        *compared([_row("a100", "a", 3.0, RowKind.ESTIMATED), _row("a100", "b", 3.0, RowKind.ESTIMATED)], {}),
        *(Row("opencl:9", n, RowKind.ABSENT) for n in ("a", "b", "numpy")),
    )
    first, second, third, fourth = portability(entries, platforms, rows)
    # the library is the fastest on c, and has no figure
    assert (first.entry, first.over) == ("a", ("c", "cuda:0"))
    assert first.application == pytest.approx(2 / (1 / 0.5 + 1 / 1.0))
    assert first.architectural == pytest.approx(2 / (1 / 0.5 + 1 / 1.0))
    assert (second.entry, second.application, second.architectural) == ("b", 0.0, 0.0)
    assert (third.over, third.estimated) == (("c", "cuda:0", "a100"), True)
    assert third.application == pytest.approx(3 / (2 + 1 + 1))
    assert fourth.application == 0.0


def test_what_was_not_measured_leaves_the_figure_open() -> None:
    rows = (*compared([_row("c", "a", 2.0)], {}), *compared([_row("d", "b", 2.0)], {}))
    rows = (*rows, Row("d", "a", RowKind.ABSENT))
    found = portability((Entry("a"), Entry("b")), (Platform("c"), Platform("d")), rows)
    assert [(p.application, p.architectural) for p in found] == [(None, None), (None, None)]


def test_memory_bounds_only_what_leaves_the_caches() -> None:
    text = "void f(const float a[N], float b[N]) { for (int i = 0; i < N; i++) b[i] = a[i] + 1.0f; }"
    machine = load_machine("generic-cpu")

    def roof(n: int) -> Roof | None:
        program = read_program(Source("f.c", text), defines={"N": n})
        return roof_of(Pipeline().check(program, None, machine, "c").plan)

    small, large = 1000, 1 << 24
    assert roof(small) == Roof(small / machine.peak_f32, "arithmetic")
    assert roof(large) == Roof(8 * large / machine.bandwidth, "memory")
