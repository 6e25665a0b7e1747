"""How many values the dimensions of a stage take in a turn of the loops around it."""

from collections.abc import Mapping
from functools import lru_cache

import islpy as isl

from mdh.ir.affine import Affine
from mdh.ir.domain import domain_of
from mdh.ir.program import Stage
from mdh.poly.sets import affine_text

Ranges = tuple[tuple[str, int], ...]
"""Variables and how many values they have."""


def widths(stage: Stage, turns: Mapping[str, int]) -> tuple[int, ...]:
    """The most values from the first to the last one, of each dimension: of `for (i = k + 1; i < k + 9; i++)`
    in turns of k, 8. turns: how many there are, by variable."""
    extents = tuple(d.extent for d in stage.dims)
    domain = domain_of(stage, turns) if turns else None
    if domain is None:
        return extents
    dims = tuple((d.name, d.extent) for d in stage.dims)
    return tuple(_width(k, dims, tuple(turns.items()), domain.points) for k in range(len(dims)))


@lru_cache(maxsize=256)
def _width(k: int, dims: Ranges, turns: Ranges, points: frozenset[Affine]) -> int:
    """The greatest distance, and 1, between values of dimension k at two points of one turn."""
    same = {n: f"t{m}" for m, (n, _) in enumerate(turns)}
    one, other = ({**{n: f"{x}{m}" for m, (n, _) in enumerate(dims)}, **same} for x in "ab")
    terms = [f"0 <= {v[n]} < {extent}" for v in (one, other) for n, extent in (*dims, *turns)]
    terms += [f"{affine_text(f, v)} >= 0" for v in (one, other) for f in sorted(points, key=str)]
    hidden = ", ".join(dict.fromkeys((*one.values(), *other.values())))
    name, extent = dims[k]
    whole = " and ".join([*terms, f"w = {other[name]} - {one[name]} + 1"])
    found = isl.Set(f"{{ [w] : exists {hidden} : {whole} }}")
    return 1 if found.is_empty() else min(extent, int(found.dim_max_val(0).to_python()))
