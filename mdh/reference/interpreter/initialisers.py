"""Initialisers of arrays: which element each expression goes to (C11 6.7.9)."""

from collections.abc import Iterator
from math import prod

from mdh.ir.syntax import Expression, Values


def flat_items(values: Values, extents: tuple[int, ...], base: int = 0) -> Iterator[tuple[int, Expression]]:
    """(flat index, expression) of each item; inner braces may be left out."""
    inner = extents[1:]
    size, at = prod(inner), 0
    for item in values.items:
        if not isinstance(item, Values):
            yield base + at, item
            at += 1
        elif inner:
            at = -(-at // size) * size
            yield from flat_items(item, inner, base + at)
            at += size
        else:
            yield from flat_items(item, (1,), base + at)
            at += 1


def open_extent(values: Values, inner: tuple[int, ...]) -> int:
    """The first extent of `int a[][N] = {…}`: as many as the items fill."""
    size, at = prod(inner), 0
    for item in values.items:
        at = -(-at // size) * size + size if isinstance(item, Values) else at + 1
    return -(-at // size)
