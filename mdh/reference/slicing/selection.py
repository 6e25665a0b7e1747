"""The values of loop variables that a slice runs; the interpreter asks for them at every loop."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import inf

import numpy as np

from mdh.ir.syntax import ForStatement
from mdh.reference.slicing import boxes as sets
from mdh.reference.slicing.boxes import Boxes, Index
from mdh.reference.slicing.model import LoopBody

Key = tuple[int, ...]


@dataclass(slots=True)
class _Chosen:
    """The iterations of one loop, by the values of the outer loops that they depend on."""

    kept: tuple[int, ...]
    table: dict[Key, Sequence[int]]


@dataclass(slots=True)
class Selection:
    """iterations: of each loop's body, as boxes. A loop that is not named runs no iteration."""

    iterations: dict[LoopBody, Boxes]
    _bodies: dict[int, LoopBody] = field(init=False)
    _chosen: dict[int, _Chosen] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        # two loops with the same text compare equal, so identity tells them apart
        self._bodies = {id(body.loop): body for body in self.iterations if body.loop is not None}

    def values(self, loop: ForStatement, outer: tuple[int, ...]) -> Sequence[int] | None:
        """The values of the loop's variable to run, in the loop's order; None for all. outer: the values of
        the variables of the loops around it."""
        chosen = self._chosen.get(id(loop))
        if chosen is None:
            if id(loop) not in self._bodies:
                return ()
            body = self._bodies[id(loop)]
            around = self.iterations[body.outer[-1]]
            chosen = self._chosen[id(loop)] = _chosen(body, self.iterations[body], around)
        return chosen.table.get(tuple([outer[k] for k in chosen.kept]), ())

    def exact(self, loop: ForStatement) -> bool:
        """Whether the loop has all values that `values` returns."""
        body = self._bodies.get(id(loop))
        return body is None or body.exact


def _chosen(body: LoopBody, rows: Boxes, around: Boxes) -> _Chosen:
    """around: the iterations of the body that the loop stands in."""
    last = body.depth - 1
    kept = tuple(k for k in range(last) if not _always(rows[:, k], around[:, k]))
    rows = rows[:, [*kept, last]]
    for k in range(len(kept)):
        rows, _ = sets.split(rows, k, np.ones(len(rows), bool), inf)
    rows = sets.joined(rows, len(kept))
    trips = [body.trips[k] for k in kept]
    keys = rows[:, :-1, 0]
    first = np.flatnonzero(_changes(keys))
    if len(first) == len(rows):
        runs: list[Sequence[int]] = [
            body.trips[last][low : high + 1] for low, high in zip(*rows[:, -1].T.tolist(), strict=True)
        ]
    else:
        rows, _ = sets.split(rows, len(kept), np.ones(len(rows), bool), inf)
        values = body.trips[last].start + body.trips[last].step * rows[:, -1, 0]
        # where the rows of each key begin, now that they are points
        starts = np.flatnonzero(_changes(rows[:, :-1, 0]))
        runs = [part.tolist() for part in np.split(values, starts[1:])]
    columns = [(np.asarray(t.start) + t.step * keys[first, j]).tolist() for j, t in enumerate(trips)]
    return _Chosen(kept, dict(zip(zip(*columns, strict=True) if kept else [()], runs, strict=True)))


def _always(own: Index, around: Index) -> bool:
    """Whether all rows have the same interval in a dimension, and all iterations around lie in it."""
    low, high = own[0]
    same = bool((own == own[0]).all())
    return same and bool((around[:, 0] >= low).all() and (around[:, 1] <= high).all())


def _changes(keys: Index) -> Index:
    """True at the first row of each key; rows of a key are adjacent."""
    new = np.ones(len(keys), bool)
    new[1:] = (keys[1:] != keys[:-1]).any(axis=1)
    return new
