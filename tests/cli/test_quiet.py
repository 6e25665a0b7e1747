"""`-q`: results and errors, and nothing else."""

from pathlib import Path

import pytest

from mdh.cli.main import run

RUN = [
    "run",
    "matmul",
    *(w for n in "MNK" for w in ("-D", f"{n}=8")),
    "--device",
    "opencl:0",
    "--repeat",
    "0",
]
CASES = [
    [*RUN, "-o", "out"],
    ["explain", "matmul"],
    ["new", "dot"],
    ["tune", "dot", "-D", "K=64", "--device", "opencl:0", "--trials", "1", "-o", "out"],
    ["compare", "dot", "-D", "K=64", "-m", "h200"],
]


@pytest.mark.parametrize("words", CASES, ids=lambda w: w[0])
def test_remarks_are_left_out(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run([*words, "-q"]) == 0
    out, err = capsys.readouterr()
    assert out and err == ""


@pytest.mark.parametrize("words", [["-q", "check", "nothing.c"], ["check", "nothing.c", "--quiet"]])
def test_errors_are_not(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(words) == 1
    assert "[F101]" in capsys.readouterr().err


def test_it_ends_with_the_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["-q", "explain", "matmul"]) == 0
    assert run(["explain", "matmul"]) == 0
    assert "mdh: " in capsys.readouterr().err


def test_after_two_dashes_it_is_a_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", "-m", "a100", "--", "-q"]) == 1
    assert "no file `-q`" in capsys.readouterr().err
