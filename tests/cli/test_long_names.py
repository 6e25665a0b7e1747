"""Names that no file can have, wherever a command line takes one: the system refuses to look at them."""

from pathlib import Path

import pytest

from mdh.cli.main import run

SCALE = "void scale(const float A[8], float B[8]) { for (int i = 0; i < 8; i++) B[i] = 2.0f * A[i]; }\n"
LONG = "x" * 300
WORDS = [
    "check LONG -m a100", "check f.c -s LONG -m a100", "check f.c -m LONG", "check f.c -m a100 -o LONG",
    "compile f.c -m a100 -o LONG", "compile f.c -m a100 -o LONG/y", "run f.c --device c --input A=LONG",
    "run f.c --device c --repeat 0 -o LONG", "explain f.c -m a100 --html LONG", "explain LONG --html p",
    "explain f.c -m a100 --html LONG/y", "explain s.mdh LONG", "fmt LONG", "fmt LONG/y", "db list LONG",
    "db show LONG", "db merge LONG -o y", "db merge f.c -o LONG", "db export LONG --csv y",
    "devices --export LONG --device c", "tune f.c --device c --trials 1 -o LONG",
    "tune f.c --device c --trials 1 --html LONG", "tune f.c -m a100 --replay LONG",
    "compare f.c -m a100 --records LONG", "compare f.c -m a100 --html LONG", "compare f.c -m a100 -s LONG",
]  # fmt: skip


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("f.c").write_text(SCALE)
    Path("s.mdh").write_text("1: (de-)comp( 4 ) ( ^ ; ^ ) ( BLK.x )\n")
    return tmp_path


@pytest.mark.parametrize("line", WORDS)
def test_a_name_that_is_too_long(line: str, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([word.replace("LONG", LONG) for word in line.split()]) in (1, 2)
    err = capsys.readouterr().err
    assert err.startswith("error[")
    assert "B101" not in err
