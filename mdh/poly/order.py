"""Finds by isl two iterations that code order exchanges, or proves that there are none."""

from functools import lru_cache

import islpy as isl

from mdh.poly.coverage import iteration
from mdh.poly.digits import Chain
from mdh.poly.sets import coordinates

Pair = tuple[tuple[int, ...], tuple[int, ...]]
Order = tuple[tuple[int, int], ...]
"""Loops in code order, each as (dimension, split of its chain)."""


@lru_cache(maxsize=4096)
def first_reversal(chains: tuple[Chain, ...], order: Order) -> Pair | None:
    """Iterations x before x' in C's order (lexicographic over the chains) that code order runs the other way.

    None is a proof that loops in code order visit the iterations of these dimensions in C's order.
    """
    # hierarchical order without @cyclic is lexicographic by construction
    plain = not any(c.cyclic and c.cyclic < c.tile for chain in chains for c in chain)
    if plain and order == tuple(sorted(order)):
        return None
    owned = _owned(chains, order)
    where = owned.reverse()
    later = isl.Map.lex_gt(owned.domain().get_space())
    swapped = where.apply_range(later).apply_range(owned)
    swapped = swapped.intersect(isl.Map.lex_lt(owned.range().get_space()))
    if swapped.is_empty():
        return None
    numbers = coordinates(swapped.wrap().lexmin().sample_point())
    return numbers[: len(chains)], numbers[len(chains) :]


def _owned(chains: tuple[Chain, ...], order: Order) -> isl.Map:
    """{ loop variables in code order -> iteration of each dimension }."""
    texts = []
    hidden = []
    for d, chain in enumerate(chains):
        single = [f"p{d}_{i}" for i in range(len(chain)) if (d, i) not in order]
        texts.append(f"({iteration(chain, f'p{d}_', f'e{d}_')})")
        texts += [f"{p} = 0" for p in single]
        hidden += single
    loops = ", ".join(f"p{d}_{i}" for d, i in order)
    iterations = ", ".join(f"e{d}_0" for d in range(len(chains)))
    bound = f"exists {', '.join(hidden)} : " if hidden else ""
    return isl.Map(f"{{ [{loops}] -> [{iterations}] : {bound}{' and '.join(texts)} }}")
