"""Products of matrices that warp groups multiply: what the copy engine and atoms see of factors and of the
result. The conditions are those of the rules K166 and K170 to K174.
"""

from dataclasses import replace

from mdh.cost.gpu import WORD
from mdh.hardware import Engine
from mdh.ir.affine import Affine
from mdh.ir.atoms import atoms_of
from mdh.ir.copy_engine import MOST_STEP, unmapped
from mdh.machine import Machine
from mdh.schedule.default.atom_sides import AtomSide
from mdh.schedule.default.atoms import Factor, Matrices, ends_with, matrices_with
from mdh.schedule.default.shape import Shape

SWIZZLE = 128
"""Bytes of a slice along k."""


def find_groups(shape: Shape, machine: Machine, target: str) -> list[Matrices]:
    """The stage as products for atoms of warp groups: of one dimension of rows, and of several. An atom has
    64 rows and any multiple of 8 columns, so its rows may also run along the columns of the result: then
    C^T = B^T A^T."""
    if Engine.TMA not in machine.copy_engines:
        return []
    known = [a for a in atoms_of(machine.compute_capability) if a.grouped]
    out: list[Matrices] = []
    for alone in (True, False):
        found = matrices_with(shape, machine, target, known, alone=alone)
        if found is not None and (alone or len(found.rows.dims) + len(found.columns.dims) > 2):
            turned = replace(
                found, left=found.right, right=found.left, rows=found.columns, columns=found.rows
            )
            out += [x for x in (found, turned) if _seen(shape, x)]
    # matrix descriptors say how rows of several dimensions lie
    return [replace(x, rows=replace(x.rows, dense=len(x.rows.dims) > 1)) for x in out]


def _seen(shape: Shape, found: Matrices) -> bool:
    """Whether boxes of both factors are what its atoms read."""
    depth, extent = SWIZZLE // found.atom.left.bytes, shape.extents[found.k]
    whole = extent % depth == 0 or (extent > depth and ends_along(shape, found))
    rows = _rows if len(found.rows.dims) > 1 else _boxed
    one = len(found.columns.dims) == 1
    return whole and one and _boxed(shape, found, found.right) and rows(shape, found, found.left)


def ends_along(shape: Shape, found: Matrices) -> bool:
    return ends_with(shape, found.k, (found.left.access, found.right.access))


def _boxed(shape: Shape, found: Matrices, factor: Factor) -> bool:
    """Whether the copy engine sees the array, and atoms find their elements in rows of what it brings."""
    buffer = shape.program.buffer_of[factor.buffer]
    seen = unmapped(buffer) is None and not factor.turned
    names = {f"{shape.stage.dims[d].name}" for d in (factor.own, found.k)}
    # a block has one element along the other dimensions
    places = [f.names & names for f in factor.access.index if f is not None]
    plain = len(places[-1]) == 1 and sorted(map(len, places))[-2:] == [1, 1] and sum(map(len, places)) == 2
    held = factor is found.left and held_in_registers(found)
    return seen and plain and (factor.along_k or found.atom.transposes or held)


def held_in_registers(found: Matrices) -> bool:
    """Whether threads hold the factor along m in registers: atoms of tf32 read only rows along k from shared
    memory."""
    return not found.left.along_k and not found.atom.transposes and found.atom.left.bytes == WORD


def _rows(shape: Shape, found: Matrices, factor: Factor) -> bool:
    """Whether a box of the factor has the rows of an atom: their dimensions lie in order before k."""
    buffer = shape.program.buffer_of[factor.buffer]
    names = [shape.stage.dims[d].name for d in (*found.rows.dims, found.k)]
    index = [f for f in factor.access.index if f is not None]
    places = [[p for p, f in enumerate(index) if n in f.names] for n in names]
    alone = all(len(p) == 1 for p in places) and len({p[0] for p in places}) == len(names)
    ordered = places == sorted(places) and places[-1] == [len(buffer.shape) - 1]
    seen = unmapped(buffer) is None and not factor.turned
    paces = [f.coefficient(n) for f in index for n in names if n in f.names]
    return seen and alone and ordered and all(0 < pace <= MOST_STEP for pace in paces)


def stored_bytes(shape: Shape, found: Matrices) -> int:
    """Bytes of a result that can leave by the copy engine; 0: it cannot."""
    if len(shape.stage.results) != 1 or len(shape.writes) != 1:
        return 0
    write = shape.writes[0]
    buffer = shape.program.buffer_of[write.buffer]
    if unmapped(buffer) is not None:
        return 0
    places = []
    for d in (*found.rows.dims, found.n):
        plain = Affine.var(shape.stage.dims[d].name)
        at = [p for p, f in enumerate(write.index) if f == plain and buffer.shape[p] == shape.extents[d]]
        moved = [p for p, f in enumerate(write.index) if f is not None and plain.names & f.names]
        if len(at) != 1 or moved != at:
            return 0
        places += at
    straight = places == sorted(places) and places[-1] == len(buffer.shape) - 1
    return buffer.dtype.bytes if straight else 0


def dense_rows(shape: Shape, found: Matrices) -> bool:
    """Whether a slice of the left factor has no gaps between its elements, as strides leave them."""
    names = [shape.stage.dims[d].name for d in found.rows.dims]
    index = [f for f in found.left.access.index if f is not None]
    return all(f.coefficient(n) == 1 for f in index for n in names if n in f.names)


def windows(shape: Shape, found: Matrices) -> list[tuple[tuple[int, ...], AtomSide]]:
    """Reduced dimensions whose whole window a copy of the left factor may hold, and the rows with its halo:
    none, and all that move rows."""
    names = [dim.name for dim in shape.stage.dims]
    moving = [d for d in found.others if shape.extents[d] > 1 and shape.uses(found.left.access, d)]
    halo = dict.fromkeys(found.rows.dims, 0)
    for f in (f for f in found.left.access.index if f is not None):
        own = [d for d in found.rows.dims if names[d] in f.names]
        for w in (d for d in moving if names[d] in f.names):
            if len(own) != 1 or f.coefficient(names[w]) != 1:
                return [((), found.rows)]
            halo[own[0]] += shape.extents[w] - 1
    if not moving or not found.left.along_k or found.left.turned or not dense_rows(shape, found):
        return [((), found.rows)]
    return [((), found.rows), (tuple(moving), replace(found.rows, halo=tuple(halo.values())))]
