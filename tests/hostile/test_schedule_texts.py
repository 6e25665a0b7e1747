"""Hostile schedules and words of the command line: a coded message each, in little time and of few lines."""

import json
from pathlib import Path
from time import process_time

import pytest

from mdh.cli.console import MOST_IN_JSON, MOST_SHOWN
from mdh.cli.main import run
from mdh.diagnostics import Failed
from mdh.schedule.parser import parse_schedule
from mdh.schedule.printer import print_schedule
from mdh.source import Source

STEP = "(de-)comp( {0}, 1, 1 ) ( ^, ^ ; ^ ) ( FOR.1, FOR.2, FOR.3 )\n"
LONG = "9" * 5000
LIMIT = 130_000

TEXTS = {
    "a tile of 5,000 digits": STEP.format(LONG),
    "a tile of 5,000 zeros": STEP.format("0" * 5000),
    "a hole's value of 5,000 digits": STEP.format(f"?{{{LONG}}}"),
    "a loop's number of 5,000 digits": f"(de-)comp( 1 ) ( ^ ; ^ ) ( FOR.{LONG} )",
    "a label of 5,000 digits": f"{LONG}: " + STEP.format(1),
    "digits of another script": STEP.format("\u0663"),
    "raised digits": STEP.format("\u00b3"),
    "unknown attributes": STEP.format("1" + "@a" * 40_000),
    "unknown words": "\n".join([STEP.format("?{" + ",".join(f"x{k}" for k in range(100)) + "}")] * 200),
    "a long set": STEP.format("?{" + ",".join(f"x{k}" for k in range(15_000)) + "}"),
    "steps with four errors each": (STEP.format(0).replace("FOR.", "FXR.") * 2_000)[:LIMIT],
    "conditions": "where 1 == 1\n" * 10_000,
    "a condition that nests": "where " + "(" * 100_000,
    "a condition that goes on": "where 1" + "+1" * 60_000,
    "comments": "/**/" * 30_000,
    "open comments": "/*" * 60_000,
    "brackets": "(" * LIMIT,
    "step words": "(de-/ -" + " -r" * 40_000,
    "one long name": "x" * LIMIT,
    "one long target": "target " + "x" * 100_000,
    "sections": "".join(f"stage s{k} {{ }}\n" for k in range(8_000)),
}


@pytest.mark.parametrize("name", TEXTS)
def test_every_schedule_has_an_outcome(name: str) -> None:
    begun = process_time()
    try:
        print_schedule(parse_schedule(Source("s.mdh", TEXTS[name])))
    except Failed as failed:
        assert all(d.code.startswith("S") and d.labels for d in failed.diagnostics)
    assert process_time() - begun < 2.0


@pytest.mark.parametrize("name", ["unknown attributes", "unknown words", "one long name"])
def test_what_is_shown_has_an_end(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("s.mdh").write_text(TEXTS[name], encoding="utf-8")
    assert run(["fmt", "--check", "s.mdh"]) == 1
    text = capsys.readouterr().err
    assert len(text) < 100_000
    assert text.count("error[") <= MOST_SHOWN
    assert run(["fmt", "--check", "s.mdh", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert len(found["diagnostics"]) <= MOST_IN_JSON
    if name != "one long name":
        assert "more errors are not shown" in text
        assert found["not_shown"] > 10_000


DEFINES = [
    "N=" + LONG,
    "N=1e999",
    "N=",
    "N=\u0663",
    "N=0x" + "f" * 5000,
    "N=-1",
    "N=1.5",
    "N=(((((",
    "N=\n",
    "N",
]


@pytest.mark.parametrize("word", DEFINES, ids=lambda w: w[:12].encode("unicode_escape").decode())
@pytest.mark.parametrize("head", ["void f(int N, float y[8])", "void f(float y[8])"])
def test_words_of_the_command_line(
    word: str, head: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("f.c").write_text(f"{head} {{ for (int i = 0; i < 8; i++) y[i] = N; }}\n", encoding="utf-8")
    assert run(["check", "f.c", "--machine", "a100", "-D", word]) in (0, 1, 2)
    assert len(capsys.readouterr().err) < 20_000
    Path("s.mdh").write_text("(de-)comp( ?N ) ( ; ^ ) ( FOR.1 )\n", encoding="utf-8")
    words = ["check", "f.c", "--machine", "a100", "-D", "N=1", "-s", "s.mdh", "--set", word]
    assert run(words) in (0, 1, 2)
    assert len(capsys.readouterr().err) < 20_000
