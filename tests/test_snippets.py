"""What the README and the tutorial tell a reader to type works, from an empty folder, in its order.

Sizes are small. What starts processes that measure, `mdh tune` and `mdh compare` on a device, takes long:
only the slow form of the test types that as it stands. The other one checks the same schedules.
"""

import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest

from mdh.cli.main import run
from mdh.schedule.parser import parse_schedule
from mdh.source import Source
from tests.support.snippets import Snippet, snippets
from tests.support.source_tree import PACKAGE, ROOT

SMALL = {"M": 96, "N": 128, "K": 128}
SIZED = ("check", "run", "tune", "compare", "compile")
"""Verbs whose commands are typed with small sizes."""
SHORT = {"run": ["--repeat", "3"], "compare": ["--repeat", "3"], "tune": ["--trials", "2"]}
PAGES = (ROOT / "README.md", PACKAGE / "docs" / "first_schedule.md")


@pytest.mark.parametrize("whole", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["short", "whole"])
@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_what_the_page_shows_works(
    page: Path,
    whole: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MDH_DEVICE", "opencl:0")
    found = [s for s in snippets(page) if not s.text.startswith("pip ")]
    assert len(found) > 5 and any(s.python for s in found) == (page.name == "README.md")
    for one in found:
        _try(one, page, whole=whole)
    assert "internal error" not in capsys.readouterr().err


def _try(one: Snippet, page: Path, *, whole: bool) -> None:
    if one.python:
        _python(one.text, whole=whole)
    elif one.words.startswith("mdh "):
        refused = f"$ {one.text}\n    error[" in page.read_text(encoding="utf-8")
        _mdh(shlex.split(one.words)[1:], refused=refused, whole=whole)
    elif one.words.startswith("cd "):
        os.chdir(one.words[3:])
    else:
        subprocess.run(one.words, shell=True, check=True, timeout=60)


def _mdh(words: list[str], *, refused: bool, whole: bool) -> None:
    """An error that is shown may be one about sizes: such a command keeps its own."""
    words, verb = list(words), words[0]
    if verb in SIZED and not refused:
        words = [re.sub(r"^([MNK])=\d+$", lambda m: f"{m[1]}={SMALL[m[1]]}", w) for w in words]
        given = {w.partition("=")[0] for w in words}
        words += [w for name, n in SMALL.items() if name not in given for w in ("-D", f"{name}={n}")]
    if verb in ("tune", "compare") and not whole:
        words = _unmeasured(words)
    if "--trials" in SHORT.get(verb, []) and "--budget" in words:
        at = words.index("--budget")
        del words[at : at + 2]
    assert run([*words, *SHORT.get(words[0], [])]) == (1 if refused else 0), shlex.join(words)


def _unmeasured(words: list[str]) -> list[str]:
    """The comparison by the cost model alone; for a tuning, the default schedule as its result."""
    if words[0] == "compare":
        out, left = [words[0]], words[1:]
        while left:
            word = left.pop(0)
            if word in ("--device", "--baseline"):
                left.pop(0)
            else:
                out.append(word)
        return [*out, "--machine", "generic-cpu"]
    path = words[words.index("--schedule") + 1]
    assert "?" in Path(path).read_text() and parse_schedule(Source(path, Path(path).read_text()))
    sizes = [w for n, w in enumerate(words) if w == "-D" or words[n - 1] == "-D"]
    return ["check", words[1], *sizes, "--machine", "generic-cpu", "-o", "tuned/matmul.this-cpu.mdh"]


def _python(text: str, *, whole: bool) -> None:
    if not whole:
        text = "".join(row for row in text.splitlines(keepends=True) if "tune" not in row)
    # a number of trials, because a busy machine measures nothing in a short time
    exec(compile(re.sub(r'budget="\w+"', "trials=2", text), "snippet", "exec"), {})
