"""Computes everything that the values of elements depend on: the closure over reads and over the writes of
what is read."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import prod

import numpy as np

from mdh.reference.slicing import boxes as sets
from mdh.reference.slicing.accesses import elements_of, iterations_of, near, touch
from mdh.reference.slicing.boxes import Boxes, Index
from mdh.reference.slicing.model import DeclaredVariable, ElementAccess, LoopBody, Structure, Subscript


class SliceTooLargeError(Exception):
    """The slice exceeds its limit."""


@dataclass(frozen=True, slots=True)
class _Reading:
    """Reads of one variable in one body that see writes of the same iterations."""

    variable: DeclaredVariable
    order: int
    fresh: int
    touches: tuple[tuple[Subscript, ...], ...]


@dataclass(frozen=True, slots=True)
class _Writing:
    access: ElementAccess
    touches: tuple[Subscript, ...]


@dataclass(slots=True)
class Slice:
    """The iterations of each body that are known to be needed. Bodies that are not named need none."""

    iterations: dict[LoopBody, Boxes] = field(default_factory=dict)

    def copy(self) -> "Slice":
        return Slice(dict(self.iterations))

    @property
    def executions(self) -> float:
        """The most statements that run."""
        return sum(
            min(float(sets.volumes(rows).sum()), prod(map(len, body.trips))) * max(1, body.statements)
            for body, rows in self.iterations.items()
        )


class BackwardSlices:
    """Slices of one function. work: the number of boxes that have been compared so far."""

    def __init__(self, structure: Structure) -> None:
        self.structure, self.work = structure, 0
        self.writes = {
            variable: [_Writing(w, _touches(w)) for w in accesses]
            for variable, accesses in structure.writes.items()
            if accesses
        }
        self.readings = {body: self._readings(body) for body in structure.bodies}

    def _readings(self, body: LoopBody) -> list[_Reading]:
        groups: dict[tuple[DeclaredVariable, int], list[ElementAccess]] = {}
        for r in body.reads:
            if r.variable in self.writes:
                groups.setdefault((r.variable, r.fresh), []).append(r)
        return [
            _Reading(v, max(r.order for r in rs), fresh, tuple(dict.fromkeys(_touches(r) for r in rs)))
            for (v, fresh), rs in groups.items()
        ]

    def start(self, most: float) -> Slice:
        """What runs in any case: the statements outside of loops, and what they need. Raises TooManyError."""
        out = Slice()
        function = self.structure.bodies[0]
        self._close(out, {function: [np.zeros((1, 0, 2), np.int64)]}, most)
        return out

    def extended(self, known: Slice, elements: Mapping[str, Boxes], most: float) -> Slice:
        """`known` with everything that the final values of `elements` depend on. Raises TooManyError."""
        out = known.copy()
        pending: dict[LoopBody, list[Boxes]] = {}
        for name, wanted in elements.items():
            for w in self.writes.get(self.structure.parameters[name], ()):
                rows = iterations_of(w.touches, w.access.body.trips, wanted)[0]
                _put(pending, w.access.body, rows)
        self._close(out, pending, most)
        return out

    def _close(self, out: Slice, pending: dict[LoopBody, list[Boxes]], most: float) -> None:
        while pending:
            # inner bodies first, so that their needs of outer ones are collected
            body = max(pending, key=lambda b: b.depth)
            held = out.iterations.get(body)
            self.work += sum(map(len, pending[body])) + (0 if held is None else len(held))
            rows = sets.merged(np.concatenate(pending.pop(body)))
            if held is not None:
                rows = sets.outside(rows, held)
            if len(rows) == 0:
                continue
            out.iterations[body] = rows if held is None else sets.merged(np.concatenate([held, rows]))
            if out.executions > most:
                self._compact(out)
            if out.executions > most:
                raise SliceTooLargeError
            if body.outer:
                _put(pending, body.outer[-1], rows[:, : body.depth - 1])
            for reading in self.readings[body]:
                self._follow(reading, body, rows, pending)

    def _compact(self, out: Slice) -> None:
        """Merges boxes, because overlapping ones count more than once; time loops leave cones of them."""
        for body, rows in out.iterations.items():
            out.iterations[body] = sets.disjoint(rows)
            self.work += len(rows)

    def _follow(
        self, reading: _Reading, body: LoopBody, rows: Boxes, pending: dict[LoopBody, list[Boxes]]
    ) -> None:
        for pair in _wanted(reading, rows):
            readers, wanted = _together(*pair, reading.fresh)
            for w in self.writes[reading.variable]:
                _put(pending, w.access.body, _written_before(reading, body, readers, wanted, w))


def _touches(access: ElementAccess) -> tuple[Subscript, ...]:
    return tuple(touch(s, access.body.trips) for s in access.subscripts)


def _put(pending: dict[LoopBody, list[Boxes]], body: LoopBody, rows: Boxes) -> None:
    if len(rows):
        pending.setdefault(body, []).append(rows)


def _wanted(reading: _Reading, rows: Boxes) -> list[tuple[Boxes, Boxes]]:
    """Pairs of readers and the elements that they read, row by row."""
    each = [elements_of(touches, reading.variable.extents, rows) for touches in reading.touches]
    if len(each) == 1:
        return each
    if any(len(readers) != len(rows) for readers, _ in each):
        return each
    return near(rows, [wanted for _, wanted in each])


def _together(readers: Boxes, wanted: Boxes, fresh: int) -> tuple[Boxes, Boxes]:
    """Merges readers of the same elements into one box; the last of them decides what they see."""
    if len(readers) < 2:
        return readers, wanted
    keys = np.concatenate([readers[:, :fresh], wanted], axis=1).reshape(len(readers), -1)
    order = np.lexsort(keys.T) if keys.shape[1] else np.arange(len(keys))
    keys, readers, wanted = keys[order], readers[order], wanted[order]
    first = np.flatnonzero(np.append(True, (keys[1:] != keys[:-1]).any(axis=1)))
    out = readers[first]
    out[:, :, 0] = np.minimum.reduceat(readers[:, :, 0], first)
    out[:, :, 1] = np.maximum.reduceat(readers[:, :, 1], first)
    return out, wanted[first]


def _written_before(
    reading: _Reading, body: LoopBody, readers: Boxes, wanted: Boxes, writing: _Writing
) -> Boxes:
    """Iterations of the writer that may have written the elements when each reader runs."""
    own = writing.access.body
    shared = _shared(body, own)
    if shared < reading.fresh:
        return np.zeros((0, own.depth, 2), np.int64)
    # where each iteration begins anew, only writes of the same one are seen
    known = readers[:, : reading.fresh]
    rows, origin = iterations_of(writing.touches, own.trips, wanted, known)
    return _earlier(rows, readers[origin], reading.fresh, shared, before=writing.access.order < reading.order)


def _shared(a: LoopBody, b: LoopBody) -> int:
    """The number of loops around both."""
    n = 0
    for x, y in zip(a.chain[1:], b.chain[1:], strict=False):
        if x is not y:
            break
        n += 1
    return n


def _earlier(rows: Boxes, readers: Boxes, fresh: int, shared: int, *, before: bool) -> Boxes:
    """The rows restricted to what runs before the reader's latest iteration, in the order of the shared
    loops. before: the writer stands before the reader in the text."""
    rows = rows.copy()
    # the rows whose loops so far are certain to be in the reader's iteration
    same: Index = np.ones(len(rows), bool)
    for k in range(fresh, shared):
        limit = readers[:, k, 1] - (0 if before or k + 1 < shared else 1)
        rows[:, k, 1] = np.where(same, np.minimum(rows[:, k, 1], limit), rows[:, k, 1])
        same &= (rows[:, k, 0] == rows[:, k, 1]) & (readers[:, k, 0] == readers[:, k, 1])
        same &= rows[:, k, 0] == readers[:, k, 0]
    keep = sets.nonempty(rows)
    if fresh == shared and not before:
        keep &= ~same
    return rows[keep]
