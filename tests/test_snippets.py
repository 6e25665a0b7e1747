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

from tests.support.snippets import Snippet, snippets, typed
from tests.support.source_tree import PACKAGE, ROOT

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
        typed(shlex.split(one.words)[1:], refused=refused, whole=whole)
    elif one.words.startswith("cd "):
        os.chdir(one.words[3:])
    else:
        subprocess.run(one.words, shell=True, check=True, timeout=60)


def _python(text: str, *, whole: bool) -> None:
    if not whole:
        text = "".join(row for row in text.splitlines(keepends=True) if "tune" not in row)
    # a number of trials, because a busy machine measures nothing in a short time
    exec(compile(re.sub(r'budget="\w+"', "trials=2", text), "snippet", "exec"), {})
