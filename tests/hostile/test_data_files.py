"""A slice of what longer campaigns run: damaged data files have a result or a coded message, in time."""

import pytest

from tests.hostile.kinds import KINDS, tried

COUNTS = {
    "machine": 200,
    "project": 150,
    "npy": 200,
    "record": 60,
    "answer": 300,
    "request": 200,
    "reply": 200,
}


@pytest.mark.parametrize("name", KINDS)
def test_damaged_files_are_read_or_refused(name: str) -> None:
    kind = KINDS[name]
    for data in kind.valid():
        assert kind.judge(data).fine
    outcomes, wrong = tried(kind, COUNTS[name], 1)
    assert not wrong, wrong[:5]
    assert len(outcomes) > 1
