"""Loops around whole stages, and around the kernels that these become: time steps, layers."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from math import prod

from mdh.hardware import Launching
from mdh.ir.affine import Affine
from mdh.ir.names import fresh
from mdh.source import Span

MOST_COUNTED = 20_000
"""Turns that are counted one by one."""


@dataclass(frozen=True, slots=True)
class Turns:
    """A loop around items number `first` to `last`, which run in order in each of its `trips` turns.

    name: C's variable, which is start + step * turn. var: the number of the turn in expressions, from 0 on;
    unique in the function. where: functions of `var` and of variables of loops around; turns in which one is
    negative are left out. Loops of a sequence are nested or apart; outer ones come first. level: it stands
    for a unit or loop of the kernel that computes the stage, and is affine like one. launch: how the kernels
    inside are launched, where the schedule says so.
    """

    name: str
    var: str
    trips: int
    first: int
    last: int
    start: int = 0
    step: int = 1
    span: Span | None = field(default=None, compare=False, repr=False)
    where: tuple[Affine, ...] = ()
    level: bool = False
    launch: Launching | None = None

    def runs(self, at: "Counters") -> bool:
        """Whether the turn of these numbers is not left out."""
        return all(f.evaluate(at) >= 0 for f in self.where)


Counters = Mapping[str, int]
"""Variable of a loop -> number of its turn."""


def run_order(loops: Sequence[Turns], count: int) -> Iterator[tuple[int, Counters]]:
    """Numbers of items in the order in which they run, with the counters of the loops around them."""
    yield from _walk(loops, 0, count - 1, {})


def _walk(loops: Sequence[Turns], first: int, last: int, at: Counters) -> Iterator[tuple[int, Counters]]:
    k = first
    while k <= last:
        n = next((n for n, x in enumerate(loops) if x.first == k), None)
        if n is None:
            yield k, at
            k += 1
            continue
        loop = loops[n]
        for turn in range(loop.trips):
            now = {**at, loop.var: turn}
            if loop.runs(now):
                yield from _walk(loops[n + 1 :], loop.first, loop.last, now)
        k = loop.last + 1


def times(loops: Sequence[Turns], item: int) -> int:
    """How often an item runs."""
    return _times(tuple(x for x in loops if x.first <= item <= x.last))


@lru_cache(maxsize=256)
def _times(loops: tuple[Turns, ...]) -> int:
    most = prod(x.trips for x in loops)
    if most > MOST_COUNTED or not any(x.where for x in loops):
        # conditions mostly leave out one half
        return most >> sum(bool(x.where) for x in loops)
    at: list[Counters] = [{}]
    for x in loops:
        at = [now for c in at for n in range(x.trips) if x.runs(now := {**c, x.var: n})]
    return len(at)


def around(loops: Sequence[Turns], counts: Sequence[int]) -> tuple[Turns, ...]:
    """The loops around what the items become. counts: into how many parts each."""
    begin = [sum(counts[:k]) for k in range(len(counts) + 1)]
    return tuple(replace(x, first=begin[x.first], last=begin[x.last + 1] - 1) for x in loops)


def named_loops(loops: Sequence[Turns], taken: Iterable[str] = ()) -> dict[str, Turns]:
    """The loops by the names that schedules give them: C's counter, or that with a number where another loop
    before it has the name. taken: names that mean other loops."""
    names, out = set(taken), dict[str, Turns]()
    for x in loops:
        if not x.level:
            out[fresh(x.name if x.name.isidentifier() else x.var, names)] = x
    return out
