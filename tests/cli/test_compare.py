"""`mdh compare` as users call it: on the CPU's runtime, and for machines that are not here."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from mdh.cli.main import run
from tests.support.source_tree import ROOT

MATMUL = str(ROOT / "inputs_c" / "matmul.c")
SMALL = ["-D", "M=37", "-D", "N=29", "-D", "K=41"]
ROWS = "1: (de-)comp( {}, ^, ^ ) ( ^, ^ ; ^ ) ( BLK.x, ^, ^ )\n"
WIDE = """1: (de-)comp( ^, 4, ^ ) ( ^, ^ ; ^ ) ( ^, BLK.x, ^ )
2: (de-)comp( ^, 1, ^ ) ( ^, ^ ; ^ ) ( ^, VEC.x, ^ )
"""


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    Path("rows.mdh").write_text(ROWS.format(4))
    Path("open.mdh").write_text(ROWS.format("?t{2,4,8}"))
    Path("wide.mdh").write_text(WIDE)
    return tmp_path


def _json(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> dict[str, Any]:
    capsys.readouterr()
    assert run(["compare", MATMUL, *SMALL, *words, "--json"]) == code
    value: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert (value["schema"], value["verb"], value["ok"]) == ("mdh.result/1", "compare", code == 0)
    return value


def test_schedules_libraries_and_a_device_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    words = [
        "-s",
        "rows.mdh",
        "-s",
        "open.mdh",
        "-s",
        "default",
        "--device",
        "opencl:0",
        "--device",
        "opencl:77",
    ]
    value = _json(
        capsys, *words, "--baseline", "numpy", "--baseline", "cublas", "--repeat", "9", "--html", "p.html"
    )
    rows = {(r["platform"], r["entry"]): r for r in value["rows"]}
    here = {entry: r for (platform, entry), r in rows.items() if platform == "opencl:0"}
    timed = [here[n] for n in ("rows", "open", "default", "numpy")]
    assert [r["kind"] for r in timed] == ["measured"] * 4
    assert all(r["time"]["low"] <= r["time"]["seconds"] <= r["time"]["high"] for r in timed)
    assert all(r["cold"]["seconds"] > 0 for r in timed[:3]) and here["numpy"]["cold"] is None
    assert min(r["ratio"] for r in timed) == 1.0
    assert (here["open"]["how"], here["open"]["values"]) == ("not tuned: its first point", {"?t": 4})
    assert here["cublas"]["kind"] == "absent" and "another device" in here["cublas"]["note"]
    assert value["platforms"][1]["trouble"]["code"] == "D101"
    assert {r["kind"] for (platform, _), r in rows.items() if platform == "opencl:77"} == {"absent"}
    assert [p["over"] for p in value["portability"]] == [["opencl:0"]] * 3
    assert [d["same"] for d in value["differences"]] == [False, False]
    page = Path("p.html").read_text()
    assert page.startswith("<!doctype html>") and page.count("srcdoc=") == 2, "two are one kernel"


def test_machines_elsewhere_get_estimates_and_reasons(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["-s", "wide.mdh", "-s", "default", "--machine", "a100", "--machine", "generic-cpu"]
    value = _json(capsys, *words)
    found = {(r["platform"], r["entry"]): r for r in value["rows"]}
    assert {k: r["kind"] for k, r in found.items()} == {
        ("a100", "wide"): "estimated", ("a100", "default"): "estimated",
        ("generic-cpu", "wide"): "estimated", ("generic-cpu", "default"): "estimated",
    }  # fmt: skip
    assert all(r["time"]["clock"] == "model" for r in found.values())
    assert all(p["estimated"] for p in value["portability"])
    assert run(["compare", MATMUL, *SMALL, *words]) == 0
    text = capsys.readouterr().out
    assert "estimates of the cost model, nothing was" in text
    assert max(map(len, text.splitlines())) <= 79


def test_what_fits_nowhere_is_no_comparison(capsys: pytest.CaptureFixture[str]) -> None:
    Path("other.mdh").write_text("1: (de-)comp( 4 ) ( ^ ; ^ ) ( BLK.x )\n")
    value = _json(capsys, "-s", "other.mdh", "--machine", "a100", code=3)
    assert (value["rows"][0]["kind"], value["rows"][0]["why"]["code"]) == ("failed", "K101")


def test_tuned_now_then_from_its_record(capsys: pytest.CaptureFixture[str]) -> None:
    Path("records").mkdir()
    words = ["-s", "open.mdh", "--device", "opencl:0", "--records", "records", "--repeat", "3"]
    # the three points are done long before
    first = _json(capsys, *words, "--budget", "90s")["rows"][0]
    assert first["how"].startswith("tuned now: ")
    again = _json(capsys, *words)["rows"][0]
    assert again["how"].startswith("tuned, trial ") and again["values"] == first["values"]


def test_interrupted_it_shows_what_is_there() -> None:
    words = [
        "compare",
        MATMUL,
        "--device",
        "opencl:0",
        "-s",
        "default",
        "-s",
        "rows.mdh",
        "--machine",
        "a100",
    ]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    child = subprocess.Popen(
        [sys.executable, "-m", "mdh", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=environment,
    )  # fmt: skip
    assert child.stderr is not None
    while "round 1" not in child.stderr.readline():
        assert child.poll() is None
        time.sleep(0.01)
    child.send_signal(signal.SIGINT)
    out, _ = child.communicate(timeout=60)
    assert child.returncode == 130
    assert "not measured: the comparison was ended before" in out
    assert out.endswith("the comparison was interrupted: what was complete is above\n")


def test_two_schedules_are_explained(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", "rows.mdh", "wide.mdh"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("rows.mdh → wide.mdh\n") and "step 2 added" in text
    assert run(["explain", "rows.mdh", "wide.mdh", "--json"]) == 0
    value = json.loads(capsys.readouterr().out)
    (section,) = value["sections"]
    assert value["targets"] == [None, None]
    assert (section["same"], section["dims"]) == (False, [3, 3])


def test_what_is_left_to_the_default_is_no_difference_from_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Of three stages the schedule has steps for two."""
    words = ["compare", str(ROOT / "inputs_c" / "softmax.c"), "-D", "M=64", "-D", "N=32"]
    schedule = ROOT / "schedules" / "softmax" / "generic-cpu" / "base.mdh"
    words += ["-s", str(schedule), "-s", "default", "--machine", "generic-cpu"]
    capsys.readouterr()
    assert run([*words, "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["differences"]
    assert {s["stage"] for s in found["sections"] if s["steps"]} == {"total", "B"}
    assert run(words) == 0
    assert "stage top" not in capsys.readouterr().out


def test_a_default_without_steps_leaves_nothing_to_itself(capsys: pytest.CaptureFixture[str]) -> None:
    """Of a product of single elements there is nothing to split."""
    one = ["-D", "M=1", "-D", "N=1", "-D", "K=1"]
    assert run(["compare", MATMUL, *one, "-s", "default", "-s", "rows.mdh", "--machine", "generic-cpu"]) == 0
    out = capsys.readouterr().out
    assert "default on generic-cpu → rows\n  step 1 added" in out


@pytest.mark.parametrize(
    ("words", "help_"),
    [
        (["--repeat", "0"], "a whole number from 3 on"),
        (["--repeat", "x"], "a whole number from 3 on"),
        (["--seed", "-1"], "a whole number from 0 on"),
    ],
)
def test_numbers_that_are_too_small_are_told_the_least(
    words: list[str], help_: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["compare", MATMUL, *words]) == 2
    assert f"help: give {help_}" in capsys.readouterr().err


def test_records_are_named_once(capsys: pytest.CaptureFixture[str]) -> None:
    """Their remarks would come twice."""
    assert run(["compare", MATMUL, *SMALL, "--machine", "a100", "--records", ".", "--records", "./"]) == 2
    assert "--records names `./` twice" in capsys.readouterr().err


@pytest.mark.parametrize("page", [".", "rows.mdh/page.html"])
@pytest.mark.parametrize("verb", ["compare", "tune"])
def test_a_page_that_cannot_be_written_is_refused_before_anything_runs(
    capsys: pytest.CaptureFixture[str], verb: str, page: str
) -> None:
    words = [MATMUL, *SMALL, "-s", "rows.mdh", "--device", "c", "--html", page]
    assert run([verb, *words]) == 1
    out, err = capsys.readouterr()
    assert "F111" in err and "round" not in err and out == ""


def test_one_file_under_two_spellings_is_named_twice(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["compare", MATMUL, *SMALL, "-s", "rows.mdh", "-s", "./rows.mdh", "--machine", "a100"]) == 2
    assert "names `./rows.mdh` twice" in capsys.readouterr().err


def test_schedules_of_one_name_have_their_folders_with_it(capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("one/rows.mdh", "two/rows.mdh", "one/numpy.mdh"):
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(ROWS.format(4))
    words = [w for n in ("one/rows.mdh", "two/rows.mdh", "wide.mdh", "one/numpy.mdh") for w in ("-s", n)]
    value = _json(capsys, *words, "--machine", "a100", "--baseline", "numpy")
    assert [e["name"] for e in value["entries"]] == ["one/rows", "two/rows", "wide", "one/numpy", "numpy"]


def test_machines_of_files_are_called_after_them(capsys: pytest.CaptureFixture[str]) -> None:
    text = (ROOT / "mdh" / "machines" / "generic-cpu.toml").read_text().replace("generic-cpu", "this-cpu")
    words = []
    for name in ("anna", "ben"):
        Path(f"{name}.toml").write_text(text)
        words += ["--machine", f"{name}.toml"]
    value = _json(capsys, "-s", "rows.mdh", *words)
    assert [(p["name"], p["machine"]) for p in value["platforms"]] == [
        ("anna", "this-cpu"), ("ben", "this-cpu"),
    ]  # fmt: skip


def test_a_program_between_two_schedules_is_told_where_it_goes(capsys: pytest.CaptureFixture[str]) -> None:
    for words in ([MATMUL, "rows.mdh"], ["rows.mdh", MATMUL]):
        assert run(["explain", *words]) == 2
        assert f"mdh explain {MATMUL} --schedule rows.mdh" in capsys.readouterr().err


def test_schedules_that_share_nothing_get_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    Path("other.mdh").write_text("target a100\n1: (de-)comp( 4 ) ( ^ ; ^ ) ( BLK.x )\n")
    assert run(["explain", "rows.mdh", "other.mdh"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "rows.mdh → other.mdh",
        "  schedules of different programs: steps of 3 and of 1 dimensions",
        "  written for any machine → a100",
    ]
