"""The dimensions of a contraction by role, and its operands' copies in shared memory."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import prod

from mdh.cost.gpu import VECTOR_BYTES, WORD, Joining
from mdh.hardware import Engine, Space
from mdh.machine import Machine
from mdh.schedule.default.joining import added
from mdh.schedule.default.outline import ScheduleBuilder, attribute, held, staged
from mdh.schedule.default.shape import Shape
from mdh.schedule.model import Arg, Attr, BufferPlace, ForEntry, Mem, Unit

PAD_BYTES = 16
APART = 8
"""Elements behind each row of results in shared memory: the lanes of half a warp that hold pairs of four rows
then store to different banks."""


@dataclass(frozen=True, slots=True)
class CopyCosts:
    """What accesses of a copy into shared memory count for.

    run: neighbouring elements in memory up from which an access costs no more; below, it costs more by the
    power `short` of the ratio. division: by how much it costs more for each further side of a tile that is no
    power of two, as addresses take divisions. stored: of a store of what a thread has loaded. turned: of an
    asynchronous access that changes the order of its source; scattered: of a store that does.
    """

    run: float = 16.0
    short: float = 1.0
    division: float = 1.5
    stored: float = 1.0
    turned: float = 1.0
    scattered: float = 1.0


MATRIX_COPIES = CopyCosts()
BOX_COPIES = CopyCosts(run=25.0, short=0.37, division=0.2, stored=0.6, turned=1.3, scattered=1.5)
"""Of boxes of several dimensions: fitted together with `mdh.cost.gpu.BOXES`."""
ASYNC_LEAST = 4
"""The fewest bytes that cp.async copies."""


@dataclass(frozen=True, slots=True)
class Contraction:
    """Operands and dimensions. `rows` move the first operand only, `columns` the second only; main dimensions
    come first."""

    first: str
    second: str
    rows: tuple[int, ...]
    columns: tuple[int, ...]
    batch: tuple[int, ...]
    reduced: tuple[int, ...]


def is_product(found: Contraction) -> bool:
    """Whether rows and columns have one dimension each, as in a product of matrices."""
    return len(found.rows) == len(found.columns) == 1


def diagonal_dims(shape: Shape, buffer: str, tiles: Mapping[int, int]) -> set[int]:
    """The dimensions with several elements in a tile that an access uses in two positions. The bounding box
    of the tile then has many more elements than are read, so copies of it are not worth their room."""
    moving = [d for _, steps in shape.boxes[buffer].positions for d, _ in steps if tiles.get(d, 1) > 1]
    if len(moving) == len(set(moving)):
        return set()
    names = {shape.stage.dims[d].name: d for d in moving}
    used = (Counter(n for f in a.index if f is not None for n in f.names) for a in shape.reads_of(buffer))
    return {names[n] for places in used for n, count in places.items() if count > 1 and n in names}


def has_diagonal(shape: Shape, found: Contraction, outline: ScheduleBuilder) -> bool:
    """Whether blocks of the outline, by its first step, take tiles of rows or columns along a diagonal of an
    operand."""
    first = [cell.value for cell in outline.steps[0].tiles]
    sides = ((d, first[d]) for d in (*found.rows, *found.columns))
    tiles = {d: tile if isinstance(tile, int) else shape.extents[d] for d, tile in sides}
    return any(diagonal_dims(shape, b, tiles) for b in (found.first, found.second))


def elements_read(shape: Shape, buffer: str) -> int:
    """Elements of a buffer that the stage reads: those of the bounding box but for diagonals."""
    if not diagonal_dims(shape, buffer, dict(enumerate(shape.extents))):
        return shape.footprints[buffer]
    return sum(
        prod(n for d, n in enumerate(shape.extents) if shape.uses(a, d)) for a in shape.reads_of(buffer)
    )


@dataclass(frozen=True, slots=True)
class Tiling:
    """Tiles of a contraction by dimension. A thread computes single elements of dimensions that `thread` does
    not name.

    slices: tiles of the reduced dimensions, staged at once. part: the tile of dimension `k` if blocks share
    the sum in `parts` parts. joining: how these parts are joined.
    """

    block: Mapping[int, int]
    thread: Mapping[int, int]
    slices: Mapping[int, int]
    k: int
    part: int
    parts: int
    joining: Joining = Joining.KERNEL

    @property
    def first(self) -> dict[int, int]:
        """Tiles of the blocks, with the part of the sum."""
        return {**self.block, self.k: self.part} if self.parts > 1 else dict(self.block)

    def entries(self, shape: Shape) -> dict[str, Mem] | None:
        """The output entries of the blocks' step."""
        return added(shape.outputs) if self.parts > 1 and self.joining is not Joining.KERNEL else None


def gathers(shape: Shape, size: int) -> bool:
    """Whether the results of a block may meet in shared memory. size: bytes of one of them there."""
    return size <= WORD and len(shape.outputs) == 1


def cut_rows(shape: Shape) -> bool:
    """Whether rows of the results begin at no multiples of the widest access: then the vectors that threads
    hold of them are stored element by element."""
    buffer = shape.program.buffer_of[shape.writes[0].buffer]
    return buffer.shape[-1] * buffer.dtype.bytes % VECTOR_BYTES != 0


def gathered_bytes(shape: Shape, block: Mapping[int, int], size: int) -> int:
    """Bytes of shared memory in which the results of a block meet. size: of one of them."""
    near = shape.contiguous(shape.writes[0])
    row = 1 if near is None else block[near]
    return prod(block.values()) // row * (row + APART) * size


def blocks_step(
    shape: Shape,
    outline: ScheduleBuilder,
    plan: Tiling,
    axes: Mapping[int, Unit | ForEntry],
    order: tuple[Attr, ...],
    *,
    gathered: bool,
) -> None:
    """The step of the blocks. gathered: their results meet in shared memory, from where all threads store
    whole rows."""
    meeting = held(shape, Space.SM, attrs=(attribute("pad", APART),)) if gathered else {}
    if plan.parts == 1:
        outline.step(plan.first, axes, entries=meeting, attrs=order)
        return
    outline.step(plan.first, axes, entries=plan.entries(shape), attrs=order)
    # blocks that share a sum do not share what each of them gathers
    outline.step({}, entries=meeting)


def shared_copy(shape: Shape, buffer: str, main: int, *, pad: bool = True) -> Mem:
    """A copy in SM in which the position that `main` moves is fastest: transposed and padded if needed."""
    fastest = _position(shape, buffer, main)
    if fastest == len(shape.reads_of(buffer)[0].index) - 1 or not pad:
        return staged(shape, buffer, Space.SM, fastest)
    return staged(shape, buffer, Space.SM, fastest, attribute("pad", _pad(shape, buffer)))


def vector_copy(shape: Shape, buffer: str, main: int, near: int, size: int) -> Mem:
    """A copy in SM for lanes along `main` that each read vectors along `near`, whose tile has `size`
    elements.

    Rows of an even number of vectors are padded, so that lanes side by side read from different banks.
    """
    behind = (_position(shape, buffer, main), _position(shape, buffer, near))
    order = [p for p in range(len(shape.reads_of(buffer)[0].index)) if p not in behind]
    layout = tuple(p + 1 for p in (*order, *dict.fromkeys(behind)))
    vector = _pad(shape, buffer)
    pad = (attribute("pad", vector),) if size % (2 * vector) == 0 else ()
    return Mem(BufferPlace(buffer, Space.SM, layout), pad)


def _position(shape: Shape, buffer: str, dim: int) -> int:
    """The last position of a buffer that a dimension moves; the last of all if it moves none."""
    name = shape.stage.dims[dim].name
    index = shape.reads_of(buffer)[0].index
    return next(
        (p for p, f in reversed([*enumerate(index)]) if f is not None and name in f.names), len(index) - 1
    )


def _pad(shape: Shape, buffer: str) -> int:
    """Elements of a vector."""
    return max(1, min(8, PAD_BYTES // shape.element_bytes(buffer)))


def asynchronous(shape: Shape, copy: Mem, machine: Machine) -> Mem:
    """The copy by the asynchronous engine if it keeps the order of its source; otherwise unchanged.

    Words are moved one by one in any order. So a copy that changes the order is asynchronous, too, where
    threads could not load vectors: of 240 such pairs on an H100 it takes 0.97 times as long on average.
    """
    assert isinstance(copy.value, BufferPlace)
    buffer = copy.value.buffer
    size = shape.element_bytes(buffer)
    able = Engine.ASYNC in machine.copy_engines and size >= ASYNC_LEAST
    single = size == ASYNC_LEAST and aligned_elements(shape, buffer) < VECTOR_BYTES // size
    if not able or not (is_straight(copy) or single):
        return copy
    engine = Attr("copy", (Arg(Engine.ASYNC, fallback=Arg(Engine.PLAIN)),))
    return replace(copy, attrs=(*copy.attrs, engine))


def is_straight(copy: Mem) -> bool:
    """Whether the copy keeps the order of its source."""
    assert isinstance(copy.value, BufferPlace) and isinstance(copy.value.layout, tuple)
    return copy.value.layout == tuple(range(1, len(copy.value.layout) + 1))


def aligned_elements(shape: Shape, buffer: str) -> int:
    """Elements of the widest access that may begin at every row of a buffer."""
    row = shape.program.buffer_of[buffer].shape[-1]
    return min(VECTOR_BYTES // shape.element_bytes(buffer), row & -row)


def copy_instructions(shape: Shape, copy: Mem, tiles: Mapping[int, int], costs: CopyCosts) -> float:
    """Loads and stores that copy a tile into shared memory: asynchronous ones do both."""
    assert isinstance(copy.value, BufferPlace)
    buffer = copy.value.buffer
    elements, run = shape.boxes[buffer].elements(tiles), shape.boxes[buffer].run(tiles)
    wide = min(aligned_elements(shape, buffer), run & -run)
    engines = any(attr.name == "copy" for attr in copy.attrs)
    if is_straight(copy):
        count = elements / wide * (1 if engines else 1 + costs.stored)
    else:
        count = elements * costs.turned if engines else elements / wide + elements * costs.scattered
    odd = sum(side & (side - 1) != 0 for side in shape.boxes[buffer].sides(tiles))
    return count * float(max(1.0, costs.run / run) ** costs.short) * (1 + max(0, odd - 1) * costs.division)
