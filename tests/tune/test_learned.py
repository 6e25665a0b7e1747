"""What runs keep for the model of the next one: whole, bounded, and never a reason to fail."""

import json
from pathlib import Path
from random import Random

import pytest

from mdh.cost.prediction import NOMINAL, Prediction, Signs, seconds_of
from mdh.tuner.warm_start.learned import PROGRAMS, TIMES, Learned, load, place_of, save, some

CPU = NOMINAL["cpu"]
WIDTH = len(CPU.weights)


def pairs(count: int, seed: int = 0, about: str = "p 8 cpu") -> list[tuple[Prediction, float]]:
    rng = Random(seed)
    out = []
    for _ in range(count):
        terms = tuple(rng.uniform(1e-6, 1e-3) for _ in range(WIDTH))
        out.append((Prediction(0.0, (), (terms,), Signs(), "cpu", about), float(seconds_of(CPU, terms))))
    return out


def test_what_is_kept_is_read_back(tmp_path: Path) -> None:
    learned = Learned("cpu").adding("p 8 cpu", pairs(5)).adding("q 8 cpu", pairs(3, 1, "q 8 cpu"))
    path = tmp_path / "model" / "x.json"
    assert save(path, learned)
    assert load(path, "cpu") == learned
    assert load(path, "gpu") == Learned("gpu")
    assert load(tmp_path / "none.json", "cpu") == Learned("cpu")


def test_little_is_kept_of_each_of_the_latest_programs() -> None:
    learned = Learned("cpu")
    for n in range(PROGRAMS + 3):
        learned = learned.adding(f"p {n}", pairs(TIMES + 9, n, f"p {n}"))
    names = [name for name, _ in learned.programs]
    assert names == [f"p {n}" for n in range(3, PROGRAMS + 3)]
    assert all(len(one) == TIMES for _, one in learned.programs)
    assert [name for name, _ in learned.adding("p 5", pairs(1)).programs][-1] == "p 5"
    assert learned.adding("empty", ()) == learned


def test_the_latest_time_of_a_prediction_counts() -> None:
    prediction, seconds = pairs(1)[0]
    learned = Learned("cpu").adding("p", [(prediction, seconds)]).adding("p", [(prediction, 2 * seconds)])
    assert learned.programs == (("p", ((prediction, 2 * seconds),)),)


def test_the_fastest_and_the_slowest_are_among_some() -> None:
    rows = [(n, float(n)) for n in range(500)]
    chosen = some(rows)
    assert (len(chosen), chosen[0][0], chosen[-1][0]) == (TIMES, 0, 499)
    assert len({n for n, _ in chosen}) == TIMES


def test_damage_is_nothing_learned(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    assert save(path, Learned("cpu").adding("p", pairs(2)))
    whole = path.read_bytes()
    for end in range(0, len(whole), 7):
        path.write_bytes(whole[:end])
        assert load(path, "cpu") == Learned("cpu")
    rng = Random(0)
    for _ in range(300):
        flipped = bytearray(whole)
        flipped[rng.randrange(len(flipped))] ^= 1 << rng.randrange(8)
        path.write_bytes(flipped)
        assert load(path, "cpu").kind == "cpu"


@pytest.mark.parametrize(
    "row",
    [
        {"terms": [[1.0] * (WIDTH + 1)], "seconds": 1.0},
        {"terms": [], "seconds": 1.0},
        {"terms": [[1.0] * WIDTH], "seconds": 0.0},
        {"terms": [[-1.0] * WIDTH], "seconds": 1.0},
        {"terms": [[float("nan")] * WIDTH], "seconds": 1.0},
        {"terms": [["x"] * WIDTH], "seconds": 1.0},
        {"terms": [[1.0] * WIDTH]},
        {"seconds": 1.0},
        7,
    ],
)
def test_what_cannot_be_a_time_is_refused(row: object, tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    data = {"schema": "mdh.model/1", "kind": "cpu", "programs": [{"about": "p", "times": [row]}]}
    path.write_text(json.dumps(data))
    assert load(path, "cpu") == Learned("cpu")


def test_a_folder_that_cannot_be_written_costs_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert not save(tmp_path / "file" / "x.json", Learned("cpu").adding("p", pairs(2)))


def test_each_device_and_version_has_a_file_of_its_own(own_cache: Path) -> None:
    ground = [("A", "opencl", "cpu", "1"), ("B", "opencl", "cpu", "1"), ("A", "opencl", "cpu", "2")]
    places = {place_of(*one) for one in ground}
    assert len(places) == 3
    assert all(p.parent == own_cache / "mdh" / "model" for p in places)
