"""`mdh tune` on a CPU: outputs, resume, replay, project files, interrupts."""

import json
import os
import pty
import shutil
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from mdh.cli.main import run
from mdh.schedule.holes import holes
from mdh.schedule.parser import parse_schedule
from mdh.source import Source
from mdh.tuner.records.read import read_record
from tests.support.source_tree import ROOT

MATMUL = str(ROOT / "inputs_c" / "matmul.c")
MDH = (sys.executable, "-m", "mdh")
SIZES = ("-D", "M=64", "-D", "N=64", "-D", "K=64")
ENDS = 5
"""Seconds from a signal to the end. The tunings would go on for 10 minutes."""
SCHEDULE = """// two holes
1: (de-)comp( ?bm{16,32,64}, ?bn{16,32}, ^ ) ( ^, ^ ; ^ ) ( BLK.y, BLK.x, ^ )
2: (de-)comp( ^, ^, 1 ) ( ^, ^ ; C:RM[1,2] ) ( ^, ^, FOR.1 )
3: (de-)comp( 1, 8, ^ ) ( ^, ^ ; ^ ) ( FOR.1, FOR.2, ^ ) @unroll
4: (de-)comp( ^, 1, ^ ) ( ^, ^ ; ^ ) ( ^, VEC.x, ^ )
"""


WORDS = ("--schedule", "s.mdh", "--device", "opencl:0", "-o", "out")


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The cache of all tunings here: what one compiles the next ones find."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="session")
def first(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> tuple[Path, Any, str]:
    """A folder with a schedule and a tuning of it, the tuning's result, and what it said on stderr."""
    folder = tmp_path_factory.mktemp("first")
    (folder / "s.mdh").write_text(SCHEDULE)
    words = (*MDH, "tune", MATMUL, *SIZES, *WORDS, "--trials", "4", "--html", "page.html", "--json")
    env = {**os.environ, "PYTHONPATH": str(ROOT), "XDG_CACHE_HOME": str(cache)}
    done = subprocess.run(words, cwd=folder, env=env, capture_output=True, text=True, check=True)
    return folder, json.loads(done.stdout), done.stderr


@pytest.fixture
def folder(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    (tmp_path / "s.mdh").write_text(SCHEDULE)
    return tmp_path


@pytest.fixture
def tuned(folder: Path, first: tuple[Path, Any, str]) -> Any:
    """The result of the first tuning, whose files are here."""
    shutil.copytree(first[0], folder, dirs_exist_ok=True)
    return first[1]


def tune(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> tuple[Any, str]:
    """The result of a run with --json, and what it said on stderr."""
    assert run(["tune", MATMUL, *SIZES, *words, "--json"]) == code
    out, err = capsys.readouterr()
    return json.loads(out), err


def test_from_a_schedule_with_holes_to_a_kernel(
    folder: Path, tuned: Any, first: tuple[Path, Any, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert tuned["ok"]
    assert tuned["ended"] == "trials"
    assert tuned["trials"]["measured"] == 4
    assert tuned["best"]["seconds"] > 0
    assert tuned["speedup"] > 0
    assert {h["name"] for h in tuned["holes"]} == {"?bm", "?bn"}
    assert "mdh: matmul: " in first[2]
    files = tuned["files"]
    best = (folder / files["schedule"]).read_text()
    assert best.startswith("// tuned: trial ")
    assert not holes(parse_schedule(Source("best", best)))
    assert "manifest.json" in os.listdir(files["kernel"])
    assert (folder / "page.html").read_text().endswith("</html>\n")
    _, trials, remarks = read_record(files["record"])
    assert not remarks
    assert [t.number for t in trials] == list(range(len(trials)))

    again, _ = tune(capsys, *WORDS, "--trials", "20")
    assert again["ended"] == "exhausted"
    assert again["trials"]["earlier"] == 4
    # six points and the default schedule. It says the same as one of them on some processors, and some points
    # need more registers than others have
    same = sum(again["trials"]["skipped"].values())
    assert again["trials"]["earlier"] + again["trials"]["measured"] + same == 7
    _, later, _ = read_record(files["record"])
    assert later[: len(trials)] == trials
    assert len({t.candidate.key for t in later if t.phase == "quick"}) == 7 - same

    said = run(["run", MATMUL, *SIZES, "--schedule", files["schedule"], "--device", "opencl:0", "--check"])
    assert said == 0
    capsys.readouterr()
    # a replay measures the points alone, less those that are refused
    refused = same - again["trials"]["skipped"].get("duplicate", 0)
    _replays(folder, capsys, files["record"], 6 - refused)


def _replays(folder: Path, capsys: pytest.CaptureFixture[str], record: str, count: int) -> None:
    """The same search from the record: the same order for the same seed, no file touched."""
    before = {p: p.stat().st_mtime_ns for p in folder.rglob("*") if p.is_file()}
    runs = [
        tune(capsys, "--replay", record, "--seed", seed, "--sampler", "random", "--no-model")[0]
        for seed in ("1", "1", "2")
    ]
    assert all(r["trials"]["measured"] == count for r in runs)
    same = [{k: v for k, v in r.items() if k not in ("elapsed", "seed")} for r in runs]
    assert same[0] == same[1]
    assert runs[0]["best"]["key"] == runs[2]["best"]["key"]
    assert {p: p.stat().st_mtime_ns for p in folder.rglob("*") if p.is_file()} == before


def test_no_trial_is_lost_to_another_tuning(
    folder: Path, tuned: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    """Neither with --no-resume nor with another schedule in the same folder."""
    fresh, _ = tune(capsys, *WORDS, "--trials", "1", "--no-resume")
    assert fresh["trials"]["earlier"] == 0
    assert len(list(folder.glob("out/*.jsonl"))) == 2
    (folder / "s.mdh").write_text(SCHEDULE.replace("{16,32}", "{16,64}"))
    other, _ = tune(capsys, *WORDS, "--trials", "1")
    assert other["trials"]["earlier"] == 0
    assert len(list(folder.glob("out/*.jsonl"))) == 3


def test_a_record_of_another_tuning_is_refused(
    folder: Path, tuned: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    record = folder / tuned["files"]["record"]
    before = record.read_bytes()
    words = ("--device", "opencl:0", "--trials", "1", "--record", str(record))
    assert run(["tune", MATMUL, "-D", "M=32", *words]) == 1
    err = capsys.readouterr().err
    assert "error[F172]" in err
    assert f"{record.name}\n" in err.split("^")[0]
    assert record.read_bytes() == before


def test_a_schedule_without_holes_is_measured(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "s.mdh").write_text(SCHEDULE.replace("?bm{16,32,64}", "16").replace("?bn{16,32}", "16"))
    found, err = tune(capsys, "--schedule", "s.mdh", "--device", "opencl:0", "--budget", "60s")
    assert "has no holes: it is measured as it stands" in err
    assert found["ended"] == "exhausted"
    assert found["trials"]["measured"] == 2
    assert found["holes"] == []


def test_nothing_in_the_place_is_lost_to_another_tuning(
    folder: Path, tuned: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    """Neither the best of other sizes nor a schedule that no tuning wrote."""
    kept = Path(tuned["files"]["schedule"]).read_bytes()
    words = (*WORDS, "--trials", "2", "--json")
    assert run(["tune", MATMUL, "-D", "M=32", "-D", "N=64", "-D", "K=64", *words]) == 0
    second = json.loads(capsys.readouterr().out)
    assert Path(tuned["files"]["schedule"]).read_bytes() == kept
    assert not set(tuned["files"].values()) & set(second["files"].values())
    own = folder / "own" / Path(tuned["files"]["schedule"]).name
    own.parent.mkdir()
    own.write_text(SCHEDULE)
    third, _ = tune(capsys, "--schedule", str(own), "--device", "opencl:0", "-o", "own", "--trials", "2")
    assert own.read_text() == SCHEDULE
    assert third["files"]["schedule"] != str(own)
    head = Path(third["files"]["schedule"]).read_text()
    assert "search: 2 trials" in head, "it tells of the whole search"


def test_more_compilers_than_the_machine_carries(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["tune", MATMUL, *SIZES, "--device", "opencl:0", "--trials", "1", "--jobs", "5000"]) == 2
    err = capsys.readouterr().err
    assert "error[F196]: 5,000 compilers at once are too many for" in err
    assert "^^^^" in err and "= help: give at most" in err


def test_the_project_file_lists_programs(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "add.c").write_text(
        "void add(const float A[N], float C[N]) {\n  for (int i = 0; i < N; i++)\n    C[i] = A[i] + 1;\n}\n"
    )
    (folder / "pyproject.toml").write_text(
        '[[tool.mdh.tune]]\nfile = "add.c"\ndefines = { N = 4096 }\ndevice = "opencl:0"\n\n'
        '[[tool.mdh.tune]]\nfile = "add.c"\ndefines = { N = 512 }\ndevice = "opencl:0"\n'
    )
    (folder / "inner").mkdir()
    os.chdir(folder / "inner")
    assert run(["tune", "--trials", "2", "--json", "-o", "out"]) == 0
    runs = json.loads(capsys.readouterr().out)["runs"]
    assert [r["defines"] for r in runs] == [{"N": 4096}, {"N": 512}]
    assert all(r["trials"]["measured"] <= 2 for r in runs)
    (folder / "pyproject.toml").write_text('[[tool.mdh.tune]]\nfile = "gone.c"\n')
    assert run(["tune", "--trials", "2"]) == 1
    err = capsys.readouterr().err
    assert "error[F101]: no file" in err
    assert 'file = "gone.c"\n  | ^^^^' in err


def _started(folder: Path, *words: str, **options: Any) -> "subprocess.Popen[str]":
    """A long tuning; returns once a best schedule is on disk."""
    process = subprocess.Popen(
        [*MDH, "tune", MATMUL, *SIZES, "--device", "opencl:0", "--budget", "10m", *words],
        stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)}, **options,
    )  # fmt: skip
    end = time.monotonic() + 90
    while not list(folder.glob("out/*.mdh")) and process.poll() is None and time.monotonic() < end:
        time.sleep(0.05)
    return process


def _ended(process: "subprocess.Popen[str]", number: signal.Signals, code: int) -> tuple[str, str]:
    """What a tuning says on stdout and stderr that a signal ends."""
    start = time.monotonic()
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert time.monotonic() - start < ENDS
    assert process.returncode == code
    assert "; interrupted\n" in out
    return out, err


def _best_is_there(folder: Path) -> None:
    [best] = folder.glob("out/*.mdh")
    parse_schedule(Source("best", best.read_text()))
    [record] = folder.glob("out/*.jsonl")
    _, trials, remarks = read_record(str(record))
    assert trials
    assert not remarks


def test_a_signal_leaves_the_best_on_disk(folder: Path) -> None:
    _, err = _ended(_started(folder, "-o", "out", stderr=subprocess.PIPE), signal.SIGTERM, 143)
    assert "Traceback" not in err
    assert "ending with what was found" in err
    _best_is_there(folder)


def test_a_second_signal_ends_at_once(folder: Path) -> None:
    process = _started(folder, "-o", "out", stderr=subprocess.PIPE)
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGINT)
    start = time.monotonic()
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert time.monotonic() - start < ENDS
    assert "Traceback" not in err


def test_a_terminal_gets_a_bar_and_ctrl_c_leaves_the_best_on_disk(folder: Path) -> None:
    own, theirs = pty.openpty()
    shown = bytearray()

    def read() -> None:
        # all the while: a terminal that nobody reads takes a few thousand bytes, then its writers wait
        with suppress(OSError):  # the other side is closed
            while part := os.read(own, 65536):
                shown.extend(part)

    reader = threading.Thread(target=read)
    reader.start()
    process = _started(folder, "-o", "out", stderr=theirs)
    os.close(theirs)
    _ended(process, signal.SIGINT, 130)
    reader.join(30)
    os.close(own)
    text = shown.decode(errors="replace")
    assert "Traceback" not in text
    assert "ending with what was found" in text
    _best_is_there(folder)
    assert "left" in text
    assert "best " in text
    assert "━" in text
