"""Proves by isl that the parts of a dimension's splits cover its iterations exactly once, or finds a
counter-example.

The map from part numbers to iterations is built from the definition (language.md section 3), with remainder
guards and `@cyclic`. It must be a bijection onto 0 .. extent - 1. Other dimensions do not matter, so the sets
stay small. Answers are cached, since schedules repeat them.
"""

from dataclasses import dataclass
from functools import lru_cache

import islpy as isl

from mdh.poly.digits import Chain
from mdh.poly.sets import coordinates


@dataclass(frozen=True, slots=True)
class Miss:
    """No parts work on `element` (`parts` is empty), or two different selections of parts do."""

    element: int
    parts: tuple[tuple[int, ...], ...] = ()


@lru_cache(maxsize=4096)
def miscovered(chain: Chain) -> Miss | None:
    """None if every iteration belongs to exactly one selection of parts. Requires that the last tile is 1."""
    if not any(c.parts > 1 for c in chain):
        return None
    owned = ownership(chain)
    domain = isl.Set(f"{{ [e] : 0 <= e < {chain[0].parent} }}")
    missing = domain.subtract(owned.range())
    if not missing.is_empty():
        return Miss(coordinates(missing.lexmin().sample_point())[0])
    if owned.is_injective():
        return None
    again = owned.apply_range(owned.reverse())
    different = again.subtract(isl.Map.identity(again.get_space()))
    pair = different.wrap().sample_point()
    numbers = coordinates(pair)
    half = len(numbers) // 2
    first, second = numbers[:half], numbers[half:]
    element = owned.intersect_domain(isl.Set(f"{{ [{', '.join(map(str, first))}] }}")).range().sample_point()
    return Miss(coordinates(element)[0], (first, second))


def ownership(chain: Chain) -> isl.Map:
    """{ parts of all splits -> iteration }: tiles, remainders and cyclic distribution by definition."""
    names = [f"p{i}" for i in range(len(chain))]
    return isl.Map(f"{{ [{', '.join(names)}] -> [e0] : {iteration(chain, 'p', 'e')} }}")


def iteration(chain: Chain, part: str, element: str) -> str:
    """Constraint in isl's text: `{element}0` is the iteration that parts `{part}0`, `{part}1` … select."""
    bound = []
    inner = "0"
    for i in reversed(range(len(chain))):
        cut = chain[i]
        me = f"{element}{i}"
        bound.append(f"0 <= {part}{i} < {cut.parts}")
        if cut.cyclic and cut.cyclic < cut.tile:
            n = cut.cyclic
            block = f"floor(({inner})/{n})"
            dealt = f"{n * cut.parts}*{block} + {n}*{part}{i} + ({inner}) - {n}*{block}"
            bound.append(f"{me} = {dealt} and 0 <= {inner} < {cut.tile}")
        else:
            bound.append(f"{me} = {inner} + {cut.tile}*{part}{i}")
        bound.append(f"0 <= {me} < {cut.parent}")
        inner = me
    hidden = ", ".join(f"{element}{i}" for i in range(1, len(chain)))
    text = " and ".join(bound)
    return f"exists {hidden} : {text}" if hidden else text
