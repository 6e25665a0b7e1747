"""`-` as a program or a schedule: standard input, once."""

import io
import sys
from pathlib import Path

import pytest

from mdh.cli.main import run

Patch = pytest.MonkeyPatch
Capture = pytest.CaptureFixture[str]
SCALE = """void scale(const float A[8], float B[8]) {
  for (int i = 0; i < 8; i++)
    B[i] = 2.0f * A[i];
}
"""
STEP = "target a100\n\n1: (de-)comp( 4 ) ( ^ ; ^ ) ( BLK.x )\n"


@pytest.fixture
def typed(monkeypatch: Patch, tmp_path: Path) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "scale.c").write_text(SCALE)
    (tmp_path / "scale.mdh").write_text(STEP)
    return tmp_path


def _send(monkeypatch: Patch, text: str) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["check", "-", "-m", "a100"], SCALE),
        (["compile", "-", "-s", "scale.mdh", "-o", "out"], SCALE),
        (["run", "-", "--device", "opencl:0", "--check", "--repeat", "0"], SCALE),
        (["explain", "-", "-m", "a100", "--html", "page.html"], SCALE),
        (["check", "scale.c", "-s", "-"], STEP),
        (["compare", "scale.c", "-s", "-", "-s", "default", "-m", "a100"], STEP),
        (["explain", "-", "scale.mdh"], STEP),
        (["fmt", "-"], STEP),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_text_comes_from_standard_input(
    words: list[str],
    text: str,
    typed: Path,
    monkeypatch: Patch,
    capsys: Capture,
) -> None:
    _send(monkeypatch, text)
    assert run(words) == 0
    assert "error" not in capsys.readouterr().err
    assert not Path("-").exists()


def test_errors_point_into_it(typed: Path, monkeypatch: Patch, capsys: Capture) -> None:
    _send(monkeypatch, "void f(float A[8]) { for (int i = 0; i < 8; i++) A[i] = q; }")
    assert run(["check", "-", "-m", "a100"]) == 1
    assert "--> <stdin>:1:57" in capsys.readouterr().err
    _send(monkeypatch, STEP.replace("4", "16"))
    assert run(["explain", "scale.c", "-s", "-", "--html", "page.html"]) == 1
    assert "[K104]" in capsys.readouterr().err
    assert "&lt;stdin&gt;" in Path("page.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["check", "-", "-s", "-"], "F107"),
        (["check", "scale.c", "-s", "-", "--fix", "--in-place"], "F111"),
    ],
)
def test_what_cannot_be(
    words: list[str],
    code: str,
    typed: Path,
    monkeypatch: Patch,
    capsys: Capture,
) -> None:
    _send(monkeypatch, STEP)
    assert run(words) in (1, 2)
    assert f"[{code}]" in capsys.readouterr().err


def test_too_much(typed: Path, monkeypatch: Patch, capsys: Capture) -> None:
    _send(monkeypatch, "/" * 300_000)
    assert run(["check", "-", "-m", "a100"]) == 1
    assert "[F105] standard input has more than 262,144 bytes" in capsys.readouterr().err.replace("]:", "]")
