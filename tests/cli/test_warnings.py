"""Warnings of performance on the command line and in Python: where they are said, -W, and `check --fix`."""

import json
from pathlib import Path

import pytest

import mdh
from mdh.cli.main import run

PRODUCT = """void product(const float A[N][N], const float B[N][N], float C[N][N]) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      for (int k = 0; k < N; k++)
        C[i][j] += A[i][k] * B[k][j];
}
"""
SCALAR = """// plain
{header}target generic-cpu

1: (de-)comp( 32,32,^ ) ( ^,^ ; ^ ) ( BLK.y, BLK.x, ^ )  // blocks
"""
CONFLICTS = """target h100

1: (de-)comp( 128, 128, ^ ) ( ^, ^ ; ^ ) ( BLK.y, BLK.x, ^ )
2: (de-)comp( ^, ^, 32 ) ( A:SM[1,2]{pad}, B:SM[1,2] ; C:RM[1,2] ) ( ^, ^, FOR.1 ) @stages(?slots{{1,2}})
3: (de-)comp( 8, 8, ^ ) ( ^, ^ ; ^ ) ( THR.x, THR.y, ^ )
"""
SIZE = ["-D", "N=2048"]
SAID = "warning[P101]: `j` is computed element by element, `generic-cpu` has vectors of 8 lanes\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.c").write_text(PRODUCT)
    (tmp_path / "s.mdh").write_text(SCALAR.format(header=""))
    (tmp_path / "g.mdh").write_text(CONFLICTS.format(pad=""))
    return tmp_path


def _run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    capsys.readouterr()
    code = run(words)
    return (code, *capsys.readouterr())


@pytest.mark.parametrize("verb", ["check", "compile"])
def test_said_once_on_stderr(folder: Path, capsys: pytest.CaptureFixture[str], verb: str) -> None:
    code, out, err = _run(capsys, verb, "p.c", *SIZE, "-s", "s.mdh")
    assert code == 0 and "P101" not in out
    assert err.startswith(SAID) and err.count("warning[") == 1
    assert " --> s.mdh:4:46\n" in err
    code, _, err = _run(capsys, verb, "p.c", *SIZE, "-s", "s.mdh", "--no-warnings")
    assert (code, err) == (0, "")


def test_run_warns_of_the_machine_that_it_runs_on(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("run", "p.c", "-D", "N=256", "-s", "s.mdh", "--device", "opencl:0", "--repeat", "0")
    code, out, err = _run(capsys, *words)
    assert code == 0 and out.startswith("product on opencl:0")
    assert "warning[P101]" in err
    code, out, err = _run(capsys, *words, "-W", "error")
    assert (code, out) == (1, "") and "error[P101]" in err


def test_errors_of_warnings(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = _run(capsys, "check", "p.c", *SIZE, "-s", "s.mdh", "-W", "error", "-o", "o.mdh")
    assert (code, out) == (1, "") and err == err.replace("warning[", "error[") and "error[P101]" in err
    assert not (folder / "o.mdh").exists()
    code, out, _ = _run(capsys, "check", "p.c", *SIZE, "-s", "s.mdh", "-W", "error", "--json")
    found = json.loads(out)
    assert (code, found["ok"], found["exit"]) == (1, False, 1)
    assert [(d["code"], d["severity"]) for d in found["diagnostics"]] == [("P101", "error")]


def test_data(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = _run(capsys, "check", "p.c", *SIZE, "-s", "s.mdh", "--json")
    found = json.loads(out)
    assert (code, err, found["ok"]) == (0, "", True)
    assert [(d["code"], d["severity"]) for d in found["warnings"]] == [("P101", "warning")]
    assert found["warnings"][0]["labels"][0]["line"] == 4
    _, out, _ = _run(capsys, "check", "p.c", *SIZE, "-s", "s.mdh", "--json", "--no-warnings")
    assert json.loads(out)["warnings"] == []


def test_derived_schedules_are_not_warned_of(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = _run(capsys, "check", "p.c", *SIZE, "-m", "h100", "-W", "error")
    assert code == 0 and "P1" not in err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("-W", "all"), "`all` is no value of -W"),
        (("-W", "error", "--no-warnings"), "--no-warnings and -W exclude one another"),
        (("--in-place",), "--in-place needs --fix"),
    ],
)
def test_wrong_words(
    folder: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], said: str
) -> None:
    code, _, err = _run(capsys, "check", "p.c", *SIZE, "-s", "s.mdh", *words)
    assert code == 2 and err.startswith(f"error[F107]: {said}\n")
    code, _, err = _run(capsys, "check", "p.c", *SIZE, "-m", "h100", "--fix")
    assert code == 2 and err.startswith("error[F107]: --fix needs a schedule\n")


def test_fix_prints_the_changed_schedule(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = (folder / "s.mdh").read_text()
    code, out, err = _run(capsys, "check", "p.c", *SIZE, "-s", "s.mdh", "--fix")
    assert code == 0
    assert err == "mdh: P101 in stage C: a last step with VEC on `j`, in tiles of 8\n"
    assert out == (
        "// plain\ntarget generic-cpu\n\n"
        "1: (de-)comp( 32, 32, ^ ) ( ^, ^ ; ^ ) ( BLK.y, BLK.x, ^ )  // blocks\n"
        "2: (de-)comp( ^, 8, ^ )   ( ^, ^ ; ^ ) ( ^, ^, ^ )\n"
        "3: (de-)comp( ^, 1, ^ )   ( ^, ^ ; ^ ) ( ^, VEC.x, ^ )\n"
    )
    assert (folder / "s.mdh").read_text() == before
    code, shown, err = _run(capsys, "check", "p.c", *SIZE, "-s", "s.mdh", "--fix", "--in-place")
    assert code == 0 and shown.startswith("ok: ") and err.endswith("mdh: wrote s.mdh\n")
    assert (folder / "s.mdh").read_text() == out
    assert _run(capsys, "check", "p.c", *SIZE, "-s", "s.mdh", "-W", "error")[0] == 0


def test_fix_keeps_holes(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("check", "p.c", *SIZE, "-s", "g.mdh", "--set", "slots=2", "--fix")
    code, out, err = _run(capsys, *words, "--json")
    found = json.loads(out)
    assert code == 0 and "P105" in err
    assert found["fixes"][0] == {"code": "P105", "stage": "C", "change": "`@pad(1)` on `A`"}
    assert "A:SM[1,2]@pad(1)" in found["fixed"] and "@stages(?slots{1,2})" in found["fixed"]
    assert "?" not in found["schedule"] and found["warnings"] == []


def test_fix_replaces_no_hole(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "g.mdh").write_text(CONFLICTS.format(pad="@pad(?n{0,1})"))
    words = ("check", "p.c", *SIZE, "-s", "g.mdh", "--set", "slots=2", "--set", "n=0", "--fix")
    code, out, err = _run(capsys, *words)
    assert code == 0 and "A:SM[1,2]@pad(?n{0,1})" in out
    assert "mdh: P105 is left as it is: `@pad(1)` on `A` would replace a hole\n" in err
    assert "warning[P105]" in err


def test_fix_keeps_the_sizes_of_the_header_legal(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "s.mdh").write_text(SCALAR.format(header="small N=6\n").replace("32,32", "4,4"))
    code, out, err = _run(capsys, "check", "p.c", *SIZE, "-s", "s.mdh", "--fix")
    assert code == 0 and "VEC" not in out
    assert "mdh: P101 is left as it is: with a last step with VEC on `j`, in tiles of 8 [K1" in err
    assert "warning[P101]" in err


def test_python(folder: Path) -> None:
    plan = mdh.check("p.c", "s.mdh", defines={"N": 2048})
    (found,) = mdh.warnings(plan)
    assert (found.code, str(found.severity)) == ("P101", "warning")
    assert str(found).startswith(SAID)
    assert mdh.warnings(mdh.check("p.c", machine="h100", defines={"N": 2048})) == ()
    with pytest.raises(TypeError, match=r"plan takes what `mdh\.check` returns"):
        mdh.warnings("s.mdh")  # type: ignore[arg-type]
