"""Small steps in the exact space: one variable changes, and the others stay where the space allows it."""

from collections.abc import Container
from random import Random

from mdh.results.trial import Value
from mdh.results.variable import Metric, Point
from mdh.tuner.search.interfaces import SearchSpace

TRIES = 24


def mutate(space: SearchSpace, point: Point, rng: Random, changes: int = 1) -> Point:
    """A legal point near one in which `changes` variables have other values: for numbers mostly the next
    value up or down, for words any other."""
    wish: list[Value | None] = list(point)
    movable = [i for i, v in enumerate(space.variables) if len(v.values) > 1]
    for i in rng.sample(movable, min(changes, len(movable))):
        wish[i] = _other(space, i, point[i], rng)
    return space.nearest(wish)


def free_neighbour(space: SearchSpace, point: Point, rng: Random, taken: Container[Point]) -> Point | None:
    """A free point one step from this one, or two or three steps if all tries nearby were taken."""
    for attempt in range(TRIES):
        found = mutate(space, point, rng, 1 + attempt // 8)
        if found not in taken:
            return found
    return None


def _other(space: SearchSpace, i: int, value: Value, rng: Random) -> Value:
    variable = space.variables[i]
    values = variable.values
    at = values.index(value)
    if variable.kind is Metric.WORD:
        return values[(at + rng.randrange(1, len(values))) % len(values)]
    step = 1
    while step < len(values) and rng.random() < 0.35:
        step += 1
    target = at + (step if rng.random() < 0.5 else -step)
    if not 0 <= target < len(values):
        target = at - (target - at)
    return values[min(max(target, 0), len(values) - 1)]
