"""Spans of time: what is one, and what is refused with which words."""

import pytest

from mdh.diagnostics import Failed
from mdh.report.text import duration_text
from mdh.tuner.duration import parse_duration


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("3h", 10800.0), ("5m", 300.0), ("30s", 30.0), ("1h30m", 5400.0), ("1.5h", 5400.0), ("1h0m1s", 3601.0)],
)
def test_times(text: str, seconds: float) -> None:
    assert parse_duration(text) == seconds


@pytest.mark.parametrize(
    "text",
    ["", "3", "h", "3 h", "3d", "-3h", "3h 5m", "5m3h", "3h3h", "0s", "0h0m", "1e3s", "٣h", "9000h", "1..5h"],
)
def test_what_is_no_time(text: str) -> None:
    with pytest.raises(Failed) as refused:
        parse_duration(text)
    [wrong] = refused.value.diagnostics
    assert wrong.code == "F190"
    assert wrong.help.startswith("write ")


@pytest.mark.parametrize("text", ["9" * 2_000_000, "9" * 2_000_000 + "h", "1h" * 1000, "1." * 500_000])
def test_texts_without_end_are_refused_at_once(text: str) -> None:
    with pytest.raises(Failed) as refused:
        parse_duration(text)
    [wrong] = refused.value.diagnostics
    assert wrong.code == "F190"
    assert len(wrong.headline) < 100


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0s"), (59.6, "1m"), (61, "1m01s"), (3600, "1h"), (5400, "1h30m"), (-1, "0s"), (86400, "24h")],
)
def test_times_as_text(seconds: float, text: str) -> None:
    assert duration_text(seconds) == text
