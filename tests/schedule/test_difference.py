"""Steps are aligned with their counterparts, and what changed in them is named."""

from mdh.report.difference_text import differences_text
from mdh.schedule.difference import Change, StageNames, differences, likeness
from mdh.schedule.model import Schedule
from mdh.schedule.parser import parse_schedule
from mdh.source import Source

BLOCKS = "1: (de-)comp( 64, 64, ^ ) ( ^, ^ ; ^ ) ( BLK.y, BLK.x, ^ )"
PANEL = "2: (de-)comp( ^, ^, 8 ) ( ^, B:SM[1,2]@pad(4) ; C:RM[1,2] ) ( ^, ^, FOR.1 ) @stages(2)"
THREADS = "3: (de-)comp( 4, 4, ^ ) ( ^, ^ ; ^ ) ( THR.y, THR.x, ^ )"


def _schedule(*steps: str) -> Schedule:
    return parse_schedule(Source("s.mdh", "\n".join(steps)))


def test_equal_schedules_do_not_differ() -> None:
    one = _schedule(BLOCKS, PANEL, THREADS)
    (found,) = differences(one, _schedule(f"// a remark\n{BLOCKS}", PANEL, THREADS))
    assert (found.same, found.equal) == (True, 3)
    assert (
        differences_text((found,), "a", "b") == "a → b\n  the same: no step, condition or attribute differs\n"
    )


def test_neutral_attributes_are_no_difference() -> None:
    (found,) = differences(_schedule(BLOCKS), _schedule(f"{BLOCKS} @order(grouped(1))"))
    assert found.same


def test_every_kind_of_change_is_named() -> None:
    other = "2: (de-)comp( ^, ^, 16 ) ( A:RM[1,2], B:SM[2,1] ; ^ ) ( ^, ^, FOR.1 ) @stages(3)"
    names = {"": StageNames(("i", "j", "k"), ("A", "B"), ("C",))}
    (found,) = differences(_schedule(BLOCKS, PANEL), _schedule(BLOCKS, other), names)
    (step,) = found.steps
    assert (step.before, step.after, found.equal) == (2, 2, 1)
    assert step.changes == (
        Change("tile", "k", "8", "16"),
        Change("region", "A", "^", "RM[1,2]"),
        Change("region", "B", "SM[1,2]", "SM[2,1]"),
        Change("attribute", "B", "@pad(4)", ""),
        Change("region", "C", "RM[1,2]", "^"),
        Change("attribute", "", "@stages(2)", "@stages(3)"),
    )


def test_a_step_between_moves_the_others_and_changes_none() -> None:
    (found,) = differences(_schedule(BLOCKS, THREADS), _schedule(BLOCKS, PANEL, THREADS))
    assert [(s.before, s.after, s.changes) for s in found.steps] == [(None, 2, ())]
    assert found.equal == 2
    (back,) = differences(_schedule(BLOCKS, PANEL, THREADS), _schedule(BLOCKS, THREADS))
    assert [(s.before, s.after) for s in back.steps] == [(2, None)]


def test_code_order_is_a_difference_where_it_is_not_the_text_order() -> None:
    turned = (BLOCKS.replace("1:", "2:"), PANEL.replace("2:", "1:"))
    (found,) = differences(_schedule(BLOCKS, PANEL), _schedule(*turned))
    assert [c.what for s in found.steps for c in s.changes] == ["place", "place"]


def test_conditions_and_holes_are_compared_as_text() -> None:
    open_ = BLOCKS.replace("64, 64", "?bm{32,64}, 64")
    (found,) = differences(_schedule(BLOCKS), _schedule(open_, "where ?bm >= 64"))
    assert found.come == ("where ?bm >= 64",)
    assert found.steps[0].changes == (Change("tile", "dim 1", "64", "?bm{32,64}"),)


def test_stages_are_compared_by_name() -> None:
    x, y = (f"stage {n} {{ 1: (de-)comp( 4 ) ( ^ ; ^ ) ( BLK.x ) }}" for n in "xy")
    found = differences(_schedule(x), _schedule(x, y))
    assert [(s.stage, s.same) for s in found] == [("x", True), ("y", False)]
    assert "stage y, which a leaves to mdh's default\n" in differences_text(found, "a", "b")


def test_schedules_of_other_programs_share_no_step() -> None:
    line = "1: (de-)comp( 64 ) ( ^, ^ ; ^ ) ( BLK.x )"
    (found,) = differences(_schedule(BLOCKS), _schedule(line))
    assert found.alien
    assert [(s.before, s.after) for s in found.steps] == [(1, None), (None, 1)]
    assert "schedules of different programs" in differences_text((found,), "a", "b")


def test_schedules_of_one_stage_and_of_several_leave_each_other_nothing() -> None:
    several = _schedule(*(f"stage {n} {{ 1: (de-)comp( 4 ) ( ^ ; ^ ) ( BLK.x ) }}" for n in "xy"))
    for pair in ((_schedule(BLOCKS), several), (several, _schedule(BLOCKS))):
        found = differences(*pair)
        assert [s.foreign for s in found] == [True] and len(found[0].steps) == 3
        text = differences_text(found, "a", "b")
        assert "schedules of different programs" in text and "default" not in text


def test_text_fits_a_terminal_of_80_columns() -> None:
    long = PANEL + "@unroll @occupancy(2)" + "\n" + THREADS.replace("3:", "3:")
    text = differences_text(differences(_schedule(BLOCKS), _schedule(long)), "a.mdh", "b.mdh")
    assert max(map(len, text.splitlines())) <= 79
    one, two = (f"stage {n} {{ 1: (de-)comp( 4 ) ( ^ ; ^ ) ( BLK.x ) }}" for n in "xy")
    names = [f"a_folder_of_a_long_name/another_one_below/{n}.mdh" for n in "ab"]
    text = differences_text(differences(_schedule(one), _schedule(one, two)), *names)
    assert max(map(len, text.splitlines())) <= 79 and all(name in text for name in names)


def test_likeness_is_one_for_a_step_and_itself() -> None:
    (section,) = _schedule(PANEL).sections
    assert likeness(section.steps[0], section.steps[0]) == 1.0
