"""The comparison: tables survive the disk, searches are judged by distinct points."""

from pathlib import Path

import pytest

from tests.tune.search.contest import ENTRANTS, Judge, Over, contest
from tests.tune.search.doubles import chain, nested_space
from tests.tune.search.tables import Table, read_table, write_table


def _table() -> Table:
    space = nested_space(chain("i", 24, 2))
    times = {p: None if p[0] == 24 else 1.0 + abs(int(p[0]) - 6) + abs(int(p[1]) - 2) for p in space.points}
    return Table("tiny", space, dict(times))


def test_tables_survive_the_disk(tmp_path: Path) -> None:
    table = _table()
    write_table(tmp_path / "t.jsonl", table)
    again = read_table(tmp_path / "t.jsonl")
    assert again.seconds == table.seconds and again.best == table.best == 1.0
    assert again.space.variables == table.space.variables


def test_repeated_points_are_no_trials() -> None:
    table = _table()
    judge = Judge(table, 2)
    for _ in range(5):
        assert judge((6, 2)) == 1.0
    assert judge((24, 1)) is None
    assert judge.curve == [1.0, 1.0]
    with pytest.raises(Over):
        judge((1, 1))


@pytest.mark.parametrize("entrant", ["evolution", "random", "optuna, naive"])
def test_contest(entrant: str) -> None:
    run = contest(entrant, _table(), seed=1, trials=20)
    assert entrant in ENTRANTS and len(run.curve) == 20
    assert all(a >= b >= 1.0 for a, b in zip(run.curve, run.curve[1:], strict=False))
