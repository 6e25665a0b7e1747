"""A dimension's index as a sum of digits, one for each of its nested splits.

Every split of a dimension contributes the number of its part. `@cyclic(n)` deals elements out, so a deeper
split is cut at n. Then index = sum of weight * digit, an affine function that loops and units can compute.
"""

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Cut:
    """`parent` elements in ceil(parent / tile) parts; cyclic n: element e goes to part (e / n) mod parts."""

    parent: int
    tile: int
    cyclic: int = 0

    @property
    def parts(self) -> int:
        return -(-self.parent // self.tile)


@dataclass(frozen=True, slots=True)
class IndexDigit:
    """Runs over 0 .. count - 1 and adds weight * digit to the index; `cut` is the position of its split."""

    cut: int
    count: int
    weight: int


Chain = tuple[Cut, ...]
"""The splits of one dimension in the order of the hierarchy; splits with one part may be left out."""


def digits(chain: Chain) -> tuple[IndexDigit, ...] | None:
    """The digits, outermost split first; None if a cyclic split leaves the index without an affine form."""
    out: list[IndexDigit] = []
    for position in reversed(range(len(chain))):
        cut = chain[position]
        if cut.parts == 1:
            continue
        if cut.cyclic and cut.cyclic < cut.tile:
            dealt = _deal(out, cut.cyclic, cut.parts)
            if dealt is None:
                return None
            out = [IndexDigit(position, cut.parts, cut.cyclic), *dealt]
        else:
            out.insert(0, IndexDigit(position, cut.parts, cut.tile))
    return tuple(out)


def unnested(chain: Chain) -> tuple[int, int] | None:
    """(cyclic split, deeper split) whose sizes do not nest, so that `digits` is None; None if all nest."""
    for position in reversed(range(len(chain))):
        if digits(chain[position:]) is not None:
            continue
        for deeper in range(position + 1, len(chain)):
            if digits((chain[position], *chain[position + 1 : deeper + 1])) is None:
                return position, deeper
    return None


def _deal(inner: list[IndexDigit], n: int, units: int) -> list[IndexDigit] | None:
    """The digits of a unit's elements as elements of the parent: blocks of n, `units` apart."""
    out: list[IndexDigit] = []
    for digit in inner:
        below = sum((d.count - 1) * d.weight for d in inner if d.weight < digit.weight)
        if digit.weight >= n:
            if digit.weight % n:
                return None
            out.append(replace(digit, weight=digit.weight * units))
        elif (digit.count - 1) * digit.weight + below < n:
            out.append(digit)
        elif n % digit.weight:
            return None
        else:
            low = n // digit.weight
            out.append(IndexDigit(digit.cut, -(-digit.count // low), n * units))
            out.append(IndexDigit(digit.cut, low, digit.weight))
    return out


def reach(chain: Chain, inside: frozenset[int]) -> int:
    """The most that the splits of `inside` (positions) add to the index while the others stand still."""
    if any(c.cyclic and c.cyclic < c.tile for c in chain):
        found = digits(chain) or ()
        return sum((d.count - 1) * d.weight for d in found if d.cut in inside)
    out = 0
    for position in reversed(range(len(chain))):
        cut = chain[position]
        if position in inside:
            out = min((cut.parts - 1) * cut.tile + out, cut.parent - 1)
    return out


def index_of(chain: Chain, parts: tuple[int, ...]) -> int | None:
    """The element that the given parts of all splits select; None if it does not exist (a remainder).

    This is the definition itself, for tests and witnesses. Requires that the last tile is 1.
    """
    element = 0
    for cut, part in zip(reversed(chain), reversed(parts), strict=True):
        if cut.cyclic and cut.cyclic < cut.tile:
            n = cut.cyclic
            if element >= cut.tile:
                return None
            element = (element // n) * n * cut.parts + part * n + element % n
        else:
            element += part * cut.tile
        if element >= cut.parent:
            return None
    return element
