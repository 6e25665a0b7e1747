"""Layouts: mixed-radix digits that say where an element is and which unit owns it.

The splits of a schedule cut the index of a dimension into digits: index = sum of weight * digit. The digit of
a sequential loop says when an element is computed with; the digit of a core layer says which unit owns it.
The same digits with other weights give the element's position in a tile of memory.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from mdh.hardware import Layer
from mdh.ir.affine import Affine
from mdh.ir.open_size import OpenExtent

MOST_PEELS = 2
"""Loops with a remainder that get a separate last part, one inside the other; more would double code."""


@dataclass(frozen=True, slots=True)
class Level:
    """One digit of dimension `dim`: `var` runs over 0 <= var < parts, and one part is `tile` elements.

    layer, axis: the core layer whose units take the parts; None for a sequential loop. step: index of the
    plan's step that splits here. rank: place among the loops of that step. cyclic: elements dealt to each
    unit in turn; 0 for contiguous blocks. piece: where @cyclic cuts the parts of a core layer in two, the
    level is the digit (unit id div piece) mod parts of its coordinate. open: the extent that is split,
    if open sizes give it at the call; parts and parent are then the largest.
    """

    var: str
    dim: int
    step: int
    parts: int
    tile: int
    parent: int
    layer: Layer | None
    axis: int
    rank: int
    cyclic: int = 0
    piece: int = 1
    open: OpenExtent | None = None

    @property
    def exact(self) -> bool:
        """Whether every part is full, whatever the open sizes are."""
        if self.open is not None:
            return self.open.divisor % self.tile == 0
        return self.parts * self.tile == self.parent

    @property
    def full_parts(self) -> int:
        """Parts 0 … full_parts-1 of a blocked split hold `tile` elements each; the last may be shorter. At
        the largest open sizes."""
        return self.parent // self.tile


@dataclass(frozen=True, slots=True)
class Guard:
    """`offset < bound` holds for points that exist. It is needed because `level` has a remainder. open: the
    bound as a function of open sizes; `bound` is then its largest value."""

    level: Level
    offset: Affine
    bound: int
    dim: int
    open: OpenExtent | None = None

    @property
    def least(self) -> int:
        """The least bound: what is below it is below the bound at any size."""
        return self.bound if self.open is None else self.open.least

    @property
    def divisor(self) -> int:
        """Whatever the sizes are, the bound is a multiple of it."""
        return self.bound if self.open is None else self.open.divisor


@dataclass(frozen=True)
class Levels:
    """The digits of every dimension of a stage. by_dim[d]: the levels of dimension d, outer to inner.
    index[d]: the index of dimension d as a function of their variables."""

    by_dim: tuple[tuple[Level, ...], ...]
    index: tuple[Affine, ...]
    guards: tuple[Guard, ...]
    extents: tuple[int, ...]

    @cached_property
    def all(self) -> tuple[Level, ...]:
        return tuple(lv for levels in self.by_dim for lv in levels)

    @cached_property
    def _by_var(self) -> dict[str, Level]:
        return {lv.var: lv for lv in self.all}

    def of_var(self, var: str) -> Level:
        return self._by_var[var]

    def over(self, function: Affine) -> Affine:
        """A function of dimensions (named by position), rewritten over level variables."""
        return function.substitute({str(d): index for d, index in enumerate(self.index)})

    def span(self, dim: int, inside: frozenset[str]) -> int:
        """The most that the levels of `inside` add to the index of dimension `dim`, remainders included."""
        reach = 0
        for level in reversed(self.by_dim[dim]):
            if level.cyclic:
                coefficient = self.index[dim].coefficient
                names = [lv.var for lv in self.by_dim[dim] if lv.var in inside]
                return sum(coefficient(v) * (self.of_var(v).parts - 1) for v in names)
            if level.var in inside:
                reach = min((level.parts - 1) * level.tile + reach, level.parent - 1)
        return reach


@dataclass(frozen=True, slots=True)
class Axis:
    """One dimension of a tile. It covers `box` elements of a buffer's dimension, beginning at `low`.

    If the image has holes, only its `points` are stored, packed: local index = sum of radix * variable.
    variables: the digits that the tile runs over, as (name, parts, coefficient, radix), the largest first.
    """

    low: Affine
    box: int
    packed: bool
    variables: tuple[tuple[str, int, int, int], ...]

    @property
    def points(self) -> int:
        n = 1
        for _, parts, _, _ in self.variables:
            n *= parts
        return n

    @property
    def extent(self) -> int:
        return self.points if self.packed else self.box

    @property
    def pace(self) -> int | None:
        """What one step along the axis adds to the index, where it is the same everywhere; else None."""
        if not self.packed:
            return 1
        # digits, put together again, are the coordinate that they were taken from
        paces = {Fraction(coefficient, radix) for _, _, coefficient, radix in self.variables}
        found = paces.pop() if len(paces) == 1 else None
        return None if found is None or found.denominator > 1 else int(found)

    def local(self, index: Affine) -> Affine:
        """The position in the tile of the element at a program index."""
        if not self.packed:
            return index + self.low.scale(-1)
        return Affine.of({name: radix for name, _, _, radix in self.variables})


def strides_for(shape: tuple[int, ...], layout: tuple[int, ...], pad: int = 0) -> tuple[int, ...]:
    """Strides in elements for a layout (slowest dimension first). `pad` elements are added to each row of the
    fastest dimension."""
    strides = [0] * len(shape)
    step = 1
    for n, k in enumerate(reversed(layout)):
        strides[k] = step
        step *= shape[k] + (pad if n == 0 else 0)
    return tuple(strides)


def row_major(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Strides of a tile without gaps whose last dim is the fastest."""
    return strides_for(shape, tuple(range(len(shape))))


def elements_of(shape: tuple[int, ...], strides: tuple[int, ...]) -> int:
    """The number of elements from the first one to the last one, gaps included."""
    return 1 + sum((n - 1) * s for n, s in zip(shape, strides, strict=True))
