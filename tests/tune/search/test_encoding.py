"""The static encoding: points survive it, and whatever a sampler suggests is nearly a point."""

from itertools import pairwise
from random import Random

import pytest
from optuna.distributions import CategoricalDistribution, IntDistribution

from mdh.results.variable import Metric, Variable
from mdh.tuner.search.encoding import encoding_of, factors
from tests.tune.search.doubles import ListedSpace, chain, nested_space, small_space


def _suggestion(space: ListedSpace, rng: Random) -> dict[str, int | str]:
    return {
        name: rng.randint(0, p.high) if isinstance(p, IntDistribution) else rng.choice(p.choices)
        for name, p in encoding_of(space.variables).parameters.items()
    }


SPACES = {
    "divisors": small_space(),
    "powers": nested_space(chain("k", 1000, 2, powers=True), chain("i", 12, 1)),
    "set": nested_space([Variable("1.tile.i", Metric.NUMBER, (16, 24, 32))], chain("j", 36, 3)),
}


@pytest.mark.parametrize("name", SPACES)
def test_points_survive(name: str) -> None:
    space = SPACES[name]
    encoding = encoding_of(space.variables)
    names = encoding.parameters.keys()
    for point in space.points[:: max(1, space.count // 500)]:
        words = encoding.encode(point)
        assert set(words) == names
        assert tuple(encoding.decode(words)) == point


@pytest.mark.parametrize("name", SPACES)
def test_values_are_within_their_parameters(name: str) -> None:
    space = SPACES[name]
    encoding = encoding_of(space.variables)
    for point in space.points[:: max(1, space.count // 500)]:
        words = encoding.encode(point)
        for key, parameter in encoding.parameters.items():
            match parameter:
                case IntDistribution(high=high):
                    value = words[key]
                    assert isinstance(value, int) and 0 <= value <= high
                case CategoricalDistribution(choices=choices):
                    assert words[key] in choices


@pytest.mark.parametrize("name", ["divisors", "set"])
def test_every_suggestion_of_exponents_is_a_point(name: str) -> None:
    space, rng = SPACES[name], Random(1)
    encoding = encoding_of(space.variables)
    for _ in range(300):
        wish = encoding.decode(_suggestion(space, rng))
        assert space.rank(tuple(wish)) is not None
        tiles = [w for w, v in zip(wish, space.variables, strict=True) if v.dim == "j"]
        assert all(isinstance(a, int) and isinstance(b, int) and a % b == 0 for a, b in pairwise(tiles))


def test_tiles_beside_divisors_are_places_in_order() -> None:
    space = SPACES["powers"]
    encoding = encoding_of(space.variables)
    assert list(encoding.parameters) == ["1.tile.k", "2.tile.k", "1.tile.i^2", "1.tile.i^3"]
    wish = encoding.decode({"1.tile.k": 0, "2.tile.k": 5, "1.tile.i^2": 2, "1.tile.i^3": 1})
    assert wish[1] == 1 and wish[2] == 12  # the larger tile stands outside


def test_stages_and_fixed_variables_are_kept_apart() -> None:
    one = Variable("a", Metric.TILE, (1, 2, 4), "i", 4, "s1", 1)
    two = Variable("b", Metric.TILE, (1, 2, 4), "i", 4, "s2", 1)
    fixed = Variable("c", Metric.WORD, ("x",))
    encoding = encoding_of((one, two, fixed))
    assert encoding.decode({"a^2": 1, "b^2": 2}) == [2, 4, "x"]
    assert encoding.encode((2, 4, "x")) == {"a^2": 1, "b^2": 2}


def test_factors() -> None:
    assert factors(1) == ()
    assert factors(1000) == ((2, 3), (5, 3))
    assert factors(97) == ((97, 1),)
