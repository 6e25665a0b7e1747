"""Golden rejections: every case under tests/reject/<CODE>/ gives exactly its expected message.

A case holds its input files, optionally `cmd` (the words after `mdh`), `call.py` (instead: a script that uses
the Python API) and `prepare.py` (writes input files that are too large to keep), `expected.txt` (stderr,
whole) and optionally `code` (the exit code, 1 where absent).
"""

import contextlib
import io
import re
import runpy
import shlex
import shutil
import tempfile
from pathlib import Path

import pytest

from mdh.cli.exit_codes import exit_code
from mdh.cli.main import run
from mdh.diagnostics import Failed, render_text

REJECT = Path(__file__).parent / "reject"
CASES = sorted(p for p in REJECT.glob("*/*") if p.is_dir())


def _words(case: Path) -> list[str]:
    if (case / "cmd").exists():
        return shlex.split((case / "cmd").read_text(encoding="utf-8"), comments=True)
    if (case / "input.c").exists():
        schedule = ["--schedule", "schedule.mdh"] if (case / "schedule.mdh").exists() else []
        return ["check", "input.c", *schedule, "--machine", "a100"]
    return ["fmt", "--check", "schedule.mdh"]


def _call(script: Path) -> tuple[int, str]:
    """The message of a case of the Python API."""
    try:
        runpy.run_path(str(script))
    except Failed as failed:
        return exit_code(failed.diagnostics), "\n".join(render_text(d) for d in failed.diagnostics)
    return 0, ""


def _outcome(case: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[int, str]:
    """Exit code and stderr of the case, run in a copy of its folder."""
    shutil.copytree(case, folder, dirs_exist_ok=True)
    monkeypatch.chdir(folder)
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    if (folder / "prepare.py").exists():
        runpy.run_path(str(folder / "prepare.py"))
    if (folder / "call.py").exists():
        # texts that a compiler refused are kept there
        monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
        return _call(Path("call.py"))
    err = io.StringIO()
    with contextlib.redirect_stderr(err), contextlib.redirect_stdout(io.StringIO()):
        code = run(_words(folder))
    return code, err.getvalue()


@pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c.parent.name}-{c.name}")
def test_rejection(case: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, update_golden: bool) -> None:
    code, text = _outcome(case, tmp_path / case.name, monkeypatch)
    text = text.replace(str(tmp_path / case.name), ".")
    text = re.sub(r"(opencl:0 has) [\d.]+ \w+", r"\1 MEMORY", text)
    text = re.sub(r"mdh-(crash|build)-\w+", r"mdh-\1-NAME", text)
    wanted = case / "expected.txt"
    if update_golden:
        wanted.write_text(text, encoding="utf-8")
    assert wanted.exists(), f"no {wanted}; run with --update-golden"
    assert text == wanted.read_text(encoding="utf-8")
    assert re.search(rf"\[{case.parent.name}\]", text), f"the case does not show {case.parent.name}"
    exit_file = case / "code"
    assert code == (int(exit_file.read_text()) if exit_file.exists() else 1)
