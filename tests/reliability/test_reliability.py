"""The table about reliability: all rows, honest states, results kept, pages read; some of what it runs."""

from pathlib import Path

import pytest

from mdh.diagnostics import Failed
from mdh.frontend.c.read import read_program
from mdh.machine import load_machine
from mdh.pipeline import Pipeline
from mdh.source import Source
from tests.reliability import pages
from tests.reliability.__main__ import found_of, main, run, table
from tests.reliability.campaign import Waiting
from tests.reliability.plain_schedules import plain_schedule
from tests.reliability.records import forms, key_changes
from tests.reliability.round_trip import chunk
from tests.reliability.row import Found, Parts, Row, Setting, keep, kept
from tests.reliability.table import ROWS
from tests.reliability.times import late
from tests.support.corpus import WORKLOADS
from tests.support.source_tree import ROOT


def test_every_row_is_there_with_what_shows_it() -> None:
    assert [r.id for r in ROWS] == [f"R{n}" for n in range(1, 23)]
    for row in ROWS:
        assert row.run is not None or row.read is not None, row.id
        for word in row.shown.split(", "):
            if word.startswith("scripts/"):
                assert (ROOT / word.split()[0]).exists(), row.id


def test_a_row_is_met_at_its_full_number_alone() -> None:
    assert Found("", True, 100, 100).state == "met"
    assert Found("", True, 99, 100).state == "in part"
    assert Found("", False, 5, 100).state == "short"


def test_results_are_kept_and_damaged_ones_are_none(tmp_path: Path) -> None:
    found = Found("1 of 1", True, 1, 1, ("a note",))
    keep(Setting(tmp_path), "R1", found)
    assert kept(tmp_path, "R1") == found
    (tmp_path / "R1.json").write_text('{"figure": 1')
    assert kept(tmp_path, "R1") is None


def test_parts_go_on_after_a_torn_line(tmp_path: Path) -> None:
    setting = Setting(tmp_path)
    parts = Parts.of(setting, "R")
    assert parts.get("a", lambda: 1) == 1
    with parts.path.open("a") as file:
        file.write('["b", [1, 2')
    again = Parts.of(setting, "R")
    assert again.done == {"a": 1}
    assert again.get("a", lambda: pytest.fail("it is done")) == 1


@pytest.mark.parametrize("row", [r for r in ROWS if r.page], ids=lambda r: r.id)
def test_pages_of_the_project_can_be_read(row: Row) -> None:
    page = ROOT / "artifacts" / str(row.page)
    if not page.exists():
        pytest.skip("its command has not been run yet")
    assert row.read is not None
    assert pages.readable(row.read, page.read_text(encoding="utf-8")) is not None
    assert pages.readable(row.read, "# Another page\n") is None


def test_a_row_that_needs_a_gpu_does_not_run_without(tmp_path: Path) -> None:
    row = Row("R8", "", "", "", run=lambda _: pytest.fail("it ran"), gpu=True)
    assert run(row, Setting(tmp_path)) is None


def test_the_table_says_what_was_not_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    row = Row("R99", "made up", "all", "nowhere", run=lambda s: Found("3 of 3", True, s.number(30), 30))
    assert found_of(row, tmp_path) is None
    assert "| not run |" in table((row,), tmp_path)
    setting = Setting(tmp_path, scale=0.1)
    found = run(row, setting)
    assert found is not None
    keep(setting, row.id, found)
    assert "| 3 of 3 (3 of 30) | in part |" in table((row,), tmp_path)
    assert main(["--out", str(tmp_path)]) == 0
    assert "| R22 |" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["matmul", "softmax", "prefix_sum", "histogram", "row_argmax", "dot_int8"])
def test_plain_schedules_are_legal(name: str) -> None:
    work = WORKLOADS[name]
    program = read_program(work.source, defines=dict(work.small[-1]))
    machine, pipeline = load_machine("generic-cpu"), Pipeline()
    for seed in range(6):
        text = plain_schedule(program, seed)
        try:
            pipeline.check(program, pipeline.schedule(Source("<plain>", text)), machine, "opencl")
        except Failed as failed:
            pytest.fail(f"{failed.diagnostics[0].headline}\n{text}")


def test_released_forms_and_single_changes(tmp_path: Path) -> None:
    assert forms(Setting(tmp_path)).state == "met"
    found = key_changes(Setting(tmp_path))
    assert (found.state, found.full) == ("met", 40)
    assert found.ran >= 40


def test_a_little_round_trip() -> None:
    one = chunk(7, 5)
    assert not one["wrong"]
    assert one == chunk(7, 5)
    assert one["kernels"]


def test_waiting_is_the_share_of_empty_slots(monkeypatch: pytest.MonkeyPatch) -> None:
    now = iter((10.0, 11.0, 12.0, 14.0))
    monkeypatch.setattr("tests.reliability.campaign.time.perf_counter", lambda: next(now))
    waiting = Waiting(slots=2)
    # one of two slots for a second, both for one, one for two
    for by in (1, 1, -1, 1):
        waiting.change(by)
    assert waiting.share == pytest.approx(3 / 8)


def test_late_values() -> None:
    assert late([float(n) for n in range(1, 101)]) == 95.0
    assert late([3.0]) == 3.0


SIGNALS = """# Signals
| | |
|---|---|
| points | 50 |
| ended as they must | 50 of 50 |
| seconds to the end, worst | 1.42 |
"""
BUDGETS = """# Budgets
| budget, s | may take | took | exit | looks at the best schedule | not whole | |
|---|---|---|---|---|---|---|
| 30 | 60 | 29.4 | 0 | 120 | 0 | ok |
| 300 | 330 | 299.0 | 0 | 1,200 | 0 | ok |
"""
TIMEOUTS = """# Candidates that hang
| device | hung | kills | limit, s | gone after, s | worst | left | GPU memory, MiB | next time | noise | s |
|---|---|---|---|---|---|---|---|---|---|---|
| c (EPYC (C)) | 100 | 9 | 1 | 0.03 | 0.10 | 0 processes, 0 files |  | +0.14% (-1% to +1%) | 1% | 58 |
| opencl:0 (EPYC) | 100 | 9 | 1 | 0.03 | 0.10 | 0 processes, 0 files |  | -0.14% (-1% to +1%) | 1% | 58 |
| cuda:0 (H100) | 100 | 9 | 1 | 0.03 | 1.10 | 0 processes, 0 files | +2 | +0.14% (-1% to +1%) | 1% | 58 |

| device | where it hangs | candidates | class | attempts | gone after, worst, s |
|---|---|---|---|---|---|
| c | launch: an endless loop | 100 | 100 timeout | 1.0 | 0.10 |
"""
WORKERS = """# Workers killed on the way
`./scripts/worker-kills --seconds 600 --every 30 --workers 8` on 16 cores
| | seconds | kills | trials | a minute | lost | exit |
|---|---|---|---|---|---|---|
| undisturbed | 600 | 0 | 3000 | 300.0 | 0 | 130 |
| one killed every 30 s | 600 | 20 | 2700 | 270.0 | 0 | 130 |
"""


TOOLS = "# Kernels under checking tools\n" + "".join(
    f"| {'c' if 'ASan' in tool else 'cuda:0'} | {tool} | {n} | {n} | 0 | 0 |  |\n"
    for tool, n in pages.TOOLS.items()
)


def test_every_tool_must_have_run_at_its_number() -> None:
    assert pages.sanitizers(TOOLS).state == "met"
    assert pages.sanitizers(TOOLS.replace("synccheck | 50", "synccheck | 30")).ran == 5
    assert pages.sanitizers(TOOLS.replace("| 0 | 0 |", "| 1 | 0 |", 1)).state == "short"
    less = pages.sanitizers("".join(line for line in TOOLS.splitlines(True) if "cuda" not in line))
    assert (less.state, less.ran) == ("in part", 2)
    assert "synccheck" in less.notes[0]


RACES = """# Many processes, one cold cache
| device | processes | keys each | exceptions | died | built | most often | s |
|---|---|---|---|---|---|---|---|
| c | 32 | 200 | 0 | 0 | 200 | 1 | 99 |
| opencl:0 | 32 | 200 | 0 | 0 | 201 | 2 | 99 |
"""


def test_races_for_one_cache() -> None:
    assert pages.races(RACES).state == "met"
    assert pages.races(RACES.replace("opencl:0", "none")).state == "in part"
    for worse in (
        ("| 0 | 0 | 200", "| 1 | 0 | 200"),
        ("| 0 | 0 | 200", "| 0 | 1 | 200"),
        ("| 2 | 99", "| 3 | 99"),
    ):
        assert pages.races(RACES.replace(*worse)).state == "short"


JUDGE = """# Does the judge see what is wrong, and only that?
- faults of code generation planted: 61; caught: 61; with a time, so that they could win: 0
- edits that do not compile: 1
"""


def test_edits_that_do_not_compile_are_no_faults() -> None:
    assert pages.judge(JUDGE) == Found("60 of 60 caught, 0 could win", True, 60, 60)
    assert pages.judge(JUDGE.replace("compile: 1", "compile: 2")).state == "in part"
    assert pages.judge(JUDGE.replace("win: 0", "win: 1")).state == "short"


def test_figures_of_other_pages() -> None:
    assert pages.timeouts(TIMEOUTS).state == "met"
    assert pages.timeouts(TIMEOUTS.replace("cuda:0", "opencl:1")).state == "in part"
    for worse in (
        ("| 1.10 |", "| 2.10 |"), ("0 processes", "1 processes"), ("| +2 |", "| +65 |"), ("-0.14%", "-2.14%"),
        ("100 timeout", "99 timeout, 1 crash"),
    ):  # fmt: skip
        assert pages.timeouts(TIMEOUTS.replace(*worse)).state == "short"
    assert pages.worker_kills(WORKERS).state == "met"
    for less in (("--workers 8", "--workers 2"), ("--every 30", "--every 60")):
        assert pages.worker_kills(WORKERS.replace(*less)).state == "in part"
    assert pages.worker_kills(WORKERS.replace("270.0 | 0", "270.0 | 1")).state == "short"
    assert pages.worker_kills(WORKERS.replace("270.0", "230.0")).state == "short"
    assert pages.signals(SIGNALS).state == "met"
    assert pages.signals(SIGNALS.replace("1.42", "6.00")).state == "short"
    assert pages.signals(SIGNALS.replace("50 of 50", "49 of 50")).state == "short"
    two = pages.budgets(BUDGETS)
    assert (two.state, two.ran) == ("in part", 2)
    assert pages.budgets(BUDGETS + "| 10800 | 10908 | 10799.0 | 0 | 9 | 0 | ok |\n").state == "met"
    assert pages.budgets(BUDGETS.replace("| ok |", "| NOT SO |")).state == "short"
