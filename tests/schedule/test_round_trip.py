"""parse(print(s)) == s, for any value; printing is idempotent and keeps comments."""

import pytest
from hypothesis import given, settings

from mdh.schedule.model import Schedule, Step, WhereExpr
from mdh.schedule.parser import parse_schedule
from mdh.schedule.printer import print_condition, print_schedule, print_step, wrapped_step
from mdh.source import Source
from tests.schedule.strategies import conditions, schedules, steps
from tests.support.source_tree import ROOT

SHIPPED = sorted((ROOT / "schedules").rglob("*.mdh"))
COMMENTED = """\
// who measured what
//
// and when
for matmul M=64 N=32 on a100 rtx4090
small M=5 N=3
target a100

// blocks
1: (de-)comp( 8, ^ ) ( A:SM[1,2] ; ^ ) ( BLK.x, ^ )  // two of them
2: (de-)comp( 1, 1 ) ( ^ ; ^ )         ( ^, ^ )     @unroll
// small enough
where ?bm <= 4  // always
"""


def _parse(text: str) -> Schedule:
    return parse_schedule(Source("<test>", text))


def test_a_size_and_a_machine_may_have_one_name() -> None:
    read = _parse("for u=1 on a u\n1: (de-)comp( 1 ) ( ^ ; ^ ) ( ^ )\n")
    assert _parse(print_schedule(read)) == read


@settings(max_examples=300, deadline=None)
@given(schedules())
def test_printed_schedules_read_back(schedule: Schedule) -> None:
    text = print_schedule(schedule)
    assert _parse(text) == schedule
    assert print_schedule(_parse(text)) == text


@settings(max_examples=100, deadline=None)
@given(steps())
def test_a_printed_step_reads_back(step: Step) -> None:
    assert "\n" not in print_step(step)
    for text in (print_step(step), "\n".join(wrapped_step(step))):
        assert _parse(text).sections[0].steps == (step,)


@settings(max_examples=200, deadline=None)
@given(conditions)
def test_printed_conditions_read_back(condition: WhereExpr) -> None:
    text = print_condition(condition)
    assert _parse(f"where {text}").sections[0].wheres[0].condition == condition


@pytest.mark.parametrize("path", SHIPPED, ids=lambda p: str(p.relative_to(ROOT / "schedules")))
def test_shipped_schedules_read_back(path: object) -> None:
    schedule = parse_schedule(Source("<shipped>", path.read_text(encoding="utf-8")))  # type: ignore[attr-defined]
    text = print_schedule(schedule)
    assert _parse(text) == schedule
    assert print_schedule(_parse(text)) == text


def test_comments_stay() -> None:
    assert print_schedule(_parse(COMMENTED)) == COMMENTED


def test_comments_of_a_stage_without_steps_stay() -> None:
    text = "// cheap\nstage T inline @once  // once\n\n// kept\nstage U kernel\n\nstage V ?way\n"
    assert print_schedule(_parse(text)) == text


def test_a_kernel_with_steps_needs_no_word() -> None:
    steps = "1: (de-)comp( 8 ) ( ^ ; ^ ) ( BLK.x )"
    assert _parse(f"stage T kernel {{ {steps} }}") == _parse(f"stage T {{ {steps} }}")


def test_block_comments_become_lines() -> None:
    assert print_schedule(_parse("/* one\n * two */\ntarget a100")) == "// one\n// two\ntarget a100\n"


def test_a_long_step_is_printed_as_in_the_papers() -> None:
    names = ", ".join(f"buffer{n}:SM[1,2]" for n in range(6))
    text = print_schedule(_parse(f"1: (de/re)-comp(4)({names};^)(BLK.x)@occupancy(2)"))
    assert text == (
        f"1: (de/re)-comp( 4 )\n               ( {names} ; ^ )\n               ( BLK.x ) @occupancy(2)\n"
    )
