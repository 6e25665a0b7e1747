"""The concrete schedule of a plan: fallbacks taken, values that say nothing left out, comments like it."""

import pytest

from tests.check.programs import matmul
from tests.check.schedules import plan_of

TEXT = """\
1: (de-)comp( 32,32,^ ) ( ^,^ ; ^@cache(default) ) ( BLK.y, BLK.x, ^ ) @order(grouped(1))
2: (de-)comp( ^,^,8 )
   ( A:SM[1,2]@copy(tma else async else plain, vec=4)@pad(0), B:SM[1,2]@copy(async else plain) ; ^ )
   ( ^,^,FOR.1 ) @stages(1)
3: (de-)comp( 2,8,^ ) ( ^,^ ; ^ ) ( THR.y@cyclic(2), THR.x@cyclic(2), ^ )
"""


@pytest.mark.parametrize(
    ("target", "first", "second"),
    [("cuda", "@copy(async, vec=4)", "@copy(async)"), ("opencl", "@copy(plain, vec=4)", "")],
)
def test_says_what_is_lowered_and_no_more(target: str, first: str, second: str) -> None:
    plan = plan_of(matmul(), TEXT, target=target)
    staged = f"( A:SM[1,2]{first}, B:SM[1,2]{second} ; ^ )"
    lines = [line.split(" ", 1)[1] for line in plan.text.splitlines()[-3:]]
    assert [" ".join(line.split()) for line in lines] == [
        "(de-)comp( 32, 32, ^ ) ( ^, ^ ; ^ ) ( BLK.y, BLK.x, ^ )",
        f"(de-)comp( ^, ^, 8 ) {staged} ( ^, ^, FOR.1 )",
        "(de-)comp( 2, 8, ^ ) ( ^, ^ ; ^ ) ( THR.y, THR.x@cyclic(2), ^ )",
    ]
    assert [step.text for step in plan.stages[0].steps[:3]] == [
        f"{n}: {' '.join(line.split())}" for n, line in enumerate(lines, start=1)
    ]


def test_dealing_whole_tiles_is_seen_below_an_inherited_tile() -> None:
    text = "(de-)comp( ^,32,^ ) ( ^,^ ; ^ ) ( THR.y@cyclic(64), BLK.x, ^ )\n"
    assert "cyclic" not in plan_of(matmul(), text).text


def test_a_concrete_schedule_is_its_own() -> None:
    plan = plan_of(matmul(), TEXT)
    assert plan_of(matmul(), plan.text).text == plan.text
