"""Spaces for tests and comparisons whose points are all listed: a tree of them, variable by variable."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from math import log2
from random import Random

from mdh.results.trial import Value
from mdh.results.variable import Metric, Point, Variable

Tree = dict[Value, "Tree"]


def distance(variable: Variable, a: Value, b: Value) -> float:
    """How far two values are apart: octaves of tiles, places of numbers, 1 between words."""
    if a == b:
        return 0.0
    if variable.kind is Metric.WORD or isinstance(a, str) or isinstance(b, str):
        return 1.0
    if variable.kind is Metric.TILE:
        return abs(log2(max(a, 1) / max(b, 1)))
    return float(abs(variable.values.index(a) - variable.values.index(b)))


class ListedSpace:
    """The space of the given points, in their order."""

    def __init__(self, variables: Sequence[Variable], points: Iterable[Point]) -> None:
        self.points = list(points)
        columns = [{p[i] for p in self.points} for i in range(len(variables))]
        self.variables = tuple(
            Variable(
                v.name, v.kind, tuple(x for x in v.values if x in have), v.dim, v.extent, v.stage, v.step
            )
            for v, have in zip(variables, columns, strict=True)
        )
        self.count = len(self.points)
        self._ranks = {p: i for i, p in enumerate(self.points)}
        self._tree: Tree = {}
        for point in self.points:
            node = self._tree
            for value in point:
                node = node.setdefault(value, {})

    def unrank(self, rank: int) -> Point:
        return self.points[rank]

    def rank(self, point: Point) -> int | None:
        return self._ranks.get(point)

    def amended(self, point: Point) -> Point:
        return point

    def plausible(self, point: Point) -> bool:
        return True

    def normal(self, point: Point) -> tuple[object, ...]:
        return point

    def draw(self, rng: Random) -> Point:
        return self.points[rng.randrange(self.count)]

    def nearest(self, wish: Sequence[Value | None]) -> Point:
        legal = tuple(v for v in wish if v is not None)
        if legal in self._ranks:
            return legal
        node, out = self._tree, []
        for variable, wanted in zip(self.variables, wish, strict=True):
            choice = next(iter(node))
            if wanted is not None:
                choice = min(node, key=lambda v: distance(variable, v, wanted))
            out.append(choice)
            node = node[choice]
        return tuple(out)


def divisors(n: int) -> tuple[int, ...]:
    return tuple(d for d in range(1, n + 1) if n % d == 0)


def chain(dim: str, extent: int, levels: int, *, first_step: int = 1, powers: bool = False) -> list[Variable]:
    """`levels` nested tiles of a dimension."""
    values = set(divisors(extent))
    if powers:
        values |= {2**k for k in range(extent.bit_length()) if 2**k <= extent}
    ordered = tuple(sorted(values))
    return [
        Variable(f"{s}.tile.{dim}", Metric.TILE, ordered, dim, extent, "", s)
        for s in range(first_step, first_step + levels)
    ]


def chains(variables: Sequence[Variable]) -> Iterator[tuple[int, ...]]:
    """All nested divisors of one dimension, and powers of two where the values have them."""
    strict = all(isinstance(v, int) and variables[0].extent % v == 0 for v in variables[0].values)

    def below(parent: int, level: int) -> Iterator[tuple[int, ...]]:
        if level == len(variables):
            yield ()
            return
        values = variables[level].values
        for v in values[: bisect_left(values, parent + 1)]:
            assert isinstance(v, int)
            if parent % v == 0 or (not strict and v & (v - 1) == 0):
                for rest in below(v, level + 1):
                    yield (v, *rest)

    return below(variables[0].extent, 0)


def nested_space(*groups: Sequence[Variable]) -> ListedSpace:
    """The product of groups: a chain of tiles each, or free variables."""
    parts: list[list[tuple[Value, ...]]] = []
    for group in groups:
        if group[0].kind is Metric.TILE and group[0].extent:
            parts.append(list(chains(group)))
        else:
            parts.append(list(product(*(v.values for v in group))))
    flat = [v for g in groups for v in g]
    return ListedSpace(flat, (tuple(x for part in p for x in part) for p in product(*parts)))


def small_space() -> ListedSpace:
    """Two chains of two tiles, a number and a word: 6,300 points."""
    return nested_space(
        chain("i", 64, 2),
        chain("j", 24, 2),
        [
            Variable("?unroll", Metric.NUMBER, (1, 2, 4, 8, 16)),
            Variable("1.order", Metric.WORD, ("i j", "j i")),
        ],
    )
