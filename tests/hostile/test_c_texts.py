"""Hostile C texts are read or refused, with a place, in little time; and what #include may take in."""

import os
from collections.abc import Callable
from pathlib import Path
from time import process_time

import pytest

from mdh.diagnostics import Diagnostic, Failed, render_text
from mdh.frontend.c.read import read_program
from mdh.source import Source
from tests.hostile.c_texts import TEXTS, body, value

SECONDS = 2.0
"""Of processor time: mdh has one second, and the machine may be half as fast as another."""


def outcome(source: Source) -> tuple[Diagnostic, ...]:
    """What is said about a text; nothing where it is a program."""
    try:
        read_program(source)
    except Failed as failed:
        return failed.diagnostics
    return ()


@pytest.mark.parametrize("name", TEXTS)
def test_every_text_has_an_outcome(name: str) -> None:
    begun = process_time()
    found = outcome(Source("hostile.c", TEXTS[name]))
    assert process_time() - begun < SECONDS
    assert all(d.labels and d.code.startswith("C") for d in found), found
    assert all(len(render_text(d)) < 4_000 for d in found)


def test_pragma_operators_are_pragmas() -> None:
    loop = " for (int i = 0; i < 8; i++) y[i] = 1;"
    program = read_program(Source("a.c", body('_Pragma("mdh stage(here)")' + loop)))
    assert [s.name for s in program.stages] == ["here"]
    (found,) = outcome(Source("a.c", body('_Pragma("mdh stage(\\"here\\")")' + loop)))
    assert found.code == "C119"


def include(folder: Path, line: str) -> tuple[Diagnostic, ...]:
    return outcome(Source(str(folder / "a.c"), f"\n{line}\n" + value("N")))


REFUSED: dict[str, Callable[[Path], object]] = {
    "a pipe": os.mkfifo,
    "a folder": os.mkdir,
    "a link to a device": lambda p: os.symlink("/dev/zero", p),
    "a link to a terminal": lambda p: os.symlink("/dev/tty", p),
    "a link out of the folder": lambda p: os.symlink("/etc/passwd", p),
    "a link to nothing": lambda p: os.symlink("/nothing/here", p),
    "no text": lambda p: p.write_bytes(b"\xff\xfe"),
    "a large file": lambda p: p.write_text(" " * (1 << 19), encoding="utf-8"),
    "a file that includes itself": lambda p: p.write_text('#include "n.h"\n', encoding="utf-8"),
    "a file that never closes a comment": lambda p: p.write_text("/*\n", encoding="utf-8"),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_what_may_not_be_included(kind: str, tmp_path: Path) -> None:
    REFUSED[kind](tmp_path / "n.h")
    (found,) = include(tmp_path, '#include "n.h"')
    assert found.code == "C104"
    assert (found.labels[0].span.line, found.labels[0].span.text) == (2, "n.h")


@pytest.mark.parametrize("name", ['"/etc/passwd"', '"../../etc/passwd"', "</etc/passwd>"])
def test_files_elsewhere_are_not_included(name: str, tmp_path: Path) -> None:
    found = include(tmp_path, f"#include {name}")
    assert found[0].code == "C104"
    assert "root:" not in "".join(render_text(d) for d in found)


def test_files_beside_and_below_are_included(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "n.h").write_text('#include "sub/m.h"\n', encoding="utf-8")
    (tmp_path / "sub" / "m.h").write_text('#include "k.h"\n#define N K\n', encoding="utf-8")
    (tmp_path / "sub" / "k.h").write_text("#pragma once\n#define K 3\n", encoding="utf-8")
    assert include(tmp_path, '#include "n.h"') == ()


def test_files_that_include_one_another_twice(tmp_path: Path) -> None:
    for k in range(12):
        (tmp_path / f"n{k}.h").write_text(f'#include "n{k + 1}.h"\n' * 2, encoding="utf-8")
    (tmp_path / "n12.h").write_text("int x;\n", encoding="utf-8")
    (found,) = include(tmp_path, '#include "n0.h"')
    assert "more than 200 files" in found.headline


HELD = {
    "hunter2 :: secret": "C101",
    "\n\n\n#error hunter2\n": "C103",
    "\n\n\n#if hunter2 +\n#endif\n": "C103",
    "\n\n\nconst int hunter2 = z;": "C111",
}


@pytest.mark.parametrize("text", HELD)
def test_errors_of_included_files_stand_at_the_include(text: str, tmp_path: Path) -> None:
    (tmp_path / "n.h").write_text(text, encoding="utf-8")
    found = include(tmp_path, '#include "n.h"')
    assert {d.code for d in found} == {HELD[text]}
    # the file itself has an unknown name, too
    assert {d.labels[0].span.line for d in found if "`N`" not in d.headline} == {2}


def test_lines_behind_an_include_keep_their_numbers(tmp_path: Path) -> None:
    (tmp_path / "n.h").write_text("typedef int t;\n" * 40, encoding="utf-8")
    (found,) = include(tmp_path, '#include "n.h"')
    assert found.labels[0].span.line == 5
