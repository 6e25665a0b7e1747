"""Completion of values: what a shell is given for the part of a word."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from mdh.cli import completion
from mdh.shipped import examples
from tests.support.source_tree import ROOT


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("mine.c", "mine.mdh", "my.toml", ".hidden.c", "note.txt", "below/deep.c"):
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text("")


def test_programs() -> None:
    assert completion.programs("mi") == ["mine.c"]
    assert completion.programs("") == ["below/", "mine.c", *(e.name for e in examples())]
    assert completion.programs("below/d") == ["below/deep.c"]
    assert completion.programs(".") == [".hidden.c"]
    assert completion.programs("nowhere/") == []
    assert completion.example_names("transp") == ["transpose"]


def test_schedules() -> None:
    assert completion.schedule_names("mi", []) == ["mine.mdh"]
    assert completion.schedule_names("matmul/a", []) == ["matmul/a100/base"]
    assert completion.schedule_names("", ["check", "mbbs"])[2:] == ["mbbs/generic-cpu/base", "mbbs/h200/base"]
    assert completion.schedule_names("", ["check"]) == ["below/", "mine.mdh"]
    assert completion.compared_names("def", []) == ["default"]


def test_others() -> None:
    assert completion.machines("h") == ["h100", "h200"]
    assert completion.machines("my") == ["my.toml"]
    assert completion.devices("o") == ["oclgrind", "opencl:0"]
    assert completion.targets("c") == ["c", "cuda"]
    assert completion.baselines("num") == ["numpy"]
    assert completion.subjects("K10")[:2] == ["K100", "K101"]


def test_values_of_the_files_among_the_words(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    Path("f.c").write_text(
        "#ifndef N\n#define N 8\n#endif\nvoid one(int m, float x[N]) {}\nvoid two(int k) {}\n"
    )
    words = ["check", "f.c", "-s", "mine.mdh"]
    assert completion.defines("", words) == ["m=", "k=", "N="]
    assert completion.defines("N", words) == ["N="]
    assert completion.functions("t", words) == ["two"]
    Path("mine.mdh").write_text(
        "1: (de-)comp( ?bm{8, 16}, ?bn, ? ) ( ^, ^ ; ^ ) ( ?c{BLK.x, FOR.1}, FOR.2, FOR.3 )\n"
    )
    assert completion.holes("", words) == ["bm=", "bn=", "c="]
    assert completion.holes("?b", words) == ["bm=", "bn="]
    assert completion.holes("bm=", words) == ["bm=8", "bm=16"]
    assert completion.holes("c=B", ["--schedule=mine.mdh"]) == ["c=BLK.x"]
    assert completion.holes("bn=", words) == []
    Path("mine.mdh").write_text("over M=1..16 {\n  1: (de-)comp( ^ ) ( ^ ; ^ ) ( FOR.1 )\n}\n")
    assert completion.sizes("", words) == ["M=16"] == completion.defines("M", words)
    for wrong in (["check", "none.c", "-s", "none.mdh"], ["-s"], ["check", "note.txt", "-s", "below"], []):
        assert (
            completion.holes("", wrong) == completion.sizes("", wrong) == completion.defines("", wrong) == []
        )
        assert completion.functions("", wrong) == []
    gpus = tmp_path / "gpus"
    monkeypatch.setattr(completion, "_GPUS", gpus)
    assert completion.devices("cu") == ["cuda:0"]
    for name in ("0000:01", "0000:02"):
        (gpus / name).mkdir(parents=True)
    assert completion.devices("cu") == ["cuda:0", "cuda:1"]


def test_words_of_options() -> None:
    assert completion.consents("tf") == ["tf32"]
    assert completion.samplers("ev") == ["evolution"]
    assert completion.stages("pl") == ["plan"]
    assert completion.formats("s") == ["sarif"]
    assert completion.warned("") == ["error"]


def test_a_shell_gets_them() -> None:
    words = {"_MDH_COMPLETE": "complete_bash", "COMP_WORDS": "mdh new transp", "COMP_CWORD": "2"}
    env = {**os.environ, **words, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-m", "mdh"], capture_output=True, text=True, check=True, env=env)
    assert done.stdout.split() == ["transpose"]
