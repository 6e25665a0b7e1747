"""TOML of users': machine files and project files are read, or refused with a code and a place, in time."""

import os
import time
from dataclasses import replace
from pathlib import Path

import pytest

from mdh.diagnostics import Diagnostic, Failed
from mdh.machine import load_machine, print_machine, read_machine
from mdh.source import Source
from mdh.tomlfile import DEPTH, parse_toml, shown
from mdh.tuner.project import listed_in

H200 = print_machine(load_machine("h200"))


def _refused(text: str, code: str) -> Diagnostic:
    begun = time.process_time()
    with pytest.raises(Failed) as failed:
        parse_toml(Source("x.toml", text), code, "it")
    assert time.process_time() - begun < 2.0
    (one,) = failed.value.diagnostics
    assert one.code == code
    assert one.labels
    return one


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("a = 1\nb = " + "[" * 100_000, 2, 5 + DEPTH),
        ("a = 1\nb = " + "{a=" * 50_000, 2, 5 + 3 * DEPTH),
        ("a" + ".a" * 100_000 + " = 1", 1, 2 * DEPTH),
        ('""' + ' . ""' * 50_000 + " = 1", 1, None),
        ("[" + "a." * 100_000 + "a]", 1, None),
        ("a = 1\nb = " + "9" * 5_000, 2, 5),
        ("a = 1\na = 2", 2, None),
        ("a = 1979-13-45", 1, None),
        ('a = "\\ud800"', 1, None),
        ('a = """' + '\\"""' * 50_000, 1, None),
        ("a = 1\nb =", 2, None),
    ],
    ids=range(11),
)
def test_what_is_no_toml_or_too_deep(text: str, line: int, column: int | None) -> None:
    span = _refused(text, "F151").labels[0].span
    assert span.line == line
    assert column in (None, span.column)


@pytest.mark.parametrize(
    "text",
    [
        "[" * DEPTH + "]" * DEPTH,
        '"' + "[" * 1000 + '"',
        "'''" + "{" * 1000 + "\n'''",
        "[" + "1.5, " * 500 + "]",
    ],
)
def test_what_is_as_deep_as_it_may_be(text: str) -> None:
    assert parse_toml(Source("x.toml", f"# {'[' * 1000}\na = {text}"), "F151", "it")["a"]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("clock", "nan"), ("clock", "inf"), ("clock", "1e999"), ("clock", "-1.0"), ("clock", "true"),
        ("clock", "1979-05-27T07:32:00Z"), ("units", "0x" + "f" * 5_000), ("units", "9223372036854775808"),
        ("units", "1.0"), ("caches", "[inf]"), ("caches", "[[1]]"), ("targets", "[{}]"), ("name", '"../x"'),
        ("name", '"a b"'), ("name", "0x" + "f" * 5_000), ("schema", "0x" + "f" * 5_000),
    ],
)  # fmt: skip
def test_a_field_that_cannot_be(field: str, value: str) -> None:
    lines = [f"{field} = {value}" if ln.startswith(f"{field} =") else ln for ln in H200.splitlines()]
    with pytest.raises(Failed) as failed:
        read_machine(Source("m.toml", "\n".join(lines)))
    (one,) = failed.value.diagnostics
    assert one.code == ("F152" if field == "schema" else "F153")
    assert one.labels[0].span.text == field
    assert len(one.headline) < 200


def test_thousands_of_wrong_fields_are_told_in_part_and_in_time() -> None:
    begun = time.process_time()
    with pytest.raises(Failed) as failed:
        read_machine(
            Source("m.toml", 'schema = "mdh.machine/1"\n' + "\n".join(f"f{n} = 1" for n in range(3000)))
        )
    assert time.process_time() - begun < 2.0
    assert len(failed.value.diagnostics) == 20


def test_a_title_of_any_text_returns() -> None:
    machine = replace(load_machine("h200"), title='a "b" \\ \U0001f600 \x7f\x01\n é')
    assert read_machine(Source("m.toml", print_machine(machine))) == machine


def test_what_is_no_machine_file_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.toml")
    (tmp_path / "large.toml").write_text(f"# {'x' * 100_000}\n{H200}", encoding="utf-8")
    for name in ("pipe.toml", "large.toml", "none.toml"):
        with pytest.raises(Failed, match="F151"):
            load_machine(tmp_path / name)


@pytest.mark.parametrize(
    "line",
    [
        "defines = { 'x y' = 1 }",
        "set = { '' = 1 }",
        "defines = { M = 9223372036854775808 }",
        "defines = { M = inf }",
        "set = { M = true }",
        "defines = { M = 1979-05-27 }",
        "file = nan",
        "device = []",
        "a.b.c = 1",
    ],
)
def test_entries_of_projects(tmp_path: Path, line: str) -> None:
    path = tmp_path / "mdh.toml"
    rest = "" if line.startswith("file") else 'file = "a.c"'
    path.write_text(f"[[tune]]\n{rest}\n{line}\n", encoding="utf-8")
    with pytest.raises(Failed) as failed:
        listed_in(path)
    (one,) = failed.value.diagnostics
    assert (one.code, one.labels[0].span.line) == ("F194", 3)


def test_values_in_messages_are_short() -> None:
    assert shown(16**5000) == "a whole number of 20001 bits"
    assert len(shown("x" * 1000)) < 70
    assert shown([1, "a", True]) == "[1, 'a', true]"
    assert shown([[1] * 100] * 100) == "a list of 100"
    assert shown({"a": 1}) == "a table of 1"
