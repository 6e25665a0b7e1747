"""The session of a user in a real editor: Neovim, without a screen (Debian's package `neovim`)."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.source_tree import ROOT

NEOVIM = shutil.which("nvim")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(NEOVIM is None, reason="Neovim is not installed here"),
]
pytest.importorskip("pygls", reason="the extra `editor` is not installed")


def test_a_user_in_neovim(tmp_path: Path) -> None:
    for name in ("inputs_c/matmul.c", "schedules/matmul/h200/base.mdh"):
        (tmp_path / name).parent.mkdir(parents=True)
        shutil.copy(ROOT / name, tmp_path / name)
    here = {
        "MDH_OUT": str(tmp_path / "out"), "MDH_ROOT": str(tmp_path), "MDH_PYTHON": sys.executable,
        "MDH_FILE": str(tmp_path / "schedules/matmul/h200/base.mdh"), "XDG_STATE_HOME": str(tmp_path),
        "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]),
    }  # fmt: skip
    script = ROOT / "tests" / "editor" / "neovim.lua"
    words = [str(NEOVIM), "--headless", "-u", "NONE", "-i", "NONE", "-n", "-c", f"luafile {script}"]
    subprocess.run(words, env={**os.environ, **here}, check=True, timeout=300, capture_output=True)
    rows = (tmp_path / "out").read_text(encoding="utf-8").splitlines()
    told = dict(row.split(": ", 1) for row in rows)
    assert told["ended"] == "well", told
    assert (told["opened"], told["mistake"], told["fixed"]) == ("P102", "S107", "P102")
    assert told["action"] == "Write `BLK`"
    assert told["hover"].startswith("**step 1** of stage `C` on h200 |") and "8 parts of 128" in told["hover"]
    assert {"BLK.x", "THR.y", "FOR.1"} <= set(told["completion"].split())
    assert told["definition"] == "matmul.c"
    assert told["formatted"].startswith("1: (de-)comp( 128, 128, ^ ) ( ^, ^ ; ^ ) ( BLK.y, BLK.x, ^ )")
