"""How the atoms of warps read a factor's fragments in shared memory: by `ldmatrix`, or each lane for itself,
word by word or element by element.

Elements of k that there are not add nothing, so both factors are zero there. Where the copies have zeros
behind the end of both, nothing is to do. Else lanes put zeros into their registers, and read nothing.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from mdh.decompose.accesses import affine_index
from mdh.ir.affine import Affine
from mdh.ir.expr import Load
from mdh.ir.layout import Axis, Guard, Levels
from mdh.ir.plan import AtomDim, Product
from mdh.ir.program import Program, Stage
from mdh.ir.tile import ALIGNMENT, Copy, Tiles

Reason = tuple[str, str]
"""What is wrong, and what is legal instead."""


class Way(StrEnum):
    """What loads a register of a fragment: `ldmatrix` for all lanes, or a lane for itself the neighbours
    along k that share a register, as one word or one by one."""

    MATRIX = "matrix"
    WORD = "word"
    ELEMENT = "element"


@dataclass(frozen=True, slots=True)
class AtomRead:
    """A factor's read. own: the dimensions that it has beside those of k. copy: the part in shared memory.
    index: where the C reads, over dimensions named by position. step: index of the MMA step."""

    product: Product
    load: Load
    own: tuple[AtomDim, ...]
    copy: Copy
    index: tuple[Affine, ...]
    step: int

    @property
    def dims(self) -> frozenset[str]:
        return frozenset(str(x.dim) for x in (*self.own, *self.product.k))

    @property
    def depth(self) -> frozenset[str]:
        return frozenset(str(x.dim) for x in self.product.k)

    def run(self, name: str) -> int:
        """Elements of an atom along a dimension, side by side in the order of the atom's places; 0 if others
        lie between them. Empty places along k count: there are zeros."""
        found = next(x for x in (*self.own, *self.product.k) if str(x.dim) == name)
        elements = found.room if found in self.product.k else found.tile
        return elements if found.weight == 1 else 0


def copies_of(program: Program, stage: Stage, tiles: Tiles, load: Load) -> list[Copy]:
    """The copies that a read is served by, the last one innermost."""
    index = affine_index(program, stage, load.index)
    linear = None if index is None else tuple(Affine(f.terms) for f in index)
    return [c for c in tiles.copies if c.tile.buffer == load.buffer and c.linear == linear]


# -- elements of k that there are not --------------------------------------------------------------


def masked(program: Program, stage: Stage, tiles: Tiles, product: Product) -> tuple[Guard, ...]:
    """The guards of k that lanes keep by zeros, because the copies do not."""
    dims = {x.dim for x in product.k}
    return tuple(
        g for g in tiles.levels.guards if g.dim in dims and not _filled(program, stage, tiles, product, g)
    )


def _filled(program: Program, stage: Stage, tiles: Tiles, product: Product, guard: Guard) -> bool:
    """Whether both copies hold zeros behind the guard's bound: it is the end of the loop and of both arrays,
    and the copies reach past it."""
    levels, k = tiles.levels, guard.dim
    if guard.bound != levels.extents[k] or guard.offset != levels.index[k]:
        return False
    for load in (product.left, product.right):
        index = affine_index(program, stage, load.index)
        shape = program.buffer_of[load.buffer].shape
        ends = [(f, n) for f, n in zip(index or (), shape, strict=False) if str(k) in f.names]
        copies = copies_of(program, stage, tiles, load)
        if ends != [(Affine.var(str(k)), levels.extents[k])] or not copies:
            return False
        inside = (levels.of_var(v) for axis in copies[-1].tile.axes for v, *_ in axis.variables)
        if any(lv.dim == k and not lv.exact for lv in inside):
            return False
    return True


# -- how lanes read --------------------------------------------------------------------------------


def way_of(stage: Stage, levels: Levels, read: AtomRead, kept: Iterable[Guard]) -> Way | Reason:
    """How a factor is read; or else why `ldmatrix` cannot, where one dimension fills k. kept: `masked`."""
    if read.product.atom.packed == 1:
        return Way.ELEMENT
    guards = tuple(kept)
    wrong = None if guards else _matrix_rows(stage, levels, read)
    if wrong is None and not guards:
        return Way.MATRIX
    if wrong is not None and sum(x.room > 1 for x in read.product.k) == 1:
        return wrong
    return Way.WORD if _whole_words(levels, read, guards) else Way.ELEMENT


def _matrix_rows(stage: Stage, levels: Levels, read: AtomRead) -> Reason | None:
    """Why `ldmatrix` cannot read the copy, which takes whole 16 bytes of a row at once, and what to do."""
    copy, tile, index = read.copy, read.copy.tile, read.index
    fastest = tile.layout[-1]
    function, axis = copy.linear[fastest], tile.axes[fastest]
    mine = sorted(read.dims & function.names)
    order = [d for d, f in enumerate(copy.linear) if not read.depth & f.names]
    order += [d for d in range(len(copy.linear)) if d not in order]
    along_k = f"`{tile.buffer}:SM[{','.join(str(d + 1) for d in order)}]` has rows along k"
    if len(mine) > 1 or (mine and axis.packed):
        return (
            f"`{tile.buffer}` is not read densely along the atom's dimensions",
            "use THR and a register tile",
        )
    if not mine or function.coefficient(mine[0]) != 1:
        return f"no dimension of the atom runs along the rows of `{tile.buffer}` in SM", along_k
    name = stage.dims[int(mine[0])].name
    if mine[0] not in read.depth and tile.sizes[0] == 1:
        return f"rows of `{tile.buffer}` in SM run along `{name}`: atoms read bytes along k", along_k
    whole = ALIGNMENT // tile.sizes[0]
    if read.run(mine[0]) % whole or not read.run(mine[0]):
        fact = f"an atom reads {whole} neighbours of `{tile.buffer}` in SM, which lie along `{name}`, at once"
        return fact, f"`{name}` last on its axis, with a tile that {whole} divides"
    outer = [c for v, _, c, _ in axis.variables if levels.of_var(v).step <= read.step]
    starts = [*outer, index[fastest].const - axis.low.const]
    rows = [n for d, n in enumerate(tile.strides) if d != fastest]
    if any(n % whole for n in (*starts, *rows)):
        headline = f"rows of `{tile.buffer}` in SM do not begin at multiples of 16 bytes ({whole} elements)"
        return headline, f"tiles and `@pad` in multiples of {whole}"
    return None


def _whole_words(levels: Levels, read: AtomRead, guards: tuple[Guard, ...]) -> bool:
    """Whether neighbours along k that share a register lie side by side in SM, from a multiple of its bytes
    on, and the guards say the same of all."""
    packed, tile = read.product.atom.packed, read.copy.tile
    near = next((x for x in read.product.k if x.weight == 1 and x.room > 1), None)
    if near is None or near.room % packed:
        return False
    own = levels.by_dim[near.dim][-1].var
    for g in guards:
        apart = [c for v, c in g.offset.terms if v != own]
        if g.dim == near.dim and any(n % packed for n in (*apart, g.bound)):
            return False
    for d, (axis, stride) in enumerate(zip(tile.axes, tile.strides, strict=True)):
        if not axis.packed and (read.index[d].const - axis.low.const) * stride % packed:
            return False
        for var, place in _places(axis):
            alone = var == own and d == tile.layout[-1]
            if place != 1 if alone else place * stride % packed:
                return False
    return any(v == own for v, _ in _places(tile.axes[tile.layout[-1]]))


def _places(axis: Axis) -> list[tuple[str, int]]:
    """How far each digit moves along an axis of a tile."""
    return [(v, radix if axis.packed else c) for v, _, c, radix in axis.variables]
