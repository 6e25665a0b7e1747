"""Finds by isl whether iterations of a nest touch the same element, and how far an access reaches."""

import islpy as isl

from mdh.ir.affine import Affine
from mdh.poly.sets import Point, affine_text, before, coordinates, least_pair

Ranges = dict[str, int]
"""Loop variable -> extent."""
Clause = tuple[Affine, ...]
"""Affine functions that are all >= 0."""
Reach = tuple[int, dict[str, int]]
"""A value and the iteration that takes it."""


def meeting(index: tuple[Affine, ...], ranges: Ranges) -> tuple[Point, Point] | None:
    """Two different iterations in which `index` is the same element, the earlier one first; None if there are
    none. The iterations of `ranges` are in lexicographic order."""
    first, second = ({n: f"{x}{k}" for k, n in enumerate(sorted(ranges))} for x in "ab")
    bounds = [f"0 <= {v[n]} < {extent}" for v in (first, second) for n, extent in ranges.items()]
    same = [f"{affine_text(f, first)} = {affine_text(f, second)}" for f in index]
    order = before([first[n] for n in ranges], [second[n] for n in ranges], equal=False)
    return least_pair(first, second, [*bounds, *same, order])


def reach(a: Affine, ranges: Ranges, clauses: tuple[Clause, ...]) -> tuple[Reach, Reach] | None:
    """The least and the greatest value of `a` over the iterations in which one of `clauses` holds.

    None if no iteration is left. Names that `ranges` lacks are integers of any value.
    """
    names = sorted(ranges)
    others = sorted({n for c in clauses for x in c for n in x.names} - set(names))
    place = {n: f"x{k}" for k, n in enumerate([*names, *others])}
    box = [f"0 <= {place[n]} < {ranges[n]}" for n in names]
    held = " or ".join(
        "(" + (" and ".join(f"{affine_text(x, place)} >= 0" for x in c) or "1 = 1") + ")" for c in clauses
    )
    inside = " and ".join([*box, f"v = {affine_text(a, place)}", f"({held or '1 = 0'})"])
    extra = f"exists {', '.join(place[n] for n in others)} : " if others else ""
    space = ", ".join(["v", *(place[n] for n in names)])
    found = isl.Set(f"{{ [{space}] : {extra}{inside} }}")
    if found.is_empty():
        return None
    (least, *first), (most, *last) = (coordinates(s.sample_point()) for s in (found.lexmin(), found.lexmax()))
    return (least, dict(zip(names, first, strict=True))), (most, dict(zip(names, last, strict=True)))
