"""Statements of a nest that must stay in one loop, and those that may have loops of their own.

Statements that depend on one another in a circle stay together. A loop around several such parts is
distributed over them, in an order that keeps all other dependences.

Source: Allen and Kennedy, "Automatic translation of FORTRAN programs to vector form", TOPLAS 9(4), 1987.
"""

from collections.abc import Sequence
from heapq import heapify, heappop, heappush

from mdh.frontend.dependences import MOST_SORTED, turns_of, written
from mdh.frontend.statements import Statement, conflict
from mdh.ir.statement import Phase, PlacedStatement, Placement
from mdh.poly.legality import broken_dependences


def parts_of(statements: Sequence[Statement]) -> list[list[Statement]]:
    """The parts in an order that keeps the dependences inside of a turn of loops of the program; near the
    order of the text. Many statements are one part, since each pair of them would be asked."""
    count = len(statements)
    if not 1 < count <= MOST_SORTED:
        return [list(statements)]
    first, then = ([placed_alone(n, s, stage) for n, s in enumerate(statements)] for stage in (1, 0))
    later = [
        {
            m
            for m in range(count)
            if m != n
            and conflict(statements[n], statements[m])
            and next(broken_dependences(first[n : n + 1], then[m : m + 1]), None) is not None
        }
        for n in range(count)
    ]
    reached = [_reached(n, later) for n in range(count)]
    circles = {n: frozenset({n, *(m for m in reached[n] if n in reached[m])}) for n in range(count)}
    return [[statements[n] for n in sorted(c)] for c in _in_order(set(circles.values()), later)]


def placed_alone(number: int, s: Statement, stage: int) -> PlacedStatement:
    """The statement, placed as the only one of stage number `stage`."""
    placement = Placement(stage, 0, Phase.UPDATE, (), (), turns=turns_of(s))
    return PlacedStatement(number, written(s).accesses, placement)


def _reached(n: int, later: Sequence[set[int]]) -> set[int]:
    out: set[int] = set()
    open_ = [n]
    while open_:
        for m in later[open_.pop()] - out:
            out.add(m)
            open_.append(m)
    return out


def _in_order(circles: set[frozenset[int]], later: Sequence[set[int]]) -> list[frozenset[int]]:
    """Each circle behind those that it depends on; the first one in the text where several may follow."""
    of = {n: c for c in circles for n in c}
    behind = {c: {of[m] for n in c for m in later[n]} - {c} for c in circles}
    waits = {c: sum(c in b for b in behind.values()) for c in circles}
    ready = [(min(c), c) for c in circles if not waits[c]]
    heapify(ready)
    out = []
    while ready:
        _, c = heappop(ready)
        out.append(c)
        for d in behind[c]:
            waits[d] -= 1
            if not waits[d]:
                heappush(ready, (min(d), d))
    return out
