"""The headers `for` and `small`, and the old paths of shipped schedules."""

from pathlib import Path

import pytest

from mdh import check
from mdh.cli.files import moved
from mdh.cli.main import run
from mdh.diagnostics import Failed
from mdh.schedule.model import Schedule, SizeHeader
from mdh.schedule.parser import parse_schedule
from mdh.schedule.printer import print_schedule
from mdh.source import Source
from tests.support.source_tree import ROOT

MATMUL = str(ROOT / "inputs_c" / "matmul.c")
STEP = "1: (de-)comp( 32, 32, ^ ) ( ^, ^ ; ^ ) ( BLK.y, BLK.x, ^ )\n"


def _parse(text: str) -> Schedule:
    return parse_schedule(Source("<test>", text))


def test_what_headers_say() -> None:
    text = "target h200 for a M=1 N=2 on h200 generic-cpu small M=3 small for=4 // of it\nprogram a\n"
    schedule = _parse(text + STEP)
    assert schedule.sizes == (
        SizeHeader("for", (("M", 1), ("N", 2)), "a", ("h200", "generic-cpu")),
        SizeHeader("small", (("M", 3),)),
        SizeHeader("small", (("for", 4),)),
    )
    assert (schedule.target, schedule.program, schedule.comments) == ("h200", "a", ("of it",))
    assert [h.span.line for h in schedule.sizes if h.span] == [1, 1, 1]
    printed = "// of it\nfor a M=1 N=2 on h200 generic-cpu\nsmall M=3\nsmall for=4\ntarget h200\nprogram a\n"
    assert print_schedule(schedule).startswith(printed)


@pytest.mark.parametrize("item", ["where 1 < 2", "stage C { }", "target a100", "program p", "small N=1", ""])
def test_the_next_item_ends_a_header(item: str) -> None:
    for line in ("for M=1", "for M=1 on h200"):
        (first, *_) = _parse(f"{line} {item}").sizes
        assert print_schedule(Schedule((), sizes=(first,))) == f"{line}\n"


def _checked(tmp_path: Path, headers: str, *words: str) -> int:
    path = tmp_path / "s.mdh"
    path.write_text(headers + STEP.replace("32, 32", "?b, 32") if words else headers + STEP, encoding="utf-8")
    given = ["--schedule", str(path), "--machine", "a100", "-D", "M=64", "-D", "N=64", "-D", "K=8"]
    return run(["check", MATMUL, *given, *words])


def test_check_looks_at_the_sizes_of_the_lines_for_it(tmp_path: Path) -> None:
    small = "small matmul M=16 N=64 K=8"
    assert _checked(tmp_path, f"{small} on a100\n") == 1
    assert _checked(tmp_path, f"target a100\n{small}\n") == 1
    assert _checked(tmp_path, f"{small}\n") == 1
    for other in (f"{small} on h200\n", f"target h200\n{small}\n", "small conv2d M=16 Q=4\n"):
        assert _checked(tmp_path, other) == 0
    assert _checked(tmp_path, "for matmul M=32 N=32 K=1 on a100\n") == 0
    assert _checked(tmp_path, f"{small} on a100\n", "--set", "b=32") == 0


def test_old_paths(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    new = {
        "matmul.h200.mdh": "matmul/h200/base.mdh",
        "matmul.cpu.large.avx512.mdh": "matmul/generic-cpu/large.avx512.mdh",
        "ccsdt.h200.mdh": "ccsdt_1/h200/all.mdh",
        "ccsdt.h200.wide.mdh": "ccsdt_1/h200/all.wide.mdh",
        "cc23_listing5.mdh": "published/cc23_listing5.mdh",
    }
    monkeypatch.chdir(ROOT)
    for old, path in new.items():
        assert moved(f"schedules/{old}") == f"schedules/{path}"
    for same in ("schedules/matmul.h900.mdh", "matmul.h200.mdh", "schedules/matmul/h200/base.mdh", ""):
        assert moved(same) == same
    words = [MATMUL, "--schedule", "schedules/matmul.h200.mdh"]
    assert run(["check", *words]) == 0
    told = "`schedules/matmul.h200.mdh` is now `schedules/matmul/h200/base.mdh`"
    assert capsys.readouterr().err.count(told) == 1


def test_a_wrong_header_is_refused_where_a_schedule_is_compiled() -> None:
    schedule = Source("s.mdh", "for matmul L=4 on h20\n" + STEP)
    with pytest.raises(Failed) as refused:
        check(MATMUL, schedule, "a100")
    assert [(d.code, d.labels[0].span.column) for d in refused.value.diagnostics] == [
        ("S155", 12),
        ("F150", 19),
    ]
