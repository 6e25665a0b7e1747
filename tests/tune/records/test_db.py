"""`mdh db` end to end, in this process."""

import json
from pathlib import Path
from typing import Any

import pytest

from mdh.cli.main import run
from mdh.tuner.records.read import read_record
from tests.tune.records.samples import header, trial, write


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two records here, one in the data folder, and files that are none."""
    here, home = tmp_path / "here", tmp_path / "home" / "mdh"
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    write(here / "a.jsonl", 5)
    write(here / "b.jsonl", 2, N=32)
    write(home / "c.jsonl", 1)
    (here / "other.jsonl").write_text('{"text": "mine"}\n')
    (here / "newer.jsonl").write_text('{"schema":"mdh.record/2"}\n')
    (here / "notes.txt").write_text("x")
    monkeypatch.chdir(here)
    return here


def _json(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    capsys.readouterr()
    code = run(["db", *words, "--json"])
    value: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert (value["ok"], value["schema"]) == (code == 0, "mdh.result/1")
    return value


def test_list(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["db", "list"]) == 0
    out, err = capsys.readouterr()
    rows = [row.split() for row in out.splitlines()]
    assert rows[0] == ["record", "program", "sizes", "device", "best", "trials", "failed", "created", "key"]
    assert [row[0].rsplit("/")[-1] for row in rows[1:]] == ["a.jsonl", "b.jsonl", "c.jsonl"]
    assert rows[1][1:] == ["matmul", "-", "h200:", "NVIDIA", "H200", "200", "µs", "5", "compile", "1",
                           "2025-06-15T15:06:40Z", header().mark]  # fmt: skip
    assert rows[2][2] == "N=32"
    assert err == "mdh: `newer.jsonl` is a record of a newer mdh: its schema is `mdh.record/2`\n"


def test_list_as_data(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    value = _json(capsys, "list", ".")
    assert [(r["path"], r["trials"], r["ok"], r["failures"]) for r in value["records"]] == [
        ("a.jsonl", 5, 4, {"compile": 1}),
        ("b.jsonl", 2, 2, {}),
    ]
    assert value["records"][0]["seconds"] == 2e-4
    assert value["records"][0]["header"]["key"] == header().key
    assert len(value["remarks"]) == 1


def test_an_empty_folder_and_one_that_is_not_there(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "empty").mkdir()
    assert run(["db", "list", "empty"]) == 0
    assert capsys.readouterr() == ("", "mdh: no records in empty\n")
    assert run(["db", "list", "absent"]) == 1
    assert "error[F101]: no file `absent`" in capsys.readouterr().err
    monkeypatch.setenv("XDG_DATA_HOME", "/proc/none")
    assert run(["db", "list"]) == 0


def test_show(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["db", "show", "a.jsonl", "--best", "2"]) == 0
    out = capsys.readouterr().out
    assert (
        out
        == f"""\
record    a.jsonl ({header().mark})
program   matmul
device    NVIDIA H200 (h200, cuda)
versions  mdh 0.1.0, nvrtc 13.0, driver 580.1
method    median of warm runs
created   2025-06-15T15:06:40Z
command   mdh tune matmul.c --schedule template.mdh --device cuda:0
trials    5, 4 ok

   trial  time    phase  origin  holes
*  4      200 µs  quick  random  ?bm=8 ?bn=8
   2      333 µs  quick  random  ?bm=8 ?bn=16

failed   trials  first message
compile  1       trial 3: D104 ptxas: "µ" is no register
"""
    )


def test_show_one_trial(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["db", "show", "a.jsonl", "--trial", "4"]) == 0
    out = capsys.readouterr().out
    assert "holes     ?bm=8 ?bn=8\nresult    200 µs\nwarm      200 µs 250 µs 100 µs, device clock\n" in out
    assert out.endswith("\n\n1: (de-)comp( 8, 8, ^ ) ( ^,^ ; ^ ) ( BLK.y, BLK.x, ^ )\n")
    assert run(["db", "show", "a.jsonl", "--trial", "3"]) == 0
    assert 'result    compile D104\nmessage   ptxas: "µ" is no register\n' in capsys.readouterr().out


def test_show_as_data(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    value = _json(capsys, "show", "a.jsonl", "--best", "3")
    assert [t["trial"] for t in value["ranked"]] == [4, 2, 1]
    assert (value["best"]["trial"], value["failures"]) == (4, {"compile": 1})
    assert _json(capsys, "show", "a.jsonl", "--trial", "1")["selected"][0]["values"] == {"?bm": 16, "?bn": 8}
    refused = _json(capsys, "show", "a.jsonl", "--trial", "99")
    assert refused["diagnostics"][0]["code"] == "F175"


def test_a_record_without_trials(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(folder / "none.jsonl", 0)
    assert run(["db", "show", "none.jsonl"]) == 0
    assert capsys.readouterr().out.endswith("trials    0, 0 ok\n")
    assert run(["db", "show", "none.jsonl", "--trial", "0"]) == 1
    assert "it has none yet" in capsys.readouterr().err
    for form in ("jsonl", "csv", "t4"):
        assert run(["db", "export", "none.jsonl", "--format", form]) == 0


def test_merge_and_choose(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["db", "merge", "new/all.jsonl", "a.jsonl", "b.jsonl"]) == 0
    assert capsys.readouterr() == ("", "mdh: wrote new/all.jsonl: 2 records, 7 trials\n")
    assert run(["db", "show", "new/all.jsonl"]) == 1
    assert "error[F176]" in capsys.readouterr().err
    assert run(["db", "show", "new/all.jsonl", "--record", header(N=32).mark[:4]]) == 0
    assert "program   matmul N=32\n" in capsys.readouterr().out
    assert _json(capsys, "merge", "new/all.jsonl", "a.jsonl")["trials"] == 7


@pytest.mark.parametrize(
    ("words", "word", "code"),
    [
        (("merge", "out.jsonl", "a.jsonl", "none.jsonl"), "none.jsonl", "F101"),
        (("merge", "out.jsonl", "newer.jsonl"), "newer.jsonl", "F171"),
        (("merge", "notes.txt", "a.jsonl"), "notes.txt", "F170"),
        (("merge", ".", "a.jsonl"), ".", "F111"),
        (("export", "a.jsonl", "-o", "a.jsonl", "--format", "csv"), "a.jsonl", "F111"),
        (("export", "a.jsonl", "-o", "b.jsonl/x.csv"), "b.jsonl/x.csv", "F111"),
        (("show", "."), ".", "F102"),
        (("list", "notes.txt"), "notes.txt", "F170"),
    ],
)
def test_bad_input_is_placed(
    folder: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], word: str, code: str
) -> None:
    before = {p: p.read_bytes() for p in folder.iterdir()}
    value = _json(capsys, *words)
    found = value["diagnostics"][0]
    assert found["code"] == code
    label = found["labels"][0]
    assert label["length"] == len(word)
    assert {p: p.read_bytes() for p in folder.iterdir()} == before


@pytest.mark.parametrize("form", ["jsonl", "csv", "t4"])
def test_export(folder: Path, capsys: pytest.CaptureFixture[str], form: str) -> None:
    assert run(["db", "export", "a.jsonl", "--format", form, "-o", "out/x"]) == 0
    assert run(["db", "export", "a.jsonl", "--format", form]) == 0
    assert capsys.readouterr().out == Path("out/x").read_text(encoding="utf-8")
    value = _json(capsys, "export", "a.jsonl", "--format", form)
    assert (value["trials"], value["format"]) == (5, form)
    assert value["text"] == Path("out/x").read_text(encoding="utf-8")


def test_damage_is_remarked_upon(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = folder / "a.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"trial":2', b'"trial":8') + b'{"torn')
    assert run(["db", "show", "a.jsonl"]) == 0
    assert capsys.readouterr().err == (
        "mdh: `a.jsonl`: 1 line is damaged and left out (line 4: its checksum is wrong)\n"
        "mdh: `a.jsonl`: its last line was cut off after 6 bytes\n"
    )
    assert read_record("a.jsonl")[1][:2] == (trial(0, 1e-3), trial(1, 5e-4))


def test_without_a_verb_it_helps(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["db"]) == 0
    out = capsys.readouterr().out
    assert all(word in out for word in ("list", "show", "merge", "export"))
