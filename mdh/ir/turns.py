"""Loops around whole stages, and around the kernels that these become: time steps, layers."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from mdh.source import Span


@dataclass(frozen=True, slots=True)
class Turns:
    """A loop around items number `first` to `last`, which run in order in each of its `trips` turns.

    name: C's variable, which is start + step * turn. var: the number of the turn in expressions, from 0 on;
    unique in the function. Loops of a sequence are nested or apart; outer ones come first. level: it stands
    for a unit or loop of the kernel that computes the stage, and is affine like one.
    """

    name: str
    var: str
    trips: int
    first: int
    last: int
    start: int = 0
    step: int = 1
    span: Span | None = field(default=None, compare=False, repr=False)
    level: bool = False


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
            yield from _walk(loops[n + 1 :], loop.first, loop.last, {**at, loop.var: turn})
        k = loop.last + 1


def times(loops: Sequence[Turns], item: int) -> int:
    """How often an item runs."""
    out = 1
    for x in loops:
        out *= x.trips if x.first <= item <= x.last else 1
    return out


def around(loops: Sequence[Turns], counts: Sequence[int]) -> tuple[Turns, ...]:
    """The loops around what the items become. counts: into how many parts each."""
    begin = [sum(counts[:k]) for k in range(len(counts) + 1)]
    return tuple(replace(x, first=begin[x.first], last=begin[x.last + 1] - 1) for x in loops)
