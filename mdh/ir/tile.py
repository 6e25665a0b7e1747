"""The tile tree of a stage: its parallel units and loops from outside in, and which tiles lie where.

The tree says which elements are in which memory, which unit owns them, and when. Memory rules, reports and
the lowering read it. The body of a node is nested inside it, and runs in order.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from math import prod

from mdh.hardware import Combine, Engine, Layer, Space
from mdh.ir.affine import Affine
from mdh.ir.copy_engine import MOST_BOX
from mdh.ir.layout import Axis, Level, Levels, elements_of, strides_for
from mdh.ir.program import Stage

ALIGNMENT, SWIZZLE_LINE = 16, 128
"""Bytes of the widest access, and of the line of shared memory in which a swizzle moves chunks."""
BOX_LINE = 8
"""Rows of swizzled bytes (without a swizzle: units of 16 bytes) after which the place of a box repeats."""


@dataclass(frozen=True, slots=True)
class Boxes:
    """How the copy engine copies a tile: boxes of equal shape that each land without gaps. starts: the first
    element of each, by dimension of the tile."""

    shape: tuple[int, ...]
    starts: tuple[tuple[int, ...], ...]

    @property
    def elements(self) -> int:
        return prod(self.shape)


@dataclass(frozen=True, slots=True)
class Tile:
    """A part of `buffer` in a memory layer. Each axis is one dimension of the buffer. Further axes (lanes)
    keep partial results of vector lanes apart.

    sizes: bytes of an element, or of each component of a record; components are stored apart. layout: the
    axes, the slowest first. pad: elements added to each row. unit: the size of a slot is a multiple of this
    many bytes. span: if > 0, rows are cut into blocks of so many elements, and the blocks of all rows follow
    one another, as the copy engine writes them with a swizzle.
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
    span: int = 0

    @property
    def boxes(self) -> Boxes:
        return self.boxes_of(self.shape)

    def boxes_of(self, part: tuple[int, ...]) -> Boxes:
        """Of a tile whose last dimension is the fastest, or of a part of it of this shape. Where a box does
        not reach through a dimension of the tile, the slower ones have one box for each element: else there
        would be gaps in what lands."""
        box: list[int] = []
        for d in reversed(range(len(part))):
            fastest = d == len(part) - 1
            cut = any(n < self.shape[-1 - i] for i, n in enumerate(box) if i or not self.span)
            most = self.span if fastest and self.span else MOST_BOX // (self.axes[d].pace or 1)
            divisors = (n for n in range(min(most, part[d]), 0, -1) if part[d] % n == 0)
            box.append(1 if cut else next(divisors))
        shape = tuple(reversed(box))
        steps = (range(0, n, b) for n, b in zip(part, shape, strict=True))
        return Boxes(shape, tuple(product(*steps)))

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(axis.extent for axis in self.axes)

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables of the digits that the tile covers."""
        return tuple(name for axis in self.axes for name, _, _, _ in axis.variables)

    @property
    def box(self) -> tuple[int, ...]:
        """The shape of the smallest box in the buffer that holds all its elements."""
        return tuple(axis.box for axis in self.axes)

    @property
    def strides(self) -> tuple[int, ...]:
        return strides_for(self.shape, self.layout, self.pad)

    @property
    def elements(self) -> int:
        """The number of elements of one slot, from the first to the last, padding included."""
        return elements_of(self.shape, self.strides)

    @property
    def bytes(self) -> int:
        """Bytes of all slots."""
        return sum(self._bytes_of(size) for size in self.sizes)

    @property
    def room(self) -> int:
        """Bytes to allocate. A component in shared memory begins at a multiple of the widest access, or at a
        whole line if it is swizzled."""
        if self.space is not Space.SM:
            return self.bytes
        chunk = max(SWIZZLE_LINE, self.unit) if self.swizzle else ALIGNMENT
        return sum(-(-self._bytes_of(size) // chunk) * chunk for size in self.sizes)

    def _bytes_of(self, size: int) -> int:
        return -(-self.elements * size // self.unit) * self.unit * self.slots


@dataclass(frozen=True, slots=True)
class Units:
    """A core layer takes the parts: all run at once, each on its own unit."""

    level: Level
    body: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Loop:
    """The parts run one after another; those of VEC are the lanes of a vector."""

    level: Level
    body: tuple["Node", ...]

    @property
    def lanes(self) -> bool:
        return self.level.layer is Layer.VEC


@dataclass(frozen=True, slots=True)
class Copy:
    """Copies the tile from `source`, for all that follows in the body. step: index of the plan's step that
    asks for it. linear: the accesses that read it, over dimensions named by position, without their
    constants. It is empty where data decides where they read: the tile is then the whole buffer."""

    tile: Tile
    source: Space
    engine: Engine
    step: int
    linear: tuple[Affine, ...]

    def serves(self, buffer: str, linear: tuple[Affine | None, ...]) -> bool:
        """Whether loads with this index, without its constants, read the tile."""
        wanted = () if None in linear else linear
        return (self.tile.buffer, self.linear) == (buffer, wanted)


@dataclass(frozen=True, slots=True)
class Hold:
    """The tile holds partial results of result number `result` while the body runs. They are merged outward
    once, after it. step: index of the plan's step that asks for it. None: no step does; every reduction has
    an innermost Hold of its own."""

    tile: Tile
    result: int
    step: int | None
    body: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Compute:
    """Computes the scalar function at one point."""


@dataclass(frozen=True, slots=True)
class Join:
    """Combines the parts of a result that units hold, by one method after another, from inside out."""

    result: int
    methods: tuple[Combine, ...]


@dataclass(frozen=True, slots=True)
class Finish:
    """Combines the starting value, runs the epilogue, and stores the finished elements."""

    result: int


Node = Units | Loop | Copy | Hold | Compute | Join | Finish
Item = Level | int
"""A level is a loop of the code (VEC: the lanes of a vector). A number is the index of a step: it marks where
the body of that step's loops begins, which is where its copies stand."""


@dataclass(frozen=True)
class Tiles:
    """The tile tree of one stage. order: its loops and steps, from outside in. threads: the levels whose
    units are threads of a block; none on a CPU, where they are loops."""

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
        """All copies, in code order."""
        return tuple(node for node in walk(self.body) if isinstance(node, Copy))

    @cached_property
    def holds(self) -> tuple[Hold, ...]:
        """All tiles of partial results, from outside in."""
        return tuple(node for node in walk(self.body) if isinstance(node, Hold))

    @cached_property
    def kept(self) -> tuple["Copy | Hold", ...]:
        """All that lies in shared memory or registers."""
        return (*self.copies, *self.holds)

    def bytes_in(self, space: Space) -> int:
        """The bytes allocated for all tiles in a memory layer."""
        return sum(node.tile.room for node in self.kept if node.tile.space is space)


def walk(body: tuple[Node, ...]) -> Iterator[Node]:
    """All nodes, each before its body."""
    return (node for node, _ in nested(body))


def nested(
    body: tuple[Node, ...], around: tuple[Units | Loop, ...] = ()
) -> Iterator[tuple[Node, tuple[Units | Loop, ...]]]:
    """All nodes, each before its body and with the units and loops around it, outermost first."""
    for node in body:
        yield node, around
        if isinstance(node, Units | Loop):
            yield from nested(node.body, (*around, node))
        elif isinstance(node, Hold):
            yield from nested(node.body, around)
