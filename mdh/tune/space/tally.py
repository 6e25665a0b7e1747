"""Counts the ways to go on from a dimension: the sum over its signatures, with what they share done once.

A signature falls into units, whose legality is a bound, and the rest (axes, names). Both have few values, so
what two of them give together is looked up.
"""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Optional

from mdh.tune.space.paths import Paths
from mdh.tune.space.signature import NEUTRAL, Signature, axis_choices, joined

Units = tuple[int, ...]
Rest = Signature
"""A signature with neutral units."""


@dataclass
class Tally:
    """One chain and all behind it. closes: the last of its stage, where axes are given out and units start
    anew. later: shared variables that chains behind this one read. following: the tally of the next chain."""

    paths: Paths
    closes: bool
    later: frozenset[int]
    following: Optional["Tally"]
    known: dict[Signature, int] = field(default_factory=dict)
    rests: dict[tuple[Rest, Rest], tuple[int, Rest] | None] = field(default_factory=dict)
    closed: dict[tuple[Rest, Units], int] = field(default_factory=dict)

    @cached_property
    def rows(self) -> dict[Units, list[tuple[Rest, int]]]:
        """The signatures of the chain by their units."""
        out: dict[Units, list[tuple[Rest, int]]] = {}
        for s, n in self.paths.table.items():
            out.setdefault(s.units, []).append((_rest(s), n))
        return out

    def completions(self, acc: Signature) -> int:
        known = self.known.get(acc)
        if known is None:
            known = self.known[acc] = self._sum(acc)
        return known

    def join(self, acc: Signature, signature: Signature) -> tuple[int, Signature] | None:
        """Ways to give out axes (1 where the stage goes on), and what the next chain finds; None: illegal."""
        units = self._units(acc.units, signature.units)
        after = None if units is None else self._join_rests(_rest(acc), _rest(signature))
        if units is None or after is None:
            return None
        return after[0], Signature(units, after[1].claims, after[1].names)

    def _sum(self, acc: Signature) -> int:
        rest, total = _rest(acc), 0
        for units, rows in self.rows.items():
            both = self._units(acc.units, units)
            if both is None:
                continue
            total += self._closed(rest, units) if self.closes else self._open(rest, both, rows)
        return total

    def _open(self, rest: Rest, units: Units, rows: list[tuple[Rest, int]]) -> int:
        total = 0
        for other, n in rows:
            after = self._join_rests(rest, other)
            if after is not None:
                total += n * self._onward(Signature(units, after[1].claims, after[1].names))
        return total

    def _closed(self, rest: Rest, units: Units) -> int:
        """The rows of some units, once these are known to be legal: they leave nothing to the next stage."""
        key = (rest, units)
        if key not in self.closed:
            total = 0
            for other, n in self.rows[units]:
                after = self._join_rests(rest, other)
                if after is not None:
                    total += n * after[0] * self._onward(after[1])
            self.closed[key] = total
        return self.closed[key]

    def _onward(self, acc: Signature) -> int:
        return 1 if self.following is None else self.following.completions(acc)

    def _units(self, a: Units, b: Units) -> Units | None:
        both = tuple(x * y for x, y in zip(a, b, strict=True))
        bounds = self.paths.chain.bounds
        legal = bounds.units_legal(both) if self.closes else bounds.units_possible(both)
        if not legal:
            return None
        return NEUTRAL.units if self.closes else both

    def _join_rests(self, a: Rest, b: Rest) -> tuple[int, Rest] | None:
        key = (a, b)
        if key not in self.rests:
            self.rests[key] = self._joined(a, b)
        return self.rests[key]

    def _joined(self, a: Rest, b: Rest) -> tuple[int, Rest] | None:
        both = joined(a, b)
        ways = 0 if both is None else axis_choices(both)
        if both is None or ways == 0:
            return None
        names = tuple(pair for pair in both.names if pair[0] in self.later)
        return (
            (ways, Signature(names=names)) if self.closes else (1, Signature(claims=both.claims, names=names))
        )


def _rest(s: Signature) -> Rest:
    return Signature(claims=s.claims, names=s.names)
