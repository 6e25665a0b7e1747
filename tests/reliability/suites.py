"""Tests of the suite that belong to a row: run by pytest, counted, never at the row's full number."""

import re
import subprocess
import sys
from collections.abc import Callable

from tests.reliability.row import Found, Setting
from tests.source_tree import ROOT


def suite(full: int, *paths: str, what: str) -> Callable[[Setting], Found]:
    """Runs those of `paths` that are there. what: they show, in words; full: the number of the target."""

    def run(setting: Setting) -> Found:
        there = [p for p in paths if (ROOT / p.partition("::")[0]).exists()]
        if not there:
            return Found("no test of it yet", False, 0, full)
        words = [sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", *there]
        said = subprocess.run(words, capture_output=True, text=True, check=False, cwd=ROOT)
        counts = {w: int(n) for n, w in re.findall(r"(\d+) (passed|failed|error)", said.stdout)}
        passed, failed = counts.get("passed", 0), counts.get("failed", 0) + counts.get("error", 0)
        return Found(
            f"{passed} tests pass, {failed} fail: {what}", said.returncode == 0 and bool(passed), 0, full
        )

    return run
