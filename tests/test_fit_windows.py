"""scripts/fit-default fit-windows: it judges what the compiler does, its fit finds what made times."""

import gzip
import json
import random
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from experiments.fit_default.__main__ import main
from experiments.fit_default.build import Code
from experiments.fit_default.choice import geometric
from experiments.fit_default.files import WrongFileError, header
from experiments.fit_default.window_candidates import LIKED, build, candidates, convolutions, schedule_of
from experiments.fit_default.window_choice import choices, everywhere, problem, table
from experiments.fit_default.window_fitting import Search, fitted, loss
from experiments.fit_default.window_rows import SCHEMA, Convolution, Row, read
from mdh.checker.run import check
from mdh.cost.gpu import WINDOWS, Costs, seconds
from mdh.lower.run import lower
from mdh.machine import load_machine
from mdh.schedule.default.window_gpu import window_gpu
from tests.support.source_tree import ROOT

MACHINE = load_machine("h200")
CONVOLUTIONS = tuple(convolutions())
SOME = (*CONVOLUTIONS[:2], CONVOLUTIONS[4], CONVOLUTIONS[-2])
"""Of all three programs, with few plans."""
TRUTH = replace(WINDOWS, word=3.0, vector=5.0, loop=20.0, copied=8.0, warps=6.0, latency=900.0, reached=0.3)
"""Of a made-up machine."""
KEPT = ROOT / "artifacts" / "h200" / "window_fit.jsonl.gz"


def made_up(path: Path, costs: Costs = TRUTH, of: Sequence[Convolution] = SOME, every: int = 5) -> Path:
    """A file whose times are the estimate's under `costs`, of some plans."""
    lines = [header(SCHEMA, "h200", device="made up")]
    for convolution in of:
        one = problem(convolution, MACHINE)
        for plan in one.plans[::every]:
            time = seconds(one.work(plan), MACHINE, costs)
            lines.append(Row(convolution, one.tiles(plan), time, 80).line())
    lines.append(Row(of[0], "grouped_conv/h200/base", 1e-4).line())
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


@pytest.mark.parametrize("of", SOME, ids=str)
def test_the_choice_is_the_default_schedule(of: Convolution) -> None:
    """What is judged is what the compiler does with windows."""
    one = problem(of, MACHINE)
    plan = min(one.plans, key=lambda p: seconds(one.work(p), MACHINE, WINDOWS))
    built = window_gpu(one.shape, one.window, MACHINE, adding=False)
    assert built is not None
    section = built[0].section(one.shape.stage.name)
    assert schedule_of(one, plan).sections == (section,)


def test_plans_by_loops_are_the_same_plans() -> None:
    for of in CONVOLUTIONS:
        one = problem(of, MACHINE)
        assert all(one.plan(one.tiles(p)) == p for p in one.plans[::17])


def test_a_fit_finds_what_made_the_times(tmp_path: Path) -> None:
    known = table(read([made_up(tmp_path / "a.jsonl")]), MACHINE)
    found = fitted(known, WINDOWS, Search(turns=300, seed=1))
    assert found.turns == 300
    # only what is nearly as good as the choice tells the truth's own loss from nothing
    assert loss(known, TRUTH) < 0.01
    assert found.loss == loss(known, found.costs) < loss(known, WINDOWS) / 3
    assert geometric([c.ratio for c in choices(known, found.costs)]) < 1.03
    assert (found.costs.launch, found.costs.second) == (WINDOWS.launch, WINDOWS.second)
    assert found == fitted(known, WINDOWS, Search(turns=300, seed=1))


def test_the_first_of_equals_is_chosen(tmp_path: Path) -> None:
    """As the default takes it, in whatever order a file has them."""
    text = made_up(tmp_path / "a.jsonl", every=1).read_text().splitlines(keepends=True)
    (tmp_path / "b.jsonl").write_text("".join([text[0], *text[:0:-1]]))
    for name in ("a.jsonl", "b.jsonl"):
        known = table(read([tmp_path / name]), MACHINE)
        assert everywhere(known, TRUTH) == len(SOME)
        for choice in choices(known, TRUTH):
            one = problem(choice.of, MACHINE)
            plan = min(one.plans, key=lambda p: seconds(one.work(p), MACHINE, TRUTH))
            assert choice.chosen.what == one.tiles(plan)


def test_a_plan_that_is_none_today_is_not_chosen_but_may_be_the_best(tmp_path: Path) -> None:
    path, of = made_up(tmp_path / "a.jsonl"), SOME[0]
    one = problem(of, MACHINE)
    tiles = one.tiles(one.plans[0])
    old = replace(tiles, block=tuple((n, 1) for n, _ in tiles.block))
    with path.open("a") as file:
        file.write(json.dumps(Row(of, old, 1e-9).line()) + "\n")
    choice = choices(table(read([path]), MACHINE), TRUTH)[0]
    assert choice.best.what == old
    assert choice.chosen.what != old
    assert choice.shipped == 1e-4


def test_files_come_together_and_the_faster_time_counts(tmp_path: Path) -> None:
    one, two = made_up(tmp_path / "a.jsonl"), made_up(tmp_path / "b.jsonl", replace(TRUTH, launch=0.0))
    assert read([one, two]) == read([two])
    assert read([one]) != read([two])


PLAN = '{"block": {"z": 1}, "thread": {}, "slices": {}, "part": {}, "parts": 1}'
ROW = '{"program": "grouped_conv", "sizes": {"N": 2}, "plan": %s, "seconds": 1e-5}'
HEADER = '{"schema": "mdh.window_fit/1", "machine": "h200"}\n'


REFUSED = (
    "", "{}\n", "[]\n", "no json\n", HEADER, HEADER.replace("window", "default"), f"{HEADER}{HEADER}",
    *(HEADER + line for line in (
        '{"sizes": [1]}', ROW % 1, ROW % PLAN.replace('": 1', '": 0'), (ROW % PLAN).replace("1e-5", "0"),
        (ROW % PLAN).replace("grouped_conv", "../x"), (ROW % PLAN).replace('"plan"', '"tile"'),
    )),
)  # fmt: skip


@pytest.mark.parametrize("text", REFUSED)
def test_other_files_are_refused(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(text)
    with pytest.raises(WrongFileError):
        read([path])
    assert main(["fit-windows", str(path)]) == 1
    assert str(path) in capsys.readouterr().err


@pytest.mark.parametrize("verb", ["fit", "fit-windows"])
def test_damaged_files_are_refused(verb: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.jsonl.gz"
    whole = gzip.compress(HEADER.encode() * 99)
    for damaged in (whole[:-12], whole[:14] + b"\xff\xff" + whole[16:], b"none"):
        path.write_bytes(damaged)
        assert main([verb, str(path)]) == 1
        assert str(path) in capsys.readouterr().err


@pytest.mark.parametrize(
    ("program", "plan", "said"),
    [
        ("grouped_conv", PLAN, "'z' is not in list"),
        ("grouped_conv", PLAN.replace("z", "n"), "no plan of grouped_conv"),
        ("none_such", PLAN, "No such file"),
        ("matmul_init", PLAN, "is no convolution"),
    ],
)
def test_plans_of_something_else_are_refused(
    program: str, plan: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    row = (ROW % plan).replace("grouped_conv", program)
    path = tmp_path / "a.jsonl"
    path.write_text(HEADER + (row.replace('"N": 2', "") if program == "matmul_init" else row))
    assert main(["fit-windows", str(path)]) == 1
    assert said in capsys.readouterr().err


def test_machines_are_not_mixed(tmp_path: Path) -> None:
    other = tmp_path / "b.jsonl"
    other.write_text(made_up(tmp_path / "a.jsonl").read_text().replace("h200", "h100", 1))
    with pytest.raises(WrongFileError, match="h100, h200"):
        read([tmp_path / "a.jsonl", other])


def test_the_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same by one process as by two."""
    path = str(made_up(tmp_path / "a.jsonl", of=SOME[:2], every=20))
    said = []
    for jobs in ("1", "2"):
        assert main(["fit-windows", path, "--turns", "3", "--jobs", jobs]) == 0
        said.append(capsys.readouterr().out)
    assert said[0] == said[1]
    for words in ("of 2 convolutions", "each convolution by a fit to the others", "searches: 3 of 3 turns"):
        assert words in said[0]
    assert all(str(of) in said[0] for of in SOME[:2])
    assert f"({WINDOWS.latency:g})" in said[0]
    assert "shipped then 100.0 us" in said[0]


def test_the_report_says_where_searches_ended_early(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(made_up(tmp_path / "a.jsonl", of=SOME[:1], every=20))
    assert main(["fit-windows", path, "--turns", "9", "--seconds", "0", "--jobs", "1"]) == 0
    assert "1 ended after 0 s, the first after 1 turns" in capsys.readouterr().out
    assert main(["fit-windows", path, "--turns", "0"]) == 0
    assert "fitted" not in capsys.readouterr().out


def test_what_is_kept_agrees_with_the_costs() -> None:
    """As the docstring of the estimate says."""
    known = table(read([KEPT]), MACHINE)
    assert set(known.rows) == set(CONVOLUTIONS)
    assert round(geometric([c.ratio for c in choices(known, WINDOWS)]), 3) == 1.080
    assert "1.080" in (ROOT / "mdh" / "cost" / "gpu.py").read_text()


def test_candidates_are_legal() -> None:
    for of in SOME[1::2]:
        one = problem(of, MACHINE)
        chosen = candidates(one, random.Random(1))
        assert LIKED < len(chosen) == len({one.tiles(p) for p in chosen})
        for plan in chosen[::12]:
            lower(check(one.shape.program, schedule_of(one, plan), MACHINE, "cuda"))


def test_a_candidate_is_built() -> None:
    made = build("h200", SOME[0], problem(SOME[0], MACHINE).plans[0])
    assert isinstance(made, Code)
    assert made.image
    assert isinstance(build("h200", SOME[0], convolutions()[SOME[0]][0]), Code)
    # a schedule of another program
    assert isinstance(build("h200", SOME[0], "matmul/h200/base"), str)


@pytest.mark.parametrize("verb", ["measure", "measure-windows"])
def test_measuring_says_what_it_needs(
    verb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in (f"experiments.fit_default.{verb.replace('-', '_')}", "experiments.fit_default.timed"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setitem(sys.modules, "bench.gpu.gpu", None)
    assert main([verb, str(tmp_path / "a.jsonl")]) == 1
    assert f"{verb} needs numpy, torch and cupy" in capsys.readouterr().err
    assert not (tmp_path / "a.jsonl").exists()
