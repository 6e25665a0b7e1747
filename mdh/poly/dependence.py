"""Finds by isl whether two accesses of a nest touch the same element, and how far an access reaches."""

import islpy as isl

from mdh.ir.affine import Affine

Ranges = dict[str, int]
"""Loop variable -> extent."""
Clause = tuple[Affine, ...]
"""Affine functions that are all >= 0."""
Reach = tuple[int, dict[str, int]]
"""A value and the iteration that takes it."""


def _sum(a: Affine, mark: str) -> str:
    terms = [f"{c}*{n}{mark}" for n, c in a.terms]
    return " + ".join([*terms, str(a.const)])


def meeting(
    first: tuple[Affine, ...],
    second: tuple[Affine, ...],
    ranges: Ranges,
    order: tuple[str, ...],
    *,
    later: bool = True,
) -> tuple[dict[str, int], dict[str, int]] | None:
    """Two iterations p, q with first(p) = second(q); None if there are none.

    q comes after p in the lexicographic order of `order`, or is merely different if `later` is False.
    """
    names = sorted(ranges)
    p = ", ".join(f"{n}_p" for n in names)
    q = ", ".join(f"{n}_q" for n in names)
    bounds = " and ".join(f"0 <= {n}_{m} < {ranges[n]}" for n in names for m in "pq")
    same = " and ".join(f"{_sum(a, '_p')} = {_sum(b, '_q')}" for a, b in zip(first, second, strict=True))
    after = []
    for k, n in enumerate(order):
        before = [f"{m}_p = {m}_q" for m in order[:k]]
        after.append(" and ".join([*before, f"{n}_p < {n}_q"]))
        if not later:
            after.append(" and ".join([*before, f"{n}_p > {n}_q"]))
    if not after or not names:
        return None
    joined = " or ".join(f"({t})" for t in after)
    text = f"{{ [{p}, {q}] : {bounds} and {same or '1 = 1'} and ({joined}) }}"
    found = isl.Set(text)
    if found.is_empty():
        return None
    values = _values(found.lexmin().sample_point(), 2 * len(names))
    half = len(names)
    return dict(zip(names, values[:half], strict=True)), dict(zip(names, values[half:], strict=True))


def reach(a: Affine, ranges: Ranges, clauses: tuple[Clause, ...]) -> tuple[Reach, Reach] | None:
    """The least and the greatest value of `a` over the iterations in which one of `clauses` holds.

    None if no iteration is left. Names that `ranges` lacks are integers of any value.
    """
    names = sorted(ranges)
    others = sorted({n for c in clauses for x in c for n in x.names} - set(names))
    place = {n: f"x{k}" for k, n in enumerate([*names, *others])}

    def text(x: Affine) -> str:
        return " + ".join([*(f"{c}*{place[n]}" for n, c in x.terms), str(x.const)])

    box = [f"0 <= {place[n]} < {ranges[n]}" for n in names]
    held = " or ".join("(" + (" and ".join(f"{text(x)} >= 0" for x in c) or "1 = 1") + ")" for c in clauses)
    inside = " and ".join([*box, f"v = {text(a)}", f"({held or '1 = 0'})"])
    extra = f"exists {', '.join(place[n] for n in others)} : " if others else ""
    space = ", ".join(["v", *(place[n] for n in names)])
    found = isl.Set(f"{{ [{space}] : {extra}{inside} }}")
    if found.is_empty():
        return None
    least, greatest = (_values(s.sample_point(), 1 + len(names)) for s in (found.lexmin(), found.lexmax()))
    return (least[0], dict(zip(names, least[1:], strict=True))), (
        greatest[0],
        dict(zip(names, greatest[1:], strict=True)),
    )


def _values(point: isl.Point, count: int) -> list[int]:
    return [int(point.get_coordinate_val(isl.dim_type.set, i).to_python()) for i in range(count)]
