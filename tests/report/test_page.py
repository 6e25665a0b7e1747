"""The page of a schedule as a text: one file, small, soon made, with what it must hold."""

import json
import re
import sys
import time
from html import escape, unescape
from html.parser import HTMLParser
from math import prod
from pathlib import Path
from random import Random
from typing import Any

import pytest

from mdh.checker.run import check
from mdh.cli.main import run
from mdh.diagnostics import Failed
from mdh.frontend.c.read import read_program
from mdh.ir.plan import Plan
from mdh.lower.run import lower
from mdh.machine import load_machine
from mdh.report.picture.banks import bank_accesses
from mdh.report.picture.colours import LEXERS, coloured
from mdh.report.picture.page import schedule_page
from mdh.report.picture.stopped import stopped_before, stopped_html
from mdh.schedule.model import Schedule
from mdh.schedule.parser import parse_schedule
from mdh.schedule.printer import print_schedule
from mdh.source import Source
from mdh.target.emit import emit
from tests.report.test_ownership import cases, planned_texts
from tests.support.random_programs import random_program
from tests.support.random_schedules import random_schedule
from tests.support.source_tree import ROOT

LARGE = ("matmul", "matmul/h200/base", ["-D", "M=1024", "-D", "N=1024", "-D", "K=1024"])


def written(folder: Path, program: str, schedule: str, words: list[str]) -> Path:
    """What `mdh explain --html` writes."""
    file, out = ROOT / "inputs_c" / f"{program}.c", folder / f"{schedule.replace('/', '.')}.html"
    text = ROOT / "schedules" / f"{schedule}.mdh"
    assert run(["explain", str(file), "--schedule", str(text), "--html", str(out), *words]) == 0
    return out


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("page"), *LARGE)


class _Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.outside: list[str] = []
        self.opened: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.opened.append(tag)
        for name, value in attrs:
            if name in ("src", "href", "action") and value != "data:,":
                self.outside.append(f"{tag} {name}={value}")


def test_one_small_file_that_asks_for_nothing_else(large: Path) -> None:
    text = large.read_text(encoding="utf-8")
    links = _Links()
    links.feed(text)
    assert links.outside == []
    assert not re.search(r"\b(fetch|XMLHttpRequest|import)\s*\(|@import|url\(", text)
    assert len(text) < 1 << 20
    assert links.opened.count("figure") == 4


def test_written_in_less_than_a_second(tmp_path: Path) -> None:
    start = time.process_time()
    written(tmp_path, *LARGE)
    assert time.process_time() - start < 1.0


def test_same_page_for_the_same_input(large: Path, tmp_path: Path) -> None:
    assert written(tmp_path, *LARGE).read_text() == large.read_text()


def _data(page: Path) -> Any:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page.read_text(), re.S)
    assert found
    return json.loads(found[1])


def test_every_line_of_code_has_a_step_and_every_step_a_line(large: Path) -> None:
    (stage,) = _data(large)["stages"]
    rows = re.findall(r'<span class=l(?: data-s="0\.(\d+)")?>(.*?)</span>', large.read_text())
    steps = [int(s) for s, _ in rows if s]
    assert set(steps) == set(range(len(stage["steps"])))
    by_text = {re.sub("</?i[^>]*>", "", text).strip(): int(s) for s, text in rows if s}
    assert by_text["const int wrp_i = tid / 128;"] == 2
    assert by_text["for (int k_2 = 0; k_2 &lt; 128; ++k_2) {"] == 1
    assert by_text["__shared__ __align__(16) float A_SM[2104];"] == 1
    assert by_text["__align__(16) float B_RM[8];"] == 4


def test_colours_change_no_character(large: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the text is, also where Pygments is not there."""
    strange = [
        'int a = 1; // <b>&"',
        "/* over",
        "two rows */ x = 'c'; \\",
        "",
        "#define X(a) \\",
        "    a##b",
        '"open',
    ]
    for language in LEXERS:
        rows = coloured(strange, language)
        assert [unescape(re.sub("</?i[^>]*>", "", row)) for row in rows] == strange
        assert "<i class=c>" in rows[1] and "<i class=c>" in rows[2]
    for name in [m for m in sys.modules if m.startswith("pygments")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "pygments", None)
    assert coloured(strange, "c") == [escape(row) for row in strange]


@pytest.mark.parametrize(("pad", "worst"), [("", 32), ("@pad(1)", 1), ("@pad(2)", 2)])
def test_banks_of_a_transposed_tile(pad: str, worst: int) -> None:
    """Columns of rows of 32 words lie in one bank; one more word a row spreads them."""
    schedule = f"""
    1: (de-)comp( 32, 32 ) ( A:SM[1,2]{pad} ; ^ ) ( BLK.y, BLK.x )
    2: (de-)comp( 1, 4 ) ( ^ ; ^ ) ( THR.x, THR.y@cyclic(1) )
    """
    (case,) = cases(_plan(ROOT / "inputs_c" / "transpose.c", schedule, {"M": 64, "N": 64}))
    turns = [a.turns for a in bank_accesses(case.kernel) if not a.store]
    assert max(turns) == worst


def test_a_refused_schedule_shows_its_messages_in_place(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Below the line, with the caret in the line's own columns; the command says the same and exits 1."""
    text = "target h200\n1: (de-)comp( 128, 4096, ^ ) ( ^, ^ ; ^ ) ( BLK.y, BLK.x, ^ )\n"
    schedule, out = tmp_path / "bad.mdh", tmp_path / "bad.html"
    schedule.write_text(text)
    words = ["explain", str(ROOT / "inputs_c" / "matmul.c"), "--schedule", str(schedule), "--html", str(out)]
    assert run([*words, *LARGE[2]]) == 1
    assert "error[K104]" in capsys.readouterr().err
    rows = re.sub(r"<[^>]*>", "\n", out.read_text().split("<pre class=source>")[1]).splitlines()
    line = next(row for row in rows if "4096" in row)
    caret = next(row for row in rows if "^^^^" in row)
    assert caret.index("^^^^") - len("2 ") == line.index("4096")
    assert "K104" in "".join(rows)


def _refused(tmp_path: Path, rows: str, words: list[str] = LARGE[2]) -> str:
    (tmp_path / "bad.mdh").write_text(f"target h200\n{rows}")
    out = tmp_path / "bad.html"
    file = str(ROOT / "inputs_c" / "matmul.c")
    assert run(["explain", file, "--schedule", str(tmp_path / "bad.mdh"), "--html", str(out), *words]) == 1
    return out.read_text()


def test_a_refused_schedule_is_drawn_up_to_the_bad_step(tmp_path: Path) -> None:
    """Memory entries that only later steps make legal do not stand in the way."""
    text = _refused(
        tmp_path,
        """1: (de-)comp( 128, 128, ^ ) ( ^, ^ ; C:RM[1,2] ) ( BLK.y, BLK.x, ^ )
2: (de-)comp( ^, ^, 8 ) ( A:SM[1,2], B:SM[1,2] ; ^ ) ( ^, ^, FOR.1 )
3: (de-)comp( 8, 256, ^ ) ( ^, ^ ; ^ ) ( THR.y, THR.x, ^ )
4: (de-)comp( 1, 1, 1 ) ( ^, ^ ; ^ ) ( FOR.2, FOR.3, FOR.1 )
""",
    )
    (stage,) = json.loads(text.split('id="data">')[1].split("</script>")[0])["stages"]
    assert [s["bad"] for s in stage["steps"]] == [False, False, True]
    assert [s["layers"] for s in stage["steps"]] == [["BLK"], [], []]
    assert "A:SM[1,2]" in stage["steps"][1]["text"]
    assert stage["steps"][2]["facts"][0].startswith("K104: tile 256")
    assert {d["step"] for dim in stage["dims"] for d in dim["digits"]} == {0, 1, 3}
    assert 'class="undrawn"' in text and "4: (de-)comp(" in text


def test_a_schedule_whose_first_step_is_bad_shows_what_it_would_split(tmp_path: Path) -> None:
    text = _refused(tmp_path, "1: (de-)comp( 4096, ^, ^ ) ( ^, ^ ; ^ ) ( BLK.y, ^, ^ )\n")
    (stage,) = json.loads(text.split('id="data">')[1].split("</script>")[0])["stages"]
    assert [s["bad"] for s in stage["steps"]] == [True]


def test_random_refused_schedules_are_drawn_or_left_out() -> None:
    """Whatever is drawn is a legal plan of a beginning of each section."""
    there, drawn = load_machine("a100"), 0
    for seed in range(300, 360):
        program = read_program(random_program(seed).source)
        given = spoiled(parse_schedule(Source("s.mdh", random_schedule(program, there, seed))), Random(seed))
        try:
            check(program, given, there, "cuda")
            continue
        except Failed as failed:
            diagnostics = failed.diagnostics
        found = stopped_before(given, diagnostics, lambda s, p=program: check(p, s, there, "cuda"))
        if found is None:
            continue
        drawn += 1
        assert all(0 <= stop.drawn <= stop.bad for stop in found.stops.values())
        html, stages = stopped_html(found, diagnostics)
        for stage in json.loads(json.dumps(stages)):
            assert sum(s["bad"] for s in stage["steps"]) <= 1
            for dim in stage["dims"]:
                assert sum(d["weight"] * (d["parts"] - 1) for d in dim["digits"]) + 1 >= dim["extent"]
        assert html.count("<section") == len(stages)
    assert drawn >= 10


def spoiled(schedule: Schedule, rng: Random) -> Schedule:
    """With one tile size that is too large, in the text."""
    text = print_schedule(schedule)
    sizes = list(re.finditer(r"comp\(\s*(\d+)|(?<=, )(\d+)(?=[, )])", text))
    if not sizes:
        return schedule
    one = rng.choice(sizes)
    n = 1 if one[1] else 2
    return parse_schedule(Source("s.mdh", f"{text[: one.start(n)]}99999{text[one.end(n) :]}"))


def test_open_holes_are_drawn_at_a_point_that_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = written(tmp_path, "matmul", "matmul/h200/open", [])
    note = "holes are open: drawn with ?bm = 128"
    assert note in capsys.readouterr().err
    assert note in out.read_text()


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["inputs.c", "--machine", "h200", "--html", "inputs.c"], "F111"),
        (["inputs.c", "--machine", "h200", "--html", "inputs.c/page.html"], "F111"),
        (["inputs.c", "--machine", "h2000", "--html", "page.html"], "F150"),
        (["inputs.c", "--html", "page.html"], "F110"),
        (["inputs.c", "--schedule", "s.mdh", "--space", "--html", "page.html"], "F107"),
        (["K104", "--html", "page.html"], "F107"),
    ],
)
def test_bad_words_write_no_page(
    words: list[str],
    code: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("inputs.c").write_text((ROOT / "inputs_c" / "matmul.c").read_text())
    assert run(["explain", *words]) in (1, 2)
    assert f"[{code}]" in capsys.readouterr().err
    assert not Path("page.html").exists()


def _plan(source: Path, schedule: str, sizes: dict[str, int]) -> Plan:
    program = read_program(Source(source.name, source.read_text()), defines=sizes)
    plan = planned_texts(program, schedule, "h200", "cuda")
    assert plan is not None
    return plan


@pytest.mark.parametrize("machine", ["a100", "generic-cpu"])
def test_pages_of_random_programs(machine: str) -> None:
    """Whatever the checker accepts can be drawn, and lines of code belong to steps that there are."""
    there = load_machine(machine)
    for seed in range(200, 230):
        program = read_program(random_program(seed).source)
        plan = planned_texts(program, random_schedule(program, there, seed), machine, there.targets[0])
        if plan is None:
            continue
        module = lower(plan)
        page = schedule_page(plan, module, emit(module, program))
        for stage, step in re.findall(r'data-s="(\d+)\.(\d+)"', page):
            assert int(step) < len(plan.stages[int(stage)].steps)


def test_the_headline_is_about_the_kernel_that_computes(tmp_path: Path) -> None:
    """The kernel that combines parts has more blocks, and says nothing of the schedule."""
    page = written(
        tmp_path, "matmul", "matmul/h200/split_k", ["-D", "M=1024", "-D", "N=1024", "-D", "K=1024"]
    )
    text = page.read_text(encoding="utf-8")
    facts = re.findall(r"<div class=fact><b>(.*?)</b><span>(.*?)</span>", text)
    own = re.search(r"matmul_kernel: grid (\d+)×(\d+)×(\d+), block (\d+)×(\d+)×(\d+): <b>(\d+%)</b>", text)
    assert own is not None and "matmul_combine: grid" in text
    blocks, threads = (prod(map(int, own.groups()[n : n + 3])) for n in (0, 3))
    assert (f"{blocks:,} × {threads}", "blocks × threads") in facts
    assert any(b == own[7] and s.startswith("occupancy") for b, s in facts)


def test_subscripts_that_name_loops_around_the_stage_show_the_first_turn(tmp_path: Path) -> None:
    text = """void f(float y[5][7], const float w[7][5]) {
      for (int t = 1; t < 5; t++)
        for (int i = 0; i < 7; i++)
          y[t][i] = y[t - 1][6 - i] * w[i][t];
    }"""
    (tmp_path / "f.c").write_text(text)
    page = tmp_path / "f.html"
    assert run(["explain", str(tmp_path / "f.c"), "--machine", "generic-cpu", "--html", str(page)]) == 0
    (stage,) = _data(page)["stages"]
    found = {a["name"]: [t["index"] for t in a["touches"]] for a in stage["arrays"]}
    assert found["w"] == [[{"offset": 0, "terms": [{"dim": 0, "factor": 1}]}, {"offset": 1, "terms": []}]]
