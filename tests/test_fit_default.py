"""scripts/fit-default: what it writes it reads, its fit finds the costs behind times, its tiles are legal."""

import json
import random
from dataclasses import replace
from pathlib import Path

import pytest

from experiments.fit_default import fitting
from experiments.fit_default.__main__ import main
from experiments.fit_default.build import Code, build
from experiments.fit_default.candidates import FLOPS, LIKED, candidates, random_sizes, schedule_of, tiles
from experiments.fit_default.choice import adds, choices, geometric, problem, table
from experiments.fit_default.files import WrongFileError, header
from experiments.fit_default.rows import SCHEMA, Row, numbers, read, tile_of
from mdh.checker.run import check
from mdh.cost.gpu import PRODUCTS, Costs, seconds
from mdh.lower.run import lower
from mdh.machine import load_machine
from mdh.schedule.default import default_schedule
from mdh.schedule.default.ladder import LADDER
from tests.support.source_tree import ROOT

MACHINE = load_machine("h200")
SIZES = ((896, 608, 2208), (64, 736, 128), (1024, 1024, 1024), (32, 1120, 4096), (2272, 800, 128))
TRUTH = replace(
    PRODUCTS,
    vector=0.5,
    loop=6.0,
    warps_f32=0.625,
    latency=900.0,
    slice=60.0,
    block=800.0,
    second=2e-6,
    worth=1.0,
    reached=0.6,
    start=1.5e-6,
    traffic=0.3,
)
"""Of a made-up machine."""
KEPT_ANY = ROOT / "artifacts" / "h100" / "default_fit_any.jsonl.gz"
KEPT = tuple(
    ROOT / "artifacts" / "h200" / f"default_fit{part}.jsonl.gz" for part in ("", "_joining", "_early")
)


def made_up(path: Path, costs: Costs = TRUTH) -> Path:
    """A file whose times are the estimate's under `costs`."""
    lines = [header(SCHEMA, "h200", device="made up")]
    for sizes in SIZES:
        one = problem(sizes, MACHINE)
        lines.append({"sizes": sizes, "library": 1e-5})
        for plan in one.plans(LADDER):
            time = seconds(one.work(plan), MACHINE, costs)
            lines.append(Row(sizes, plan.tile, plan.parts, time, 80, adding=adds(plan)).line())
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_the_choice_is_the_default_schedule() -> None:
    """What is judged is what the compiler does."""
    for sizes in SIZES:
        one = problem(sizes, MACHINE)
        plan = min(one.plans(LADDER), key=lambda p: seconds(one.work(p), MACHINE, PRODUCTS))
        assert schedule_of(one, plan, MACHINE) == default_schedule(one.shape.program, MACHINE, "cuda")


@pytest.mark.slow
def test_a_fit_finds_what_made_the_times(tmp_path: Path) -> None:
    known = table(read([made_up(tmp_path / "a.jsonl")]), MACHINE)
    far = replace(TRUTH, vector=5.0, loop=1.0, latency=50.0, block=1500.0, traffic=0.2, reached=0.35)
    found = fitting.fitted(known, LADDER, far, turns=15, seed=1)
    assert fitting.loss(known, TRUTH, LADDER) < 1e-9
    assert fitting.loss(known, found, LADDER) < fitting.loss(known, far, LADDER) / 3
    assert geometric([c.ratio for c in choices(known, found, LADDER)]) < 1.03


def test_the_first_of_equals_is_chosen(tmp_path: Path) -> None:
    """As the default takes it: two tiles that differ by their sides alone have one estimate."""
    known = table(read([made_up(tmp_path / "a.jsonl")]), MACHINE)
    for ladder in (LADDER, LADDER[::-1]):
        for choice in choices(known, TRUTH, ladder):
            every = problem(choice.sizes, MACHINE)
            plan = min(every.plans(ladder), key=lambda p: seconds(every.work(p), MACHINE, TRUTH))
            chosen = choice.chosen
            assert (chosen.tile, chosen.parts, chosen.adding) == (plan.tile, plan.parts, adds(plan))


def test_files_come_together_and_the_faster_time_counts(tmp_path: Path) -> None:
    one, two = made_up(tmp_path / "a.jsonl"), made_up(tmp_path / "b.jsonl", replace(TRUTH, launch=0.0))
    both, alone = read([one, two]), read([two])
    assert sorted(r.seconds for r in both.rows) == sorted(r.seconds for r in alone.rows)
    assert both.library == dict.fromkeys(SIZES, 1e-5)


@pytest.mark.parametrize(
    "text", ["", "{}\n", "no json\n", '{"schema": "mdh.default_fit/1", "machine": "h200"}\n{"sizes": [1]}\n']
)
def test_other_files_are_refused(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(text)
    with pytest.raises(WrongFileError):
        read([path])
    assert main(["fit", str(path)]) == 1
    assert str(path) in capsys.readouterr().err


def test_machines_are_not_mixed(tmp_path: Path) -> None:
    other = tmp_path / "b.jsonl"
    other.write_text(made_up(tmp_path / "a.jsonl").read_text().replace("h200", "h100"))
    with pytest.raises(WrongFileError, match="h100, h200"):
        read([tmp_path / "a.jsonl", other])


@pytest.mark.slow
def test_the_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fit", str(made_up(tmp_path / "a.jsonl")), "--turns", "1"]) == 0
    said = capsys.readouterr().out
    assert f"of {len(SIZES)} products" in said
    assert "of sizes that a fit to the others did not see" in said
    assert f"latency = {PRODUCTS.latency:g}" in said or f"({PRODUCTS.latency:g})" in said
    assert all("x".join(map(str, numbers(t))) in said for t in LADDER)


def test_what_is_kept_agrees_with_the_costs() -> None:
    """As the docstring of the ladder says."""
    made = choices(table(read(KEPT), MACHINE), PRODUCTS, LADDER)
    assert len(made) == 247
    assert round(geometric([c.ratio for c in made]), 3) == 1.042
    odd = choices(table(read([KEPT_ANY]), load_machine("h100")), PRODUCTS, LADDER)
    assert len(odd) == 97
    assert round(geometric([c.ratio for c in odd]), 3) == 1.027


def test_random_sizes() -> None:
    drawn = random_sizes(random.Random(3), 50, 4)
    assert drawn == random_sizes(random.Random(3), 50, 4)
    assert len(set(drawn)) == 50
    assert all(n % 4 == 0 for sizes in drawn for n in sizes)
    assert all(2 * m * n * k <= FLOPS for m, n, k in drawn)


def test_tiles_are_legal() -> None:
    """All that may be measured for two sizes."""
    every = tiles()
    assert set(LADDER) <= set(every)
    assert all(tile_of(numbers(t)) == t for t in every)
    for sizes in ((896, 608, 2208), (100, 52, 300)):
        one = problem(sizes, MACHINE)
        chosen = candidates(one, every, random.Random(1))
        assert LIKED <= len(chosen) == len({(p.tile, p.parts, adds(p)) for p in chosen})
        for plan in chosen[::4]:
            lower(check(one.shape.program, schedule_of(one, plan, MACHINE), MACHINE, "cuda"))


def test_a_candidate_is_built() -> None:
    made = build("h200", SIZES[0], numbers(LADDER[-1]), 2)
    assert isinstance(made, Code)
    assert made.image
    assert 32 <= made.registers <= 128
    assert made.spilled == 0
    assert isinstance(build("h200", SIZES[1], numbers(LADDER[-1]), 64), str)
