"""Whether the parts of a dimension's splits cover its iterations exactly once, or the first that they miss.

Each split maps a part and an element of that part to an element of the whole (language.md section 3). A chain
of splits is the composition of these maps, so it is a bijection if each of them is. Two elements never meet,
since part and element are digits of the result. Only the last block of a `@cyclic(n)` whose tile is no
multiple of n can leave something out.

This is arithmetic because isl takes seconds, and for some chains minutes, to find the range of a composition.
`tests/check/test_poly.py` compares it with enumeration.
"""

from dataclasses import dataclass

from mdh.poly.digits import Chain, Cut


@dataclass(frozen=True, slots=True)
class Miss:
    """No parts work on `element`."""

    element: int
    parts: tuple[tuple[int, ...], ...] = ()


def miscovered(chain: Chain) -> Miss | None:
    """None if every iteration belongs to exactly one selection of parts; else the first that belongs to none.
    Requires that the last tile is 1."""
    missed = [at for i, cut in enumerate(chain) if (at := _outside(chain[:i], _missed(cut))) is not None]
    return Miss(min(missed)) if missed else None


def _missed(cut: Cut) -> int | None:
    """The first element that is in no part of a split: the first part has all that it can have before it."""
    if not cut.cyclic or cut.cyclic >= cut.tile or cut.tile % cut.cyclic == 0:
        return None
    rest = cut.tile % cut.cyclic
    element = (cut.tile - rest) * cut.parts + rest
    return element if element < cut.parent else None


def _outside(chain: Chain, element: int | None) -> int | None:
    """The first iteration that has this element in the splits further inside: the one of the first parts."""
    for cut in reversed(chain):
        if element is None or element >= cut.tile:
            return None
        if cut.cyclic and cut.cyclic < cut.tile:
            element += (element - element % cut.cyclic) * (cut.parts - 1)
        if element >= cut.parent:
            return None
    return element


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
