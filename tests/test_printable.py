"""What steers a terminal, and what no encoding has, is spelled out wherever mdh writes."""

import csv
import json
import os
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdh.cli.console import log, note, report, show, show_json
from mdh.cli.main import run
from mdh.diagnostics import Diagnostic, Label, render_text
from mdh.printable import encodable, json_text, one_line, printable, shell_word
from mdh.report.picture.refused import refused_page
from mdh.results.trial import Failure
from mdh.source import Source, Span
from mdh.tuner.records.export import csv_text
from mdh.tuner.records.file import Record
from mdh.tuner.records.read import RecordSection
from tests.tune.records.samples import header, trial

MDH = [sys.executable, "-m", "mdh"]
STEERING = (
    [chr(n) for n in (*range(9), *range(11, 32), *range(127, 160))]
    + [chr(n) for n in (0x61C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))]
    + ["\u2028", "\u2029", "\ud800", "\udc80", "\udfff"]
)
HOSTILE = "\x1b]0;owned\x07\x1b[2J\r\x9b31m\u202eevil\u2066\x7f"
TEXTS = st.text(st.one_of(st.sampled_from(STEERING), st.characters()), max_size=40)
C_TEXT = "void f(const float A[N], float B[N]) {{ for (int i = 0; i < N; i++) B[i] = A[i]{}; }}\n"


def _steers(text: str) -> list[str]:
    return [c for c in STEERING if c in text]


@given(TEXTS)
def test_no_character_steers(text: str) -> None:
    shown = printable(text)
    assert not _steers(shown)
    assert printable(shown) == shown
    assert (shown.count("\n"), shown.count("\t")) == (text.count("\n"), text.count("\t"))
    assert one_line(text).isprintable()
    encodable(text).encode("utf-8")


@given(st.dictionaries(TEXTS, TEXTS))
def test_json_stays_json(value: dict[str, str]) -> None:
    text = json_text(json.dumps(value, ensure_ascii=False))
    assert not _steers(text)
    assert json.loads(text) == value


def test_plain_text_stays() -> None:
    text = "größe × 2 … ━ 😀\n\ta\\x1b"
    assert printable(text) == text
    assert printable("\x1b\x85\u202e\udcff\ud800") == "\\x1b\\x85\\u202e\\xff\\ud800"
    assert one_line("a\n") == "a\\n"


@pytest.mark.skipif(not Path("/bin/bash").exists(), reason="needs bash")
@pytest.mark.parametrize("word", ["a b", "it's", "a\nb", "\x1b[1m'\\", "b\udcff.c", "größe"])
def test_words_come_back_from_a_shell(word: str) -> None:
    done = subprocess.run(
        ["/bin/bash", "-c", f"printf %s {shell_word(word)}"], capture_output=True, check=True,
        env={**os.environ, "LC_ALL": "C.UTF-8"},
    )  # fmt: skip
    assert os.fsdecode(done.stdout) == word


def test_carets_fit_below_what_is_shown() -> None:
    source = Source("\x1b[2J\n.c", "/* \x1b[31m\u202e */ \x1bbad\x07 good\n")
    for word in ("\x1bbad\x07", "good"):
        at = source.text.index(word)
        told = Diagnostic("C101", f"a\x1bb\nc{HOSTILE}", (Label(Span(source, at, at + len(word)), HOSTILE),))
        rows = render_text(told).splitlines()
        assert len(rows) == 5
        under = rows[4].index("^"), rows[4].rindex("^") + 1
        assert rows[3][slice(*under)] == printable(word)


def test_every_way_out_spells_it_out() -> None:
    out, err = StringIO(), StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        show(HOSTILE)
        show_json({"text": HOSTILE})
        log(HOSTILE)
        note(HOSTILE)
        report([Diagnostic("C101", HOSTILE, notes=(HOSTILE,), help=HOSTILE)])
    assert not _steers(out.getvalue() + err.getvalue())
    assert json.loads(out.getvalue().partition("\n")[2]) == {"text": HOSTILE}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _said(*words: str) -> str:
    """All that a command writes."""
    out = StringIO()
    with redirect_stdout(out), redirect_stderr(out):
        run(words)
    return out.getvalue()


def test_hostile_texts_and_records(folder: Path) -> None:
    Path("error.c").write_text(f"#error {HOSTILE}\n" + C_TEXT.format(""))
    Path("bad.c").write_text(f"/* {HOSTILE} */ " + C_TEXT.format(f" + {HOSTILE}"))
    Path("good.c").write_text(f"/* {HOSTILE} */ " + C_TEXT.format(""))
    Path("s.mdh").write_text(f"// {HOSTILE}\n1: (de-)comp( 4 ) ( ^ ; ^ ) ( FOR.1 )\n")
    Path("bad.mdh").write_text(f"1: {HOSTILE}\n")
    failed = replace(trial(1).outcome, failure=Failure.COMPILE, message=HOSTILE)
    with Record.open("r.jsonl", replace(header(), command=HOSTILE, device=HOSTILE)) as record:
        record.append(replace(trial(1), outcome=failed, origin=HOSTILE))
    machine = ("-D", "N=8", "--machine", "generic-cpu")
    calls = [
        ("check", "error.c", *machine), ("check", "bad.c", *machine), ("check", HOSTILE, *machine),
        ("compile", "good.c", *machine, "--schedule", "s.mdh"), ("fmt", "--stdout", "s.mdh"),
        ("explain", "good.c", *machine, "--schedule", "s.mdh"), ("fmt", "--diff", "s.mdh"),
        ("check", "good.c", *machine, "--schedule", "bad.mdh"), (HOSTILE,), ("check", "--" + HOSTILE),
        ("check", "good.c", *machine, "--schedule", "s.mdh", "--dump", "all"),
        ("db", "show", "r.jsonl"), ("db", "list", "."), ("db", "show", "r.jsonl", "--trial", "1"),
        *(("db", "export", "r.jsonl", "--format", form) for form in ("jsonl", "csv", "t4")),
    ]  # fmt: skip
    for words in calls:
        for more in ((), ("--json",)):
            said = _said(*words, *more)
            assert said
            assert not _steers(said), words
            assert "B101" not in said


def test_words_of_a_record_forge_no_line(folder: Path) -> None:
    forged = "a\n*  9      0.01 ns  winner  bayes"
    failed = replace(trial(1).outcome, failure=Failure.COMPILE, code=forged)
    with Record.open("r.jsonl", header()) as record:
        record.append(replace(trial(0, 1e-3), origin=forged, phase=forged))
        record.append(replace(trial(2), outcome=failed))
    for more in ((), ("--trial", "0")):
        rows = _said("db", "show", "r.jsonl", *more).splitlines()
        assert any("0.01 ns" in row for row in rows)
        assert not [row for row in rows if row.startswith("*  9")]


def test_pages_show_texts_in_their_own_order(folder: Path) -> None:
    Path("good.c").write_text(f"/* {HOSTILE} */ " + C_TEXT.format(""))
    Path("s.mdh").write_text(f"// {HOSTILE}\n1: (de-)comp( 4 ) ( ^ ; ^ ) ( FOR.1 )\n")
    Path("refused.mdh").write_text(f"// {HOSTILE}\n1: (de-)comp( 3 ) ( ^ ; ^ ) ( BLK.x )\n")
    for name in ("s", "refused"):
        _said(
            "explain", "good.c", "-D", "N=8", "--machine", "generic-cpu", "--schedule", f"{name}.mdh",
            "--html", f"{name}.html",
        )  # fmt: skip
        text = Path(f"{name}.html").read_text(encoding="utf-8")
        assert "\\u202e" in text
        assert not _steers(text), name


def test_messages_stand_below_their_lines_on_the_page_of_a_refusal() -> None:
    """Other characters than a newline end no line of a text; carets count what is shown."""
    source = Source("a.c", "/* \u2028 \x0b \x85 */\n/*\x1b*/ bad\n")
    at = source.text.index("bad")
    page = refused_page("t", [source], [Diagnostic("C101", "no", (Label(Span(source, at, at + 3)),))])
    assert '2 </span>/*\\x1b*/ bad</span><span class="l caret">           ^^^</span>' in page


def test_files_keep_what_is_in_comments(folder: Path) -> None:
    Path("s.mdh").write_text("// \x1b[1m\n1: (de-)comp( 4 ) ( ^ ; ^ ) ( FOR.1 )\n")
    assert run(["fmt", "s.mdh"]) == 0
    assert "\x1b[1m" in Path("s.mdh").read_text()


def test_cells_of_csv_are_no_formulas() -> None:
    texts = ["=1+1", "+1", "-1", "@SUM(1)", "\t=1", "\x1b[1m", "plain", "a=b"]
    failed = [replace(trial(1).outcome, failure=Failure.COMPILE, message=t) for t in texts]
    trials = tuple(replace(trial(1), outcome=o, elapsed=-1.5) for o in failed)
    rows = list(csv.DictReader(StringIO(csv_text((RecordSection(header(), trials),)))))
    assert [r["message"] for r in rows] == [
        "'=1+1", "'+1", "'-1", "'@SUM(1)", "'\t=1", "\x1b[1m", "plain", "a=b"
    ]  # fmt: skip
    assert {r["elapsed"] for r in rows} == {"-1.5"}


@pytest.mark.parametrize(
    "words", [["explain", "f.c"], ["explain", "größe.c", "--json"], ["compare", "--help"]]
)
@pytest.mark.parametrize(
    "env", [{"PYTHONIOENCODING": "ascii"}, {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}]
)
def test_streams_of_ascii(words: list[str], env: dict[str, str], folder: Path) -> None:
    Path("f.c").write_text(C_TEXT.format(""))
    more = [] if "--help" in words else ["--machine", "generic-cpu", "-D", "N=8"]
    done = subprocess.run([*MDH, *words, *more], capture_output=True, check=False, env={**os.environ, **env})
    said = (done.stdout + done.stderr).decode("ascii")
    assert "internal error" not in said
    assert "Traceback" not in said
    if "--json" in words:
        # the C locale gives Python bytes beyond ASCII as lone surrogates
        headline = json.loads(done.stdout)["diagnostics"][0]["headline"]
        assert "größe.c" in headline.encode("utf-8", "surrogateescape").decode("utf-8")
    else:
        assert done.returncode == 0
        assert "--help" in words or "8 \\xd7" in said or "\\x" in said or "\\u" in said


@pytest.mark.parametrize("name", ["b\udcff", 'a"q', "n\nl", "b\\s", "e\x1b[31m", "sp ace"])
def test_names_that_are_no_text_work(name: str, folder: Path) -> None:
    Path(f"{name}.c").write_text(C_TEXT.format(""))
    at = ("-D", "N=8", "--machine", "generic-cpu")
    calls = [
        ("check", *at, "-o", f"{name}.mdh"), ("compile", *at, "--schedule", f"{name}.mdh"),
        ("compile", *at, "-o", f"{name}.out"), ("compile", *at, "-o", f"{name}.out", "--json"),
        ("explain", *at, "--html", f"{name}.html"), ("check", *at, "--schedule", f"{name}.mdh", "--json"),
    ]  # fmt: skip
    for verb, *words in calls:
        out, err = StringIO(), StringIO()
        with redirect_stdout(out), redirect_stderr(err):
            assert run([verb, f"{name}.c", *words]) == 0, err.getvalue()
        assert not _steers(out.getvalue() + err.getvalue())
    assert run(["fmt", f"{name}.mdh"]) == 0
    for path in folder.rglob("*"):
        if path.is_file():
            path.read_bytes().decode("utf-8")


def test_a_tuning_with_such_names(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
    Path("b\udcff.c").write_text(C_TEXT.format(""))
    places = ("--record", "r\udcff.jsonl", "-o", "o\udcff", "--html", "h\udcff.html")
    words = ("tune", "b\udcff.c", "-D", "N=64", "--device", "c", "--trials", "1", *places)
    for more in ((), ("--json",)):
        said = _said(*words, *more)
        assert "error" not in said
        assert "r\\xff.jsonl" in said or "r\\udcff.jsonl" in said
    read = [p for p in folder.rglob("*") if p.suffix in (".jsonl", ".mdh", ".html", ".json", ".c", ".h")]
    assert len(read) > 6
    for path in read:
        path.read_bytes().decode("utf-8")
    calls = (
        ("show", "r\udcff.jsonl"),
        ("export", "r\udcff.jsonl"),
        ("merge", "m\udcff.jsonl", "r\udcff.jsonl"),
    )
    for verb in calls:
        assert "error" not in _said("db", *verb)
