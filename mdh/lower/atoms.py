"""Atoms of tensor cores: a warp loads fragments of the factors, and multiplies all pairs of them.

Requires what K170, K172 and K173 check. The lanes' elements of the results are those of the levels that split
an atom (`mdh.checker.atoms.lane_steps`), so that regions and epilogues need to know nothing of atoms. The
loops over atoms keep no order: for each part of k all fragments are loaded once, then multiplied.
"""

from dataclasses import dataclass, replace

from mdh.hardware import Space
from mdh.ir.affine import Affine
from mdh.ir.atoms import GROUP_LANES, LANES, WORD, Fragment, FragmentPlace, LaneDigit
from mdh.ir.construct import loop
from mdh.ir.dtype import I32, TF32, U32, DType
from mdh.ir.expr import Binary, Call, Const, Expr, Load, Var
from mdh.ir.intrinsic import Intrinsic
from mdh.ir.kernel import Alloc, Buf, Comment, For, ForKind, If, Let, Stmt, Store
from mdh.ir.layout import Level
from mdh.ir.matrix import LoadMatrix, Mma
from mdh.ir.plan import Product
from mdh.lower.nest import Nest
from mdh.lower.promotion import after_turn, chunks, first_accumulator, take_over
from mdh.lower.scope import Region, Scope, key_of

MATRIX, MOST = 8, 4
"""Rows of the matrices that ldmatrix loads, and how many of them at once."""


@dataclass(frozen=True, slots=True)
class _Factor:
    """A or B. type: in which atoms read it. buf: fragments by atom and register. atoms: the loop over atoms
    along its own dimension; None: there is one. own, along: where an element lies along that dimension and
    along k. nest: in which the variables `element` and `depth` are the places in the atom along the two.
    lanes: that share an atom. deep: the loop over parts of k, if there are fragments of all of them."""

    load: Load
    type: DType
    buf: Buf
    atoms: Level | None
    own: FragmentPlace
    along: FragmentPlace
    nest: Nest
    element: str
    depth: str
    lanes: int = LANES
    deep: Level | None = None

    @property
    def registers(self) -> int:
        return self.buf.shape[1]

    @property
    def count(self) -> int:
        return 1 if self.atoms is None else self.atoms.parts


def emit_atoms(nest: Nest, scope: Scope) -> list[Stmt]:
    """All that a warp computes inside the loops around its atoms."""
    s = nest.plan.atoms
    assert s is not None
    step = nest.plan.steps[s]
    product = step.product
    assert product is not None
    lane = nest.fresh("lane")
    left = _factor(nest, product, product.left, product.m, s)
    right = _factor(nest, product, product.right, product.n, s)
    region = next(r for r in reversed(nest.regions) if r.fold == 0)
    body: list[Stmt] = [
        Alloc(left.buf), Alloc(right.buf), *_fill(left, lane, scope), *_fill(right, lane, scope),
        *_loop(left.atoms, 1, _loop(right.atoms, 1, [_multiply(nest, product, region, left, right, s)])),
    ]  # fmt: skip
    others = [g for g in nest.guards(scope) if g.dim not in (product.m, product.n, product.k)]
    cond = nest.condition(others, scope)
    number = Binary("%", Var(nest.tid), Const(LANES, I32), I32) if nest.threads > LANES else Var(nest.tid)
    out: list[Stmt] = [Comment(step.text, step.wrapped)] if step.text else []
    out.append(Let(lane, number, below=LANES))
    deep = _level(nest, s, product.k)
    for start, stop in chunks(step, 1 if deep is None else deep.parts):
        out += body if deep is None else [loop(deep.var, stop, body, ForKind.UNROLL, start=start)]
        if step.promoted_turns == 1:
            out += take_over(nest, region, s)
    out += after_turn(nest, region, s, scope)
    return out if cond is None else [If(cond, tuple(out))]


def _level(nest: Nest, step: int, dim: int) -> Level | None:
    return next((lv for lv in nest.levels.by_dim[dim] if lv.step == step), None)


def _loop(level: Level | None, by: int, body: list[Stmt]) -> list[Stmt]:
    if level is None:
        return body
    stop, zero = Const(level.parts, I32), Const(0, I32)
    return [For(level.var, zero, stop, Const(by, I32), tuple(body), ForKind.UNROLL)]


def _factor(nest: Nest, product: Product, load: Load, dim: int, s: int) -> _Factor:
    atom = product.atom
    fragment: Fragment = atom.a if dim == product.m else atom.b
    own, along = (fragment.row, fragment.column) if dim == product.m else (fragment.column, fragment.row)
    atoms = _level(nest, s, dim)
    inner = [lv.var for lv in nest.levels.by_dim[dim] if lv.step > s]
    depth = next(lv.var for lv in nest.levels.by_dim[product.k] if lv.step > s)
    # the last digit of the dimension stands for all that split an atom
    gone = {var: Affine() for var in inner[:-1]}
    index = tuple(i.substitute(gone) if d == dim else i for d, i in enumerate(nest.levels.index))
    registers = fragment.count // atom.packed
    count = 1 if atoms is None else atoms.parts
    kind = U32 if atom.left.bytes <= WORD else load.dtype
    name = nest.fresh(f"{load.buffer}_atoms")
    buf = Buf(name, Space.RM, kind, (count, registers), (registers, 1), align=16)
    levels = replace(nest.levels, index=index)
    own_nest = replace(nest, tiles=replace(nest.tiles, levels=levels))
    return _Factor(load, atom.left, buf, atoms, own, along, own_nest, inner[-1], depth)


def _multiply(nest: Nest, product: Product, region: Region, left: _Factor, right: _Factor, s: int) -> Mma:
    fragment = product.atom.c
    acc = tuple(_result(nest, product, region, fragment.at(0, v), s) for v in range(fragment.count))
    return Mma(product.atom, acc, _registers(left), _registers(right))


def _registers(factor: _Factor) -> tuple[Load, ...]:
    atom: Expr = Const(0, I32) if factor.atoms is None else Var(factor.atoms.var)
    if factor.deep is not None:
        part: Expr = Var(factor.deep.var)
        whole = part if factor.count == 1 else Binary("*", part, Const(factor.count, I32), I32)
        atom = _sum([whole, atom])
    buf = factor.buf
    return tuple(Load(buf.name, (atom, Const(r, I32)), buf.dtype) for r in range(factor.registers))


def _result(nest: Nest, product: Product, region: Region, at: tuple[int, int], s: int) -> Load:
    """The register of the element at a row and column that lane 0 holds."""
    values: dict[str, Expr] = {}
    for dim, place in ((product.m, at[0]), (product.n, at[1])):
        for level in nest.levels.by_dim[dim]:
            if level.step > s and level.layer is None:
                values[level.var] = Const(place // level.tile, I32)
    buf = first_accumulator(region)
    return Load(buf.name, region.index(values), buf.dtype)


# -- fragments of the factors --------------------------------------------------------------------


def _fill(factor: _Factor, lane: str, scope: Scope) -> list[Stmt]:
    if factor.type.bytes >= WORD:
        return _loop(factor.atoms, 1, [_element(factor, v, lane, scope) for v in range(factor.registers)])
    together = MOST // factor.registers
    while factor.count % together:
        together //= 2
    return _loop(factor.atoms, together, [_matrices(factor, together, lane, scope)])


def _element(factor: _Factor, v: int, lane: str, scope: Scope) -> Store:
    at: dict[str, Expr] = {
        name: _sum([*(_digit(d, Var(lane), factor.lanes) for d in place.lane), _const(place.of(0, v))])
        for name, place in ((factor.element, factor.own), (factor.depth, factor.along))
    }
    inner = replace(scope, values={**scope.values, **at})
    to, value = _registers(factor)[v], factor.nest.load(factor.load, inner)
    rounded = Call(Intrinsic.TO_TF32, (value,), U32) if factor.type == TF32 else value
    return Store(to.buffer, to.index, rounded)


def _matrices(factor: _Factor, together: int, lane: str, scope: Scope) -> LoadMatrix:
    """The registers of `together` atoms after one another, of which each is a matrix of 8 rows."""
    count = together * factor.registers
    rows = _rows_along_k(factor, scope)
    eighth: Expr = Binary("/", Var(lane), Const(MATRIX, I32), I32)
    alone = count * MATRIX == factor.lanes
    number = eighth if alone else Binary("%", eighth, Const(count, I32), I32)
    row = Binary("%", Var(lane), Const(MATRIX, I32), I32)
    at: dict[str, Expr] = {}
    for name, place, first in ((factor.element, factor.own, rows), (factor.depth, factor.along, not rows)):
        starts = [_start(factor, d, number, count) for d in place.element]
        starts += [_digit(d, Var(lane), factor.lanes) for d in place.lane if d.div >= LANES]
        at[name] = _sum([*starts, row] if first else starts)
    if factor.atoms is not None and together > 1:
        behind = Binary("/", number, Const(factor.registers, I32), I32)
        at[factor.atoms.var] = Binary("+", Var(factor.atoms.var), behind, I32)
    source = factor.nest.load(factor.load, replace(scope, values={**scope.values, **at}))
    dst = []
    for r in range(count):
        to = _registers(factor)[r % factor.registers]
        atom: Expr = _sum([to.index[0], _const(r // factor.registers)])
        dst.append(replace(to, index=(atom, to.index[1])))
    return LoadMatrix(tuple(dst), source.buffer, source.index, transposed=not rows)


def _start(factor: _Factor, digit: LaneDigit, number: Expr, count: int) -> Expr:
    """A digit of the first element of matrix `number`: those of an atom are its registers in turn."""
    packed = LANES // factor.load.dtype.bits
    if digit.div < packed:
        return Const(0, I32)
    return _digit(replace(digit, div=digit.div // packed), number, count)


def _rows_along_k(factor: _Factor, scope: Scope) -> bool:
    """Whether the rows in shared memory run along k; else they run along the factor's own dimension."""
    access = factor.nest.access(factor.load.index)
    assert access is not None
    instance = scope.live[key_of(factor.load.buffer, access)]
    strides = instance.buf.strides[-len(access) :]
    fastest = factor.nest.levels.of_var(factor.depth).dim
    return str(fastest) in access[strides.index(1)].names


def _digit(d: LaneDigit, x: Expr, most: int) -> Expr:
    """The digit of x, which is less than `most`."""
    if d.count == 1 or d.div >= most:
        return Const(0, I32)
    e = x if d.div == 1 else Binary("/", x, Const(d.div, I32), I32)
    e = e if d.div * d.count >= most else Binary("%", e, Const(d.count, I32), I32)
    return e if d.weight == 1 else Binary("*", e, Const(d.weight, I32), I32)


def _const(n: int) -> Expr:
    return Const(n, I32)


def _sum(terms: list[Expr]) -> Expr:
    out: Expr | None = None
    for e in terms:
        if e != Const(0, I32):
            out = e if out is None else Binary("+", out, e, I32)
    return Const(0, I32) if out is None else out


# -- factors that warp groups hold in registers --------------------------------------------------


def group_fragments(
    nest: Nest, product: Product, s: int, lane: str, scope: Scope
) -> tuple[list[Stmt], tuple[Load, ...]]:
    """Declares and loads the fragments of A for all atoms of a turn. Also returns the registers of one atom.
    lane: the thread's number in its warp group."""
    factor = _factor(nest, product, product.left, product.m, s)
    deep = _level(nest, s, product.k)
    shape = (factor.count * (1 if deep is None else deep.parts), factor.registers)
    factor = replace(factor, buf=replace(factor.buf, shape=shape), lanes=GROUP_LANES, deep=deep)
    return [Alloc(factor.buf), *_loop(deep, 1, _fill(factor, lane, scope))], _registers(factor)
