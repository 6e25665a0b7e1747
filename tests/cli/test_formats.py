"""`--format`: SARIF logs keep to the rules of the schema, and GitHub's commands to their escapes."""

import json
import re
from io import BytesIO, TextIOWrapper
from pathlib import Path
from random import Random
from typing import Any

import pytest

from mdh.cli.main import run
from mdh.diagnostics import Diagnostic, Label, Severity
from mdh.report.github import github_text
from mdh.report.sarif import sarif_log, uri_of
from mdh.source import Source, Span

BAD = "void f(float y[8], const float x[8]) { for (int i = 0; i < 8; i++) y[i] = xx[i]; y[0] = 3 % 2.0; }\n"

MESSAGE = {"text": str}
REGION = {"startLine": int, "startColumn": int, "endLine": int, "endColumn": int}
PLACE = {"artifactLocation": {"uri": str}, "region": REGION}
REFERENCE = {"id": str, "index": int}
RULE = {"id": str, "?shortDescription": MESSAGE, "?help": {"text": str, "markdown": str}}
REPLACEMENT = {"deletedRegion": REGION, "insertedContent": MESSAGE}
CHANGE = {"artifactLocation": {"uri": str}, "replacements": [REPLACEMENT]}
FIX = {"description": MESSAGE, "artifactChanges": [CHANGE]}
RESULT = {
    "ruleId": str, "ruleIndex": int, "level": ("none", "note", "warning", "error"), "message": MESSAGE,
    "locations": [{"physicalLocation": PLACE}],
    "?relatedLocations": [{"id": int, "physicalLocation": PLACE, "message": MESSAGE}], "?fixes": [FIX],
}  # fmt: skip
NOTICE = {"descriptor": REFERENCE, "level": ("none", "note", "warning", "error"), "message": MESSAGE}
LOG = {
    "$schema": str, "version": ("2.1.0",), "runs": [{
        "tool": {"driver": {"name": ("mdh",), "version": str, "rules": [RULE], "?notifications": [RULE]}},
        "columnKind": ("unicodeCodePoints",),
        "invocations": [
            {"executionSuccessful": bool, "exitCode": int, "?toolExecutionNotifications": [NOTICE]}
        ],
        "results": [RESULT],
    }],
}  # fmt: skip
"""What mdh writes of the schema: fields that begin with `?` may be left out, others are not known."""


def demand(value: Any, form: Any, where: str = "log") -> None:
    match form:
        case dict():
            assert isinstance(value, dict), where
            assert {k for k in form if not k.startswith("?")} <= value.keys(), where
            assert value.keys() <= {k.lstrip("?") for k in form}, (where, value.keys())
            for key, inner in form.items():
                if key.lstrip("?") in value:
                    demand(value[key.lstrip("?")], inner, f"{where}.{key}")
        case list():
            assert isinstance(value, list), where
            texts = [json.dumps(v, sort_keys=True) for v in value]
            assert len(set(texts)) == len(texts) or "results" in where, f"{where} has one twice"
            for one in value:
                demand(one, form[0], where)
        case tuple():
            assert value in form, (where, value)
        case _:
            assert type(value) is form, (where, value)
            assert form is not int or where.endswith(("ndex", "exitCode")) or value >= 1, (where, value)


def judged(text: str) -> dict[str, Any]:
    """The one run of a log that keeps to the schema."""
    found = json.loads(text)
    demand(found, LOG)
    (run_,) = found["runs"]
    driver = run_["tool"]["driver"]
    for result in run_["results"]:
        assert driver["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
        for fix in result.get("fixes", ()):
            assert fix["artifactChanges"] and all(c["replacements"] for c in fix["artifactChanges"])
    for notice in run_["invocations"][0].get("toolExecutionNotifications", ()):
        at = notice["descriptor"]
        assert driver["notifications"][at["index"]]["id"] == at["id"]
    return dict(run_)


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_WORKSPACE", raising=False)
    Path("bad.c").write_text(BAD)
    Path("step.mdh").write_text("1: (de-)comp( 1, 8, 1 ) ( ^, ^ ; ^ ) ( FOR.1, FOR.2, FOR.3 )\n")


def test_errors_of_a_program(capsys: pytest.CaptureFixture[str]) -> None:
    for verb in ("check", "compile"):
        assert run([verb, "bad.c", "-m", "h200", "--format", "sarif"]) == 1
        found = judged(capsys.readouterr().out)
        assert [r["ruleId"] for r in found["results"]] == ["C111", "C114"]
        region = found["results"][0]["locations"][0]["physicalLocation"]["region"]
        assert BAD[region["startColumn"] - 1 : region["endColumn"] - 1] == "xx"
        (fix,) = found["results"][0]["fixes"]
        (change,) = fix["artifactChanges"][0]["replacements"]
        assert (change["deletedRegion"], change["insertedContent"]) == (region, {"text": "x"})
        assert found["invocations"] == [{"executionSuccessful": True, "exitCode": 1}]


def test_what_has_no_file_is_a_notification(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", "none.c", "-m", "h200", "--format=sarif"]) == 1
    found = judged(capsys.readouterr().out)
    assert found["results"] == [] and not found["invocations"][0]["executionSuccessful"]
    (told,) = found["invocations"][0]["toolExecutionNotifications"]
    assert "`none.c` in <command line>" in told["message"]["text"]


def test_standard_input_has_lines(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has no file, so that the message names the line."""
    text = b"void f(float y[8]) {\n  y[0] = 1;\n  y[1] = xx;\n}\n"
    for format in ("sarif", "github"):
        monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO(text)))
        assert run(["check", "-", "-m", "h200", "--format", format]) == 1
        assert "`xx` in <stdin>:3:10" in capsys.readouterr().out


def test_a_legal_schedule_has_its_warnings_with_fixes(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["check", "matmul", "-s", "step.mdh", "-m", "generic-cpu", "--format", "sarif"]
    assert run(words) == 0
    out, err = capsys.readouterr()
    found = judged(out)
    assert err == "" and {r["level"] for r in found["results"]} == {"warning"}
    assert any("BLK" in str(r.get("fixes")) for r in found["results"])
    assert run([*words, "--no-warnings"]) == 0
    assert judged(capsys.readouterr().out)["results"] == []
    assert run([*words, "--fix"]) == 2
    assert "add --in-place" in judged(capsys.readouterr().out)["invocations"][0][
        "toolExecutionNotifications"
    ][0]["message"]["text"]  # fmt: skip


def test_annotations(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", "bad.c", "-m", "h200", "--format", "github"]) == 1
    first, second = capsys.readouterr().out.splitlines()
    column = BAD.index("xx") + 1
    place = f"file=bad.c,line=1,endLine=1,col={column},endColumn={column + 2},title=mdh C111"
    assert first == f"::error {place}::`xx` is not defined%0Ahelp: did you mean `x`?"
    assert "::`%25` needs integers" in second
    assert run(["run", "bad.c", "--format", "github"]) == 1
    assert capsys.readouterr().out.splitlines() == [first, second]
    assert run(["check", "matmul", "-s", "step.mdh", "-m", "generic-cpu", "--format", "github"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("::warning file=step.mdh,line=1") and "\nok: " in out


def test_names_are_relative_to_the_checkout() -> None:
    span = Span(Source("/home/me/tree/sub/a.c", "x"), 0, 1)
    d = Diagnostic("C111", "x", (Label(span),))
    assert "file=sub/a.c," in github_text([d], {"GITHUB_WORKSPACE": "/home/me/tree"})
    assert "file=/home/me/tree/sub/a.c," in github_text([d], {"GITHUB_WORKSPACE": "/other"})
    assert uri_of("./a b.c") == "a%20b.c" and uri_of("/x/ä.c") == "file:///x/%C3%A4.c"
    assert uri_of("../x.c").startswith("file:///")


@pytest.mark.parametrize(("words", "said"), [
    (["check", "bad.c", "--format", "xml"], "`xml` is no format of `mdh check`"),
    (["check", "bad.c", "--format", "sarf"], "did you mean `sarif`?"),
    (["check", "bad.c", "--format"], "--format needs a name"),
    (["check", "bad.c", "--format", "--json"], "--format needs a name"),
    (["run", "bad.c", "--format", "sarif"], "`sarif` is no format of `mdh run`"),
    (["check", "bad.c", "--json", "--format", "github"], "`github` and `json` are both asked for"),
    (["devices", "--format", "github"], "no such option"),
])  # fmt: skip
def test_other_formats(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(words) == 2
    assert said in "".join(capsys.readouterr())


def test_json_by_its_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", "bad.c", "-m", "h200", "--json"]) == 1
    wanted = capsys.readouterr().out
    assert run(["check", "--format", "json", "bad.c", "-m", "h200"]) == 1
    assert capsys.readouterr().out == wanted


_LETTERS = "ab: ,%\n\r\t\"'`äß漢字é😀\u202e\x1b::error"


def _random(chance: Random) -> Diagnostic:
    def text(most: int) -> str:
        return "".join(chance.choice(_LETTERS) for _ in range(chance.randrange(1, most)))

    def label() -> Label:
        source = Source(chance.choice(("a.c", "<command line>", "x/ü,:%.mdh", "<stdin>")), text(60))
        start = chance.randrange(len(source.text))
        return Label(Span(source, start, chance.randrange(start, len(source.text) + 1)), text(9))

    labels = tuple(label() for _ in range(chance.randrange(4)))
    notes = tuple(text(20) for _ in range(chance.randrange(3)))
    code = chance.choice(("C111", "K104", "X999"))
    return Diagnostic(code, text(30), labels, notes, text(20), severity=chance.choice(list(Severity)))


def test_any_text_keeps_to_the_rules() -> None:
    chance = Random(7)
    for _ in range(300):
        found = [_random(chance) for _ in range(chance.randrange(1, 4))]
        log = sarif_log(found)
        judged(json.dumps(log))
        for result in log["runs"][0]["results"]:
            _demand_text(result, found)
        lines = github_text(found, {}).splitlines()
        assert len(lines) == len(found)
        for line in lines:
            matched = re.fullmatch(r"::(?:error|warning|notice) ((?:\w+=[^:,]*,?)+)::(.*)", line)
            assert matched is not None, line
            assert not re.search("[\x00-\x08\x0a-\x1f\u202e]", line)


def _demand_text(result: dict[str, Any], found: list[Diagnostic]) -> None:
    """The region is the text of a label, read as an editor reads it: lines and characters."""
    region = result["locations"][0]["physicalLocation"]["region"]
    spans = [x.span for d in found for x in d.labels]
    texts = []
    for span in spans:
        lines = span.source.text.split("\n")
        if region["endLine"] <= len(lines):
            rows = lines[region["startLine"] - 1 : region["endLine"]]
            rows[-1] = rows[-1][: region["endColumn"] - 1]
            rows[0] = rows[0][region["startColumn"] - 1 :]
            texts.append("\n".join(rows) == span.text)
    assert any(texts)
