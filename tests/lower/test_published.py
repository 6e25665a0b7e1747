"""The published program of CC'23 lowers to the loop structure that the paper prints (its listing 6)."""

from pathlib import Path

from mdh.checker.run import check
from mdh.frontend.c.read import read_program
from mdh.lower.run import lower
from mdh.machine import load_machine
from mdh.report.module_text import module_text
from mdh.schedule.parser import parse_schedule
from mdh.source import Source
from tests.support.source_tree import ROOT

GOLDEN = ROOT / "tests" / "golden" / "lower"
ORDER = (
    "grid 50×2×1, block 20×4×1",
    "alloc C_RM: RM f32[2][1]",
    "for k_4 in (0, 8, 1)",
    "move plain A_SM",
    "move plain B_SM",
    "for k_5 in (0, 128, 1)",
    "for k_6 in (0, 2, 1)",
    "for i_2 in (0, 2, 1)",
    "C_RM[i_2][0] = C_RM[i_2][0] + A_SM",
    "C[blk_i * 8 + i_2 * 4 + thr_i]",
)
"""Blocks and threads; k by 256 with the copies directly inside; 128; 2; the rows innermost; C at the end."""


def _source(path: Path) -> Source:
    return Source(path.name, path.read_text(encoding="utf-8"))


def _cc23_text() -> str:
    sizes = {"M": 16, "N": 1000, "K": 2048}
    program = read_program(_source(ROOT / "inputs_c" / "matmul.c"), defines=sizes)
    schedule = parse_schedule(_source(ROOT / "schedules" / "published" / "cc23_listing5.mdh"))
    return module_text(lower(check(program, schedule, load_machine("oclgrind"), "opencl")))


def _indent_of(text: str, part: str) -> int:
    (line, *_) = (line for line in text.splitlines() if part in line)
    return len(line) - len(line.lstrip())


def test_cc23_listing_6(update_golden: bool) -> None:
    text = _cc23_text()
    golden = GOLDEN / "cc23_listing5.opencl.txt"
    if update_golden:
        golden.parent.mkdir(parents=True, exist_ok=True)
        golden.write_text(text, encoding="utf-8")
    assert text == golden.read_text(encoding="utf-8")


def test_cc23_order_of_loops() -> None:
    text = _cc23_text()
    places = [text.find(part) for part in ORDER]
    assert -1 not in places, ORDER[places.index(-1)]
    assert places == sorted(places)


def test_cc23_nesting_of_loops() -> None:
    text = _cc23_text()
    nest = ("for k_4", "for k_5", "for k_6", "for i_2", "C_RM[i_2][0] = C_RM")
    depths = [_indent_of(text, part) for part in nest]
    assert depths == [depths[0] + 2 * level for level in range(len(nest))]
    assert text.count("for i_2") == 2, "the rows' loop, and the write of C"
    assert text.rfind("for i_2") > text.find("C_RM[i_2][0] = C_RM[i_2][0]")
    last = text.splitlines()[[n for n, line in enumerate(text.splitlines()) if "for i_2" in line][-1]]
    assert len(last) - len(last.lstrip()) == depths[0], "C is written behind the loop over k"
