"""Every sampler: legal points, none twice, the whole space, the same for a seed, and better than chance."""

import subprocess
import sys
from collections import Counter
from collections.abc import Container
from importlib.util import find_spec
from random import Random
from types import SimpleNamespace

import pytest

from mdh.diagnostics import Failed
from mdh.results.variable import Metric, Point, Variable
from mdh.tuner.search import DEFAULT, SAMPLERS, evolution, make_searcher, study_name
from mdh.tuner.search.interfaces import Searcher, SearchSpace
from mdh.tuner.search.optuna_strategy import RECIPES
from mdh.tuner.search.uniform import free_draw
from tests.tune.search.doubles import ListedSpace, chain, nested_space, small_space

HERE = [s.name for s in SAMPLERS if all(find_spec(p) for p in s.packages)]
LEARNING = [n for n in HERE if n not in ("random", "qmc", "exhaustive")]


def _seconds(point: Point) -> float | None:
    """Best at (16, 4, 6, 2, 4, `j i`); a quarter fails."""
    i, ii, j, jj, unroll, order = point
    assert isinstance(i, int) and isinstance(ii, int) and isinstance(j, int)
    assert isinstance(jj, int) and isinstance(unroll, int)
    if i * j > 512:
        return None
    far = abs(i - 16) / 16 + abs(ii - 4) / 4 + abs(j - 6) / 6 + abs(jj - 2) / 2 + abs(unroll - 4) / 4
    return 1e-3 * (1 + far + (order == "i j"))


def _run(searcher: Searcher, trials: int) -> list[Point]:
    asked = []
    for _ in range(trials):
        point = searcher.ask()
        if point is None:
            break
        asked.append(point)
        searcher.tell(point, _seconds(point))
    return asked


def _best(points: list[Point]) -> float:
    return min(s for p in points if (s := _seconds(p)) is not None)


@pytest.mark.parametrize("name", HERE)
def test_points_are_legal_and_new(name: str) -> None:
    space = small_space()
    asked = _run(make_searcher(name, space, seed=3), 60)
    assert len(asked) == 60 == len(set(asked))
    assert all(space.rank(p) is not None for p in asked)


@pytest.mark.parametrize("name", HERE)
def test_same_seed_same_points(name: str) -> None:
    space = small_space()
    first, again = (_run(make_searcher(name, space, seed=5), 40) for _ in range(2))
    assert first == again
    if name != "exhaustive":
        assert first != _run(make_searcher(name, space, seed=6), 40)


@pytest.mark.parametrize("name", HERE)
def test_small_space_is_used_up(name: str) -> None:
    space = nested_space(chain("i", 12, 2), [Variable("w", Metric.WORD, ("a", "b"))])
    searcher = make_searcher(name, space, seed=0)
    asked = []
    while (point := searcher.ask()) is not None:
        asked.append(point)
        searcher.tell(point, None if len(asked) % 3 == 0 else 1.0 / len(asked))
    assert sorted(asked) == sorted(space.points)
    assert searcher.ask() is None


@pytest.mark.parametrize("name", HERE)
def test_one_point_and_no_open_variable(name: str) -> None:
    searcher = make_searcher(name, ListedSpace([Variable("v", Metric.NUMBER, (4,))], [(4,)]), seed=0)
    assert searcher.ask() == (4,)
    assert searcher.ask() is None
    searcher.tell((4,), 1.0)


@pytest.mark.parametrize("name", HERE)
def test_told_points_are_not_asked(name: str) -> None:
    space = small_space()
    rng = Random(1)
    known = list({space.draw(rng) for _ in range(50)})
    searcher = make_searcher(name, space, seed=0)
    for point in known:
        searcher.tell(point, _seconds(point))
    searcher.tell(("no", "point", "of", "this", "space", "at all"), 1.0)
    assert not set(_run(searcher, 50)) & set(known)


@pytest.mark.parametrize("name", HERE)
def test_a_flood_of_illegal_points(name: str) -> None:
    """Where the checker refuses nearly everything, the few that run are not lost among the refused."""
    searcher = make_searcher(name, small_space(), seed=4)
    asked = []
    for n in range(120):
        point = searcher.ask()
        assert point is not None
        asked.append(point)
        searcher.tell(point, 1e-3 * (1 + n % 7) if n % 10 == 9 else None)
    assert len(set(asked)) == 120


@pytest.mark.parametrize("name", HERE)
def test_many_in_flight_and_all_failures(name: str) -> None:
    searcher = make_searcher(name, small_space(), seed=2)
    batch = [searcher.ask() for _ in range(12)]
    assert len(set(batch)) == 12
    for point in reversed(batch):
        assert point is not None
        searcher.tell(point, None)
    later = _run(searcher, 12)
    assert not set(later) & set(batch)


@pytest.mark.parametrize("name", HERE)
def test_a_point_told_twice(name: str) -> None:
    searcher = make_searcher(name, small_space(), seed=2)
    for seconds in (None, 2.0, 1.0):
        point = searcher.ask()
        assert point is not None
        searcher.tell(point, seconds)
        searcher.tell(point, 0.5)
    assert searcher.ask() is not None


@pytest.mark.parametrize("name", LEARNING)
def test_learning_beats_chance(name: str) -> None:
    space = small_space()
    chance = sorted(_best(_run(make_searcher("random", space, seed=s), 60)) for s in range(5))[2]
    learned = sorted(_best(_run(make_searcher(name, space, seed=s), 60)) for s in range(5))[2]
    assert learned < chance


@pytest.mark.parametrize("name", [n for n in LEARNING if n not in ("cmaes", "nsga2")])
def test_a_known_good_point_is_used(name: str) -> None:
    """The default schedule enters by tell; what comes next is closer to it than chance."""
    space = small_space()
    good: Point = (16, 4, 6, 2, 8, "j i")
    searcher = make_searcher(name, space, seed=1)
    searcher.tell(good, _seconds(good))
    assert _best(_run(searcher, 60)) <= 1.3e-3


def test_earlier_times_are_members_of_the_first_population(monkeypatch: pytest.MonkeyPatch) -> None:
    """Evolution draws as many points as they leave to draw."""
    draws = Counter[str]()

    def counted(space: SearchSpace, rng: Random, taken: Container[Point]) -> Point | None:
        draws["all"] += 1
        return free_draw(space, rng, taken)

    monkeypatch.setattr(evolution, "free_draw", counted)
    space = small_space()
    for known in (0, 3, evolution.START, 30):
        draws.clear()
        searcher = make_searcher("evolution", space, seed=0)
        for rank in range(known):
            searcher.tell(space.unrank(rank), 1.0)
        for number in range(20):
            point = searcher.ask()
            assert point is not None
            searcher.tell(point, 1.0 + number)
        assert draws["all"] == max(0, evolution.START - known)


def test_history_is_cut_down() -> None:
    searcher = make_searcher("tpe", small_space(), seed=1)
    asked = _run(searcher, 170)
    assert len(set(asked)) == 170


def test_torch_has_one_thread_while_gp_suggests(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = [4]
    torch = SimpleNamespace(get_num_threads=lambda: counts[-1], set_num_threads=counts.append)
    monkeypatch.setitem(sys.modules, "torch", torch)
    with RECIPES["gp"].around():
        assert counts == [4, 1]
    assert counts == [4, 1, 4]


def test_default_is_a_sampler_that_needs_nothing() -> None:
    assert not next(s for s in SAMPLERS if s.name == DEFAULT).packages


def test_unknown_sampler() -> None:
    with pytest.raises(Failed) as failed:
        make_searcher("cma-es", small_space(), seed=0)
    assert failed.value.diagnostics[0].code == "F180"
    assert "did you mean `cmaes`?" in failed.value.diagnostics[0].help


def test_bayes_is_gone() -> None:
    with pytest.raises(Failed) as failed:
        make_searcher("bayes", small_space(), seed=0)
    assert failed.value.diagnostics[0].code == "F180"
    assert "`bayes` is gone, `evolution` takes its place" in failed.value.diagnostics[0].help


def test_missing_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cmaes", None)
    with pytest.raises(Failed) as failed:
        make_searcher("cmaes", small_space(), seed=0)
    assert failed.value.diagnostics[0].code == "F181"
    assert failed.value.diagnostics[0].help == "pip install '.[samplers]' in mdh's folder"


def test_study_names_differ_with_the_space() -> None:
    space = small_space()
    other = nested_space(chain("i", 64, 2))
    assert study_name("matmul", "cuda H200", space) == study_name("matmul", "cuda H200", small_space())
    assert study_name("matmul", "cuda H200", space) != study_name("matmul", "cuda H200", other)


def test_own_samplers_load_no_optuna() -> None:
    code = (
        "import sys; from mdh.tuner.search import make_searcher; from tests.tune.search.doubles import *;"
        "make_searcher('evolution', small_space(), seed=0).ask(); print('optuna' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
