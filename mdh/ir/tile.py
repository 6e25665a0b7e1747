"""The tile tree of a stage: its units and loops from outside in, and what lies where between them.

Which elements are where, whose, and when: the rules of memory and capacity, reports and the lowering read it
here. A node stands around those in its body; what comes first in a body happens first.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from mdh.hardware import Combine, Engine, Layer, Space
from mdh.ir.affine import Affine
from mdh.ir.layout import Axis, Level, Levels, elements_of, strides_for
from mdh.ir.program import Stage

ALIGNMENT, SWIZZLE_LINE = 16, 128
"""Bytes of the widest access, and of a line of shared memory inside which a swizzle moves chunks."""


@dataclass(frozen=True, slots=True)
class Tile:
    """A part of `buffer` in a memory layer. Each axis is one dimension of the buffer; lanes: further ones, of
    partial results that the lanes of a vector hold apart.

    sizes: bytes of an element, of each of its components where it is a record: they lie apart. layout: the
    axes, the slowest first. pad: elements behind each row. unit: bytes of which each slot is a multiple.
    """

    buffer: str
    space: Space
    sizes: tuple[int, ...]
    axes: tuple[Axis, ...]
    layout: tuple[int, ...]
    pad: int = 0
    swizzle: int = 0
    slots: int = 1
    unit: int = 1

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(axis.extent for axis in self.axes)

    @property
    def variables(self) -> tuple[str, ...]:
        """The digits that it runs over."""
        return tuple(name for axis in self.axes for name, _, _, _ in axis.variables)

    @property
    def box(self) -> tuple[int, ...]:
        """Of the part of the buffer that holds all of its elements."""
        return tuple(axis.box for axis in self.axes)

    @property
    def strides(self) -> tuple[int, ...]:
        return strides_for(self.shape, self.layout, self.pad)

    @property
    def elements(self) -> int:
        """From the first to the last, padding included, of one slot."""
        return elements_of(self.shape, self.strides)

    @property
    def bytes(self) -> int:
        """Of all slots."""
        return sum(self._bytes_of(size) for size in self.sizes)

    @property
    def room(self) -> int:
        """Bytes that are set aside: what lies in shared memory begins at a multiple of the widest access, or
        at a whole line where it is swizzled."""
        if self.space is not Space.SM:
            return self.bytes
        chunk = SWIZZLE_LINE if self.swizzle else ALIGNMENT
        return sum(-(-self._bytes_of(size) // chunk) * chunk for size in self.sizes)

    def _bytes_of(self, size: int) -> int:
        return -(-self.elements * size // self.unit) * self.unit * self.slots


@dataclass(frozen=True, slots=True)
class Units:
    """A core layer takes the parts: all of them at once, each by another unit."""

    level: Level
    body: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Loop:
    """One part after the other; those of VEC as the lanes of a vector."""

    level: Level
    body: tuple["Node", ...]

    @property
    def lanes(self) -> bool:
        return self.level.layer is Layer.VEC


@dataclass(frozen=True, slots=True)
class Copy:
    """What the tile holds comes from `source`, for all that follows in the body. step: index of the plan's
    step that asks for it. linear: the accesses that read it, over dimensions named by position, without their
    constants."""

    tile: Tile
    source: Space
    engine: Engine
    step: int
    linear: tuple[Affine, ...]


@dataclass(frozen=True, slots=True)
class Hold:
    """Partial results of result number `result` lie in the tile while the body runs; behind it they are
    merged outward, once. step: index of the plan's step that asks for it, None: none does, it is the
    innermost one, which every reduction has.
    """

    tile: Tile
    result: int
    step: int | None
    body: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Compute:
    """The scalar function at one point."""


@dataclass(frozen=True, slots=True)
class Join:
    """The parts of a result that units hold meet: by one method after the other, from the inside out."""

    result: int
    methods: tuple[Combine, ...]


@dataclass(frozen=True, slots=True)
class Finish:
    """The starting value enters, the epilogue runs, and the finished elements are stored."""

    result: int


Node = Units | Loop | Copy | Hold | Compute | Join | Finish
Item = Level | int
"""A level is a loop of the kernel's code, one of VEC the lanes of a vector. A number is the index of a step,
where the body of its loops begins: its copies stand there."""


@dataclass(frozen=True)
class Tiles:
    """Of one stage. order: its loops and steps, from outside in. threads: levels whose units are threads of a
    block, none on a CPU (they are loops)."""

    stage: Stage
    levels: Levels
    body: tuple[Node, ...]
    order: tuple[Item, ...]
    threads: tuple[Level, ...] = field(default=())

    @cached_property
    def around(self) -> tuple["Units | Loop", ...]:
        """The units and loops around the scalar function, outermost first."""
        return next(around for node, around in nested(self.body) if isinstance(node, Compute))

    @cached_property
    def copies(self) -> tuple[Copy, ...]:
        """In code order."""
        return tuple(node for node in walk(self.body) if isinstance(node, Copy))

    @cached_property
    def holds(self) -> tuple[Hold, ...]:
        """From outside in."""
        return tuple(node for node in walk(self.body) if isinstance(node, Hold))

    @cached_property
    def kept(self) -> tuple["Copy | Hold", ...]:
        """All that lies in shared memory or registers."""
        return (*self.copies, *self.holds)

    def bytes_in(self, space: Space) -> int:
        """Set aside for all tiles in a memory layer."""
        return sum(node.tile.room for node in self.kept if node.tile.space is space)


def walk(body: tuple[Node, ...]) -> Iterator[Node]:
    """All nodes, a node before its body."""
    return (node for node, _ in nested(body))


def nested(
    body: tuple[Node, ...], around: tuple[Units | Loop, ...] = ()
) -> Iterator[tuple[Node, tuple[Units | Loop, ...]]]:
    """All nodes, a node before its body, each with the units and loops around it, outermost first."""
    for node in body:
        yield node, around
        if isinstance(node, Units | Loop):
            yield from nested(node.body, (*around, node))
        elif isinstance(node, Hold):
            yield from nested(node.body, around)
