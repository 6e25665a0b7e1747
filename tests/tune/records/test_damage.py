"""Damage of any kind costs the lines that it hit, or is refused; never a traceback, never a wrong load."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from mdh.results.trial import Trial
from tests.tune.records import cache_damage
from tests.tune.records.damage import cut, flipped, read_all, take_up, tally
from tests.tune.records.samples import write


@pytest.fixture(autouse=True)
def _quick_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda handle: None)


@pytest.mark.parametrize("use", [read_all, take_up])
def test_flipped_bits(tmp_path: Path, use: Callable[[Path], tuple[Trial, ...]]) -> None:
    path = tmp_path / "r.jsonl"
    written = write(path, 6)
    found = tally(flipped(path.read_bytes(), 1000, 11), written, path, use)
    assert (found.cases, found.wrong, found.raised) == (1000, 0, 0)
    assert found.lost <= 2
    assert dict(found.outcomes)["loaded"] > 700


def test_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    written = write(path, 2)
    found = tally(cut(path.read_bytes()), written, path, read_all)
    assert (found.wrong, found.raised) == (0, 0)
    assert set(dict(found.outcomes)) == {"loaded", "F170"}


def test_damaged_entries_of_the_cache_are_misses(tmp_path: Path) -> None:
    written = cache_damage.kept(tmp_path / "c", 4)
    found = (
        cache_damage.cut(tmp_path / "c", written),
        cache_damage.flipped(tmp_path / "c", written, 500, 1),
        cache_damage.swapped(tmp_path / "c", written),
        cache_damage.full(tmp_path / "c", written),
    )
    for cases, outcomes in found:
        assert cases > 3
        assert {o for o, n in outcomes.items() if n} <= {"miss", "whole"}
        assert outcomes["miss"] > 0.95 * cases
