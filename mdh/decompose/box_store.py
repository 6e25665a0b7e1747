"""Results that leave by the copy engine: `@store(tma, subtile=n)` of what the atoms of warp groups compute.

A warp group writes n columns of an atom's result into shared memory. The copy engine takes them from there as
one box, while the next columns are written into another slot.
"""

from dataclasses import dataclass

from mdh.decompose.accesses import affine_index
from mdh.hardware import Engine, Layer
from mdh.ir.affine import Affine
from mdh.ir.copy_engine import MOST_BOX, UNIT, unmapped
from mdh.ir.dtype import DType
from mdh.ir.layout import Levels
from mdh.ir.plan import Holding, Product, StagePlan
from mdh.ir.program import DimKind, Output, Program
from mdh.ir.tile import BOX_LINE, SWIZZLE_LINE

SLOTS = 2
Reason = tuple[str, str]
"""What is wrong, and what is legal instead."""


@dataclass(frozen=True, slots=True)
class ResultBoxes:
    """The box of one store: `rows` along the array's dimension `axis`, `columns` along its last one.

    buffer, dtype: the array and its type. pieces: boxes of one atom, side by side. atoms: of a warp group,
    those along m times those along n. groups: warp groups of a block.
    """

    buffer: str
    dtype: DType
    axis: int
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
    unseen = unmapped(buffer.shape, buffer.dtype)
    if unseen is not None:
        return unseen, "@store(plain)"
    f, output = next(
        (n, o) for n, r in enumerate(plan.stage.results) for o in r.outputs if o.buffer == holding.buffer
    )
    if plan.combines[f]:
        return f"its partial results meet by `{plan.combines[f][-1]}`", "@store(plain)"
    if len(product.m) > 1 or len(product.n) > 1:
        return "several dimensions share an axis of its atoms", "@store(plain)"
    axis = _axis(program, plan, levels, product, output, buffer.shape)
    if not isinstance(axis, int):
        return axis
    columns = holding.subtile or min(product.atom.n, SWIZZLE_LINE // buffer.dtype.bytes)
    row = columns * buffer.dtype.bytes
    if product.atom.n % columns or columns > MOST_BOX or row % UNIT or columns % BOX_LINE:
        fitting = [
            n for n in (8, 16, 32, 64, 128) if product.atom.n % n == 0 and n * buffer.dtype.bytes % UNIT == 0
        ]
        fact = f"an atom's {product.atom.n} columns do not fall into pieces of {columns}"
        return fact, f"subtile: {', '.join(map(str, fitting))}"
    atoms = step.atoms[0] * step.atoms[1]
    groups = plan.units(Layer.WGP) * plan.teams
    pieces = product.atom.n // columns
    return ResultBoxes(holding.buffer, buffer.dtype, axis, product.atom.m, columns, pieces, atoms, groups)


def _axis(
    program: Program,
    plan: StagePlan,
    levels: Levels,
    product: Product,
    output: Output,
    shape: tuple[int, ...],
) -> int | Reason:
    """The array's dimension along which an atom's rows lie, if its columns lie along the last one, and what
    lies behind the end of a box is behind the end of the array."""
    plain = "@store(plain)"
    index = affine_index(program, plan.stage, output.index)
    m, n = str(product.m[0].dim), str(product.n[0].dim)
    names = {d: {m, n} & f.names for d, f in enumerate(index or ())}
    own = [d for d, found in names.items() if found]
    if index is None or len(own) != 2 or own[1] != len(shape) - 1 or names[own[0]] != {m}:
        return "an atom's columns do not lie along the last dimension of the array", plain
    for d, var in zip(own, (m, n), strict=True):
        if index[d] != Affine.var(var):
            return "its elements do not lie side by side as in an atom", plain
        dim = int(var)
        for guard in (g for g in levels.guards if g.dim == dim):
            whole = guard.bound == levels.extents[dim] and guard.offset == levels.index[dim]
            if not whole or shape[d] != levels.extents[dim]:
                return _cut(plan, dim)
    for guard in levels.guards:
        dim, var = guard.dim, str(guard.dim)
        if var in (m, n) or plan.stage.dims[dim].kind is not DimKind.CC:
            continue
        # a box of an element that does not exist is none of the array
        alone = [d for d, f in enumerate(index) if var in f.names]
        whole = guard.bound == levels.extents[dim] and guard.offset == levels.index[dim]
        if not whole or not any(index[d] == Affine.var(var) and shape[d] == guard.bound for d in alone):
            return _cut(plan, dim)
    return own[0]


def _cut(plan: StagePlan, dim: int) -> Reason:
    name = plan.stage.dims[dim].name
    return f"tiles of `{name}` are cut inside of the array, where a box would go on", "tiles that divide"
