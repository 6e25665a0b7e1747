"""Earlier tunings close holes and stand for machines elsewhere; those of other programs do neither."""

from dataclasses import replace
from pathlib import Path

import pytest

from mdh.compare.closing import closed, first, is_open
from mdh.compare.recorded import Shelf, shelf_of
from mdh.diagnostics import Failed
from mdh.frontend.c.read import read_program
from mdh.ir.program import Program
from mdh.machine import load_machine
from mdh.results.trial import Candidate, Outcome, Trial
from mdh.schedule.parser import parse_schedule
from mdh.source import Source
from mdh.tuner.records.file import Record
from mdh.tuner.records.header import header_of
from mdh.tuner.records.key import Setting, candidate_key

ADD = "void add(const float A[N], float B[N]) { for (int i = 0; i < N; i++) B[i] = A[i] + 1.0f; }"
STEP = "1: (de-)comp( {} ) ( ^ ; ^ ) ( BLK.x )\n"
OPEN = parse_schedule(Source("s.mdh", STEP.format("?t{32,64}")))
HERE = Setting(load_machine("a100"), "cuda", "NVIDIA A100", versions=(("mdh", "1"),))
SECONDS = {32: 3e-6, 64: 2e-6}


def _program(n: int = 256) -> Program:
    return read_program(Source("add.c", ADD), defines={"N": n})


def _record(path: Path, program: Program, setting: Setting = HERE) -> None:
    with Record.open(str(path), header_of(program, OPEN, setting)) as record:
        for number, (tile, seconds) in enumerate(SECONDS.items()):
            text = STEP.format(tile)
            key = candidate_key(program, parse_schedule(Source("s.mdh", text)), setting)
            candidate = Candidate(key, text, (("?t", tile),))
            outcome = Outcome(None, warm=(seconds,) * 9, clock="device", title=setting.title)
            record.append(Trial(number, candidate, "random", "quick", outcome, started=86400.0))
        fastest = Outcome(None, warm=(1e-6,) * 9, clock="device")
        record.append(Trial(2, Candidate("0" * 64, STEP.format(16)), "default", "quick", fastest))


def _shelf(folder: Path, program: Program) -> Shelf:
    return shelf_of((str(folder),), program, deterministic=False)


def test_holes_take_the_best_values_on_record(tmp_path: Path) -> None:
    _record(tmp_path / "add.jsonl", _program())
    shelf = _shelf(tmp_path, _program())
    found = closed(_program(), OPEN, HERE, shelf, here=True)
    assert found is not None
    assert found.values == (("?t", 64),)
    assert found.how == f"tuned, trial 1 of {tmp_path}/add.jsonl"


def test_another_device_program_or_schedule_has_no_say(tmp_path: Path) -> None:
    _record(tmp_path / "add.jsonl", _program())
    shelf = _shelf(tmp_path, _program())
    elsewhere = Setting(load_machine("a100"), "cuda", "NVIDIA A100 40GB")
    assert closed(_program(), OPEN, elsewhere, shelf, here=True) is None
    assert closed(_program(), OPEN, elsewhere, shelf, here=False) is not None
    other = parse_schedule(Source("s.mdh", STEP.format("?t{16,64}")))
    assert closed(_program(), other, HERE, shelf, here=True) is None
    unlike = _shelf(tmp_path, _program(512))
    assert (unlike.sections, unlike.others) == ((), 1)


def test_a_schedule_without_holes_has_its_time_on_record(tmp_path: Path) -> None:
    _record(tmp_path / "add.jsonl", _program())
    shelf = _shelf(tmp_path, _program())
    slow = parse_schedule(Source("s.mdh", "target a100\n// mine\n" + STEP.format(32)))
    found = closed(_program(), slow, HERE, shelf, here=False)
    assert found is not None and found.found is not None
    assert found.found.trial.outcome.seconds == SECONDS[32]
    other = closed(_program(), parse_schedule(Source("s.mdh", STEP.format(8))), HERE, shelf, here=False)
    assert other is not None and other.found is None


def test_a_record_that_is_named_must_be_of_the_program(tmp_path: Path) -> None:
    _record(tmp_path / "add.jsonl", _program())
    with pytest.raises(Failed, match="F197"):
        shelf_of((str(tmp_path / "add.jsonl"),), _program(512), deterministic=False)
    with pytest.raises(Failed, match="F101"):
        shelf_of((str(tmp_path / "none.jsonl"),), _program(), deterministic=False)
    with pytest.raises(Failed, match="F101"):
        shelf_of(("",), _program(), deterministic=False)


def test_a_folder_may_hold_what_it_likes(tmp_path: Path) -> None:
    (tmp_path / "notes.jsonl").write_text('{"a": 1}\n')
    _record(tmp_path / "add.jsonl", _program())
    assert len(_shelf(tmp_path, _program()).sections) == 1


def test_without_a_tuning_the_first_point_is_taken() -> None:
    assert is_open(OPEN) and not is_open(None)
    assert closed(_program(), OPEN, HERE, Shelf(), here=True) is None
    found = first(_program(), OPEN, HERE)
    assert (found.values, found.how) == ((("?t", 64),), "not tuned: its first point")


def test_machines_that_mdh_has_no_name_for_must_be_alike(tmp_path: Path) -> None:
    """Every CPU calls itself `this-cpu`: the one of a friend is known by its limits."""
    mine = replace(load_machine("generic-cpu"), name="this-cpu")
    friends = replace(mine, threads_per_unit=2, title="a friend's")
    _record(tmp_path / "add.jsonl", _program(), Setting(friends, "c", "a friend's CPU"))
    shelf = _shelf(tmp_path, _program())
    assert shelf.knows(friends, "c") and not shelf.knows(friends, "opencl")
    assert not shelf.knows(mine, "c")
    slower = replace(friends, clock=1e9, bandwidth=1e9)
    for machine, known in ((friends, True), (slower, True), (mine, False)):
        found = closed(_program(), OPEN, Setting(machine, "c", ""), shelf, here=False)
        assert (found is not None) == known
        plain = parse_schedule(Source("s.mdh", STEP.format(32)))
        timed = closed(_program(), plain, Setting(machine, "c", ""), shelf, here=False)
        assert timed is not None and (timed.found is not None) == known
