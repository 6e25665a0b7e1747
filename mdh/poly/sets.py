"""Integer sets in isl's text: affine functions, and one point of a set."""

from functools import lru_cache

import islpy as isl

from mdh.ir.affine import Affine

Point = dict[str, int]
"""A value for each variable."""


def affine_text(a: Affine, names: dict[str, str]) -> str:
    """`a` in isl's text, over the set's own variables, which `names` gives."""
    return " + ".join([*(f"{c}*{names[n]}" for n, c in a.terms), str(a.const)])


@lru_cache(maxsize=4096)
def least_point(text: str, count: int) -> tuple[int, ...] | None:
    """The lexicographically least point of a set of `count` variables; None if the set is empty."""
    found = isl.Set(text)
    if found.is_empty():
        return None
    point = found.lexmin().sample_point()
    return tuple(int(point.get_coordinate_val(isl.dim_type.set, k).to_python()) for k in range(count))
