"""Which places of an atom the dimensions on its axes take, and the steps that split an atom into elements.

Lanes hold the elements of an atom's result at places that are fixed. A place along m is cut into digits: the
row among 8, the half, and for warp groups the warp. So is a place along n: the element of a pair, the pair of
four, and for warp groups the block of 8 columns. Each dimension on an axis takes digits, or factors of them,
the last dimension the fastest. Its elements are rounded up to what the digits allow. Places behind its
elements stay empty.
"""

from collections.abc import Sequence
from math import prod

from mdh.hardware import Layer
from mdh.ir.atoms import Atom
from mdh.ir.plan import AtomDim, PlanStep, Product, Split

ROWS, PAIRS, PAIR = 8, 4, 2
"""Places of m that lanes share out, of n that they share out in pairs, and of a pair."""
WARPS = 4
"""The warps of a warp group. Each holds rows of its own."""

_Digits = tuple[dict[str, int], dict[str, tuple[Layer, int]]]
"""What an implied step leaves of an atom's places by axis, and the units that take the parts."""


def digits_of(atom: Atom, axis: str) -> tuple[int, ...]:
    """The digits of a place along an axis of the atom, the fastest first."""
    match axis:
        case "m":
            return (ROWS, atom.m // ROWS // WARPS, WARPS) if atom.grouped else (ROWS, atom.m // ROWS)
        case "n":
            return PAIR, PAIRS, atom.n // (PAIR * PAIRS)
        case _:
            return (atom.k,)


def placed(
    tiles: Sequence[tuple[int, int]], digits: Sequence[int], *, short: bool = False
) -> tuple[AtomDim, ...] | None:
    """The places of (dimension, tile) along an axis, the last dimension fastest; None if they do not fit. The
    first dimension takes all places that are left. short: one dimension alone may leave places empty."""
    if len(tiles) == 1:
        ((dim, tile),) = tiles
        size = prod(digits)
        return (AtomDim(dim, tile, size, 1),) if tile == size or (short and tile < size) else None
    out: list[AtomDim] = []
    rest, weight = [d for d in digits if d > 1], 1
    for n, (dim, tile) in enumerate(reversed(tiles), 1):
        room = 1
        while room < tile and rest:
            least, radix = -(-tile // room), rest.pop(0)
            part = next(p for p in range(min(least, radix), radix + 1) if radix % p == 0)
            room *= part
            if part < radix:
                rest.insert(0, radix // part)
        if room < tile:
            return None
        room *= prod(rest) if n == len(tiles) else 1
        out.insert(0, AtomDim(dim, tile, room, weight))
        weight *= room
    return tuple(out)


def places_of(
    atom: Atom, axes: dict[str, tuple[int, ...]], tiles: tuple[int, ...], extents: tuple[int, ...]
) -> dict[str, tuple[AtomDim, ...]] | None:
    """The places of all dimensions on the axes of an atom; None if their tiles are not for it. One dimension
    alone that has fewer elements than the axis leaves places of a warp's atom empty. Lanes of a warp put
    zeros at empty places along k. A warp group reads its factors itself, so it has none there."""
    out: dict[str, tuple[AtomDim, ...]] = {}
    for axis, dims in axes.items():
        short = not atom.grouped and tiles[dims[0]] == extents[dims[0]]
        found = placed([(d, tiles[d]) for d in dims], digits_of(atom, axis), short=short)
        if found is None or (axis == "k" and atom.grouped and any(x.tile < x.room for x in found)):
            return None
        out[axis] = found
    return out


def lane_steps(n: int, product: Product, parents: tuple[int, ...]) -> tuple[PlanStep, ...]:
    """The implied steps that split an atom's C into elements: rows of m in halves, of which a lane has an
    element each; columns of n in pairs. Lane number 4 y + x has row y and the columns 2 x and 2 x + 1 of each
    half, as `Atom.c` says. A part of k is for all lanes. Before that, each warp of a group takes 16 rows. The
    first step of all adds the places that stay empty, if there are any.

    n: number of the first of the steps. parents: the step's tiles.
    """
    atom = product.atom
    group = ({"m": 2 * ROWS, "n": PAIR * PAIRS, "k": atom.k}, {"m": (Layer.WRP, 1)})
    halves = ({"m": ROWS, "n": PAIR, "k": atom.k}, {"n": (Layer.THR, 0)})
    elements = ({"m": 1, "n": 1, "k": 1}, {"m": (Layer.THR, _lane_axes(product))})
    digits: tuple[_Digits, ...] = (group, halves, elements) if atom.grouped else (halves, elements)
    if product.spread:
        digits = _spread(atom)
    out: list[PlanStep] = []
    rooms = {x.dim: x.room for x in product.dims}
    roomy = tuple(rooms.get(d, parent) for d, parent in enumerate(parents))
    if roomy != parents:
        splits = (Split(d, p, r, None, rank=d) for d, (p, r) in enumerate(zip(parents, roomy, strict=True)))
        out.append(PlanStep(n, n, tuple(splits), (), ()))
    for places, units in digits:
        tiles, layers = [1] * len(roomy), dict[int, tuple[Layer, int]]()
        for axis, along in product.axes.items():
            for x in along:
                tiles[x.dim] = min(x.room, max(1, places[axis] // x.weight))
            if axis in units:
                layer, first = units[axis]
                split = [x.dim for x in reversed(along) if tiles[x.dim] < roomy[x.dim]]
                layers |= {d: (layer, first + i) for i, d in enumerate(split)}
        splits = (
            Split(d, p, tiles[d], layers[d][0], layers[d][1], d)
            if d in layers
            else Split(d, p, tiles[d], None, rank=d)
            for d, p in enumerate(roomy)
        )
        number = n + len(out)
        out.append(PlanStep(number, number, tuple(splits), (), ()))
        roomy = tuple(tiles)
    return tuple(out)


def _spread(atom: Atom) -> tuple[_Digits, ...]:
    """As `mdh.ir.atoms.spread` numbers rows, the largest weight first. Threads are numbered through the whole
    warp group."""
    return (
        ({"m": 32, "n": PAIR * PAIRS, "k": atom.k}, {"m": (Layer.THR, 4)}),
        ({"m": 16, "n": PAIR, "k": atom.k}, {"m": (Layer.THR, 2), "n": (Layer.THR, 0)}),
        ({"m": 4, "n": 1, "k": 1}, {"m": (Layer.THR, 3)}),
        ({"m": 2, "n": 1, "k": 1}, {"m": (Layer.THR, 1)}),
        ({"m": 1, "n": 1, "k": 1}, {}),
    )


def _lane_axes(product: Product) -> int:
    """The axis of THR behind those of the dimensions that share the pairs of columns."""
    taken = (x for x in product.n if x.weight < PAIR * PAIRS and x.weight * x.room > PAIR)
    return sum(1 for _ in taken)
