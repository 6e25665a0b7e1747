"""The dimensions of a contraction by role, and its operands' copies in shared memory."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from mdh.cost.gpu import Joining
from mdh.hardware import Engine, Space
from mdh.machine import Machine
from mdh.schedule.default.joining import added
from mdh.schedule.default.outline import attribute, staged
from mdh.schedule.default.shape import Shape
from mdh.schedule.model import Arg, Attr, BufferPlace, Mem

PAD_BYTES = 16
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


def shared_copy(shape: Shape, buffer: str, main: int, *, pad: bool = True) -> Mem:
    """A copy in SM in which the position that `main` moves is fastest: transposed and padded if needed."""
    name = shape.stage.dims[main].name
    access = shape.reads_of(buffer)[0]
    last = len(access.index) - 1
    positions = [p for p, f in enumerate(access.index) if f is not None and name in f.names]
    fastest = positions[-1] if positions else last
    if fastest == last or not pad:
        return staged(shape, buffer, Space.SM, fastest)
    elements = max(1, min(8, PAD_BYTES // shape.element_bytes(buffer)))
    return staged(shape, buffer, Space.SM, fastest, attribute("pad", elements))


def asynchronous(shape: Shape, copy: Mem, machine: Machine) -> Mem:
    """The copy by the asynchronous engine if it keeps the order of its source; otherwise unchanged."""
    assert isinstance(copy.value, BufferPlace) and isinstance(copy.value.layout, tuple)
    straight = copy.value.layout == tuple(range(1, len(copy.value.layout) + 1))
    able = Engine.ASYNC in machine.copy_engines and shape.element_bytes(copy.value.buffer) >= ASYNC_LEAST
    if not straight or not able:
        return copy
    engine = Attr("copy", (Arg(Engine.ASYNC, fallback=Arg(Engine.PLAIN)),))
    return replace(copy, attrs=(*copy.attrs, engine))
