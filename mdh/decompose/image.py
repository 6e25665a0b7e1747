"""Images: the part of a buffer that accesses touch while some loops and units run (language.md section 5).

It is a bounding box. If the image has holes, only its points are kept, packed.
"""

from collections.abc import Sequence

from mdh.ir.affine import Affine
from mdh.ir.layout import Axis, Levels


def image(
    levels: Levels, index: tuple[Affine, ...], shifts: Sequence[tuple[int, ...]], inside: frozenset[str]
) -> tuple[Axis, ...]:
    """The part of a buffer that accesses `index + shift` touch while the levels of `inside` run.

    index: index functions over the stage's dimensions, without constants, shared by all accesses. Returns one
    axis for each dimension of the buffer.
    """
    axes = []
    for k, function in enumerate(index):
        constants = [s[k] for s in shifts]
        axes.append(_axis(levels, function, min(constants), max(constants), inside))
    return tuple(axes)


def _axis(levels: Levels, function: Affine, least: int, most: int, inside: frozenset[str]) -> Axis:
    low, start, reach = dict[str, int](), least, most - least
    variables: list[tuple[str, int, int]] = []
    for name, c in function.terms:
        if not name.isdecimal():
            low[name] = c
            continue
        d = int(name)
        for var, k in levels.index[d].terms:
            if var in inside:
                variables.append((var, levels.of_var(var).parts, c * k))
            else:
                low[var] = low.get(var, 0) + c * k
        span = levels.span(d, inside)
        reach += abs(c) * span
        start += min(c, 0) * span
    ordered = sorted(variables, key=lambda v: (abs(v[2]), v[1]))
    radices, size, overlap = [], 1, least != most
    width = 0
    for _, parts, c in ordered:
        overlap = overlap or abs(c) <= width or c < 0
        radices.append(size)
        size *= parts
        width += abs(c) * (parts - 1)
    extent = reach + 1
    packed = not overlap and size < extent
    full = tuple((v, p, c, r) for (v, p, c), r in zip(ordered, radices, strict=True))
    return Axis(Affine.of(low, start), extent, packed, tuple(reversed(full)))


def covers(tile: Sequence[Axis], part: Sequence[Axis]) -> bool:
    """Whether a tile without gaps surely holds all elements of a part of the same array."""
    for axis, other in zip(tile, part, strict=True):
        ahead = other.low + axis.low.scale(-1)
        reach = sum(abs(c) * (n - 1) for _, n, c, _ in other.variables) + 1 if other.packed else other.box
        if axis.packed or ahead.terms or ahead.const < 0 or ahead.const + max(reach, other.box) > axis.box:
            return False
    return True
