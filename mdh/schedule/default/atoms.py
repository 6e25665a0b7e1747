"""What a product of matrices needs so that tensor cores compute it: two factors whose rows atoms can read.

The conditions are those of the rules K170 to K173, for the schedules that `contraction_atoms` writes.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from mdh.cost.tensor import tensor_peak
from mdh.hardware import Engine
from mdh.ir.affine import Affine
from mdh.ir.atoms import WORD, Atom, atoms_of, factor_type
from mdh.ir.dtype import F64
from mdh.ir.product_sum import summed_reads
from mdh.ir.program import DimKind
from mdh.language import LANGUAGES
from mdh.machine import Machine
from mdh.schedule.default.atom_sides import AtomSide
from mdh.schedule.default.outline import attribute
from mdh.schedule.default.shape import Shape, ShapeAccess
from mdh.schedule.model import Attr

ROW = 16
"""Bytes that `ldmatrix` takes of a row at once."""
SLICE = {1: 128, 2: 32, 4: 32, 8: 16}
"""Elements along k that a block copies at once, by the bytes of an element."""


@dataclass(frozen=True, slots=True)
class Factor:
    """A factor's read, and its copy in shared memory. own: a dimension that it has beside k: that of the rows
    of the copy, or else the largest.

    along_k: rows of the copy run along k, else along `own`. layout: positions of the buffer in the order of
    the copy. turned: the last one is another than that of the source.
    """

    access: ShapeAccess
    own: int
    bytes: int
    along_k: bool
    layout: tuple[int, ...]
    row: int

    @property
    def buffer(self) -> str:
        return self.access.buffer

    @property
    def turned(self) -> bool:
        return self.layout[-1] != len(self.layout) - 1

    def padding(self, row: int) -> int:
        """Elements behind each row of the copy, so that what a warp reads at once lies in different banks.

        ldmatrix reads eight rows of 16 bytes: rows must be odd multiples of them apart. Of 4-byte elements, a
        warp reads four along k of eight rows; of 8-byte elements, half a warp reads four rows of four.
        """
        if self.bytes < WORD:
            return 0 if row * self.bytes // ROW % 2 else ROW // self.bytes
        banks, step = ((4, 8) if self.along_k else (8, 16)) if self.bytes == WORD else (4, 8)
        # whole 8 bytes, which are copied at once, if the row has them
        fitting: list[int] = [*range(0, 2 * step, 8 // self.bytes), *range(2 * step)]
        return next(p for p in fitting if (row + p) % step == banks)

    def asynchronous(self, machine: Machine) -> bool:
        """Whether rows are copied some slots ahead: in their order, and so that they begin at whole words."""
        return not self.turned and self.row * self.bytes % 4 == 0 and Engine.ASYNC in machine.copy_engines


PROMOTE = 128
"""Elements of k after which a second accumulator takes over from atoms that keep few bits of a sum."""


@dataclass(frozen=True)
class Matrices:
    """C = A B for an atom. m, n, k: the main dimensions that it takes. rows, columns: all that it takes along
    m and n. others: reduced dimensions beside k. depth: elements of k in a slice. least: the fewest results
    of a warp."""

    atom: Atom
    left: Factor
    right: Factor
    k: int
    others: tuple[int, ...]
    depth: int
    rows: AtomSide
    columns: AtomSide
    least: int = 0

    @property
    def m(self) -> int:
        return self.left.own

    @property
    def n(self) -> int:
        return self.right.own

    @property
    def accumulators(self) -> int:
        """Registers of a thread for each of its results."""
        return 2 if self.atom.coarse else 1

    def promotion(self, terms: int) -> tuple[Attr, ...]:
        """`@promote` where it has an effect. terms: of a sum that one unit computes."""
        return (attribute("promote", PROMOTE),) if self.atom.coarse and terms > PROMOTE else ()

    @cached_property
    def factors(self) -> tuple[Factor, Factor]:
        return self.left, self.right

    @property
    def sides(self) -> tuple[AtomSide, AtomSide]:
        return self.rows, self.columns


MANY_RESULTS = 1024
"""Results of a warp from which on registers are scarce in f64."""


def find_matrices(shape: Shape, machine: Machine, target: str) -> Matrices | None:
    """The stage as a product for atoms of warps; None if it is none."""
    known = [a for a in atoms_of(machine.compute_capability) if not a.grouped]
    return matrices_with(shape, machine, target, known)


def every_matrices(shape: Shape, machine: Machine, target: str) -> Iterator[Matrices]:
    """The stage as a product for atoms of warps. In f64 there are several: tiles decide which atom and slice
    are best. Fragments of an atom with few elements along k leave registers to more results."""
    found = find_matrices(shape, machine, target)
    if found is None:
        return
    yield found
    if found.atom.left != F64:
        return
    extent, accesses = shape.extents[found.k], (found.left.access, found.right.access)
    if extent > found.depth and (extent % (2 * found.depth) == 0 or ends_with(shape, found.k, accesses)):
        yield replace(found, depth=2 * found.depth)
    for atom in atoms_of(machine.compute_capability):
        same = (atom.left, atom.m, atom.n) == (F64, found.atom.m, found.atom.n)
        if same and atom.k < found.atom.k:
            yield replace(found, atom=atom, least=MANY_RESULTS)


def matrices_with(
    shape: Shape, machine: Machine, target: str, known: list[Atom], *, alone: bool = False
) -> Matrices | None:
    """The stage as a product for one of these atoms, whose speed on the machine is known; else None. alone:
    each axis of the atom takes one dimension."""
    every = (_matrices(shape, *pair, alone=alone) for pair in factor_pairs(shape, machine, target, known))
    return next(filter(None, every), None)


FactorPair = tuple[tuple[ShapeAccess, ShapeAccess], list[Atom]]
"""The reads of A and B, and the atoms for their types."""


def factor_pairs(shape: Shape, machine: Machine, target: str, known: list[Atom]) -> Iterator[FactorPair]:
    """The factors of the stage's sum in both orders, the one with neighbours along n first; none where atoms
    cannot compute it."""
    reads = summed_reads(shape.stage)
    if isinstance(reads, str) or not known or not LANGUAGES[target].tensor_cores or shape.keeps_order:
        return
    first, second, acc = reads
    accesses = [shape.access(x.buffer, x.index) for x in (first, second)]
    if any(not _alone(shape, a, accesses) for a in accesses):
        return
    out = shape.contiguous(shape.writes[0])
    pairs = [(first, accesses[0], second, accesses[1]), (second, accesses[1], first, accesses[0])]
    # two neighbours of a row of C are a lane's: rows run along n, if there are 16 rows
    pairs.sort(key=lambda p: out is not None and shape.uses(p[1], out))
    for a, a_access, b, b_access in pairs:
        left, right = (factor_type(f.dtype, shape.program.allowed) for f in (a, b))
        atoms = [
            x for x in known
            if (x.left, x.right, x.acc) == (left, right, acc) and tensor_peak(machine, x.left) > 0
        ]  # fmt: skip
        yield (a_access, b_access), atoms


def _alone(shape: Shape, access: ShapeAccess, factors: list[ShapeAccess]) -> bool:
    """Whether the buffer is an input that only the factors read, at known places."""
    reads = shape.reads_of(access.buffer)
    known = access.buffer in shape.inputs and all(r in factors and r.affine and r.index for r in reads)
    return known and access.buffer not in shape.outputs


def _matrices(
    shape: Shape, factors: tuple[ShapeAccess, ShapeAccess], atoms: list[Atom], *, alone: bool
) -> Matrices | None:
    results, reduced = shape.of_kind(DimKind.CC), shape.of_kind(DimKind.PW)
    sums = [d for d in reduced if all(position_of(shape, x, d) is not None for x in factors)]
    sides = []
    for one, other in (factors, factors[::-1]):
        dims = [d for d in results if shape.uses(one, d) and not shape.uses(other, d)]
        main = _main(shape, one, dims)
        if alone:
            dims = [] if main is None else [main]
        sides.append(side_of(shape, one, [d for d in dims if upward(shape, one, d)]))
    if not all(side.dims for side in sides) or not sums:
        return None
    k = max(sums, key=lambda d: shape.extents[d])
    rows, columns = sides
    fitting = [x for x in atoms if rows.fits(x.m) and columns.fits(x.n)]
    atom, depth = _slice(shape, k, factors, fitting)
    if atom is None:
        return None
    left, right = (_factor(shape, x, side, k, atom) for x, side in zip(factors, sides, strict=True))
    if left is None or right is None or (left.buffer == right.buffer and left.layout != right.layout):
        return None
    others = tuple(d for d in reduced if d != k)
    return Matrices(atom, left, right, k, others, depth, rows, columns)


def side_of(shape: Shape, factor: ShapeAccess, dims: list[int]) -> AtomSide:
    """Rows of 16-bit elements may run along the last of several dimensions, if it is read without gaps."""
    size = shape.element_bytes(factor.buffer)
    out = shape.writes[0]
    arrays = ((factor, size), (out, shape.element_bytes(out.buffer)))
    near = tuple((d, each) for x, each in arrays if (d := shape.contiguous(x)) in dims)
    last = bool(dims) and position_of(shape, factor, dims[-1]) == len(factor.index) - 1
    run = ROW // size if len(dims) > 1 and last and size < WORD else 1
    window = tuple(_shared_by_tiles(shape, factor, d) for d in dims) if len(dims) > 1 else ()
    return AtomSide(tuple(dims), tuple(shape.extents[d] for d in dims), near, run, window=window)


def _shared_by_tiles(shape: Shape, factor: ShapeAccess, dim: int) -> float:
    """Steps along the dimension that neighbouring tiles read alike: those of a window, less one."""
    name = shape.stage.dims[dim].name
    moved = [f for f in factor.index if f is not None and name in f.names]
    sums = {shape.stage.dims[d].name: shape.extents[d] for d in shape.of_kind(DimKind.PW)}
    return sum(
        (sums[other] - 1) * abs(f.coefficient(other)) / abs(f.coefficient(name))
        for f in moved
        for other in f.names
        if other in sums
    )


def position_of(shape: Shape, access: ShapeAccess, dim: int) -> int | None:
    """The position of the buffer that is the dimension alone; None if there is none, or it moves others."""
    name = shape.stage.dims[dim].name
    found = [p for p, f in enumerate(access.index) if f is not None and name in f.names]
    return found[0] if len(found) == 1 and access.index[found[0]] == Affine.var(name) else None


def upward(shape: Shape, access: ShapeAccess, dim: int) -> bool:
    name = shape.stage.dims[dim].name
    return all(f is not None and (name not in f.names or f.coefficient(name) > 0) for f in access.index)


def _main(shape: Shape, access: ShapeAccess, dims: list[int]) -> int | None:
    """The dimension that atoms take of a side: the largest, of equals the one whose elements are
    neighbours."""
    known = [d for d in dims if position_of(shape, access, d) is not None]
    near = shape.contiguous(access)
    return max(known, key=lambda d: (shape.extents[d], d == near, -d), default=None)


def _slice(
    shape: Shape, k: int, accesses: tuple[ShapeAccess, ...], atoms: list[Atom]
) -> tuple[Atom | None, int]:
    """The atom, the deepest that fits, and how much of k is copied at once. In f64 a slice has two parts or
    more, as fragments of one are loaded while the other is multiplied. If the sum is cut, both factors end
    with it: copies have zeros behind it."""
    extent = shape.extents[k]
    ends = ends_with(shape, k, accesses)
    for atom in sorted(atoms, key=lambda x: (-x.m, -x.k)):
        depth = SLICE[atom.left.bytes]
        if atom.left == F64 and atom.k == depth:
            continue
        for tile in range(min(depth, extent) // atom.k * atom.k, 0, -atom.k):
            if depth % atom.k == 0 and (ends or extent % tile == 0):
                return atom, tile
    return None, 0


def ends_with(shape: Shape, k: int, accesses: tuple[ShapeAccess, ...]) -> bool:
    """Whether both factors end where the sum over k does: copies have zeros behind it."""
    return all(_extent(shape, a, k) == shape.extents[k] for a in accesses)


def _extent(shape: Shape, access: ShapeAccess, dim: int) -> int:
    """Elements of the buffer along the position that the dimension moves."""
    position = position_of(shape, access, dim)
    assert position is not None
    return shape.program.buffer_of[access.buffer].shape[position]


def _factor(shape: Shape, access: ShapeAccess, side: AtomSide, k: int, atom: Atom) -> Factor | None:
    along = position_of(shape, access, k)
    assert along is not None
    last, size = len(access.index) - 1, shape.element_bytes(access.buffer)
    extents = shape.program.buffer_of[access.buffer].shape
    ends = [d for d in side.dims if position_of(shape, access, d) == last]
    # the last dimension of an axis alone runs along rows of ldmatrix
    straight = last == along or (bool(ends) and size > 1 and (size > WORD or ends[0] == side.dims[-1]))
    order = tuple(range(last + 1))
    if not straight:
        order = (*(p for p in order if p != along), along)
    elif last != along and len(side.dims) > 1 and size > WORD:
        # elements of a row lie side by side, and those of the next k behind it
        order = (*(p for p in order if p not in (along, last)), along, last)
    main = ends[0] if straight and last != along else max(side.dims, key=lambda d: shape.extents[d])
    return Factor(access, main, size, order[-1] == along, order, extents[last])
