"""isl's answers against enumeration on small boxes."""

from itertools import product
from random import Random

import pytest

from mdh.poly.coverage import miscovered
from mdh.poly.digits import Chain, Cut, digits, index_of, reach
from mdh.poly.order import first_reversal


def random_chain(rng: Random, *, legal: bool) -> Chain:
    """Splits of 1 to 40 elements down to 1, some of them cyclic."""
    parent = rng.randint(1, 40)
    cuts = []
    while parent > 1 and len(cuts) < 4:
        tile = rng.randint(1, parent)
        cyclic = 0
        if rng.random() < 0.4:
            options = [n for n in range(1, tile) if tile % n == 0 or not legal]
            cyclic = rng.choice(options) if options else 0
        cuts.append(Cut(parent, tile, cyclic))
        parent = tile
    cuts.append(Cut(parent, 1))
    return tuple(cuts)


def owners(chain: Chain) -> dict[int, list[tuple[int, ...]]]:
    """Iteration -> every selection of parts that works on it."""
    out: dict[int, list[tuple[int, ...]]] = {}
    for parts in product(*(range(c.parts) for c in chain)):
        element = index_of(chain, parts)
        if element is not None:
            out.setdefault(element, []).append(parts)
    return out


@pytest.mark.parametrize("seed", range(40))
def test_coverage_agrees_with_enumeration(seed: int) -> None:
    chain = random_chain(Random(seed), legal=False)
    owned = owners(chain)
    once = all(len(owned.get(e, ())) == 1 for e in range(chain[0].parent))
    miss = miscovered(chain)
    assert (miss is None) == once
    if miss is not None:
        found = owned.get(miss.element, [])
        assert len(found) != 1
        assert set(miss.parts) <= set(found)


@pytest.mark.parametrize("seed", range(40))
def test_digits_agree_with_the_definition(seed: int) -> None:
    chain = random_chain(Random(1000 + seed), legal=True)
    found = digits(chain)
    owned = owners(chain)
    assert all(len(owned.get(e, ())) == 1 for e in range(chain[0].parent))
    if found is None:
        return
    counts = [range(d.count) for d in found]
    reached = {sum(d.weight * v for d, v in zip(found, values, strict=True)) for values in product(*counts)}
    assert set(range(chain[0].parent)) <= reached


@pytest.mark.parametrize("seed", range(40))
def test_reversal_agrees_with_enumeration(seed: int) -> None:
    rng = Random(2000 + seed)
    chain = random_chain(rng, legal=True)
    cuts = [i for i, c in enumerate(chain) if c.parts > 1]
    rng.shuffle(cuts)
    when: dict[int, int] = {}
    for n, values in enumerate(product(*(range(chain[i].parts) for i in cuts))):
        parts = [0] * len(chain)
        for i, value in zip(cuts, values, strict=True):
            parts[i] = value
        element = index_of(chain, tuple(parts))
        if element is not None:
            when[element] = n
    in_order = all(when[e] < when[e + 1] for e in range(chain[0].parent - 1))
    pair = first_reversal((chain,), tuple((0, i) for i in cuts))
    assert (pair is None) == in_order
    if pair is not None:
        (first,), (second,) = pair
        assert first < second
        assert when[first] > when[second]


def test_reach_counts_remainders() -> None:
    chain = (Cut(10, 4), Cut(4, 1))
    assert reach(chain, frozenset({0, 1})) == 9
    assert reach(chain, frozenset({1})) == 3
