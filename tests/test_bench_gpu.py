"""scripts/bench gpu: its cases are programs that some schedule fits, and its page says who won."""

import json
from dataclasses import replace
from fnmatch import fnmatch
from pathlib import Path

import pytest

from bench.cases import arrays_of, program_of
from bench.gpu import aims, kernels, table
from bench.gpu.cases import cases, schedule_path
from bench.gpu.language_cases import SETS
from bench.gpu.outcome import DEFAULT, Outcome, Result, Settings
from bench.gpu.random_cases import (
    CONTRACTIONS,
    CONVOLUTIONS,
    RANDOM,
    RELU,
    any_products,
    contractions,
    convolutions,
    random_cases,
    random_sizes,
)
from bench.gpu.resumed import is_done, resumed
from bench.gpu.work import moved_bytes, rotated_bytes
from mdh.machine import load_machine

CASES = {c.name: c for c in cases()}
SETTINGS = Settings(rounds=3, budget=1.0, turn=1e-3, tuning=1.0)


@pytest.mark.parametrize("name", CASES)
def test_a_schedule_fits(name: str) -> None:
    case = CASES[name]
    for schedule in case.schedules:
        assert schedule_path(schedule).exists(), schedule
    prepared = kernels.lowered(case, load_machine("h200"))
    assert DEFAULT in prepared.texts
    assert set(prepared.refused) <= set(case.schedules)


def test_schedules_of_one_text_are_compiled_once_and_all_reported() -> None:
    """NVRTC reports the registers of a text once."""
    case = replace(CASES["matmul 10x500x64"], schedules=("matmul/h200/tiny", "matmul/h200/tiny", "missing"))
    made = kernels.made(case, load_machine("h200"))
    assert set(made.kernels) == {"matmul/h200/tiny", DEFAULT}
    assert all(k.image and k.resources[0].isdigit() for k in made.kernels.values())
    assert list(made.refused) == ["missing"]


def test_random_sizes_stay_the_same() -> None:
    sizes = random_sizes()
    assert len(sizes) == RANDOM
    assert all(32 <= n <= 16384 and n % 32 == 0 for size in sizes for n in size)
    assert sizes[0] == (896, 32, 1600)
    every = random_cases(RANDOM)
    assert len(every) == 3 * RANDOM + RELU + CONVOLUTIONS + CONTRACTIONS
    assert len({c.name for c in every}) == len(every)
    assert all(24 <= n <= 8192 for c in any_products() for n in c.sizes.values())


def test_random_convolutions_and_contractions_have_default_schedules() -> None:
    machine = load_machine("h200")
    for case in (*convolutions()[::9], *contractions()[::9]):
        assert DEFAULT in kernels.lowered(case, machine).texts, case.name


def test_einsums_have_default_schedules() -> None:
    machine, every = load_machine("h200"), SETS["einsum"]()
    assert len(every) == len({c.name for c in every}) == 20
    for case in every:
        program = program_of(case)
        assert DEFAULT in kernels.lowered(case, machine).texts, case.name
        assert case.contraction is not None
        assert {*case.contraction.factors, case.contraction.result} == {*arrays_of(program)}
        assert moved_bytes(case, program) == rotated_bytes(case, program) == case.touched


def test_bytes_of_arrays() -> None:
    histogram, gather = CASES["histogram 2^24 1024"], CASES["1LUT 10^7x64"]
    program = program_of(histogram)
    assert moved_bytes(histogram, program) == 4 * (1 << 24) + 2 * 4 * 1024
    assert rotated_bytes(histogram, program) == 4 * (1 << 24) + 4 * 1024
    assert moved_bytes(gather, program_of(gather)) == 128 * 50 * 260 + 128 * 256


def test_page_says_who_won() -> None:
    case = CASES["dot 2^24"]
    first = Outcome({"ours": "right", "cupy": "wrong C: off"}, chosen="dot/h200/ticket")
    first.warm = {"torch": [(2e-5, 3e-5)] * 3, "again": [(2e-5, 2e-5)], DEFAULT: [(2e-5, 4e-5)]}
    first.cold = {"torch": [(4e-5, 4e-5)] * 3, "plain": [(4e-5, 3e-5)]}
    second = Outcome({"ours": "right"}, chosen="dot/h200/ticket", warm={"torch": [(2e-5, 4e-5)] * 4})
    result = Result(case, {}, {"dot/h200/ticket": "32 registers, 8 bytes spilled"}, [first, second])
    lost = Result(CASES["scan 2^24"], {}, {}, [Outcome({"case": "failed: did not end in 1 s"})])
    peaks = {False: 6e13, True: 3e13}
    text = table.page([result, lost], {"torch": "2"}, "scripts/bench gpu", SETTINGS, peaks)
    row = "| dot 2^24 | 20 | torch | **2.00** | 40 | torch | **1.00** | 75% |  | 50% | dot/h200/ticket |"
    assert row in text
    assert "| dot 2^24 | ~2.00 (40 µs) |" in text
    assert "| dot 2^24¹ |" in table.page([Result(case, {}, {}, [first])], {}, "", SETTINGS, peaks)
    assert "| scan 2^24 (default) | case: failed: did not end in 1 s |" in text
    assert "- dot 2^24: cupy: wrong C: off" in text
    assert "- dot 2^24: 75% of a plain copy of 90%\n" in text
    assert "- dot 2^24: dot/h200/ticket: 32 registers, 8 bytes spilled" in text
    assert not table.wrong([result, lost])
    assert json.loads(table.figures([result]))[0]["processes"][1]["warm"]["torch"][0] == [2e-5, 4e-5]


def test_a_run_goes_on_where_its_figures_end(tmp_path: Path) -> None:
    """Of a case that has changed nothing is kept."""
    case, other = CASES["dot 2^24"], CASES["scan 2^24"]
    one = Outcome({"ours": "right"}, chosen="dot/h200/wide", tuned=((1, b"ab"),), missing=frozenset({"cub"}))
    one.warm = {"torch": [(2e-5, 3e-5)] * 3}
    path = tmp_path / "raw.json"
    path.write_text(table.figures([Result(case, {}, {"a": "1 registers"}, [one, one]), Result(other)]))
    first, second = resumed(path, [case, other])
    assert first.outcomes == [one, one] and is_done(first) and not is_done(second)
    changed = replace(case, sizes={"K": 8})
    assert not resumed(path, [changed])[0].outcomes
    assert not resumed(tmp_path / "none.json", [case])[0].outcomes


def test_what_falls_short_says_of_what() -> None:
    """A section of the page where anything does; each case's aim is the first whose pattern fits."""
    ours = {"torch": [(2e-5, 2e-5)] * 3}
    product = Result(CASES["matmul fp64 4096"], {}, {}, [Outcome(warm=ours, cold=ours)])
    assert aims.short(product, 0.95) == ""
    said = aims.short(product, 0.65)
    assert said == f"matmul fp64 4096: 65% of the multiply-adds of 90%: {aims.DOUBLE}"
    contraction = Result(CASES["ccsdt 8"], {}, {}, [Outcome(warm=ours)])
    assert aims.short(contraction, None) == "ccsdt 8: 1.00 of 1.3 warm"
    assert aims.lines({"a": "", "b": "b: 1"}) == ["## Short of what is aimed at", "", "- b: 1", ""]
    assert aims.lines({"a": ""}) == []
    every = [case for make in SETS.values() for case in make()]
    unused = [
        p for p, _ in aims.AIMS[:-1] if not any(fnmatch(c.name, p) for c in (*every, *random_cases(RANDOM)))
    ]
    assert not unused


def test_schedules_that_one_rule_refuses_share_a_line() -> None:
    case = CASES["matmul 10x500x64"]
    refused = {
        "a": "K104 tile 64",
        "b": "no such file: b",
        "c": "K104 tile 128",
        "d": "no such file: d",
        "e": "K110 x",
    }
    page = table.page([Result(case, refused, {})], {}, "", SETTINGS, {})
    lines = [line for line in page.splitlines() if line.startswith(f"- {case.name}: ")]
    assert lines == [
        f"- {case.name}: K104: a, c",
        f"- {case.name}: b: no such file: b",
        f"- {case.name}: d: no such file: d",
        f"- {case.name}: e: K110 x",
    ]


def test_the_best_kernels_are_kept(tmp_path: Path) -> None:
    prepared = [kernels.lowered(CASES[name], load_machine("h200")) for name in ("1LUT 10^7x64", "dot 2^24")]
    kernels.keep(prepared, tmp_path, {"1LUT 10^7x64": DEFAULT, "dot 2^24": "dot/h200/wide"})
    kernels.keep(prepared, tmp_path, {"1LUT 10^7x64": "gather_sum/h200/bag", "dot 2^24": DEFAULT})
    assert {p.name for p in tmp_path.iterdir()} == {
        "1LUT_10_7x64.gather_sum.h200.bag.cu",
        "dot_2_24.default.cu",
    }
