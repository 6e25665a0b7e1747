"""Integer sets in isl's text: affine functions, points of a set, and how far an access of a nest reaches."""

from collections.abc import Mapping, Sequence
from functools import lru_cache

import islpy as isl

from mdh.ir.affine import Affine
from mdh.ir.clauses import Domain

Point = dict[str, int]
"""A value for each variable."""
Names = Mapping[str, str]
"""Variables of a set in isl's text, by the names that they stand for."""
Ranges = dict[str, int]
"""Loop variable -> extent."""
Reach = tuple[int, dict[str, int]]
"""A value and the iteration that takes it."""


def affine_text(a: Affine, names: Names) -> str:
    """`a` in isl's text, over the set's own variables, which `names` gives."""
    return " + ".join([*(f"{c}*{names[n]}" for n, c in a.terms), str(a.const)])


def domain_text(domain: Domain, names: Names) -> str:
    """A domain in isl's text. Variables that `names` lacks are integers of any value."""
    free = sorted({n for c in domain for f in c for n in f.names} - names.keys())
    if free:
        others = {n: f"free{k}" for k, n in enumerate(free)}
        return f"exists {', '.join(others.values())} : {domain_text(domain, {**names, **others})}"
    clauses = (" and ".join(f"{affine_text(f, names)} >= 0" for f in c) or "1 = 1" for c in domain)
    return " or ".join(f"({c})" for c in clauses) or "1 = 0"


def before(a: Sequence[str], b: Sequence[str], *, equal: bool) -> str:
    """`a` comes before `b` in lexicographic order; if `equal`, so do equal ones."""
    cases = [
        " and ".join([*(f"{p} = {q}" for p, q in zip(a[:k], b[:k], strict=True)), f"{a[k]} < {b[k]}"])
        for k in range(len(a))
    ]
    if equal:
        cases.append(" and ".join(f"{p} = {q}" for p, q in zip(a, b, strict=True)) or "1 = 1")
    return " or ".join(f"({c})" for c in cases) or "1 = 0"


def coordinates(point: isl.Point) -> tuple[int, ...]:
    """The integers of a point of a set or of a wrapped map."""
    count = point.get_space().dim(isl.dim_type.set)
    return tuple(int(point.get_coordinate_val(isl.dim_type.set, k).to_python()) for k in range(count))


@lru_cache(maxsize=4096)
def least_point(text: str) -> tuple[int, ...] | None:
    """The lexicographically least point of a set; None if the set is empty."""
    found = isl.Set(text)
    return None if found.is_empty() else coordinates(found.lexmin().sample_point())


def least_pair(first: Names, second: Names, terms: Sequence[str]) -> tuple[Point, Point] | None:
    """Two points for which all of `terms` hold, the lexicographically least; None if there are none."""
    names = ", ".join([*first.values(), *second.values()])
    values = least_point(f"{{ [{names}] : {' and '.join(f'({t})' for t in terms)} }}")
    if values is None:
        return None
    half = len(first)
    return dict(zip(first, values[:half], strict=True)), dict(zip(second, values[half:], strict=True))


def meeting(index: tuple[Affine, ...], ranges: Ranges) -> tuple[Point, Point] | None:
    """Two different iterations in which `index` is the same element, the earlier one first; None if there are
    none. The iterations of `ranges` are in lexicographic order. What `index` has besides them is the same in
    all iterations."""
    first, second = ({n: f"{x}{k}" for k, n in enumerate(sorted(ranges))} for x in "ab")
    index = tuple(Affine(tuple(t for t in f.terms if t[0] in ranges)) for f in index)
    bounds = [f"0 <= {v[n]} < {extent}" for v in (first, second) for n, extent in ranges.items()]
    same = [f"{affine_text(f, first)} = {affine_text(f, second)}" for f in index]
    order = before([first[n] for n in ranges], [second[n] for n in ranges], equal=False)
    return least_pair(first, second, [*bounds, *same, order])


def reach(a: Affine, ranges: Ranges, clauses: Domain) -> tuple[Reach, Reach] | None:
    """The least and the greatest value of `a` over the iterations in which one of `clauses` holds.

    None if no iteration is left. Names that `ranges` lacks are integers of any value.
    """
    names = sorted(ranges)
    place = {n: f"x{k}" for k, n in enumerate(names)}
    box = [f"0 <= {place[n]} < {ranges[n]}" for n in names]
    inside = " and ".join([*box, f"v = {affine_text(a, place)}", f"({domain_text(clauses, place)})"])
    space = ", ".join(["v", *(place[n] for n in names)])
    found = isl.Set(f"{{ [{space}] : {inside} }}")
    if found.is_empty():
        return None
    (least, *first), (most, *last) = _ends(found)
    return (least, dict(zip(names, first, strict=True))), (most, dict(zip(names, last, strict=True)))


def _ends(found: isl.Set) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """A point with the least first coordinate, and one with the greatest: the first and the last if isl finds
    them. For some sets it raises an error instead."""
    try:
        return coordinates(found.lexmin().sample_point()), coordinates(found.lexmax().sample_point())
    except isl.Error:
        values = (found.dim_min_val(0), found.dim_max_val(0))
        low, high = (coordinates(found.fix_val(isl.dim_type.set, 0, v).sample_point()) for v in values)
        return low, high
