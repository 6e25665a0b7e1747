"""`mdh reproduce`: a run on the CPU, what it prints, and the page of the site."""

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from mdh.cli.main import run
from mdh.diagnostics import Failed
from mdh.report.reproduction_json import reproduction_json
from mdh.report.reproduction_page import reproduction_page
from mdh.report.reproduction_text import reproduction_text
from mdh.reproduce.run import ExperimentOrder, reproduce
from mdh.reproduce.stored import read_results
from mdh.reproduce.table import EXPERIMENTS, LEFT_OUT, experiment_called
from mdh.results.comparison import Peer
from mdh.results.experiment import Case, Experiment
from mdh.results.reproduction import BEST, CaseTime, PeerTime, Reproduction, totals
from mdh.tuner.loop.state import Watch
from mdh.tuner.runtime.interrupt import Interrupt
from scripts import build_reproduction


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))


@contextmanager
def _unseen(_: str) -> Iterator[Watch]:
    yield lambda *_: None


def _experiment(name: str) -> Experiment:
    found = experiment_called(name)
    assert found is not None
    return found


def _small(case: Case, most: int) -> Case:
    return replace(case, sizes=tuple((n, min(v, most)) for n, v in case.sizes))


def _ran(one: Experiment, minutes: float) -> Reproduction:
    return asyncio.run(
        reproduce(ExperimentOrder(one, "c", minutes, "mdh reproduce"), Interrupt(), str, _unseen)
    )


def test_an_experiment_runs_here(tmp_path: Path) -> None:
    """A kernel of the tables at small sizes, and one that is too large for the time."""
    whole = _experiment("tc-table")
    layer = next(c for c in whole.cases if c.name.startswith("MLP1"))
    huge = replace(whole.cases[2], name="huge", sizes=(("M", 16384), ("N", 16384), ("K", 16384)))
    case = replace(_small(layer, 16), peers=(layer.peers[0], Peer("other", "numpy", "no such call")))
    one = replace(whole, cases=(case, huge), seconds=0.1)
    found = _ran(one, 2.0)
    (time,) = found.measured
    assert (time.name, time.schedule, time.default) == (case.name, "default", time.seconds)
    numpy, other = time.peers
    assert numpy.name == "numpy" and numpy.ratio is not None and time.best is numpy
    assert (other.ratio, other.why) == (None, "numpy has no call for this program")
    assert found.cases[-1].why.startswith("left out: it takes about ")
    assert (found.kind, found.wrong, found.clock) == ("cpu", False, "wall")
    _printed(one, found, tmp_path)


def _printed(one: Experiment, found: Reproduction, folder: Path) -> None:
    text, page = reproduction_text(one, found), reproduction_page(one, (found,))
    assert "the paper measured on a GPU, and this is a CPU" in text and "huge: left out" in text
    row = next(line for line in text.splitlines() if line.startswith("  MLP1 128,2000,128"))
    assert row.split()[2:4] == ["1.00", "1.66"], "the paper's ratios on an M40 and a P100"
    assert "| MLP1 128,2000,128 | 1.00 (125 µs / 125 µs) | 1.66 (133 µs / 80 µs) |" in page
    path = folder / "kept.json"
    path.write_text(json.dumps(reproduction_json(one, found)), encoding="utf-8")
    assert read_results([path]) == [found]


def test_what_is_not_measured_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["reproduce", "diesel-sgemm", "--device", "c", "--minutes", "0"]) == 3
    said = capsys.readouterr().err
    assert "F215" in said and "not measured within 0 minutes" in said
    assert all(c.name in said for c in _experiment("diesel-sgemm").cases)


def test_a_device_that_is_not_there_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(Failed):
        asyncio.run(reproduce(ExperimentOrder(EXPERIMENTS[0], "cuda:99", 1.0), Interrupt(), str, _unseen))
    assert run(["reproduce", "tc-table", "--device", "cuda:99"]) == 1
    assert "[D1" in capsys.readouterr().err
    assert run(["reproduce", "tc-table", "--device", "gpu"]) == 2
    assert "[D110]" in capsys.readouterr().err


def test_the_list(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["reproduce"]) == 0
    text = capsys.readouterr().out
    assert all(f"  {e.name}  " in text for e in (*EXPERIMENTS, *LEFT_OUT))
    assert run(["reproduce", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert [e["name"] for e in listed["experiments"]] == [e.name for e in EXPERIMENTS]


def test_totals() -> None:
    def time(name: str, *ratios: tuple[str, float]) -> CaseTime:
        return CaseTime(name, 1.0, "default", 1.0, peers=tuple(PeerTime(n, r, r) for n, r in ratios))

    found = Reproduction(
        "x", "c", "a CPU", "cpu", "mdh", "2026-01-01",
        (time("a", ("numpy", 2.0), ("torch", 0.5)), time("b", ("numpy", 2.0)), CaseTime("c", why="left out")),
    )  # fmt: skip
    assert totals(found, "numpy") == {
        "at least as fast": "2 of 2", "least ratio": "2.00", "highest ratio": "2.00",
        "geometric mean": "2.00",
    }  # fmt: skip
    assert totals(found, BEST)["geometric mean"] == "1.00"
    assert totals(found, "mkl") == {} and totals(found, "numpy", cold=True) == {}


def test_the_page_of_the_site_has_the_last_results() -> None:
    """`scripts/reproduction` writes it."""
    assert build_reproduction.PAGE.read_text(encoding="utf-8") == build_reproduction.page()


def test_a_page_of_measurements_is_read() -> None:
    """By its own summary, which it computes from more digits."""
    result = build_reproduction.tc_result("artifacts/h200/tc.md")
    assert len(result.measured) == 12 and len(result.cases) == 12
    tmm = result.cases[0]
    assert (tmm.name, tmm.best and tmm.best.name) == ("tmm 128,32,256", "torch")
    text = (build_reproduction.ROOT / "artifacts/h200/tc.md").read_text(encoding="utf-8")
    assert f"geometric mean {totals(result, BEST)['geometric mean']} over 12 kernels" in text


@pytest.mark.parametrize("word", ["-5", "abc", "nan", "inf"])
def test_minutes_are_a_number(word: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["reproduce", "tc-table", "--device", "c", "--minutes", word]) == 2
    said = capsys.readouterr().err
    assert f"`{word}` is no value of --minutes" in said and "whole number" not in said


def test_of_two_results_the_one_with_more_cases_is_shown() -> None:
    def result(count: int, date: str, load: float = 0.0) -> Reproduction:
        cases = tuple(CaseTime(str(n), 1.0, "default") for n in range(count))
        return Reproduction("x", "c", "a CPU", "cpu", "mdh", date, cases, load=load)

    whole, part, again = result(3, "first"), result(2, "second"), result(3, "third")
    assert build_reproduction.chosen([whole, part]) == [whole]
    assert build_reproduction.chosen([whole, part, again]) == [again]
    assert build_reproduction.chosen([result(3, "busy", 4.0)]) == []
