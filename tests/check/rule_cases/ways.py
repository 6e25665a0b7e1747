"""Shared launches, launches of turns, wavefronts, calls of libraries: the programs of `tests/reject`."""

from mdh.frontend.c.read import read_program
from mdh.source import Source
from tests.check.rule_cases.case import Case
from tests.support.source_tree import ROOT

POINTS = "stage A { (de-)comp( 1 ) ( ; ^ ) ( ^ ) }\n"
HEAT = """stage U { (de-)comp( 1 ) ( ^ ; ^ ) ( THR.x ) }
stage A { (de-)comp( 1 ) ( ^ ; ^ ) ( THR.x ) }
stage S { (de-)comp( 1 ) ( ; ^ ) ( ^ ) }
stage S_2 { (de-)comp( 1 ) ( ^ ; ^ ) ( ^ ) }
"""


def _rejected(name: str, place: str, more: str = "", machine: str = "a100", target: str = "cuda") -> Case:
    """name: of a folder of `tests/reject`, which begins with the code. place: line and column. more: sections
    that default schedules have there."""
    folder = ROOT / "tests" / "reject" / name
    text = (folder / "input.c").read_text(encoding="utf-8")
    schedule = (folder / "schedule.mdh").read_text(encoding="utf-8")
    program = read_program(Source("input.c", text))
    return Case(program, schedule + more, [f"{name.partition('/')[0]} {place}"], machine, target)


CASES = (
    _rejected("K127/between", "3:9"),
    _rejected("K128/cluster", "1:1", machine="h100"),
    _rejected("K129/nested", "1:43", HEAT),
    _rejected("K137/point", "3:12"),
    _rejected("K138/bands", "1:18", POINTS),
    _rejected("K180/maximum", "1:11", machine="generic-cpu", target="c"),
    _rejected("K181/gaps", "1:11", machine="generic-cpu", target="c"),
    _rejected("K182/target", "1:11"),
)
