"""The process as a shell sees it: signals, closed pipes, exit codes, streams."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.support.source_tree import ROOT

MDH = [sys.executable, "-m", "mdh"]


def _waiting(*words: str) -> "subprocess.Popen[str]":
    """mdh reading its standard input, which stays open; returns once it has come that far."""
    process = subprocess.Popen(
        [*MDH, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    stat = Path(f"/proc/{process.pid}/wchan")
    for _ in range(600):
        if "pipe" in stat.read_text() or process.poll() is not None:
            break
        time.sleep(0.02)
    return process


@pytest.mark.skipif(not Path("/proc/self/wchan").exists(), reason="needs Linux's /proc")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_signals_end_quietly(number: signal.Signals, code: int) -> None:
    process = _waiting("fmt", "-")
    process.send_signal(number)
    _, err = process.communicate(timeout=30)
    assert process.returncode == code
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("number", "code", "word"),
    [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "terminated")],
    ids=["int", "term"],
)
def test_signals_end_imports_quietly(number: signal.Signals, code: int, word: str, tmp_path: Path) -> None:
    (tmp_path / "typer.py").write_text(f"import os\nos.kill(os.getpid(), {number.value})\n")
    path = os.pathsep.join([str(tmp_path), str(ROOT)])
    done = subprocess.run(
        [*MDH, "--help"], env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr, done.returncode) == ("", f"mdh: {word}\n", code)


def test_a_closed_pipe_is_quiet() -> None:
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [*MDH, "explain", "F101"], stdout=write, stderr=subprocess.PIPE, text=True, check=False
    )
    os.close(write)
    assert done.stderr == ""
    assert done.returncode == 141


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("words", [("explain", "F101"), ("--help",), ("explain", "F101", "--json")])
def test_a_full_disk_is_one_message(words: tuple[str, ...]) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run([*MDH, *words], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.stderr.startswith("error[F118]: the result cannot be written: No space left")
    assert done.returncode == 1


@pytest.mark.parametrize("words", [("explain", "F101"), ("--help",), ("explain", "F999")])
def test_closed_streams_leave_no_traceback(words: tuple[str, ...]) -> None:
    for closed in (">&-", "2>&-", ">&- 2>&-"):
        line = f'exec "$0" -m mdh {" ".join(words)} {closed}'
        done = subprocess.run(
            ["/bin/sh", "-c", line, sys.executable], capture_output=True, text=True, check=False
        )
        assert "Traceback" not in done.stderr + done.stdout
        assert "B101" not in done.stderr
        assert done.returncode in (0, 1, 2)


@pytest.mark.parametrize(("source", "reason"), [("<&-", "is closed"), ("0>/dev/null", "cannot be read")])
def test_standard_input_that_cannot_be_read(source: str, reason: str) -> None:
    line = f'exec "$0" -m mdh fmt - {source}'
    done = subprocess.run(
        ["/bin/sh", "-c", line, sys.executable], capture_output=True, text=True, check=False
    )
    assert done.stderr.startswith(f"error[F103]: standard input {reason}")
    assert done.returncode == 1


def test_completions_of_no_words() -> None:
    environment = {**os.environ, "_MDH_COMPLETE": "complete_bash"}
    done = subprocess.run(MDH, env=environment, capture_output=True, text=True, check=False)
    assert done.stderr.startswith("error[F107]: completions are asked for")
    assert done.returncode == 2


def test_results_go_to_stdout_and_remarks_to_stderr() -> None:
    done = subprocess.run([*MDH, "explain", "F101"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("F101: ")
    assert all(len(row) <= 80 or row.startswith("    ") for row in done.stdout.splitlines())
    assert done.stderr == ""


def test_no_words_is_the_help() -> None:
    done = subprocess.run(MDH, capture_output=True, text=True, check=True)
    assert "Usage: mdh" in done.stdout


def test_errors_are_data_with_json() -> None:
    words = [*MDH, "check", "no.c", "--machine", "a100", "--json"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    value = json.loads(done.stdout)
    assert (value["schema"], value["ok"], value["exit"], done.returncode) == ("mdh.result/1", False, 1, 1)
    assert done.stderr == ""


@pytest.mark.parametrize("verb", ["compile", "check", "run", "explain", "fmt", "devices", "cache", "doctor"])
def test_every_verb_has_help(verb: str) -> None:
    done = subprocess.run([*MDH, verb, "--help"], capture_output=True, text=True, check=True)
    assert f"Usage: mdh {verb}" in done.stdout
    assert done.stderr == ""


def test_a_damaged_runtime_cache_is_named(tmp_path: Path) -> None:
    """As a run that was cut off while PoCL wrote leaves it."""
    words = ["run", str(ROOT / "inputs_c" / "dot.c"), "-D", "K=100", "--device", "opencl:0", "--repeat", "0"]
    found = {**os.environ, "POCL_CACHE_DIR": str(tmp_path)}
    first = subprocess.run([*MDH, *words], env=found, capture_output=True, text=True, check=False)
    assert first.returncode == 0
    for entry in tmp_path.rglob("program.bc"):
        entry.write_bytes(entry.read_bytes()[:100])
    again = subprocess.run([*MDH, *words], env=found, capture_output=True, text=True, check=False)
    # what PoCL does at the end of such a process is its own
    assert again.returncode != 0
    assert "delete what lies in POCL_CACHE_DIR" in again.stderr
