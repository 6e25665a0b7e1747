"""Files that another user has planted are not trusted; `scripts/planted-files` tries those of PoCL, too."""

import os
import shutil
import subprocess
import sys

import pytest

from tests.support.source_tree import ROOT


@pytest.mark.skipif(
    os.getuid() != 0 or shutil.which("setpriv") is None, reason="only root may give files to others"
)
def test_nothing_planted_is_trusted() -> None:
    command = [sys.executable, str(ROOT / "tests/campaigns/planted_files.py"), "--quick", "--users", "0"]
    found = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, env=found, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
