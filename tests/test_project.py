"""The project file: what it says, and a message at each key that is wrong."""

import json
import os
from pathlib import Path
from random import Random

import pytest

from mdh.cli.main import run
from mdh.diagnostics import Failed
from mdh.project import ProjectSettings, settings

FLAT = "void f(float y[8]) { for (int i = 0; i < 8; i++) y[i] = 1; }\n"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path / "below")
    monkeypatch.delenv("MDH_DEVICE", raising=False)
    Path("f.c").write_text(FLAT)


def said(text: str, name: str = "../pyproject.toml") -> ProjectSettings:
    Path(name).write_text(text, encoding="utf-8")
    return settings(Path())


def test_the_nearest_table_counts() -> None:
    assert settings(Path()).source is None
    assert said('[tool.mdh]\nmachine = "h200"\n').machine == "h200"
    assert said("[tool.other]\nx = 1\n", "pyproject.toml").machine == "h200"
    assert said('machine = "a100"\n', "mdh.toml").machine == "a100"
    assert said("# mdh\nthis is no TOML", "pyproject.toml").machine == "a100"
    assert said('device = "c"\n', "mdh.toml").machine is None


def test_what_a_stranger_put_into_a_shared_folder_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert said('machine = "h200"\n', "../mdh.toml").machine == "h200"
    if os.geteuid() == 0:
        os.chown("../mdh.toml", 4321, -1)
    else:
        monkeypatch.setattr(os, "geteuid", lambda: 4321)
    assert settings(Path()).machine == "h200"
    os.chmod("..", 0o1777)
    assert settings(Path()).machine is None


def test_a_folder_that_is_gone_says_nothing(tmp_path: Path) -> None:
    Path("gone").mkdir()
    os.chdir("gone")
    os.rmdir(tmp_path / "below" / "gone")
    assert settings(Path()) == ProjectSettings()


def test_a_path_is_relative_to_the_file() -> None:
    found = said('tool.mdh.machine = "my.toml"\n').machine
    assert found is not None and os.path.samefile(Path(found).parent, "..")


@pytest.mark.parametrize(("text", "place", "said_"), [
    ('[tool.mdh]\nmachin = "h200"\n', (2, 1), "did you mean `machine`?"),
    ("[tool.x]\nmachine = 3\n[tool.mdh]\nmachine = 3\n", (4, 1), "must be a machine"),
    ("[tool.mdh]\n  warnings = \"none\"\n", (2, 3), 'must be "show", "hide" or "error"'),
    ("[tool.mdh]\n'devices' = 1\n", (2, 2), "did you mean `device`?"),
    ("[tool.mdh.tunes]\nx = 1\n", (1, 11), "did you mean `tune`?"),
    ("[[tool.mdh.tunes]]\nx = 1\n", (1, 12), "did you mean `tune`?"),
    ("[tool]\nmdh = 3\n", (2, 1), "write [tool.mdh]"),
    ("[tool.mdh]\nzzz = {a = 1}\n", (2, 1), "keys: machine, device, warnings, tune"),
])  # fmt: skip
def test_wrong_keys(text: str, place: tuple[int, int], said_: str) -> None:
    with pytest.raises(Failed) as failed:
        said(text)
    (d,) = failed.value.diagnostics
    assert d.code == "F217" and (d.labels[0].span.line, d.labels[0].span.column) == place
    assert said_ in f"{d.help} {d.labels[0].message}"


def test_every_mistake_is_told_and_no_file_makes_another_error() -> None:
    chance = Random(3)
    keys = ("machine", "device", "warnings", "tune", "Machine", "x-y", '"a b"', "é", "tool", "mdh")
    values = ('"h200"', "3", "true", "[1]", "{a = 1}", '"error"', "1979-05-27", '"\\u202e"', "[[1], [2]]")
    for _ in range(200):
        rows = {chance.choice(keys if n else keys[:4]): chance.choice(values) for n in range(4)}
        body = "".join(f"{key} = {value}\n" for key, value in rows.items() if key.isascii() or '"' in key)
        try:
            said(f"[tool.mdh]\n{body}")
        except Failed as failed:
            found = failed.diagnostics
            assert {d.code for d in found} == {"F217"}
            assert all(d.labels and str(d) for d in found)
            wrong = [d for d in found if "has no key" in d.headline]
            assert len(wrong) == sum(f"\n{k} = " in f"\n{body}" for k in rows if k not in keys[:4])


def test_commands_take_what_it_says(capsys: pytest.CaptureFixture[str]) -> None:
    said('machine = "h200"\n', "mdh.toml")
    assert run(["check", "f.c"]) == 0
    out, err = capsys.readouterr()
    assert "legal on h200" in out and "mdh: h200, as mdh.toml says" in err
    assert run(["check", "f.c", "-m", "a100"]) == 0
    assert "legal on a100" in capsys.readouterr().out
    said('device = "oclgrid"\n', "mdh.toml")
    assert run(["run", "f.c"]) != 0
    assert "--> mdh.toml:1:1" in capsys.readouterr().err
    said('machine = "h2000"\n', "mdh.toml")
    assert run(["check", "f.c"]) != 0
    assert "--> mdh.toml:1:1" in capsys.readouterr().err


def test_warnings(capsys: pytest.CaptureFixture[str]) -> None:
    Path("s.mdh").write_text("1: (de-)comp( 1, 8, 1 ) ( ^, ^ ; ^ ) ( FOR.1, FOR.2, FOR.3 )\n")
    words = ["check", "matmul", "-s", "s.mdh", "-m", "generic-cpu"]
    assert run(words) == 0 and "[P102]" in capsys.readouterr().err
    said('warnings = "hide"\n', "mdh.toml")
    assert run(words) == 0 and capsys.readouterr().err == ""
    said('warnings = "error"\n', "mdh.toml")
    assert run(words) == 1
    assert run([*words, "--no-warnings"]) == 0
    capsys.readouterr()
    Path("mdh.toml").write_text('warning = "error"\n')
    assert run([*words, "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["diagnostics"][0]["code"] == "F217"
