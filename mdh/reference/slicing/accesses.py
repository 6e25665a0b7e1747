"""Relates iterations and elements: what an access touches, and which iterations touch an element.

Subscripts are over the numbers of the loops' iterations here; `touch` makes them so.
"""

from typing import assert_never

import numpy as np

from mdh.reference.slicing import boxes as sets
from mdh.reference.slicing.boxes import Boxes, Index
from mdh.reference.slicing.forms import AffineForm
from mdh.reference.slicing.model import Subscript
from mdh.reference.slicing.tables import SubscriptTable

_MOST_FOUND = 1_000_000
"""The most iterations of a table that are searched."""
_NEAR = 2.0
"""Reads that lie together are replaced by the box around them if it is at most so many times larger."""


def touch(subscript: Subscript, trips: tuple[range, ...]) -> Subscript:
    """The subscript over iteration numbers instead of the variables' values."""
    if not isinstance(subscript, AffineForm):
        return subscript
    pairs = [(subscript.at(k), values) for k, values in enumerate(trips)]
    constant = subscript.constant + sum(c * values.start for c, values in pairs)
    return AffineForm(constant, tuple(c * values.step for c, values in pairs))


def spans(subscript: AffineForm, rows: Boxes, without: int | None = None) -> tuple[Index, Index]:
    """The least and the greatest value in each row, without the term of one loop if that is given."""
    low = np.full(len(rows), subscript.constant, np.int64)
    high = low.copy()
    for k in subscript.loops:
        if k != without:
            ends = subscript.coefficients[k] * rows[:, k]
            low, high = low + ends.min(axis=1), high + ends.max(axis=1)
    return low, high


def elements_of(
    subscripts: tuple[Subscript, ...], extents: tuple[int, ...], rows: Boxes
) -> tuple[Boxes, Boxes]:
    """The rows, split where the elements that they touch are no box, and these elements."""
    used = [k for s in subscripts if s is not None for k in s.loops]
    for s in subscripts:
        if s is None:
            continue
        for k in s.loops:
            ranged = rows[:, k, 0] < rows[:, k, 1]
            if used.count(k) < 2 and isinstance(s, AffineForm):
                ranged &= ~_dense(s, k, rows)
            rows, _ = sets.split(rows, k, ranged)
    out = sets.full(len(rows), extents)
    for d, s in enumerate(subscripts):
        if s is not None:
            low, high = spans(s, rows) if isinstance(s, AffineForm) else _entries(s, rows)
            out[:, d, 0] = np.maximum(low, 0)
            out[:, d, 1] = np.minimum(high, extents[d] - 1)
    keep = sets.nonempty(out)
    return (rows, out) if keep.all() else (rows[keep], out[keep])


def _entries(table: SubscriptTable, rows: Boxes) -> tuple[Index, Index]:
    """The least and the greatest value in each row; of the whole table if a row is no single point of it."""
    own = rows[:, list(table.loops)]
    at = table.values[tuple(own[:, :, 0].T)] if table.loops else np.full(len(rows), int(table.values))
    point = (own[:, :, 0] == own[:, :, 1]).all(axis=1)
    ends = (table.values.min(), table.values.max()) if table.values.size else (0, -1)
    return np.where(point, at, ends[0]), np.where(point, at, ends[1])


def _dense(s: AffineForm, k: int, rows: Boxes) -> Index:
    """Whether the smaller terms fill the gaps between the values of term k."""
    own = abs(s.coefficients[k])
    reach = np.zeros(len(rows), np.int64)
    for j in s.loops[s.loops.index(k) + 1 :]:
        reach += abs(s.coefficients[j]) * (rows[:, j, 1] - rows[:, j, 0])
    return np.asarray(own <= reach + 1)


def near(rows: Boxes, each: list[Boxes]) -> list[tuple[Boxes, Boxes]]:
    """Merges reads of the same rows into one box if that is hardly larger."""
    stacked = np.stack(each)
    around = np.stack([stacked[..., 0].min(axis=0), stacked[..., 1].max(axis=0)], axis=-1)
    apart = sum(sets.volumes(e) for e in each)
    joined = sets.volumes(around) <= _NEAR * apart
    out = [(rows[joined], around[joined])] if joined.any() else []
    if not joined.all():
        out += [(rows[~joined], e[~joined]) for e in each]
    return out


def iterations_of(
    subscripts: tuple[Subscript, ...], trips: tuple[range, ...], wanted: Boxes, known: Boxes | None = None
) -> tuple[Boxes, Index]:
    """The iterations that touch the elements of each row of `wanted`, and the row that each comes from.

    known: intervals of the outermost loops that hold in any case, row by row.
    """
    rows = sets.full(len(wanted), tuple(len(values) for values in trips))
    if known is not None:
        rows[:, : known.shape[1]] = known
    origin: Index = np.arange(len(wanted))
    for d, s in enumerate(subscripts):
        match s:
            case None:
                pass
            case AffineForm():
                rows, origin = _solved(s, d, rows, origin, wanted)
            case SubscriptTable():
                rows, origin = _found(s, d, rows, origin, wanted)
            case _:
                assert_never(s)
    keep = sets.nonempty(rows)
    return rows[keep], origin[keep]


def _solved(s: AffineForm, d: int, rows: Boxes, origin: Index, wanted: Boxes) -> tuple[Boxes, Index]:
    """Rows restricted to low <= subscript <= high, split where loops depend on one another."""
    for _ in range(max(1, len(s.loops))):
        rows, origin = _narrowed(s, d, rows, origin, wanted)
        ranged = [rows[:, k, 0] < rows[:, k, 1] for k in s.loops]
        mixed = np.sum(ranged, axis=0) > 1 if ranged else np.zeros(len(rows), bool)
        if not mixed.any():
            break
        first = s.loops[int(np.argmax([(r & mixed).any() for r in ranged]))]
        parts, source = sets.split(rows, first, mixed)
        if len(parts) == len(rows):
            break
        rows, origin = parts, origin[source]
    else:
        rows, origin = _narrowed(s, d, rows, origin, wanted)
    return rows, origin


def _narrowed(s: AffineForm, d: int, rows: Boxes, origin: Index, wanted: Boxes) -> tuple[Boxes, Index]:
    rows = rows.copy()
    low, high = wanted[origin, d, 0], wanted[origin, d, 1]
    for k in (*s.loops, *s.loops):
        c = s.coefficients[k]
        least, greatest = spans(s, rows, without=k)
        ends = (low - greatest, high - least) if c > 0 else (least - high, greatest - low)
        size = abs(c)
        rows[:, k, 0] = np.maximum(rows[:, k, 0], -(-ends[0] // size))
        rows[:, k, 1] = np.minimum(rows[:, k, 1], ends[1] // size)
        keep = rows[:, k, 0] <= rows[:, k, 1]
        rows, origin = rows[keep], origin[keep]
        low, high = low[keep], high[keep]
    if not s.loops:
        keep = (low <= s.constant) & (s.constant <= high)
        rows, origin = rows[keep], origin[keep]
    return rows, origin


def _found(table: SubscriptTable, d: int, rows: Boxes, origin: Index, wanted: Boxes) -> tuple[Boxes, Index]:
    """Rows at the iterations where the table has a wanted value; all rows if these are too many."""
    at, values = table.order
    # of the table's own type: numpy would convert the table
    limits = np.iinfo(values.dtype)
    ends = np.clip(wanted[origin, d], limits.min, limits.max).astype(values.dtype)
    first = np.searchsorted(values, ends[:, 0], "left")
    counts = np.searchsorted(values, ends[:, 1], "right") - first
    total = int(counts.sum())
    if total > _MOST_FOUND:
        return rows, origin
    source = np.repeat(np.arange(len(rows)), counts)
    place = np.arange(total) - (np.cumsum(counts) - counts)[source] + first[source]
    rows, origin = rows[source], origin[source]
    keep = np.ones(len(rows), bool)
    for k, index in zip(table.loops, np.unravel_index(at[place], table.values.shape), strict=True):
        keep &= (rows[:, k, 0] <= index) & (index <= rows[:, k, 1])
        rows[:, k] = index[:, None]
    return rows[keep], origin[keep]
