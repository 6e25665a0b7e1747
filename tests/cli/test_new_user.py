"""What somebody meets who uses mdh for the first time: each message names the place of the mistake."""

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mdh.cli import compare_live, examples
from mdh.cli.compare_live import Doing, doing
from mdh.cli.console import remarks
from mdh.cli.exit_codes import BROKEN_PIPE
from mdh.cli.main import run
from mdh.cli.values import has_value
from mdh.printable import cells
from tests.support.source_tree import ROOT

H200 = ["-m", "h200"]


@pytest.fixture(autouse=True)
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_folder_that_was_changed_is_kept(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["new", "matmul", "--steps"]) == run(["new", "matmul", "--steps"]) == 0
    Path("matmul/step2.mdh").write_text("// mine\n")
    capsys.readouterr()
    assert run(["new", "matmul", "--steps"]) == 1
    told = capsys.readouterr().err
    assert "`matmul` has `step2.mdh` already" in told and "`mdh new matmul matmul-2 --steps`" in told
    assert Path("matmul/step2.mdh").read_text() == "// mine\n"
    assert run(["new", "matmul", "matmul-2", "--steps"]) == 0


def test_a_program_is_no_schedule(capsys: pytest.CaptureFixture[str]) -> None:
    Path("dot.c").write_text("void f(float y[8]) { for (int i = 0; i < 8; i++) y[i] = 1; }\n")
    assert run(["check", "dot.c", "-s", "dot.c", *H200]) == 1
    told = capsys.readouterr().err
    assert told.startswith("error[F120]: `dot.c` is a program, and this is the place of a schedule\n")
    # the second of the two words
    assert " --> <command line>:1:20" in told


@pytest.mark.parametrize(("value", "named"), [("x", "x"), ("2*x", "x"), ("(8)+y", "y")])
def test_a_value_of_the_command_line_is_shown_there(
    value: str, named: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["check", "matmul", "-D", f"M={value}", *H200]) == 1
    told = capsys.readouterr().err
    first, second = re.findall(r"--> (.*?):\d+:\d+", told)
    assert first == "<command line>" and second.endswith("matmul.c")
    assert f"`{named}` is not defined" in told and "it is the value of `M`" in told and "-D M=1024" in told


def test_a_size_without_a_value_is_remarked_once(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", "matmul", "-D", "M", *H200]) == 0
    assert capsys.readouterr().err.count("`M` is 1, as in C compilers") == 1
    Path("flag.c").write_text(
        "#ifdef FAST\n#define V 2\n#else\n#define V 1\n#endif\n"
        "void f(float y[8]) { for (int i = 0; i < 8; i++) y[i] = V; /* FAST */ }\n"
    )
    assert run(["check", "flag.c", "-D", "FAST", *H200]) == 0
    assert "FAST" not in capsys.readouterr().err


@pytest.mark.parametrize(("text", "asked"), [
    ("#ifdef N\n#endif", False), ("#if defined(N) && defined M", False),
    ("#ifndef N\n#define N 3\n#endif", False),
    ("// N\n/* N\nN */", False), ("#if N", True), ("float x[N];", True), ("#define M N", True), ("NN", False),
])  # fmt: skip
def test_whether_a_text_asks_for_a_value(text: str, asked: bool) -> None:
    assert has_value(text, "N") is asked


@pytest.mark.parametrize("words", [["check", "--help"], ["examples"]])
def test_a_closed_pipe_ends_it_quietly(words: list[str]) -> None:
    read, write = os.pipe()
    os.close(read)
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    try:
        done = subprocess.run(
            [sys.executable, "-m", "mdh", *words], stdout=write, stderr=subprocess.PIPE, text=True, env=env,
            check=False,
        )  # fmt: skip
    finally:
        os.close(write)
    assert (done.returncode, done.stderr) == (BROKEN_PIPE, "")


@pytest.mark.parametrize("columns", [20, 40, 60, 80, 110, 200])
def test_examples_are_whole_at_any_width(columns: int) -> None:
    text = examples._list_text(columns)
    if columns >= 60:
        assert all(cells(row) <= columns for row in text.splitlines())
    assert sorted(text.split()) == sorted(examples._list_text(10_000).split())


def test_a_picture_is_named_and_nothing_else(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["explain", "matmul", "-s", "matmul/generic-cpu/base"]
    assert run([*words, "--svg", "p.svg"]) == 0
    assert capsys.readouterr().out == "p.svg\n"
    assert run([*words, "--svg", "p.svg", "--json"]) == 0
    assert capsys.readouterr().out.startswith("{")


def test_a_long_step_of_a_comparison_is_shown(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compare_live, "EVERY", 0.01)
    with doing("c") as step:
        step("times the kernels")
        for _ in range(500):
            if told := capsys.readouterr().err:
                break
            time.sleep(0.01)
    assert re.fullmatch(r"(mdh: c: times the kernels, \S+\n)+", told)
    with remarks(False), doing("c") as step:
        step("times the kernels")
    assert capsys.readouterr().err == "" and Doing("c").text() == ""
