"""Passwords of URLs: nothing that mdh shows or writes has them."""

import json
import os
import re
import subprocess
import sys
import time
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import replace
from io import StringIO
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mdh.cli.command_line import CommandLine
from mdh.cli.crash import save_crash
from mdh.cli.main import run
from mdh.diagnostics import Failed, Label, fail, render_json, render_text
from mdh.passwords import MASK, masked, masked_command, masked_word, secrets, without
from mdh.schedule.parser import parse_schedule
from mdh.schedule.printer import print_schedule
from mdh.source import Source, Span
from mdh.tuner.project import listed_in
from mdh.tuner.records.export import FORMATS, export_text
from mdh.tuner.records.file import Record
from mdh.tuner.records.form import header_fields
from mdh.tuner.records.line import seal
from mdh.tuner.records.merge import merge
from mdh.tuner.records.read import read_contents
from mdh.tuner.records.schedule_file import Search, best_schedule_text
from mdh.tuner.search.storage import open_storage
from tests.support.source_tree import ROOT
from tests.tune.records.samples import header, trial

SECRET = "s3cr3t-w0rd"
MATMUL = str(ROOT / "inputs_c" / "matmul.c")
_ENDS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=2, max_size=6)
PASSWORDS = (
    st.tuples(_ENDS, _ENDS)
    .map("Zq7-wX".join)
    .filter(lambda p: MASK not in p and not re.match(r"\d+[/?,]", p))
)
"""The middle keeps them apart from words that stand in a message anyway, as `severi` does in `severity`.
Digits and `/` begin a port where the host was forgotten: `postgresql://me:5432/db` has no password."""


@pytest.mark.parametrize(
    ("word", "shown"),
    [
        ("postgresql://me:pw@host/db", "postgresql://me:***@host/db"),
        ("postgresql+psycopg://me:p@w:/?#x@host:5432/db", "postgresql+psycopg://me:***@host:5432/db"),
        ("postgresql://me:p%40w@host/db", "postgresql://me:***@host/db"),
        ("redis://:pw@host", "redis://:***@host"),
        ("--storage=postgresql://me:pw@host/db", "--storage=postgresql://me:***@host/db"),
        ("mysql://host/db?user=me&password=a&b&ssl=1", "mysql://host/db?user=me&password=***&ssl=1"),
        ("postgresql://h/db?sslpassword=x&sslmode=on", "postgresql://h/db?sslpassword=***&sslmode=on"),
        ("postgresql://me:pw@h/db?password=x@y", "postgresql://me:***"),
        ("postgresql://me:a?password=b@h/db", "postgresql://me:***"),
        ("postgresql://h/db?pass%77ord=x&a=b", "postgresql://h/db?pass%77ord=***&a=b"),
        ("postgresql://h/db?options=-c%20password%3Dx", "postgresql://h/db?options=***"),
        ("postgresql://h/db#password=x", "postgresql://h/db#password=***"),
        ("postgresql://me%3Apw@h/db", "postgresql://me%3A***@h/db"),
        ("https://h/d?X-Amz-Signature=x&sig=y", "https://h/d?X-Amz-Signature=***&sig=***"),
        ("https://h/d?auth=x&jwt=y&key=z&v=1", "https://h/d?auth=***&jwt=***&key=***&v=1"),
        ("postgresql://h/db?keepalives=1&signals=2", "postgresql://h/db?keepalives=1&signals=2"),
        ("postgresql://h/db?passfile=/home/me/.pgpass", "postgresql://h/db?passfile=/home/me/.pgpass"),
        ("postgresql://me@host:5432/db", "postgresql://me@host:5432/db"),
        ("sqlite:///a:b.db", "sqlite:///a:b.db"),
        ("tcp://10.0.0.1:8786", "tcp://10.0.0.1:8786"),
        ("N=1024", "N=1024"),
        ("token=1024", "token=1024"),
    ],
)
def test_what_is_masked_of_a_word(word: str, shown: str) -> None:
    assert masked_word(word) == shown
    assert masked_word(shown) == shown


@pytest.mark.parametrize(
    ("word", "shown"),
    [
        ("me:pw@host/db", "me:***@host/db"),
        ("--storage=me:pw@host/db", "--storage=me:***@host/db"),
        ("host=h password=p w user=me", "host=h password=*** user=me"),
        ("postgresql://me:pw", "postgresql://me:***"),
        ("postgresql://host:5432/db", "postgresql://host:5432/db"),
        ("tls://[::1]:8786", "tls://[::1]:8786"),
        ("study/a.log", "study/a.log"),
        ("oracle://me/pw@host", "oracle://me/***@host"),
        ("postgresql//me:pw@host/db", "postgresql//me:***@host/db"),
        ("postgresql ://me:pw@host/db", "postgresql ://me:***@host/db"),
        ("postgresql%3A%2F%2Fme%3Apw%40host", "postgresql%3A%2F%2F***"),
        ("sqlite:////a@b/c.db", "sqlite:////a@b/c.db"),
    ],
)
def test_what_is_masked_of_a_place(word: str, shown: str) -> None:
    assert masked_word(word, place=True) == shown


def test_urls_in_other_text() -> None:
    assert masked("cannot reach `postgresql://me:p w@h/db`, but http://h:80/") == (
        "cannot reach `postgresql://me:***@h/db`, but http://h:80/"
    )
    assert masked("it's at redis://:it's@h") == "it's at redis://:***@h"
    assert masked("a\ncommand: mdh tune --storage 'pg://u:it'\"'\"'s a@h/d' x\nb") == (
        "a\ncommand: mdh tune --storage 'pg://u:***@h/d' x\nb"
    )
    assert masked_command("mdh tune f.c --storage host=h\\ password=pw") == (
        "mdh tune f.c --storage 'host=h password=***'"
    )
    plain = "mdh tune  'f.c' --storage sqlite:///x.db"
    assert masked_command(plain) == plain


@pytest.mark.parametrize(
    "text",
    ["pass" * 20_000, "x://" + '"\\"' * 20_000, "password=" + " b" * 40_000, "x://h?" + "pass" * 20_000],
)
def test_long_texts_take_no_long_time(text: str) -> None:
    begin = time.process_time()
    masked(text)
    masked_word(text, place=True)
    assert time.process_time() - begin < 3.0


def test_a_short_password_hides_no_other_words() -> None:
    assert (
        without("a cat: user=me password=a", secrets("x://u:a@h")) == f"{MASK} cat: user=me password={MASK}"
    )


@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="needs Linux")
def test_the_system_shows_no_password_of_a_process() -> None:
    program = (
        "import sys; from mdh.cli.process_title import hide_passwords as hide; hide(sys.argv[1:]);"
        "print(open('/proc/self/cmdline').read().split(chr(0))[3:-1], sys.argv[1:])"
    )
    words = ["--größe", "--storage", "x://ü:größe@h/d?token=t&a=ö", "--storage=password=pw", "-q"]
    done = subprocess.run([sys.executable, "-c", program, *words], capture_output=True, text=True, check=True)
    hidden = [words[0], words[1], "x://ü:*******@h/d?token=*&a=ö", "--storage=password=**", "-q"]
    assert done.stdout == f"{hidden} {words}\n"


def test_options_that_are_misspelt_say_where_a_storage_is() -> None:
    for words in (["--storag", "host=h password=pw"], ["--storages=host=h password=pw"]):
        assert "pw" not in CommandLine.of(words).source.text


@pytest.mark.parametrize("words", [["--storage", "x://u:pw@h/d", "-q"], ["--storage=x://u:pw@h/d", "-q"]])
def test_carets_stand_below_what_is_shown(words: list[str]) -> None:
    line = CommandLine.of(["tune", *words])
    assert "pw" not in line.source.text
    for word, shown in (("x://u:pw@h/d", "x://u:***@h/d"), ("-q", "-q")):
        span = line.span_of(word)
        assert span is not None
        assert span.text in (shown, f"'{shown}'")


def test_carets_in_a_line_with_a_password() -> None:
    source = Source("mdh.toml", 'a = 1  # x\nstorage = "x://u:secret@h/d"  # end\n')
    for word, marked in (("storage", "storage"), ("secret", None), ("# end", None)):
        at = source.text.index(word)
        rows = render_text(
            Failed(*fail("F194", "no", Span(source, at, at + len(word))).diagnostics).diagnostics[0]
        )
        assert "secret" not in rows
        shown, carets = rows.splitlines()[3:5]
        under = "".join(c for c, mark in zip(shown.ljust(len(carets)), carets, strict=False) if mark == "^")
        assert marked is None or under == marked
        assert "^" in carets


def _hidden(password: str, *texts: str) -> None:
    ways = (
        password,
        quote(password),
        quote(password, safe=""),
        repr(password)[1:-1],
        json.dumps(password)[1:-1],
    )
    for text in texts:
        found = [w for w in ways if w in text]
        assert not found, (password, text)


def _urls(password: str) -> list[str]:
    coded = quote(password, safe="")
    return [
        f"postgresql://me:{password}@db.host:5432/mdh", f"postgresql://me:{coded}@db.host/mdh",
        f"mysql://:{password}@db.host/mdh", f"postgresql://db.host/mdh?user=me&password={coded}&sslmode=off",
        f"postgresql://me:{password}", f"me:{password}@db.host/mdh", f"host=db.host password={password}",
    ]  # fmt: skip


@given(PASSWORDS, st.integers(0, 6), st.booleans())
def test_what_a_tuning_writes_has_no_password(password: str, form: int, joined: bool) -> None:
    url = _urls(password)[form]
    line = CommandLine.of(["tune", "f.c", *([f"--storage={url}"] if joined else ["--storage", url])])
    head = replace(header(), command=line.source.text)
    _hidden(password, line.source.text, seal(header_fields(head)).decode())
    _hidden(password, best_schedule_text(head, trial(0), Search(1, 0, 1.0)))
    with pytest.raises(Failed) as refused:
        open_storage(url)
    for d in refused.value.diagnostics:
        placed = replace(d, labels=(Label(s),)) if (s := line.span_of(url)) else d
        assert placed.labels
        _hidden(password, render_text(placed), render_text(d), json.dumps(render_json(d)), str(refused.value))


@given(PASSWORDS, st.integers(0, 6))
@example("00Zq7-wX0\n", 0)
def test_a_crash_report_has_no_password(password: str, form: int) -> None:
    url = _urls(password)[form]
    line = CommandLine.of(["tune", "f.c", "--storage", url])
    try:
        try:
            raise KeyError(url)
        except KeyError:
            raise ValueError(f"cannot connect by password={password} to {url!r}") from None
    except ValueError as error:
        failed = save_crash(line, error)
    file = Path(failed.diagnostics[0].notes[0].removeprefix("the full report is in "))
    text = file.read_text(encoding="utf-8")
    mode = file.stat().st_mode
    file.unlink()
    assert mode & 0o077 == 0
    assert "ValueError" in text
    _hidden(password, text, render_text(failed.diagnostics[0]))


@given(PASSWORDS)
def test_old_records_are_read_without_the_password(password: str) -> None:
    command = "mdh tune f.c --storage " + "'" + f"x://u:{password}@h".replace("'", "'\"'\"'") + "'"
    shown = masked_command(command)
    _hidden(password, shown)
    assert shown.startswith("mdh tune f.c --storage ")


def test_old_records_are_shown_exported_and_merged_without_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    old_head = f"// command: mdh tune --storage x://u:{SECRET}@h\n{header().schedule}"
    command = f"mdh tune m.c --storage 'x://u:{SECRET}@h/d'"
    old = replace(header(), command=command, schedule=old_head)
    with Record.open("old.jsonl", old) as record:
        record.append(trial(0))
        record.append(replace(trial(1), candidate=replace(trial(1).candidate, schedule=old_head)))
    contents = read_contents("old.jsonl")
    assert contents.remarks == (
        "`old.jsonl` holds the password of a URL: `mdh db merge NEW old.jsonl` writes a copy without it",
    )
    for form in FORMATS:
        assert SECRET not in export_text(form, contents.sections)
    with Path("old.jsonl").open("ab") as file:
        file.write(f'{{"schema":"mdh.record/1","command":"{command}"}}\n'.encode())
    merge("new.jsonl", ["old.jsonl"])
    assert len(read_contents("new.jsonl").sections[0].trials) == 2
    assert not read_contents("new.jsonl").remarks
    Path("also.jsonl").write_bytes(Path("old.jsonl").read_bytes())
    merge("also.jsonl", ["new.jsonl"])
    for name in ("new.jsonl", "also.jsonl", "also.jsonl.damaged"):
        assert SECRET not in Path(name).read_text()
    out = StringIO()
    with redirect_stdout(out), redirect_stderr(out):
        for words in (
            ["show", "old.jsonl"],
            ["list", "."],
            ["show", "old.jsonl", "--trial", "1"],
            ["export", "old.jsonl"],
        ):
            assert run(["db", *words]) == 0
            assert run(["db", *words, "--json"]) == 0
    assert "x://u:***@h" in out.getvalue()
    assert SECRET not in out.getvalue()


def test_heads_of_old_schedules_lose_it() -> None:
    text = f"// command: mdh tune --storage x://u:{SECRET}@h\n1: (de-)comp( 4 ) ( ^ ; ^ ) ( FOR.1 )\n"
    assert SECRET not in print_schedule(parse_schedule(Source("s.mdh", text)))


@pytest.mark.parametrize(
    "text",
    [
        '[[tune]]\nfile = "a.c"\nstorage = "x://u:{}@h"\n', '[[tune]]\nfile = 3\nfunction = "x://u:{}@h"\n',
        '[[tune]]\nstorage = "x://u:{}@h" oops\n', '[[tune]]\ndefines = "x://u:{}@h"\n',
    ],
)  # fmt: skip
def test_project_files_show_none(text: str, tmp_path: Path) -> None:
    place = tmp_path / "mdh.toml"
    place.write_text(text.replace("{}", SECRET))
    with pytest.raises(Failed) as refused:
        listed_in(place)
    assert SECRET not in "".join(render_text(d) for d in refused.value.diagnostics)


def test_a_whole_tuning_leaves_no_password(tmp_path: Path) -> None:
    """SQLite takes parameters that it does not know: a URL with a password that works."""
    url = f"sqlite:///file:{tmp_path}/study.db?uri=true&password={SECRET}"
    sizes = [w for n in "MNK" for w in ("-D", f"{n}=16")]
    words = ["tune", MATMUL, *sizes, "--device", "c", "--trials", "2", "-o", str(tmp_path), "--storage", url]
    done = subprocess.run(
        [sys.executable, "-m", "mdh", *words, "--html", str(tmp_path / "page.html")],
        capture_output=True, text=True, check=False, timeout=300,
        env={**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache"), "TMPDIR": str(tmp_path)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    files = [p for p in tmp_path.rglob("*") if p.is_file()]
    assert any(MASK in p.read_text(errors="replace") for p in files if p.suffix == ".jsonl")
    assert any(MASK in p.read_text(errors="replace") for p in files if p.suffix == ".mdh")
    assert not [p for p in files if SECRET.encode() in p.read_bytes()]
    assert SECRET not in done.stdout + done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ["tune", "f.c", "--sto", "x://u:{}@h"], ["x://u:{}@h"], ["check", "x://u:{}@h"], ["tune", "f.c", "x://u:{}@h"],
        ["check", "f.c", "--machine", "x://u:{}@h"], ["tune", "f.c", "--replay", "r", "--storage", "u:{}@h"],
        ["tune", MATMUL, "-D", "M=8", "-D", "N=8", "-D", "K=8", "--device", "c", "--trials", "1", "--storage",
         "postgresql://u:{}@[bad/db"],
        ["tune", MATMUL, "-D", "M=8", "-D", "N=8", "-D", "K=8", "--cluster", "u:{}@host:8786"],
        ["explain", "x://u:{}@h"], ["db", "show", "x://u:{}@h"], ["fmt", "x://u:{}@h"],
        ["run", "f.c", "-D", "x://u:{}@h"], ["devices", "--device", "x://u:{}@h", "--export", "-"],
    ],
)  # fmt: skip
def test_errors_of_every_verb_show_none(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    given = [w.replace("{}", SECRET) for w in words]
    for more in ([], ["--json"]):
        out = StringIO()
        with redirect_stdout(out), redirect_stderr(out):
            assert run([*given, *more]) != 0
        assert re.search(r"[A-Z]\d{3}", out.getvalue())
        assert "B101" not in out.getvalue()
        assert SECRET not in out.getvalue()
    assert not list(tmp_path.rglob(f"*{SECRET}*"))
