"""Conditions that others imply, and those that never hold together."""

from collections.abc import Mapping, Sequence

import islpy as isl

from mdh.ir.clauses import Clause
from mdh.poly.sets import affine_text


def possible(clauses: Sequence[Clause | None], ranges: Mapping[str, int]) -> bool:
    """Whether all conditions may hold somewhere in the ranges of variables. None: one that is not known."""
    place = {n: f"x{k}" for k, n in enumerate(sorted(ranges))}
    terms = [f"0 <= {place[n]} < {extent}" for n, extent in ranges.items()]
    known = [f for c in clauses if c is not None for f in c if f.names <= place.keys()]
    terms += [f"{affine_text(f, place)} >= 0" for f in known]
    return not isl.Set(f"{{ [{', '.join(place.values())}] : {' and '.join(terms) or '1 = 1'} }}").is_empty()


def needed(clauses: Sequence[Clause | None], ranges: Mapping[str, int]) -> list[bool]:
    """Which of some conditions say more than the others and the ranges of variables do. The last ones are
    kept where two say the same. None: a condition that is not known, which is kept."""
    place = {n: f"x{k}" for k, n in enumerate(sorted(ranges))}
    box = [f"0 <= {place[n]} < {extent}" for n, extent in ranges.items()]
    space = ", ".join(place.values())
    out = [True] * len(clauses)
    for n, clause in enumerate(clauses):
        if clause is None or not all(f.names <= place.keys() for f in clause):
            continue
        others = [c for m, c in enumerate(clauses) if m != n and out[m] and c is not None]
        known = [f for c in others for f in c if f.names <= place.keys()]
        inside = " and ".join([*box, *(f"{affine_text(f, place)} >= 0" for f in known)]) or "1 = 1"
        out[n] = not all(
            isl.Set(f"{{ [{space}] : {inside} and {affine_text(f, place)} < 0 }}").is_empty() for f in clause
        )
    return out
