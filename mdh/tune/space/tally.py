"""Counts the ways to go on from a dimension: the sum over its signatures, with what they share done once.

A signature falls into units, whose legality is a bound, and the rest (axes, names). Both have few values:
rests are numbered, and what two of them give together is looked up.
"""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Optional

from mdh.tune.space.paths import Paths
from mdh.tune.space.signature import NEUTRAL, Signature, axis_choices, joined

Units = tuple[int, ...]


@dataclass
class Rests:
    """Signatures with neutral units, numbered."""

    numbers: dict[Signature, int] = field(default_factory=dict)
    values: list[Signature] = field(default_factory=list)

    def number(self, s: Signature) -> int:
        rest = Signature(claims=s.claims, names=s.names)
        found = self.numbers.get(rest)
        if found is None:
            found = self.numbers[rest] = len(self.values)
            self.values.append(rest)
        return found


@dataclass
class Tally:
    """One chain and all behind it. closes: the last of its stage, where axes are given out and units start
    anew. later: shared variables that chains behind this one read. following: the tally of the next chain."""

    paths: Paths
    closes: bool
    later: frozenset[int]
    following: Optional["Tally"]
    rests: Rests
    known: dict[tuple[Units, int], int] = field(default_factory=dict)
    pairs: dict[tuple[int, int], tuple[int, int] | None] = field(default_factory=dict)
    closed: dict[tuple[int, Units], int] = field(default_factory=dict)

    @cached_property
    def rows(self) -> dict[Units, list[tuple[int, int]]]:
        """The signatures of the chain by their units: rest and number of paths."""
        out: dict[Units, list[tuple[int, int]]] = {}
        for s, n in self.paths.table.items():
            out.setdefault(s.units, []).append((self.rests.number(s), n))
        return out

    def completions(self, acc: Signature) -> int:
        return self._completions(acc.units, self.rests.number(acc))

    def join(self, acc: Signature, signature: Signature) -> tuple[int, Signature] | None:
        """Ways to give out axes (1 where the stage goes on), and what the next chain finds; None: illegal."""
        units = self._units(acc.units, signature.units)
        after = self._pair(self.rests.number(acc), self.rests.number(signature))
        if units is None or after is None:
            return None
        rest = self.rests.values[after[1]]
        return after[0], Signature(units, rest.claims, rest.names)

    def _completions(self, units: Units, rest: int) -> int:
        key = (units, rest)
        known = self.known.get(key)
        if known is None:
            known = self.known[key] = self._sum(units, rest)
        return known

    def _sum(self, acc: Units, rest: int) -> int:
        total = 0
        for units, rows in self.rows.items():
            both = self._units(acc, units)
            if both is not None:
                total += self._closed(rest, units) if self.closes else self._open(rest, both, rows)
        return total

    def _open(self, rest: int, units: Units, rows: list[tuple[int, int]]) -> int:
        assert self.following is not None
        onward, pairs, total = self.following._completions, self.pairs, 0
        for other, n in rows:
            key = (rest, other)
            after = pairs[key] if key in pairs else self._pair(rest, other)
            if after is not None:
                total += n * onward(units, after[1])
        return total

    def _closed(self, rest: int, units: Units) -> int:
        """The rows of some units, once these are known to be legal: they leave nothing to the next stage."""
        key = (rest, units)
        if key not in self.closed:
            total = 0
            for other, n in self.rows[units]:
                after = self._pair(rest, other)
                if after is not None:
                    following = self.following
                    onward = 1 if following is None else following._completions(NEUTRAL.units, after[1])
                    total += n * after[0] * onward
            self.closed[key] = total
        return self.closed[key]

    def _units(self, a: Units, b: Units) -> Units | None:
        both = tuple(x * y for x, y in zip(a, b, strict=True))
        bounds = self.paths.chain.bounds
        legal = bounds.units_legal(both) if self.closes else bounds.units_possible(both)
        if not legal:
            return None
        return NEUTRAL.units if self.closes else both

    def _pair(self, a: int, b: int) -> tuple[int, int] | None:
        """Ways to give out axes, and the rest that two rests leave."""
        key = (a, b)
        if key not in self.pairs:
            both = joined(self.rests.values[a], self.rests.values[b])
            ways = 0 if both is None else axis_choices(both)
            self.pairs[key] = None if both is None or ways == 0 else self._left(both, ways)
        return self.pairs[key]

    def _left(self, both: Signature, ways: int) -> tuple[int, int]:
        names = tuple(pair for pair in both.names if pair[0] in self.later)
        claims = () if self.closes else both.claims
        return ways if self.closes else 1, self.rests.number(Signature(claims=claims, names=names))
