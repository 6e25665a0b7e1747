"""Tests of the suite that belong to a row: run by pytest, and counted."""

import re
import subprocess
import sys

from tests.support.source_tree import ROOT


def suite(*paths: str) -> tuple[int, int]:
    """How many tests of these files pass, and how many fail."""
    words = [sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", *paths]
    said = subprocess.run(words, capture_output=True, text=True, check=False, cwd=ROOT)
    counts = {w: int(n) for n, w in re.findall(r"(\d+) (passed|failed|error)", said.stdout)}
    failed = counts.get("failed", 0) + counts.get("error", 0)
    return counts.get("passed", 0), failed or int(said.returncode != 0)
