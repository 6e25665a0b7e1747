"""Chooses elements of a large result whose slices an interpreter can run: corners, edges and random ones."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mdh.ir.syntax import Function
from mdh.reference.slicing import boxes as sets
from mdh.reference.slicing.backward import BackwardSlices, Slice, SliceTooLargeError
from mdh.reference.slicing.boxes import Index
from mdh.reference.slicing.selection import Selection
from mdh.reference.slicing.structure import Size, UnknownStructureError, structure_of

_TRIES = 120
"""The most sets of elements whose slices are computed."""
_WORK = 4_000_000
"""The most boxes that are compared before no further elements are tried."""
_EDGE = 8
"""Elements along each edge of an array, with its ends."""


@dataclass(frozen=True, slots=True)
class SampledSlice:
    """only: what the interpreter runs. elements: the indices of the sampled elements, by output. asked: how
    many elements were wanted. executions: the most statements that run."""

    only: Selection
    elements: Mapping[str, tuple[NDArray[np.int64], ...]]
    asked: int
    executions: int

    @property
    def kept(self) -> int:
        return sum(len(at[0]) if at else 1 for at in self.elements.values())


def sampled(
    function: Function,
    scalars: Mapping[str, Size],
    shapes: Mapping[str, tuple[int, ...]],
    outputs: Sequence[str],
    arrays: Mapping[str, NDArray[Any]] = {},
    *,
    count: int = 1000,
    seed: int = 0,
    budget: int = 2_000_000,
) -> SampledSlice | None:
    """Elements of `outputs` that `budget` statements compute. None if there are none, or if the function does
    something that slices do not support.

    scalars: values of the scalar parameters. shapes: of the array parameters. arrays: their contents; with
    them slices are exact if the function takes subscripts from an array that it does not write. Elements
    whose slices are too large are replaced by others nearer to a corner of their array.
    """
    try:
        search = _Search(BackwardSlices(structure_of(function, scalars, shapes, arrays)), budget)
    except (UnknownStructureError, SliceTooLargeError):
        return None
    extents = {n: search.backward.structure.parameters[n].extents for n in outputs}
    rng = np.random.default_rng(seed)
    each = -(-count // max(1, len(outputs)))
    # outputs of equal extents share their places, and so most of their slices
    places = {e: _chosen(e, each, rng) for e in dict.fromkeys(extents.values()) if prod(e) > 0}
    wanted = {n: places[e] for n, e in extents.items() if e in places}
    search.take(wanted)
    if not search.taken:
        return None
    elements = {
        name: _indices(np.unique(np.concatenate(parts), axis=0), extents[name], shapes[name])
        for name, parts in search.taken.items()
    }
    asked = sum(len(at) for at in wanted.values())
    return SampledSlice(Selection(search.known.iterations), elements, asked, round(search.known.executions))


def _chosen(extents: tuple[int, ...], count: int, rng: np.random.Generator) -> Index:
    """Indices, a row for each element: corners, places along edges, random ones of faces and the whole."""
    sure = _edges(extents)
    if prod(extents) <= count:
        every = np.stack(np.unravel_index(rng.permutation(prod(extents)), extents), axis=-1)
        return _distinct(np.concatenate([sure, every.reshape(-1, len(extents))]))
    if len(sure) > count // 2:
        sure = rng.permutation(sure)[: count // 2]
    faces = np.stack([rng.integers(0, n, count // 4) for n in extents], axis=-1)
    axis = rng.integers(0, len(extents), len(faces))
    last = np.asarray(extents)[axis] - 1
    faces[np.arange(len(faces)), axis] = np.where(rng.random(len(faces)) < 0.5, 0, last)
    anywhere = np.stack([rng.integers(0, n, 2 * count) for n in extents], axis=-1)
    return _distinct(np.concatenate([sure, faces, anywhere]))[:count]


def _distinct(at: Index) -> Index:
    """The rows in order, without repetitions."""
    _, first = np.unique(at, axis=0, return_index=True)
    return at[np.sort(first)]


def _edges(extents: tuple[int, ...]) -> Index:
    """The corners first, then places along the edges between them."""
    ends = [(0, n - 1) for n in extents]
    found = list(product(*ends))
    for k, n in enumerate(extents):
        along = [round(x) for x in np.linspace(0, n - 1, _EDGE)]
        found += product(*(along if j == k else pair for j, pair in enumerate(ends)))
    return np.asarray(list(dict.fromkeys(found)), np.int64)


def _indices(at: Index, extents: tuple[int, ...], shape: tuple[int, ...]) -> tuple[NDArray[np.int64], ...]:
    """Indices into the array as it is given; the C text may see it as a pointer to contiguous elements."""
    if extents == shape:
        return tuple(np.ascontiguousarray(column) for column in at.T)
    return np.unravel_index(at[:, 0], shape)


class _Search:
    """Takes elements while all their slices together stay in the budget."""

    def __init__(self, backward: BackwardSlices, budget: int) -> None:
        self.backward, self.budget, self.tries = backward, budget, 0
        self.known: Slice = backward.start(budget)
        self.taken: dict[str, list[Index]] = {}

    def take(self, wanted: Mapping[str, Index]) -> None:
        """Takes all elements at once if that fits. Otherwise it takes parts, and replaces the rest by
        elements half as far from the beginning of their array, or from its end."""
        if not wanted or self._fits(wanted):
            return
        missing = self._parts(wanted)
        extents = {n: np.asarray(self.backward.structure.parameters[n].extents) for n in wanted}
        for from_end in (False, True):
            near = missing
            for _ in range(64):
                near = {n: _nearer(at, extents[n] - 1, from_end=from_end) for n, at in near.items()}
                if self._over or self._fits(near):
                    return

    @property
    def _over(self) -> bool:
        return self.backward.work > _WORK

    def _parts(self, wanted: Mapping[str, Index]) -> dict[str, Index]:
        """Takes the parts of a set that fit; returns the rest."""
        most = max(len(at) for at in wanted.values())
        if most == 1:
            return dict(wanted)
        left: dict[str, Index] = {}
        for half in (slice(None, most // 2), slice(most // 2, None)):
            part = {n: at[half] for n, at in wanted.items() if len(at[half])}
            out = (
                part if self._over or self.tries >= _TRIES else {} if self._fits(part) else self._parts(part)
            )
            for n, at in out.items():
                left[n] = np.concatenate([left[n], at]) if n in left else at
        return left

    def _fits(self, wanted: Mapping[str, Index]) -> bool:
        self.tries += 1
        boxes = {n: sets.points(tuple(at.T), len(at)) for n, at in wanted.items()}
        try:
            self.known = self.backward.extended(self.known, boxes, self.budget)
        except SliceTooLargeError:
            return False
        for n, at in wanted.items():
            self.taken.setdefault(n, []).append(at)
        return True


def _nearer(at: Index, last: Index, *, from_end: bool) -> Index:
    return np.unique(last - (last - at) // 2 if from_end else at // 2, axis=0)
