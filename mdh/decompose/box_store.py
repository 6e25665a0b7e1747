"""Results that leave by the copy engine: `@store(tma, subtile=n)` of what the atoms of warp groups compute.

A warp group writes n columns of an atom's result into shared memory. The copy engine takes them from there as
one box, or as several, while the next columns are written into another slot.
"""

from dataclasses import dataclass
from itertools import product as product_of

from mdh.decompose.accesses import affine_index
from mdh.hardware import Engine, Layer
from mdh.ir.affine import Affine
from mdh.ir.copy_engine import MOST_BOX, UNIT, unmapped
from mdh.ir.dtype import DType
from mdh.ir.layout import Levels
from mdh.ir.plan import AtomDim, Holding, Product, StagePlan
from mdh.ir.program import DimKind, Output, Program
from mdh.ir.tile import BOX_LINE, SWIZZLE_LINE

SLOTS = 2
Reason = tuple[str, str]
"""What is wrong, and what is legal instead."""


@dataclass(frozen=True, slots=True)
class ResultBoxes:
    """How a warp group stores `columns` of an atom's columns: all `rows` of its rows lie in a slot of shared
    memory, and boxes take them from there.

    buffer, dtype: the array and its type. box: elements of a box along each dimension of the array. starts:
    of each box, the first row in the slot, and the distance of its first element from the atom's. pieces: of
    an atom, side by side. atoms: of a warp group, those along m times those along n. groups: warp groups of
    a block.
    """

    buffer: str
    dtype: DType
    box: tuple[int, ...]
    starts: tuple[tuple[int, tuple[int, ...]], ...]
    rows: int
    columns: int
    pieces: int
    atoms: int
    groups: int

    @property
    def swizzle(self) -> int:
        row = self.columns * self.dtype.bytes
        return row if row in (32, 64, SWIZZLE_LINE) else 0

    @property
    def slots(self) -> int:
        """One slot, if after an odd number of boxes the first slot would follow itself."""
        return SLOTS if self.pieces * self.atoms % SLOTS == 0 else 1

    @property
    def bytes(self) -> int:
        """Of shared memory, for all warp groups."""
        return self.groups * self.slots * self.rows * self.columns * self.dtype.bytes


def boxed_holding(plan: StagePlan) -> tuple[int, Holding] | None:
    """The entry with `@store(tma)`, and the index of its step."""
    found = ((s, h) for s, step in enumerate(plan.steps) for h in step.holdings)
    return next(((s, h) for s, h in found if h.engine is Engine.TMA), None)


def box_store(program: Program, plan: StagePlan, levels: Levels) -> ResultBoxes | Reason | None:
    """How the stage's result leaves by the copy engine; None where no entry says that it does."""
    entry = boxed_holding(plan)
    if entry is None:
        return None
    holding = entry[1]
    step = None if plan.atoms is None else plan.steps[plan.atoms]
    if step is None or step.product is None or not step.product.atom.grouped:
        return (
            "only results of warp groups' atoms leave by the copy engine",
            "@store(plain), or `@atom(wgmma)`",
        )
    product, buffer = step.product, program.buffer_of[holding.buffer]
    unseen = unmapped(buffer)
    if unseen is not None:
        return unseen, "@store(plain)"
    f, output = next(
        (n, o) for n, r in enumerate(plan.stage.results) for o in r.outputs if o.buffer == holding.buffer
    )
    if plan.combines[f]:
        return f"its partial results meet by `{plan.combines[f][-1]}`", "@store(plain)"
    rows = _rows(program, plan, levels, product, output, buffer.shape)
    if isinstance(rows, tuple):
        return rows
    columns = holding.subtile or min(product.atom.n, SWIZZLE_LINE // buffer.dtype.bytes)
    row = columns * buffer.dtype.bytes
    if product.atom.n % columns or columns > MOST_BOX or row % UNIT or columns % BOX_LINE:
        fitting = [
            n for n in (8, 16, 32, 64, 128) if product.atom.n % n == 0 and n * buffer.dtype.bytes % UNIT == 0
        ]
        fact = f"an atom's {product.atom.n} columns do not fall into pieces of {columns}"
        return fact, f"subtile: {', '.join(map(str, fitting))}"
    cut = _boxes(plan, rows, len(buffer.shape))
    if isinstance(cut[0], str):
        return cut
    box, starts = cut
    atoms = step.atoms[0] * step.atoms[1]
    groups = plan.units(Layer.WGP) * plan.teams
    pieces = product.atom.n // columns
    return ResultBoxes(
        holding.buffer, buffer.dtype, (*box[:-1], columns), starts, product.atom.m, columns, pieces, atoms,
        groups,
    )  # fmt: skip


Rows = dict[int, AtomDim]
"""By dimension of the array, what of an atom's rows lies along it."""


def columns_of(product: Product) -> AtomDim:
    """The dimension of an atom's columns: one has more than one element (K170)."""
    return next(x for x in product.n if x.room > 1)


def _rows(
    program: Program,
    plan: StagePlan,
    levels: Levels,
    product: Product,
    output: Output,
    shape: tuple[int, ...],
) -> Rows | Reason:
    """The array's dimensions along which an atom's rows lie, if its columns lie along the last one, and what
    lies behind the end of a box is behind the end of the array."""
    plain = "@store(plain)"
    index = affine_index(program, plan.stage, output.index)
    along = {str(x.dim): x for x in product.m if x.room > 1}
    n = columns_of(product)
    taken = {**along, str(n.dim): n}
    names = [taken.keys() & f.names for f in index or ()]
    own = {d: min(found) for d, found in enumerate(names) if found}
    single = sum(map(len, names)) == len(taken) and sorted(own.values()) == sorted(taken)
    if index is None or not single or names[-1] != {str(n.dim)}:
        return "an atom's columns do not lie along the last dimension of the array", plain
    for d, var in own.items():
        if index[d] != Affine.var(var):
            return "its elements do not lie side by side as in an atom", plain
    assert plan.atoms is not None
    outer = {lv.var: Affine() for lv in levels.all if lv.step <= plan.atoms}
    for guard in levels.guards:
        dim, var = guard.dim, str(guard.dim)
        if plan.stage.dims[dim].kind is not DimKind.CC:
            continue
        # a box has no elements in places of an atom that stay empty
        if var in taken and (guard.bound, guard.offset) == (
            taken[var].tile,
            levels.index[dim].substitute(outer),
        ):
            continue
        # a box of an element that does not exist is none of the array
        alone = [d for d, f in enumerate(index) if var in f.names]
        whole = guard.bound == levels.extents[dim] and guard.offset == levels.index[dim]
        if not whole or not any(index[d] == Affine.var(var) and shape[d] == guard.bound for d in alone):
            return _cut(plan, dim)
    rows = {d: taken[var] for d, var in own.items() if var in along}
    if [x.weight for x in rows.values()] != sorted((x.weight for x in rows.values()), reverse=True):
        return "the dimensions of an atom's rows have another order in the array", plain
    return rows


Starts = tuple[tuple[int, tuple[int, ...]], ...]


def _boxes(plan: StagePlan, rows: Rows, rank: int) -> tuple[tuple[int, ...], Starts] | Reason:
    """The box of the rows, with one column, and where boxes begin. A box ends where places of an atom stay
    empty: the slower dimensions have one box for each element."""
    box, loops, name = [1] * rank, dict[int, AtomDim](), ""
    for d, x in reversed(rows.items()):
        if not name:
            box[d] = x.tile
            name = plan.stage.dims[x.dim].name if x.tile < x.room else ""
        else:
            loops = {d: x, **loops}
    apart = min((x.weight for x in loops.values() if x.tile > 1), default=BOX_LINE)
    if apart % BOX_LINE:
        fact = f"tiles of `{name}` leave places of an atom empty, so that its boxes are {apart} rows apart"
        return f"{fact}, and not multiples of {BOX_LINE}", f"tiles of `{name}` that are powers of two"
    starts = []
    for at in product_of(*(range(x.tile) for x in loops.values())):
        first = [0] * rank
        for d, n in zip(loops, at, strict=True):
            first[d] = n
        starts.append((sum(n * x.weight for n, x in zip(at, loops.values(), strict=True)), tuple(first)))
    return tuple(box), tuple(starts)


def _cut(plan: StagePlan, dim: int) -> Reason:
    name = plan.stage.dims[dim].name
    return f"tiles of `{name}` are cut inside of the array, where a box would go on", "tiles that divide"
