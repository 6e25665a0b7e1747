"""Tuners that share one study: by a journal file, SQLite and a real PostgreSQL server."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from random import Random

import optuna
import pytest

from mdh.diagnostics import Failed
from mdh.passwords import masked
from mdh.results.variable import Point
from mdh.tuner.search import make_searcher
from mdh.tuner.search.shared import SharedStudy
from tests.hostile.pieces import damaged
from tests.support.source_tree import ROOT
from tests.tune.search.doubles import chain, nested_space, small_space

SCRIPT = ROOT / "scripts" / "postgres"
SERVER = shutil.which("pg_ctl") or next(Path("/usr/lib/postgresql").glob("*/bin/pg_ctl"), None)
needs_postgres = pytest.mark.skipif(
    SERVER is None or find_spec("psycopg") is None, reason="no PostgreSQL server or no driver here"
)


def _start() -> str:
    env = {**os.environ, "PYTHON": sys.executable}
    return subprocess.run(
        [SCRIPT, "start"], env=env, capture_output=True, text=True, check=True
    ).stdout.strip()


def _stop(url: str) -> None:
    subprocess.run([SCRIPT, "stop", url], check=True, capture_output=True)


@pytest.fixture(scope="module")
def postgres() -> Iterator[str]:
    url = _start()
    yield url
    _stop(url)


@pytest.fixture(params=["journal", "sqlite", pytest.param("postgres", marks=needs_postgres)])
def storage(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    match request.param:
        case "journal":
            return str(tmp_path / "study.log")
        case "sqlite":
            return f"sqlite:///{tmp_path}/study.db"
        case _:
            return str(request.getfixturevalue("postgres"))


def _code(failed: pytest.ExceptionInfo[Failed]) -> str:
    return failed.value.diagnostics[0].code


def test_two_tuners_share_points_and_results(storage: str, request: pytest.FixtureRequest) -> None:
    space, study = small_space(), request.node.name
    one, two = (make_searcher("tpe", space, seed=1, storage=storage, study=study) for _ in range(2))
    asked: list[Point] = []
    for round_ in range(12):
        for searcher in (one, two):
            point = searcher.ask()
            assert point is not None
            asked.append(point)
            searcher.tell(point, None if round_ % 4 == 3 else 1.0 + len(asked))
    assert len(set(asked)) == 24
    late = make_searcher("random", space, seed=1, storage=storage, study=study)
    assert late.ask() not in asked


def test_points_from_elsewhere_are_claimed_too(storage: str, request: pytest.FixtureRequest) -> None:
    space, study = small_space(), request.node.name
    one, two = (make_searcher("random", space, seed=1, storage=storage, study=study) for _ in range(2))
    asked = one.ask()
    assert asked is not None
    drawn = next(p for n in range(space.count) if (p := space.unrank(n)) != asked)
    assert one.claim(asked)
    assert one.claim(drawn)
    assert one.claim(drawn)
    assert not two.claim(asked)
    assert not two.claim(drawn)
    one.tell(drawn, 1.0)
    assert not two.claim(drawn)
    assert make_searcher("random", space, seed=1).claim(drawn)


def test_results_of_others_are_learned(storage: str, request: pytest.FixtureRequest) -> None:
    space, study = small_space(), request.node.name
    teller = make_searcher("random", space, seed=1, storage=storage, study=study)
    good: Point = (16, 4, 6, 2, 4, "j i")
    teller.tell(good, 1e-6)
    other = make_searcher("evolution", space, seed=2, storage=storage, study=study)
    near = [other.ask() for _ in range(60)]
    assert good not in near
    same = [sum(a == b for a, b in zip(p, good, strict=True)) for p in near if p is not None]
    assert sum(s >= 4 for s in same) > 20  # a step or two from the other's point


def test_resumed_results_enter_once(storage: str, request: pytest.FixtureRequest) -> None:
    space, study = small_space(), request.node.name
    for _ in range(2):
        searcher = make_searcher("tpe", space, seed=1, storage=storage, study=study)
        searcher.ask()
        searcher.tell(space.points[7], 0.5)
        searcher.tell(space.points[8], None)
    opened = make_searcher("random", space, seed=1, storage=storage, study=study)
    assert opened.ask() not in (space.points[7], space.points[8])
    trials = _study(storage, study).get_trials()
    points = [t.user_attrs["mdh.point"] for t in trials if t.state.is_finished()]
    assert sorted(points) == sorted([list(space.points[7]), list(space.points[8])])


def _study(storage: str, study: str) -> optuna.Study:
    if "://" in storage:
        url = storage.replace("postgresql://", "postgresql+psycopg://")
        return optuna.load_study(study_name=study, storage=url)
    backend = optuna.storages.journal.JournalFileBackend(storage)
    return optuna.load_study(study_name=study, storage=optuna.storages.JournalStorage(backend))


def test_space_of_another_program_is_refused(storage: str, request: pytest.FixtureRequest) -> None:
    study = request.node.name
    make_searcher("random", small_space(), seed=1, storage=storage, study=study)
    with pytest.raises(Failed) as failed:
        make_searcher("random", nested_space(chain("i", 64, 2)), seed=1, storage=storage, study=study)
    assert _code(failed) == "F184"


def test_old_claims_are_free_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    space, path = nested_space(chain("i", 4, 1)), str(tmp_path / "study.log")
    dead = make_searcher("random", space, seed=1, storage=path, study="s")
    for _ in range(3):
        assert dead.ask() is not None
    alive = make_searcher("random", space, seed=1, storage=path, study="s")
    assert alive.ask() is None
    monkeypatch.setattr("mdh.tuner.search.shared.STALE_SECONDS", -1.0)
    assert alive.ask() is not None


WORKER = """
import sys, json
from mdh.tuner.search import make_searcher
from mdh.tuner.search.shared import SharedStudy
from tests.tune.search.doubles import small_space
url, study, seed, trials = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
searcher = make_searcher("random", small_space(), seed=0, storage=url, study=study)
for _ in range(trials):
    point = searcher.ask()
    print(json.dumps(point))
    searcher.tell(point, 1.0)
"""


@needs_postgres
def test_processes_with_one_seed_never_measure_a_point_twice(postgres: str) -> None:
    """Worst case: all of them draw the same points in the same order, into a database without tables."""
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", WORKER, postgres, "crowd", "0", "15"],
            cwd=ROOT, stdout=subprocess.PIPE, text=True,
        )
        for _ in range(3)
    ]  # fmt: skip
    outputs = [w.communicate(timeout=120)[0] for w in workers]
    assert [w.returncode for w in workers] == [0, 0, 0]
    points = [tuple(json.loads(line)) for out in outputs for line in out.splitlines()]
    assert len(points) == len(set(points)) == 45


@needs_postgres
def test_a_server_that_dies_and_comes_back() -> None:
    url = _start()
    port = url.rsplit(":", 1)[1].split("/")[0]
    try:
        searcher = make_searcher("random", small_space(), seed=0, storage=url, study="s")
        point = searcher.ask()
        assert point is not None
        _stop(url)
        with pytest.raises(Failed) as failed:
            searcher.tell(point, 1.0)
        assert _code(failed) == "F183"
        with pytest.raises(Failed) as failed:
            searcher.ask()
        assert _code(failed) == "F183"
        with pytest.raises(Failed) as failed:
            make_searcher("random", small_space(), seed=0, storage=url, study="s")
        assert _code(failed) == "F182"
        assert port in failed.value.diagnostics[0].headline
    finally:
        _stop(url)


def test_a_journal_of_a_size_that_no_tuning_has(tmp_path: Path) -> None:
    journal = tmp_path / "journal"
    with journal.open("wb") as file:
        # no byte of it lies on the disk
        file.truncate(1 << 40)
    with pytest.raises(Failed, match="has 1,099,511,627,776 bytes, more than 536,870,912") as failed:
        make_searcher("random", small_space(), seed=1, storage=str(journal))
    assert _code(failed) == "F182"


@pytest.mark.parametrize(
    "url", ["nonsense://host/x", "postgresql://h:notaport/db", "sqlite:////proc/no/such/folder/x.db"]
)
def test_storages_that_cannot_be_opened(url: str) -> None:
    with pytest.raises(Failed) as failed:
        make_searcher("random", small_space(), seed=0, storage=url)
    assert _code(failed) == "F182"


@pytest.mark.parametrize("form", ["{}", "journal://{}", "sqlite:///{}"])
def test_what_is_no_file_is_no_storage(tmp_path: Path, form: str) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    (tmp_path / "circle").symlink_to(tmp_path / "circle")
    (tmp_path / "link").symlink_to(tmp_path / "pipe")
    for name in ("pipe", "folder", "circle", "link", "/dev/null"):
        with pytest.raises(Failed) as failed:
            make_searcher("random", small_space(), seed=1, storage=form.format(tmp_path / name))
        assert _code(failed) == "F182", name


@pytest.mark.parametrize(
    "line", ["[]", "{}", "7", '{"op_code": 99}', '{"op_code": 0, "worker_id": 1}', "{", "\0"]
)
def test_journals_of_others(tmp_path: Path, line: str) -> None:
    path = tmp_path / "study.log"
    path.write_text(f"{line}\n{line}\n")
    with pytest.raises(Failed) as failed:
        make_searcher("random", small_space(), seed=1, storage=str(path))
    assert _code(failed) in ("F182", "F183")


def test_a_lock_that_a_killed_tuner_left_is_known_from_every_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A link that leads nowhere would never grow old."""
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir(tmp_path)
    seen: list[bool] = []
    real = os.symlink

    def link(target: str, name: str) -> None:
        real(target, name)
        seen.append(Path(name).exists())

    monkeypatch.setattr(os, "symlink", link)
    make_searcher("random", small_space(), seed=1, storage="sub/study.log")
    assert seen and all(seen)


def test_damaged_journal(tmp_path: Path) -> None:
    path = tmp_path / "study.log"
    path.write_text("this is no journal\n" * 3, encoding="utf-8")
    with pytest.raises(Failed) as failed:
        make_searcher("random", small_space(), seed=0, storage=str(path))
    assert _code(failed) in ("F182", "F183")


def test_passwords_are_never_shown() -> None:
    assert masked("postgresql://me:s3cret@host/db") == "postgresql://me:***@host/db"
    assert masked("sqlite:///x.db") == "sqlite:///x.db"


def test_a_damaged_journal_is_refused_or_read(tmp_path: Path) -> None:
    path = tmp_path / "study.log"
    searcher = make_searcher("random", small_space(), seed=1, storage=str(path))
    for n in range(3):
        point = searcher.ask()
        assert point is not None
        searcher.tell(point, 1e-3 * (n + 1))
    data = path.read_bytes()
    outcomes = set()
    for n in range(150):
        chance = Random(n)
        path.write_bytes(_damaged_journal(data, chance))
        try:
            other = make_searcher("random", small_space(), seed=2, storage=str(path))
            if (point := other.ask()) is not None:
                other.tell(point, 1e-3)
            outcomes.add("read")
        except Failed as failed:
            outcomes.add(failed.diagnostics[0].code)
    assert outcomes <= {"read", "F182", "F183", "F184"}
    assert len(outcomes) > 2


def _damaged_journal(data: bytes, chance: Random) -> bytes:
    """Other bytes, or a line with another value."""
    if chance.random() < 0.4:
        return damaged(data, chance)
    lines = data.splitlines()
    n = chance.randrange(len(lines))
    fields = json.loads(lines[n])
    fields[chance.choice(list(fields))] = chance.choice(
        (None, [], {}, "x", -1, 1e300, True, [[]], ["minimize"])
    )
    lines[n] = json.dumps(fields).encode()
    return b"\n".join(lines) + b"\n"


def test_a_journal_that_is_no_file_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name in ("pipe", "."):
        with pytest.raises(Failed, match="F182"):
            make_searcher("random", small_space(), seed=1, storage=str(tmp_path / name))


@pytest.mark.parametrize("value", [0.0, -1.0, 1e-300, 1e300])
def test_times_that_no_run_takes_are_not_learned(tmp_path: Path, value: float) -> None:
    path = tmp_path / "study.log"
    study = SharedStudy(str(path), "x", small_space())
    point = next(iter(small_space().points))
    assert study.claim(point)
    study.tell(point, value)
    assert SharedStudy(str(path), "x", small_space()).news() == [(point, None)]
