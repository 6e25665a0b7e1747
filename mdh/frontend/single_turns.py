"""Loops of one iteration, as if they had two.

What is a loop of the program around stages does not depend on how many turns it has: `T = 1` has the stages
of `T = 20`, and the schedules. One turn carries nothing to another one, so the search for stages is asked
about two.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from mdh.frontend.statements import Statement
from mdh.ir.statement import Held, LoopVar


def with_two(statements: Sequence[Statement]) -> list[Statement] | None:
    """The statements with two iterations of each loop that has one; None if no loop has."""
    short = {v.name: replace(v, extent=2) for s in statements for v in s.loops if v.extent == 1}
    return [_with(s, short) for s in statements] if short else None


def with_one(given: Sequence[Statement], statements: Sequence[Statement]) -> list[Statement] | None:
    """`given`, which was made of the statements `with_two`, with one iteration of these loops again. None if
    turns are not just the iterations of a loop."""
    short = {v.name: v for s in statements for v in s.loops if v.extent == 1}
    trips: dict[str, int] = {}
    for h in (h for s in given for h in s.held):
        count = 1 if h.was.name in short else h.was.extent
        if h.block > 1 or h.shift or h.turns.extent != h.was.extent:
            return None
        if trips.setdefault(h.turns.name, count) != count:
            return None
    if 1 not in trips.values():
        return None
    return [replace(_with(s, short), held=tuple(_held(h, short, trips) for h in s.held)) for s in given]


def _held(h: Held, short: Mapping[str, LoopVar], trips: Mapping[str, int]) -> Held:
    return replace(h, turns=replace(h.turns, extent=trips[h.turns.name]), was=_loop(h.was, short))


def _with(s: Statement, loops: Mapping[str, LoopVar]) -> Statement:
    uses = tuple(replace(u, loops=tuple(_loop(v, loops) for v in u.loops)) for u in s.uses)
    return replace(s, loops=tuple(_loop(v, loops) for v in s.loops), uses=uses)


def _loop(v: LoopVar, loops: Mapping[str, LoopVar]) -> LoopVar:
    return v if v.name not in loops else replace(v, extent=loops[v.name].extent)
