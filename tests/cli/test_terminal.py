"""Colours by the conventions of the field, and text that fits any terminal."""

import io
import re

import pytest
from rich.console import Console

from mdh.cli.console import report
from mdh.cli.live import fitted
from mdh.cli.terminal import coloured, paint
from mdh.cli.tune_live import Bar
from mdh.diagnostics import Diagnostic, Label, Severity, render_text
from mdh.printable import cells
from mdh.results.trial import Failure
from mdh.results.tuning import RunProgress
from mdh.source import Source, Span


class Stream(io.StringIO):
    def __init__(self, terminal: bool) -> None:
        super().__init__()
        self._terminal = terminal

    def isatty(self) -> bool:
        return self._terminal


@pytest.mark.parametrize(("variables", "on_terminal", "elsewhere"), [
    ({}, True, False),
    ({"NO_COLOR": "1"}, False, False),
    ({"NO_COLOR": ""}, True, False),
    ({"FORCE_COLOR": "1"}, True, True),
    ({"CLICOLOR_FORCE": "1"}, True, True),
    ({"CLICOLOR_FORCE": "0", "FORCE_COLOR": ""}, True, False),
    ({"NO_COLOR": "1", "FORCE_COLOR": "1"}, False, False),
    ({"CLICOLOR": "0"}, False, False),
    ({"TERM": "dumb"}, False, False),
    ({"TERM": "dumb", "FORCE_COLOR": "3"}, True, True),
])  # fmt: skip
def test_when_text_is_coloured(variables: dict[str, str], on_terminal: bool, elsewhere: bool) -> None:
    assert coloured(Stream(True), variables) is on_terminal
    assert coloured(Stream(False), variables) is elsewhere
    assert coloured(None, variables) is False


ODD = Diagnostic(
    "C111", "`\x1b[31mx` is not\ndefined",
    (Label(Span(Source("a\x1b.c", "漢字 = \x1b[2J + été;\n"), 5, 9), "here\x1b"),),
    ("a note",), "did you mean `y`?", severity=Severity.WARNING,
)  # fmt: skip


def test_colours_change_no_character() -> None:
    plain = render_text(ODD)
    painted = render_text(ODD, paint)
    assert re.sub(r"\x1b\[[\d;]*m", "", painted) == plain
    assert "\x1b" not in plain and "\x1b[1;33mwarning[C111]\x1b[0m" in painted


def test_stderr_decides(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE"):
        monkeypatch.delenv(name, raising=False)
    report([ODD])
    assert "\x1b" not in capsys.readouterr().err
    monkeypatch.setenv("FORCE_COLOR", "1")
    report([ODD])
    assert "\x1b[1;33m" in capsys.readouterr().err


@pytest.mark.parametrize("columns", [20, 33, 40, 80, 300])
def test_excerpts_fit(columns: int) -> None:
    text = "x" * 30 + " + wrong + " + "y" * 200
    label = Label(Span(Source("a.c", text), 33, 38))
    rows = render_text(Diagnostic("C111", "no", (label,)), columns=columns).splitlines()
    shown, carets = rows[3], rows[4]
    assert len(shown) <= max(columns, 24)
    start = carets.index("^")
    assert shown[start : start + 5] == "wrong" and carets.count("^") == 5


def test_carets_stand_below_wide_characters() -> None:
    rows = render_text(ODD).splitlines()
    before = rows[4][: rows[4].index("^")]
    shown = rows[4 - 1]
    at = next(n for n in range(len(shown)) if cells(shown[:n]) == len(before))
    assert shown[at:].startswith("\\x1b[2J")
    assert cells("漢字") == 4 and cells("e\u0301") == 1 and cells("abc") == 3


NOW = RunProgress("search", 12.0, 1_000, ((Failure.WRONG, 3),), 17.6e-3, 20e-3, 60.0, None)


@pytest.mark.parametrize("columns", [1, 2, 7, 20, 40, 71, 72, 80, 200])
@pytest.mark.parametrize("name", ["matmul", "漢字" * 30, "n" * 300])
def test_progress_is_one_line_of_any_width(columns: int, name: str) -> None:
    bar = Bar(name)
    for now in (None, NOW):
        if now is not None:
            bar(now, None)
        for terminal in (True, False):
            out = io.StringIO()
            Console(file=out, width=columns, force_terminal=terminal, color_system=None).print(bar, end="")
            rows = re.sub(r"\x1b\[[\d;?]*[a-zA-Z]", "", out.getvalue()).splitlines()
            assert len(rows) == 1 and cells(rows[0].rstrip()) <= columns, rows


def test_a_line_is_cut_at_the_width() -> None:
    console = Console(file=io.StringIO(), width=9, color_system=None)
    (row,) = console.render_lines(fitted("漢字漢字漢字\x1b[2J"))
    assert "".join(part.text for part in row) == "漢字漢字…"
