"""Integer sets in isl's text: affine functions, and one point of a set."""

from collections.abc import Mapping, Sequence
from functools import lru_cache

import islpy as isl

from mdh.ir.affine import Affine

Point = dict[str, int]
"""A value for each variable."""
Names = Mapping[str, str]
"""Variables of a set in isl's text, by the names that they stand for."""


def affine_text(a: Affine, names: Names) -> str:
    """`a` in isl's text, over the set's own variables, which `names` gives."""
    return " + ".join([*(f"{c}*{names[n]}" for n, c in a.terms), str(a.const)])


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
