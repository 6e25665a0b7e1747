"""Do two accesses of a nest meet in one element? Answers with two iterations, found by isl."""

import islpy as isl

from mdh.ir.affine import Affine

Ranges = dict[str, int]
"""Loop variable → extent."""


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
    """Two iterations p, q with first(p) = second(q); None where there are none.

    q comes after p in the lexicographic order of `order`, or is merely different, where `later` is False.
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
    point = found.lexmin().sample_point()
    values = [point.get_coordinate_val(isl.dim_type.set, i).to_python() for i in range(2 * len(names))]
    half = len(names)
    return dict(zip(names, values[:half], strict=True)), dict(zip(names, values[half:], strict=True))
