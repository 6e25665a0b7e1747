"""The best schedule: canonical, without holes, and headed by what was measured."""

from dataclasses import replace
from pathlib import Path

import pytest

from mdh.cli.main import run
from mdh.diagnostics import Failed
from mdh.schedule.parser import parse_schedule
from mdh.source import Source
from mdh.tuner.records.schedule_file import Search, best_schedule_text, write_best_schedule
from tests.tune.records.samples import header, trial

SEARCH = Search(40, 3, 61.5, (("default schedule", 2e-3), ("untuned", 4e-3)))
WANTED = """\
// tuned: trial 4, winner, proposed by random
// program: matmul
// sizes: N=32
// types: A f32[32][32] B f32[32][32] C f32[32][32]
// device: NVIDIA H200 (h200, cuda)
// time: 1 ms, median of 3 warm runs, device clock, 1980 and 1965 MHz
// cold: 2 ms, median of 1 runs
// compared: default schedule 2 ms, 2.00 times as long; untuned 4 ms, 4.00 times as long
// holes: ?bm=8 ?bn=8
// search: 40 trials, 3 of them failed, 62 s, seed 7
// method: median of warm runs
// versions: mdh 0.1.0, nvrtc 13.0, driver 580.1
// when: 2025-06-15T15:06:44Z
// command: mdh tune matmul.c --schedule template.mdh --device cuda:0
// record: aa48e65c74dc87ab
target h200
program matmul

1: (de-)comp( 8, 8, ^ ) ( ^, ^ ; ^ ) ( BLK.y, BLK.x, ^ )
"""


def test_text() -> None:
    assert best_schedule_text(header(N=32), trial(4, 1e-3, phase="winner"), SEARCH) == WANTED


def test_it_is_canonical(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "matmul.h200.mdh"
    write_best_schedule(path, header(), trial(4, 1e-3), SEARCH)
    assert run(["fmt", "--check", str(path)]) == 0
    assert [p.name for p in path.parent.iterdir()] == ["matmul.h200.mdh"]


def test_comments_of_the_user_stay_and_those_of_an_earlier_tuning_go() -> None:
    text = best_schedule_text(header(N=32), trial(4, 1e-3, phase="winner"), SEARCH)
    mine = text.replace("// record", "// blocks of 8: see the note\n// for: matmul N=32 on h200\n// record")
    again = replace(trial(5, 5e-4), candidate=replace(trial(4).candidate, schedule=mine))
    twice = best_schedule_text(header(N=32), again, SEARCH)
    assert twice.count("// time:") == 1
    assert "// record: aa48e65c74dc87ab\n// blocks of 8: see the note\n// for: matmul N=32 on h200\n" in twice


def test_text_from_outside_stays_in_its_comment() -> None:
    evil = replace(header(), device="GPU\ntarget v100\r\u2028\x00", command="mdh\vtune", machine="mine")
    silent = replace(trial(1, 1e-3), outcome=replace(trial(1, 1e-3).outcome, title=""), started=1e300)
    text = best_schedule_text(evil, silent, Search(0, 0, 0.0))
    found = parse_schedule(Source("x", text))
    assert (found.target, found.program) == (None, "matmul")
    assert "// device: GPU target v100 (mine, cuda)\n" in text
    assert "// command: mdh tune\n" in text


def test_a_machine_that_has_no_name_keeps_the_target() -> None:
    given = replace(trial(1, 1e-3).candidate, schedule="target a100\n" + trial(1).candidate.schedule)
    one = replace(trial(1, 1e-3), candidate=given)
    assert "\ntarget a100\n" in best_schedule_text(replace(header(), machine="mine"), one, SEARCH)
    assert "\ntarget h200\n" in best_schedule_text(header(), one, SEARCH)


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for place in (tmp_path, tmp_path / "file" / "s.mdh", tmp_path / ("n" * 300)):
        with pytest.raises(Failed, match="F111"):
            write_best_schedule(place, header(), trial(1, 1e-3), SEARCH)
