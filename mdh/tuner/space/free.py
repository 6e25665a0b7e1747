"""Variables that no tile depends on: single ones, and the entries of a layout, which form a permutation."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from mdh.results.trial import Value


@dataclass(frozen=True, slots=True)
class VariableGroup:
    """Variables that are chosen together, and the rows of values that they may have."""

    variables: tuple[int, ...]
    rows: tuple[tuple[Value, ...], ...]

    @property
    def count(self) -> int:
        return len(self.rows)

    @property
    def columns(self) -> tuple[tuple[Value, ...], ...]:
        """For each variable, the values that it has in some row."""
        return tuple(tuple(dict.fromkeys(column)) for column in zip(*self.rows, strict=True))

    def unrank(self, rank: int) -> tuple[Value, ...]:
        return self.rows[rank]

    def rank(self, row: tuple[Value | None, ...]) -> int | None:
        return self.rows.index(row) if row in self.rows else None

    def nearest(self, wish: Mapping[int, Value]) -> tuple[Value, ...]:
        """The row with the fewest values that differ from the wished ones. Numbers count by distance."""
        return min(self.rows, key=lambda row: self._distance(row, wish))

    def _distance(self, row: tuple[Value, ...], wish: Mapping[int, Value]) -> float:
        far = 0.0
        for variable, value in zip(self.variables, row, strict=True):
            wanted = wish.get(variable, value)
            if wanted == value:
                continue
            numbers = isinstance(wanted, int) and isinstance(value, int)
            far += abs(wanted - value) if numbers else 1.0  # type: ignore[operator]
        return far


@dataclass(frozen=True, slots=True)
class Given:
    dim: int


Layout = tuple[int | Given, ...]
"""A layout with some entries open: for each slot a variable, or the given dimension."""


def layout_groups(
    layouts: Sequence[Layout], domains: Mapping[int, tuple[Value, ...]]
) -> tuple[VariableGroup, ...]:
    """Groups of layouts: those that share a variable are chosen together."""
    groups: list[tuple[set[int], list[Layout]]] = []
    for layout in layouts:
        mine = {s for s in layout if isinstance(s, int)}
        meeting = [g for g in groups if g[0] & mine]
        groups = [g for g in groups if not g[0] & mine]
        groups.append((mine.union(*(g[0] for g in meeting)), [*(x for g in meeting for x in g[1]), layout]))
    return tuple(_group(sorted(variables), members, domains) for variables, members in groups)


def _group(
    variables: list[int], layouts: list[Layout], domains: Mapping[int, tuple[Value, ...]]
) -> VariableGroup:
    rows = []
    for values in product(*(domains[v] for v in variables)):
        chosen = dict(zip(variables, values, strict=True))
        if all(_is_permutation(layout, chosen) for layout in layouts):
            rows.append(values)
    return VariableGroup(tuple(variables), tuple(rows))


def _is_permutation(layout: Layout, chosen: Mapping[int, Value]) -> bool:
    dims = [s.dim if isinstance(s, Given) else chosen[s] for s in layout]
    return len(set(dims)) == len(dims)
