"""Instances: where a buffer's elements live at some place in the code, and how to index them there.

A buffer starts in DM. A staging makes an instance that holds the image of the buffer's accesses over the
levels inside the copy point (language.md section 5), as a bounding box or, where the image has holes, packed.
"""

from dataclasses import dataclass

from mdh.ir.affine import Affine
from mdh.ir.kernel import Buf
from mdh.lower.levels import Levels


@dataclass(frozen=True, slots=True)
class Axis:
    """One dim of an instance. Box: local index = program index - low. Packed: sum of radix * variable.

    variables: the inside levels that the image runs over, as (name, parts, coefficient, radix).
    """

    low: Affine
    extent: int
    packed: bool
    variables: tuple[tuple[str, int, int, int], ...]

    def local(self, index: Affine) -> Affine:
        if not self.packed:
            return index + self.low.scale(-1)
        return Affine.of({name: radix for name, _, _, radix in self.variables})


@dataclass(frozen=True, slots=True)
class Instance:
    """`buf` holds buffer elements; axes None: the buffer itself, whole, in DM.

    `slot`: the pipeline slot to read, prefixed to every index.
    """

    buf: Buf
    axes: tuple[Axis, ...] | None = None
    slot: Affine | None = None

    def local(self, index: tuple[Affine, ...]) -> tuple[Affine, ...]:
        if self.axes is None:
            return index
        return tuple(axis.local(i) for axis, i in zip(self.axes, index, strict=True))


def image(
    levels: Levels, index: tuple[Affine, ...], shifts: list[tuple[int, ...]], inside: frozenset[str]
) -> tuple[Axis, ...]:
    """The part of a buffer that accesses `index + shift` touch while the levels of `inside` run.

    index: program index functions (over stage dims) without constants, shared by all accesses.
    """
    axes = []
    for k, function in enumerate(index):
        constants = [s[k] for s in shifts]
        axes.append(_axis(levels, function, min(constants), max(constants), inside))
    return tuple(axes)


def _axis(levels: Levels, function: Affine, least: int, most: int, inside: frozenset[str]) -> Axis:
    low, reach = Affine((), least), most - least
    variables: list[tuple[str, int, int]] = []
    for name, c in function.terms:
        d = int(name)
        for var, k in levels.index[d].terms:
            if var in inside:
                variables.append((var, levels.of_var(var).parts, c * k))
            else:
                low = low + Affine.of({var: c * k})
        span = levels.span(d, inside)
        reach += abs(c) * span
        if c < 0:
            low = low.shift(c * span)
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
    return Axis(low, size if packed else extent, packed, tuple(reversed(full)))


def strides_for(shape: tuple[int, ...], layout: tuple[int, ...], pad: int = 0) -> tuple[int, ...]:
    """Strides by layout (slowest dim first); `pad` elements are added to each row of the fastest dim."""
    strides = [0] * len(shape)
    step = 1
    for n, k in enumerate(reversed(layout)):
        strides[k] = step
        step *= shape[k] + (pad if n == 0 else 0)
    return tuple(strides)
