"""A stage as default schedules see it: the dimensions of each access, and which of them is contiguous."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import prod

from mdh.ir.affine import Affine, from_expr
from mdh.ir.domain import domain_of
from mdh.ir.expr import Expr, Load, Var, substitute, walk
from mdh.ir.fusion import Group
from mdh.ir.program import DimKind, Program, Stage
from mdh.poly.widths import widths

SMALL, NARROW = 1 << 15, 1 << 17
"""Points of a turn that one core computes: of a whole box, and of a narrow part of one."""


@dataclass(frozen=True, slots=True)
class ShapeAccess:
    """An access to a buffer. index[p] is None if position p is data (gather, scatter).

    dims: names of all dimensions that the accessed element depends on, also through data.
    """

    buffer: str
    index: tuple[Affine | None, ...]
    dims: frozenset[str]

    @property
    def affine(self) -> bool:
        return None not in self.index


@dataclass(frozen=True, slots=True)
class Box:
    """The bounding box of a buffer's accesses while dimensions run over tiles; it is cheap to evaluate often.
    It holds each position's elements at a single point and its steps by dimension."""

    positions: tuple[tuple[int, tuple[tuple[int, int], ...]], ...]
    size: tuple[int, ...]

    def sides(self, tiles: Mapping[int, int]) -> list[int]:
        """Elements along each position. Dimensions that `tiles` does not name stand still."""
        return [
            least + sum(step * (tiles[d] - 1) for d, step in steps if d in tiles)
            for least, steps in self.positions
        ]

    def elements(self, tiles: Mapping[int, int]) -> int:
        return prod(self.sides(tiles))

    def run(self, tiles: Mapping[int, int]) -> int:
        """Elements that lie side by side in memory."""
        out = 1
        for side, whole in zip(reversed(self.sides(tiles)), reversed(self.size), strict=True):
            out *= side
            if side < whole:
                break
        return out


@dataclass(frozen=True)
class Shape:
    """A stage, seen by its dimensions (by position) and accesses. fused: dimensions of the C that are one in
    `stage`; `program` is then what such a stage sees."""

    program: Program
    stage: Stage
    fused: tuple[Group, ...] = ()

    @cached_property
    def extents(self) -> tuple[int, ...]:
        return tuple(d.extent for d in self.stage.dims)

    @cached_property
    def narrow(self) -> bool:
        """Whether one core computes a turn of the loops around the stage, because it has so few points. Tiles
        of all extents would leave most cores without any where conditions choose a narrow part of them."""
        if not self.program.turns:
            return False
        found = widths(self.stage, self.program.turns)
        return prod(found) <= (SMALL if found == self.extents else NARROW)

    @cached_property
    def uneven(self) -> bool:
        """Whether affine conditions leave out points, as above a diagonal."""
        return domain_of(self.stage, self.program.turns) is not None

    @cached_property
    def inputs(self) -> tuple[str, ...]:
        return self.program.inputs(self.stage)

    @cached_property
    def outputs(self) -> tuple[str, ...]:
        return self.program.outputs(self.stage)

    def of_kind(self, kind: DimKind) -> tuple[int, ...]:
        """Positions of the dimensions of a kind that have more than one iteration."""
        return tuple(i for i, d in enumerate(self.stage.dims) if d.kind is kind and d.extent > 1)

    @cached_property
    def reads(self) -> tuple[ShapeAccess, ...]:
        found = (n for e in self.stage.expressions() for n in walk(e) if isinstance(n, Load))
        return tuple(dict.fromkeys(self.access(n.buffer, n.index) for n in found))

    @cached_property
    def writes(self) -> tuple[ShapeAccess, ...]:
        return tuple(self.access(o.buffer, o.index) for r in self.stage.results for o in r.outputs)

    def access(self, buffer: str, index: tuple[Expr, ...]) -> ShapeAccess:
        known = {d.name for d in self.stage.dims}
        functions = (from_expr(substitute(e, self.program.size_constants)) for e in index)
        named = {n.name for e in index for n in walk(e) if isinstance(n, Var)} & known
        affine = tuple(None if f is None else self._moved(f, known) for f in functions)
        return ShapeAccess(buffer, affine, frozenset(named))

    def _moved(self, function: Affine, known: set[str]) -> Affine | None:
        """An index without the turns of loops around the stage, which stay as they are in a launch."""
        if not function.names <= known | self.program.turns.keys():
            return None
        return Affine(tuple(t for t in function.terms if t[0] in known), function.const)

    def uses(self, access: ShapeAccess, dim: int) -> bool:
        return self.stage.dims[dim].name in access.dims

    @cached_property
    def _strides(self) -> dict[tuple[ShapeAccess, int], int]:
        """What `stride` has found; searches for a good tile ask for it thousands of times."""
        return {}

    def stride(self, access: ShapeAccess, dim: int) -> int:
        """Elements between neighbours along the dimension; 0 if the access moves by data or not at all."""
        if (access, dim) not in self._strides:
            self._strides[access, dim] = self._stride(access, dim)
        return self._strides[access, dim]

    def _stride(self, access: ShapeAccess, dim: int) -> int:
        shape = self.program.buffer_of[access.buffer].shape
        name = self.stage.dims[dim].name
        steps = (
            f.coefficient(name) * prod(shape[p + 1 :])
            for p, f in enumerate(access.index)
            if f is not None and name in f.names
        )
        return sum(steps)

    @cached_property
    def result_strides(self) -> tuple[int, ...]:
        """Of the first output, by dimension; see `stride`."""
        return tuple(self.stride(self.writes[0], d) for d in range(len(self.extents)))

    def contiguous(self, access: ShapeAccess) -> int | None:
        """The dimension along which the access is contiguous; the largest if there are several."""
        if access not in self._runs:
            self._runs[access] = self._contiguous(access)
        return self._runs[access]

    @cached_property
    def _runs(self) -> dict[ShapeAccess, int | None]:
        """What `contiguous` has found."""
        return {}

    def _contiguous(self, access: ShapeAccess) -> int | None:
        found = [d for d, n in enumerate(self.extents) if n > 1 and abs(self.stride(access, d)) == 1]
        return max(found, key=lambda d: self.extents[d], default=None)

    def reads_of(self, buffer: str) -> tuple[ShapeAccess, ...]:
        return tuple(a for a in self.reads if a.buffer == buffer)

    def patterns(self, buffer: str) -> int:
        """In how many ways the dimensions move the reads of a buffer. A copy holds what all of them read."""
        moved = (tuple(None if f is None else f.terms for f in a.index) for a in self.reads_of(buffer))
        return len(set(moved))

    def element_bytes(self, buffer: str) -> int:
        return self.program.buffer_of[buffer].dtype.bytes

    @cached_property
    def value_bytes(self) -> int:
        """Bytes of the widest type that a result is combined in."""
        return max((t.bytes for r in self.stage.results for t in r.types), default=4)

    def footprint(self, buffer: str, tiles: dict[int, int]) -> int:
        """Elements of the bounding box of all accesses while dimensions run over `tiles` (absent: 1). Data as
        an index may have any value."""
        ranges = {d.name: (0, tiles.get(i, 1) - 1) for i, d in enumerate(self.stage.dims)}
        elements = 1
        for p, extent in enumerate(self.program.buffer_of[buffer].shape):
            found = [a.index[p] for a in self.reads_of(buffer)]
            bounds = [f.bounds(ranges) for f in found if f is not None]
            whole = len(bounds) < len(found)
            elements *= extent if whole else max(hi for _, hi in bounds) - min(lo for lo, _ in bounds) + 1
        return elements

    @cached_property
    def footprints(self) -> dict[str, int]:
        """Of each buffer that is read, while all dimensions run over their extents."""
        every = dict(enumerate(self.extents))
        return {
            buffer: self.footprint(buffer, every) for buffer in dict.fromkeys(a.buffer for a in self.reads)
        }

    @cached_property
    def boxes(self) -> dict[str, Box]:
        """The bounding box of all affine reads of each buffer."""
        return {buffer: self._box(buffer) for buffer in dict.fromkeys(a.buffer for a in self.reads)}

    def _box(self, buffer: str) -> Box:
        place = {d.name: i for i, d in enumerate(self.stage.dims)}
        size = self.program.buffer_of[buffer].shape
        positions = []
        for p in range(len(size)):
            found = [f for a in self.reads_of(buffer) if (f := a.index[p]) is not None]
            steps = {place[n]: max(abs(f.coefficient(n)) for f in found) for f in found for n in f.names}
            least = max(f.const for f in found) - min(f.const for f in found) + 1 if found else size[p]
            positions.append((least, tuple(steps.items())))
        return Box(tuple(positions), size)

    @cached_property
    def keeps_order(self) -> bool:
        """Whether floats must be added, multiplied and compared in C's order (--strict-fp)."""
        return self.program.strict_fp and any(
            r.op is not None
            and (r.op.ordered or (r.op.name in {"+", "*"} and any(t.is_float for t in r.types)))
            for r in self.stage.results
        )
