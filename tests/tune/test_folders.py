"""Folders that may not be written: one message each and no traceback; a tuner without a cache goes on."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.source_tree import ROOT
from tests.tune.measure.bench import MATMUL

DROP = ("setpriv", "--bounding-set=-dac_override,-dac_read_search")
"""root is asked for no permission unless it gives this power away."""

pytestmark = pytest.mark.skipif(
    os.geteuid() == 0 and shutil.which(DROP[0]) is None,
    reason="root may write everywhere, and has no setpriv",
)


@pytest.fixture
def closed(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "closed"
    folder.mkdir(mode=0o555)
    yield folder
    folder.chmod(0o755)


def tune(folder: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    open_folder = folder / "open"
    open_folder.mkdir()
    (open_folder / "matmul.c").write_text(MATMUL)
    plain = {k: v for k, v in os.environ.items() if k not in ("CUPY_CACHE_DIR", "POCL_CACHE_DIR")}
    return subprocess.run(
        [*(DROP if os.geteuid() == 0 else ()), sys.executable, "-m", "mdh", "tune", "matmul.c", "--jobs", "1",
         "--trials", "1", *words],
        cwd=open_folder, env={**plain, "PYTHONPATH": str(ROOT), **environment},
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip


@pytest.mark.parametrize("option", ["-o", "--record"])
def test_outputs_and_record_are_asked_for_before_anything_is_measured(
    tmp_path: Path, closed: Path, option: str
) -> None:
    place = closed / "out" if option == "-o" else closed / "trials.jsonl"
    done = tune(tmp_path, option, str(place))
    assert done.returncode == 1
    assert done.stderr.count("error[") == 1
    assert "error[F111]" in done.stderr
    assert "permission denied" in done.stderr
    assert "Traceback" not in done.stderr
    assert "right" not in done.stdout + done.stderr
    said = done.stderr.splitlines()
    at = next(n for n, line in enumerate(said) if line.startswith("1 | "))
    assert said[at].find(str(place)) == said[at + 1].find("^")


def test_a_cache_that_was_closed_is_said_and_done_without(tmp_path: Path) -> None:
    cache = tmp_path / "mdh"
    cache.mkdir(mode=0o555)
    try:
        done = tune(tmp_path, XDG_CACHE_HOME=str(tmp_path))
    finally:
        cache.chmod(0o755)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("does not serve as cache") == 1
    assert "it may not be written (mode 0555)" in done.stderr
    assert list((tmp_path / "open").glob("matmul.*.mdh"))


def test_a_closed_home_costs_the_cache(tmp_path: Path, closed: Path) -> None:
    done = tune(tmp_path, HOME=str(closed), XDG_CACHE_HOME=str(closed))
    assert "does not serve as cache" in done.stderr
    assert done.returncode == 0
    assert "1 trial" in done.stdout
    assert "Traceback" not in done.stdout + done.stderr
    assert list((tmp_path / "open").glob("matmul.*.mdh"))
    assert not list(closed.iterdir())


def test_a_page_that_cannot_be_written_is_refused_before_the_tuning(tmp_path: Path, closed: Path) -> None:
    done = tune(tmp_path, "--html", str(closed / "page.html"))
    assert done.stderr.count("error[") == done.stderr.count("error[F111]") == 1
    assert done.returncode == 1
    assert "Traceback" not in done.stdout + done.stderr
    assert not list((tmp_path / "open").glob("matmul.*.mdh"))
    assert not list(closed.iterdir())
