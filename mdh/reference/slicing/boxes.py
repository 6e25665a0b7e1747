"""Sets of iterations and of elements as boxes: an array of n rows, each with an interval for every dimension.

The shape is (n, dimensions, 2); intervals include both ends. Iterations count from 0. A box may be larger
than needed: extra iterations cost time but do no harm.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Boxes = NDArray[np.int64]
Index = NDArray[Any]
_MOST_SPLIT = 1_000_000
"""The most rows that a box is split into."""


def full(rows: int, sizes: tuple[int, ...]) -> Boxes:
    """The whole space, `rows` times."""
    out = np.zeros((rows, len(sizes), 2), np.int64)
    out[:, :, 1] = np.asarray(sizes, np.int64).reshape(1, -1) - 1
    return out


def points(at: tuple[Index, ...], rows: int) -> Boxes:
    """Elements, by their indices."""
    out = np.zeros((rows, len(at), 2), np.int64)
    for k, index in enumerate(at):
        out[:, k, :] = np.asarray(index, np.int64).reshape(-1, 1)
    return out


def volumes(boxes: Boxes) -> NDArray[np.float64]:
    lengths = (boxes[:, :, 1] - boxes[:, :, 0] + 1).astype(np.float64)
    return np.asarray(np.prod(lengths, axis=1))


def nonempty(boxes: Boxes) -> NDArray[np.bool_]:
    return np.asarray((boxes[:, :, 0] <= boxes[:, :, 1]).all(axis=1))


def split(boxes: Boxes, k: int, where: Index, most: float = _MOST_SPLIT) -> tuple[Boxes, Index]:
    """Boxes whose interval k is one point, for those of `where`, and the row that each comes from.

    If that makes more than `most`, they stay as they are.
    """
    lengths = np.where(where, boxes[:, k, 1] - boxes[:, k, 0] + 1, 1)
    own = np.arange(len(boxes))
    if int(lengths.sum()) > most or bool((lengths == 1).all()):
        return boxes, own
    origin = np.repeat(own, lengths)
    out = boxes[origin]
    first = np.cumsum(lengths) - lengths
    at = out[:, k, 0] + np.arange(len(origin)) - first[origin]
    apart = where[origin]
    out[apart, k, 0] = at[apart]
    out[apart, k, 1] = at[apart]
    return out, origin


def merged(boxes: Boxes) -> Boxes:
    """The same set in fewer boxes: boxes that differ in only one dimension and meet there are merged."""
    for k in reversed(range(boxes.shape[1])):
        boxes = joined(boxes, k)
    return boxes[:1] if boxes.shape[1] == 0 else boxes


def joined(boxes: Boxes, k: int) -> Boxes:
    """Merges boxes that differ only in dimension k and meet there; sorted, dimension k last."""
    if len(boxes) < 2:
        return boxes
    boxes = boxes[_order(boxes, k)]
    line = _lines(boxes, k)
    reach = _running(boxes[:, k, 1], line)
    new = np.ones(len(boxes), bool)
    new[1:] = (line[1:] != line[:-1]) | (boxes[1:, k, 0] > reach[:-1] + 1)
    first = np.flatnonzero(new)
    last = np.append(first[1:], len(boxes)) - 1
    out = boxes[first]
    out[:, k, 1] = reach[last]
    return out


def disjoint(boxes: Boxes) -> Boxes:
    """The same set in boxes that do not overlap; unchanged if these would be too many."""
    last = boxes.shape[1] - 1
    if len(boxes) < 2 or last < 0:
        return boxes
    lengths = boxes[:, last, 1] - boxes[:, last, 0] + 1
    if float((volumes(boxes) / lengths).sum()) > _MOST_SPLIT:
        return boxes
    for k in range(last):
        boxes, _ = split(boxes, k, np.ones(len(boxes), bool))
    return merged(joined(boxes, last))


def outside(boxes: Boxes, held: Boxes) -> Boxes:
    """The boxes that are in no box of `held` from which they differ in at most one dimension."""
    if len(held) == 0 or len(boxes) == 0:
        return boxes
    if boxes.shape[1] == 0:
        return boxes[:0]
    for k in range(boxes.shape[1]):
        both = np.concatenate([held, boxes])
        known = np.arange(len(both)) < len(held)
        order = _order(both, k, known)
        both, known = both[order], known[order]
        reach = _running(np.where(known, both[:, k, 1], -1), _lines(both, k))
        covered = ~known & (reach >= both[:, k, 1])
        left = np.zeros(len(known), bool)
        left[order] = ~covered
        boxes = boxes[left[len(held) :]]
        if len(boxes) == 0:
            break
    return boxes


def _order(boxes: Boxes, k: int, first: Index | None = None) -> Index:
    """Lines along dimension k together, by their lower ends; where they are equal, rows of `first` first."""
    keys = [boxes[:, k, 0]] if first is None else [~first, boxes[:, k, 0]]
    for j in reversed(range(boxes.shape[1])):
        if j != k:
            keys += [boxes[:, j, 1], boxes[:, j, 0]]
    return np.lexsort(keys)


def _lines(boxes: Boxes, k: int) -> Index:
    """A number for each line along dimension k, of sorted boxes."""
    others = np.delete(boxes, k, axis=1).reshape(len(boxes), -1)
    change = (others[1:] != others[:-1]).any(axis=1)
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(change)])


def _running(high: Index, line: Index) -> Index:
    """The greatest of `high` so far in each line."""
    apart = int(high.max(initial=0)) + 2
    return np.asarray(np.maximum.accumulate(high + line * apart) - line * apart)
