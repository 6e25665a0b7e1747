"""What the guides tell a reader to type works. README and tutorial have tests/test_snippets.py, the guide on
frameworks tests/frameworks/test_guide.py.

A guide's files are written as it shows them, and its commands typed in its order from an empty folder. What
measures is typed with small sizes. Tunings and comparisons take minutes: MDH_WHOLE_GUIDES=1 types these, too.
"""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.support.snippets import blocks_of, shown_files, typed
from tests.support.source_tree import PACKAGE, ROOT

DOCS = PACKAGE / "docs"
ROW = re.compile(r"^    (?:\$ )?((?:mdh|sed|cd|python) .*)$", re.MULTILINE)
ELSEWHERE = ("--cluster", "--storage", "--baseline torch", "mdh.py", "reproduce ")
"""Commands that need what is not here: machines, a server, a GPU, minutes (for them: `tests/reproduce`)."""
MEASURING = ("run", "tune", "compare", "compile")
OWN_SIZES = ("gpu_ladder.md", "new_machine.md", "page.md", "programs.md")
"""Guides whose commands need no device, or have small sizes already."""
GUIDES = [
    DOCS / f"{name}.md"
    for name in ("command_line", "comparing", "gpu_ladder", "new_machine", "page", "programs", "tuning")
]
FORMS = [False, *([True] if os.environ.get("MDH_WHOLE_GUIDES") else [])]
MODULE = [sys.executable, "-m", "mdh"]


def _prepare() -> None:
    """What readers have of their own."""
    typed(["check", "matmul", "--machine", "generic-cpu", "-o", "mine.mdh"], small=())
    typed(["check", "matmul", "--machine", "h200", "-o", "my.mdh"], small=())
    for name in ("matmul.c", "matmul_bf16.c"):
        Path(name).write_text((ROOT / "inputs_c" / name).read_text(encoding="utf-8"), encoding="utf-8")
    Path("blur.c").write_text(BLUR, encoding="utf-8")
    np.save("w.npy", np.array([[0, 1, 0], [1, -4, 1], [0, 1, 0]], np.float32))
    np.save("mask.npy", np.array([[0, 1, 0], [1, 1, 1], [0, 1, 0]], np.float32))


BLUR = """void blur(const float w[3][3], const float x[18][18], float y[16][16]) {
  for (int i = 0; i < 16; i++)
    for (int j = 0; j < 16; j++) {
      y[i][j] = 0.0f;
      for (int r = 0; r < 3; r++)
        for (int s = 0; s < 3; s++)
          y[i][j] += w[r][s] * x[i + r][j + s];
    }
}
"""


@pytest.mark.parametrize("whole", FORMS, ids=lambda whole: "whole" if whole else "short")
@pytest.mark.parametrize("page", GUIDES, ids=lambda p: p.name)
def test_what_a_guide_shows_works(
    page: Path, whole: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MDH_DEVICE", "c")
    _prepare()
    for name, text in shown_files(page).items():
        Path(name).write_text(text, encoding="utf-8")
    found = ROW.findall(page.read_text(encoding="utf-8"))
    here = [row for row in found if not any(word in row for word in ELSEWHERE)]
    assert here
    for row in here:
        _type(re.sub(r"\s+#.*", "", row), whole=whole, small=() if page.name in OWN_SIZES else MEASURING)


def _type(row: str, *, whole: bool, small: tuple[str, ...]) -> None:
    if row.startswith("cd "):
        return  # the files lie here
    if not row.startswith("mdh ") or "<" in row:
        text = row.replace("mdh ", f"{shlex.join(MODULE)} ", 1) if row.startswith("mdh ") else row
        text = re.sub("^python ", f"{sys.executable} ", text)
        subprocess.run(text, shell=True, check=True, timeout=60)
        return
    words = shlex.split(row)[1:]
    if "cuda:0" in words:
        words[words.index("cuda:0")] = "c"
    typed(words, whole=whole, small=small)


@pytest.mark.parametrize("name", ["programs.md", "tuning.md", "gpu_ladder.md"])
def test_files_of_the_guides_are_legal(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every file that a guide shows is read, also those that no command names."""
    monkeypatch.chdir(tmp_path)
    files = shown_files(DOCS / name)
    assert files
    for file, text in files.items():
        Path(file).write_text(text, encoding="utf-8")
        if file.endswith(".mdh"):
            program = "matmul_bf16" if "matmul_bf16" in text else "matmul"
            typed(["fmt", file])
            if "?" not in text:
                typed(["check", program, "--schedule", file], small=())
        else:
            sizes = ["-D", "M=64", "-D", "N=64", "-D", "K=64"]
            typed(["check", file, "-m", "generic-cpu", *sizes], small=())


SCALE = """void scale(int n, float s, const float A[n], float B[n]) {
  for (int i = 0; i < n; i++)
    B[i] = s * A[i];
}
"""


@pytest.mark.parametrize("whole", FORMS, ids=lambda whole: "whole" if whole else "short")
def test_python_of_the_guide(whole: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All blocks of the page, one after the other, with shorter tunings or, short, without."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MDH_DEVICE", "c")
    Path("scale.c").write_text(SCALE, encoding="utf-8")
    Path("open.mdh").write_text(shown_files(DOCS / "tuning.md")["open.mdh"], encoding="utf-8")
    names: dict[str, object] = {
        "x": np.ones(8, np.float32), "y": np.ones(8, np.float32),
        "A": np.ones((8, 8), np.float32), "B": np.ones((8, 8), np.float32),
    }  # fmt: skip
    blocks = [b for b in blocks_of(DOCS / "python.md") if whole or "tune" not in b]
    assert len(blocks) >= 6
    for text in blocks:
        shorter = re.sub(r'budget="\d+m"', "trials=2", text.replace("(1, 4096)", "(64, 80)"))
        exec(compile(shorter.replace('"opencl:0"', '"c"'), "python.md", "exec"), names)
