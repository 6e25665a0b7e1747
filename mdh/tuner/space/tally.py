"""Counts the ways to go on from a dimension: the sum over its signatures, with what they share done once.

A signature falls into units, whose legality is a bound, and the rest (axes, names, marks). Both have few
values: rests are numbered, and what two of them give together is looked up.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

from mdh.tuner.space.chain import Chain
from mdh.tuner.space.conditions import Condition
from mdh.tuner.space.paths import Paths
from mdh.tuner.space.signature import NEUTRAL, Signature, axis_choices, joined

Units = tuple[int, ...]
MOST_KEPT = 2000
"""Groups of a chain that draws come back to."""


MOST_PAIRS = 60_000
"""The most rests that are put together where conditions are counted; that takes about a second."""


class TooManyError(Exception):
    """Conditions have too many combinations of values to be counted."""


@dataclass
class Rests:
    """Signatures with neutral units, numbered. most: of their pairs; None: any number."""

    most: int | None = None

    numbers: dict[Signature, int] = field(default_factory=dict)
    values: list[Signature] = field(default_factory=list)
    pairs: dict[tuple[int, int], tuple[int, int]] = field(default_factory=dict)

    def number(self, s: Signature) -> int:
        rest = s._replace(units=NEUTRAL.units)
        found = self.numbers.get(rest)
        if found is None:
            found = self.numbers[rest] = len(self.values)
            self.values.append(rest)
        return found

    def pair(self, a: int, b: int) -> tuple[int, int]:
        """Ways to give out axes, 0 where the two do not go together, and the number of both."""
        found = self.pairs.get((a, b))
        if found is None:
            if self.most is not None and len(self.pairs) >= self.most:
                raise TooManyError
            both = joined(self.values[a], self.values[b])
            ways = 0 if both is None else axis_choices(both.claims)
            found = self.pairs[a, b] = (ways, self.number(both) if both is not None and ways else 0)
        return found


class Onward(Protocol):
    """All that follows a chain."""

    def count(self, units: Units, rest: int, /) -> int:
        """In how many ways it completes what the chains before have claimed."""
        ...


@dataclass
class Fork:
    """The frames of the next stage: each is a way to go on. strands: the chains of each."""

    strands: Sequence["Strand"]
    known: dict[int, int] = field(default_factory=dict)

    def count(self, units: Units, rest: int) -> int:
        if rest not in self.known:
            self.known[rest] = sum(strand[0].count(units, rest) for strand in self.strands)
        return self.known[rest]


@dataclass
class Tally:
    """One chain and all behind it. paths: of its shape. following: what comes next; None behind the last
    chain.

    closes: the last of its stage, where axes are given out, units start anew, and `due` marks must be there.
    later: shared variables that chains behind this one read. conditions: those whose last variable is one of
    this chain.
    """

    chain: Chain
    paths: Paths
    closes: bool
    due: int
    later: frozenset[int]
    following: Onward | None
    rests: Rests
    conditions: tuple[Condition, ...] = ()
    known: dict[tuple[Units, int], int] = field(default_factory=dict)
    meetings: dict[Units, list[tuple[Units, Units]]] = field(default_factory=dict)
    steps: dict[tuple[int, Units], list[tuple[int, int]]] = field(default_factory=dict)
    closed: dict[tuple[int, Units], int] = field(default_factory=dict)
    left: dict[int, int] = field(default_factory=dict)
    kept: dict[tuple[Units, int], list[tuple[Units, int]]] = field(default_factory=dict)

    @cached_property
    def alike(self) -> dict[Units, list[Signature]]:
        """The signatures of the chain by their units."""
        out: dict[Units, list[Signature]] = {}
        for s in self.paths.table:
            out.setdefault(s.units, []).append(s)
        return out

    @cached_property
    def rows(self) -> dict[Units, list[tuple[int, int]]]:
        """The same as rest and number of paths."""
        number, table = self.rests.number, self.paths.table
        return {units: [(number(s), table[s]) for s in alike] for units, alike in self.alike.items()}

    def completions(self, acc: Signature) -> int:
        """In how many ways this chain and all behind it complete `acc`."""
        return self.count(acc.units, self.rests.number(acc))

    def onward(self, acc: Signature) -> int:
        """In how many ways all behind this chain completes `acc`."""
        return 1 if self.following is None else self.following.count(acc.units, self.rests.number(acc))

    def leads_on(self, acc: Signature, signature: Signature) -> bool:
        after = self.join(acc, signature)
        return after is not None and self.onward(after[1]) > 0

    def place(self, acc: Signature, rank: int) -> tuple[Signature, int]:
        """The signature in which a rank among the ways to go on from `acc` lies, and the rank among those
        with this signature."""
        for units, ways in self.groups(acc):
            if rank >= ways:
                rank -= ways
                continue
            for signature in self.alike[units]:
                own = self._ways(acc, signature)
                if rank < own:
                    return signature, rank
                rank -= own
        raise IndexError("a rank beyond the ways to go on")

    def before(self, acc: Signature, signature: Signature) -> int:
        """The ways to go on from `acc` that `place` finds before those with this signature."""
        skipped = 0
        for units, ways in self.groups(acc):
            if units == signature.units:
                break
            skipped += ways
        alike = self.alike[signature.units]
        return skipped + sum(self._ways(acc, s) for s in alike[: alike.index(signature)])

    def _ways(self, acc: Signature, signature: Signature) -> int:
        after = self.join(acc, signature)
        return 0 if after is None else self.paths.table[signature] * after[0] * self.onward(after[1])

    def join(self, acc: Signature, signature: Signature) -> tuple[int, Signature] | None:
        """Ways to give out axes (1 where the stage goes on), and what the next chain finds; None: illegal."""
        units = self._units(acc.units, signature.units)
        ways, both = self.rests.pair(self.rests.number(acc), self.rests.number(signature))
        after = self._after(both) if ways else -1
        if units is None or after < 0:
            return None
        ways = ways if self.closes else 1
        return ways, self.rests.values[after]._replace(units=NEUTRAL.units if self.closes else units)

    def count(self, units: Units, rest: int) -> int:
        key = (units, rest)
        known = self.known.get(key)
        if known is None:
            known = self.known[key] = sum(ways for _, ways in self._groups(units, rest))
        return known

    def groups(self, acc: Signature) -> list[tuple[Units, int]]:
        """The units of this chain that go with what the chains before have claimed, and the ways of each."""
        key = (acc.units, self.rests.number(acc))
        found = self.kept.get(key)
        if found is None:
            if len(self.kept) >= MOST_KEPT:
                self.kept.clear()
            found = self.kept[key] = self._groups(*key)
        return found

    def _groups(self, acc: Units, rest: int) -> list[tuple[Units, int]]:
        if acc not in self.meetings:
            met = ((units, self._units(acc, units)) for units in self.rows)
            self.meetings[acc] = [(units, both) for units, both in met if both is not None]
        if self.closes:
            return [(units, self._closed(rest, units)) for units, _ in self.meetings[acc]]
        assert self.following is not None
        onward = self.following.count
        return [
            (units, sum([n * onward(both, after) for n, after in self._steps(rest, units)]))
            for units, both in self.meetings[acc]
        ]

    @property
    def work(self) -> int:
        """How many sums there were to do."""
        met = sum(len(self.meetings[units]) for units, _ in self.known)
        return met + sum(len(self.rows[units]) for _, units in self.steps)

    def _steps(self, rest: int, units: Units) -> list[tuple[int, int]]:
        """How many paths with these units lead to which rest."""
        key = (rest, units)
        found = self.steps.get(key)
        if found is None:
            sums: dict[int, int] = {}
            for other, n in self.rows[units]:
                ways, number = self.rests.pair(rest, other)
                after = self._after(number) if ways else -1
                if after >= 0:
                    sums[after] = sums.get(after, 0) + n * (ways if self.closes else 1)
            found = self.steps[key] = [(n, after) for after, n in sums.items()]
        return found

    def _closed(self, rest: int, units: Units) -> int:
        """The rows of some units, once these are known to be legal: they leave nothing to the next stage."""
        key = (rest, units)
        found = self.closed.get(key)
        if found is None:
            onward, found = self.following, 0
            for n, after in self._steps(rest, units):
                found += n * (1 if onward is None else onward.count(NEUTRAL.units, after))
            self.closed[key] = found
        return found

    def _units(self, a: Units, b: Units) -> Units | None:
        both = tuple(x * y for x, y in zip(a, b, strict=True))
        bounds = self.chain.bounds
        legal = bounds.units_legal(both) if self.closes else bounds.units_possible(both)
        return both if legal else None

    def _after(self, both: int) -> int:
        """The rest behind the chain; -1 where the frame is owed more, or a condition does not hold."""
        found = self.left.get(both)
        if found is None:
            found = self.left[both] = self._left(self.rests.values[both])
        return found

    def _left(self, both: Signature) -> int:
        if self.closes and both.marks != self.due:
            return -1
        values = dict(both.names)
        if not all(condition.holds(values) for condition in self.conditions):
            return -1
        names = tuple(pair for pair in both.names if pair[0] in self.later)
        if self.closes:
            return self.rests.number(Signature(names=names))
        return self.rests.number(both._replace(names=names))


Strand = tuple[Tally, ...]
"""The chains of one stage inside of one frame."""
