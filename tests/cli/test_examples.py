"""Programs and schedules by their names, `mdh examples` and `mdh new`."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import mdh
from mdh.cli.main import run
from mdh.device.api import open_device
from mdh.diagnostics import Failed
from mdh.frontend.c.read import read_program
from mdh.machine import load_machine
from mdh.schedule.parser import parse_schedule
from mdh.schedule.printer import print_schedule
from mdh.shipped import Example, ShippedSchedule, examples, near_examples, schedules
from mdh.source import Source
from tests.support.arrays import random_arrays
from tests.support.pairs import drawn, execute_on_each, planned
from tests.support.source_tree import PACKAGE, ROOT

SMALL = ["-D", "M=12", "-D", "N=16", "-D", "K=8"]
STEPPED = [(e, s) for e in examples() for s in e.steps]


@pytest.fixture(autouse=True)
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_all_programs_have_a_name_and_a_sentence() -> None:
    files = {p for end in ("*.c", "*.tc", "*.diesel") for p in (ROOT / "inputs_c").glob(end)}
    files |= set((ROOT / "inputs_c" / "polybench").glob("*.c"))
    assert {e.path.resolve() for e in examples()} == files
    assert len({e.name for e in examples()}) == len(files)
    for one in examples():
        assert len(one.about) > 10 and not one.about.endswith("."), one.name


def test_all_schedules_are_of_a_program() -> None:
    named = {e.name for e in examples()}
    for one in schedules():
        assert one.uses and {u.program for u in one.uses} <= named
        assert len(one.about) > 10, one.name
    listed = {s.name for e in examples() for s in e.schedules}
    assert listed == {s.name for s in schedules()}


@pytest.mark.parametrize("words", [["check", "matmul"], ["compile", "tmm", *SMALL]], ids=["C", "TC"])
def test_a_name_is_the_program(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*words, "-m", "a100"]) == 0
    assert "error" not in capsys.readouterr().err


def test_verbs_take_names(capsys: pytest.CaptureFixture[str]) -> None:
    device = ["--device", "opencl:0"]
    assert run(["run", "matmul", *SMALL, *device, "--check", "--repeat", "0"]) == 0
    assert run(["explain", "matmul"]) == 0
    named = ["matmul", "--schedule", "matmul/generic-cpu/base"]
    assert run(["explain", *named, "--svg", "picture.svg"]) == 0
    assert run(["check", *named]) == 0
    assert run(["explain", "matmul/h200/base", "matmul/h200/rows"]) == 0
    assert run(["compare", "matmul", "-s", "matmul/h200/base", "-m", "h200"]) == 0
    assert "base" in capsys.readouterr().out
    assert Path("picture.svg").read_text(encoding="utf-8").startswith("<svg xmlns=")


def test_a_folder_stands_for_its_schedules(capsys: pytest.CaptureFixture[str]) -> None:
    Path("some").mkdir()
    for name in ("step10", "step2"):
        Path("some", f"{name}.mdh").write_text(
            "1: (de-)comp( 8, 8, 8 ) ( ^, ^ ; ^ ) ( BLK.y, BLK.x, FOR.1 )\n"
        )
    assert run(["compare", "matmul", "-s", "some", "-s", "default", "-m", "a100", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [row["name"] for row in found["entries"]] == ["step2", "step10", "default"]
    Path("none").mkdir()
    assert run(["compare", "matmul", "-s", "none", "-m", "a100"]) == 1
    assert "[F102]: the folder `none` holds no schedule" in capsys.readouterr().err


def test_python_takes_names() -> None:
    plan = mdh.check("matmul", "matmul/h200/base", "h200")
    assert plan.program.name == "matmul"


def test_a_file_of_that_name_wins(capsys: pytest.CaptureFixture[str]) -> None:
    Path("matmul").write_text(
        "void mine(const float a[8], float b[8]) { for (int i = 0; i < 8; i++) b[i] = a[i]; }\n"
    )
    assert run(["check", "matmul", "-m", "a100"]) == 0
    assert "of mine" in capsys.readouterr().out


def test_a_folder_of_that_name_is_mentioned(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["new", "matmul"]) == 0
    capsys.readouterr()
    assert run(["check", "matmul", "-m", "a100"]) == 0
    assert (
        "`matmul` is the program that comes with mdh; `matmul/matmul.c` is yours" in capsys.readouterr().err
    )


@pytest.mark.parametrize(
    ("word", "hint"),
    [
        ("matmull", "mdh comes with `matmul`"),
        ("SoftMx", "mdh comes with `softmax`"),
        ("matmul.c", "`matmul` without an ending is a program of mdh, and `mdh new matmul` copies it"),
        ("frobnicate", "`mdh examples` lists the programs of mdh"),
        ("x" * 200, "`mdh examples` lists the programs of mdh"),
    ],
)
def test_wrong_names_get_the_nearest(word: str, hint: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", word, "-m", "a100"]) == 1
    assert hint in capsys.readouterr().err


def test_wrong_schedules_get_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", "matmul", "-s", "matmul/h20/base"]) == 1
    assert "`matmul/h200/base`" in capsys.readouterr().err


def test_shipped_schedules_are_not_written(capsys: pytest.CaptureFixture[str]) -> None:
    before = {s.path: s.path.read_bytes() for s in schedules()}
    words = ["check", "matmul", "-s", "matmul/h200/base", "--fix", "--in-place"]
    assert run(words) == 1
    assert "[F111]" in capsys.readouterr().err
    assert {path: path.read_bytes() for path in before} == before and not os.listdir()


def test_near_names_are_names() -> None:
    names = {e.name for e in examples()}
    for e in examples():
        assert near_examples(e.name)[0] == e.name.partition(".")[0]
        assert set(near_examples(e.name[:-1])) <= names


def test_the_list_fits_and_the_page_names_what_is_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["examples"]) == 0
    out = capsys.readouterr().out
    assert all(len(row) <= 120 for row in out.splitlines())
    named = {row.split()[0] for row in out.splitlines() if row.strip()}
    assert named >= {e.name for e in examples()}
    assert run(["examples", "matmul"]) == 0
    out = capsys.readouterr().out
    assert "M=1024 N=1024 K=1024" in out and "matmul/generic-cpu/base" in out
    assert run(["examples", "--json"]) == 0
    value = json.loads(capsys.readouterr().out)
    assert [p["name"] for p in value["programs"]] == [e.name for e in examples()]
    assert run(["examples", "dot", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["sizes"] == {"K": 16777216}


@pytest.mark.parametrize("word", ["examples", "new"])
def test_unknown_programs(word: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([word, "matmull"]) == 1
    assert "did you mean `matmul`" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "machine"),
    [
        (["matmul"], "generic-cpu"),
        (["softmax", "mine", "-m", "h200"], "h200"),
        (["gather_sum.tc", "bag"], "generic-cpu"),
    ],
)
def test_a_new_folder_is_legal(words: list[str], machine: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["new", *words]) == 0
    folder, name = Path(words[1] if len(words) > 1 else words[0]), Path(words[0]).stem
    program = words[0] if Path(words[0]).suffix else f"{name}.c"
    assert sorted(os.listdir(folder)) == sorted([program, f"{name}.mdh", "README.md"])
    os.chdir(folder)
    notes = Path("README.md").read_text(encoding="utf-8")
    typed = next(row for row in notes.splitlines() if row.startswith("    mdh check"))
    assert run(shlex.split(typed)[1:]) == 0
    assert f"is legal on {machine}" in capsys.readouterr().out
    assert run(["fmt", "--check", f"{name}.mdh"]) == 0


def test_a_new_folder_leaves_files_of_others(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["new", "dot"]) == 0 and run(["new", "dot"]) == 0
    Path("dot/dot.mdh").write_text("mine\n")
    capsys.readouterr()
    assert run(["new", "dot"]) == 1
    assert "[F111]" in capsys.readouterr().err and Path("dot/dot.mdh").read_text() == "mine\n"
    assert run(["new", "matmul", "--steps", "--machine", "h200"]) == 2
    assert "[F107]" in capsys.readouterr().err
    assert run(["new", "dot", "--steps"]) == 2
    assert "[F107]" in capsys.readouterr().err


def test_the_steps_of_the_tutorial(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["new", "matmul", "--steps"]) == 0
    names = [f"step{n}.mdh" for n in range(1, 8)]
    assert sorted(os.listdir("matmul")) == sorted(["README.md", "matmul.c", *names])
    page = (PACKAGE / "docs" / "first_schedule.md").read_text(encoding="utf-8")
    for name in names:
        rows = (Path("matmul") / name).read_text(encoding="utf-8").splitlines()
        shown = "\n".join(f"    {row}" for row in rows if row[:1].isdigit())
        assert shown in page, f"the tutorial shows another {name}"


@pytest.mark.parametrize(("example", "step"), STEPPED, ids=[f"{e.name}-{s.name}" for e, s in STEPPED])
def test_steps_are_right(example: Example, step: ShippedSchedule) -> None:
    schedule = parse_schedule(Source(step.name, step.text))
    assert print_schedule(schedule) == step.text
    source = Source(example.source_name, example.text)
    planned(read_program(source), schedule, load_machine("generic-cpu"), "opencl")
    program = read_program(source, defines={"M": 101, "N": 150, "K": 140})
    device = open_device("opencl:0")
    plan = planned(program, schedule, device.machine, device.target)
    found = drawn(program, random_arrays(program, 3, "random", {}), {})
    outcome = execute_on_each(plan, device, [found], {})
    assert outcome.kind == "equal", outcome.detail


def test_the_version_comes_late() -> None:
    code = "import sys, mdh; assert 'importlib.metadata' not in sys.modules; print(mdh.__version__)"
    words, env = [sys.executable, "-c", code], {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(words, capture_output=True, text=True, check=True, env=env)
    assert done.stdout.strip() == mdh.__version__
    with pytest.raises(AttributeError):
        _ = mdh.__versions__  # type: ignore[attr-defined]


def test_names_of_no_file_are_refused_in_python() -> None:
    with pytest.raises(Failed) as refused:
        mdh.check("matmull", machine="a100")
    assert refused.value.diagnostics[0].code == "F101"
