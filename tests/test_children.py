"""Processes of this Python run this mdh, whatever lies in the current folder."""

import subprocess
from pathlib import Path

import pytest

import mdh
from mdh.children import module_command, module_environment


def test_modules_of_the_current_folder_do_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("mdh", "runpy", "typing", "json"):
        Path(f"{name}.py").write_text("open('ran', 'w')\n")
    done = subprocess.run(
        module_command("mdh", "--version"),
        env=module_environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith("mdh ")
    assert not Path("ran").exists()


def test_mdh_is_found_where_only_the_current_folder_has_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", "/other")
    root = str(Path(mdh.__file__).parent.parent)
    assert module_environment()["PYTHONPATH"] == f"{root}:/other"
