"""Atoms of tensor cores: a warp loads fragments of the factors, and multiplies all pairs of them.

Requires what K170, K172 and K173 check. The lanes' elements of the results are those of the levels that split
an atom (`mdh.checker.atom_places.lane_steps`), so that regions and epilogues need to know nothing of atoms.
The loops over atoms keep no order: for each part of k all fragments are loaded once, then multiplied.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from itertools import product as product_of
from math import prod

from mdh.checker.atom_reads import AtomRead, Way, copies_of, masked, way_of
from mdh.hardware import Space
from mdh.ir.atoms import LANES, WORD, Fragment, FragmentPlace, LaneDigit
from mdh.ir.construct import loop, number, scaled
from mdh.ir.dtype import F64, I32, TF32, U32, DType
from mdh.ir.expr import Binary, Call, Const, Expr, Load, Select, Var
from mdh.ir.intrinsic import Intrinsic
from mdh.ir.kernel import Alloc, Buf, Comment, ForKind, If, Let, Move, Stmt, Store
from mdh.ir.layout import Guard, Level
from mdh.ir.matrix import LoadMatrix, LoadWord, Mma
from mdh.ir.plan import AtomDim, Product
from mdh.lower.nest import Nest
from mdh.lower.promotion import after_turn, chunks, first_accumulator, take_over
from mdh.lower.scope import Atoms, NextFragments, Region, Scope, key_of

PAIR = 2
MATRIX, MOST = 8, 4
"""Rows of the matrices that ldmatrix loads, and how many of them at once."""


@dataclass(frozen=True, slots=True)
class _Digits:
    """Where an atom's elements lie along one of its axes. dims: with the variable that stands for all levels
    that split the atom along each; None: it has one element there. gone: variables of the other levels.
    zeros: there are zeros at empty places, in memory or by a condition of what reads."""

    place: FragmentPlace
    dims: tuple[tuple[AtomDim, str | None], ...]
    gone: tuple[str, ...]
    zeros: bool

    def values(self, terms: Callable[[AtomDim], list[Expr]], run: int = 1) -> dict[str, Expr]:
        """What the variables stand for. terms: of the element's number along a dimension. run: how many
        elements are read from there on, along the fastest dimension."""
        out: dict[str, Expr] = {}
        for x, var in self.dims:
            if var is not None:
                # lanes at other empty places read an element that is there
                e, last = _sum(terms(x)), x.tile - (run if x.weight == 1 else 1)
                whole = self.zeros or x.tile == x.room
                out[var] = e if whole else Call(Intrinsic.IMIN, (e, _const(last)), I32)
        return out


@dataclass(frozen=True, slots=True)
class MmaFactor:
    """A or B. type: in which atoms read it. buf: fragments by atom and register. atoms: the loops over atoms
    along its own dimensions. own, along: where an element lies along these and along k. way, kept: how lanes
    read it, and the guards of k for which they put zeros. lanes: that share an atom. deep: the loops over
    parts of k, if there are fragments of all of them. pairs: each two elements of a lane after one another
    lie side by side in shared memory, the first one at a multiple of two. first: the number of the first
    atom's fragment in buf."""

    load: Load
    type: DType
    buf: Buf
    atoms: tuple[Level, ...]
    own: _Digits
    along: _Digits
    nest: Nest
    way: Way
    kept: tuple[Guard, ...]
    lanes: int = LANES
    deep: tuple[Level, ...] = ()
    pairs: bool = False
    first: int = 0

    @property
    def registers(self) -> int:
        return self.buf.shape[1]

    @property
    def sides(self) -> tuple[_Digits, _Digits]:
        return self.own, self.along


def emit_atoms(nest: Nest, scope: Scope) -> list[Stmt]:
    """All that a warp computes inside the loops around its atoms."""
    s = nest.plan.atoms
    assert s is not None
    step = nest.plan.steps[s]
    product = step.product
    assert product is not None
    lane = nest.fresh("lane")
    left = factor_of(nest, product, product.left, product.m, s)
    right = factor_of(nest, product, product.right, product.n, s)
    region = next(r for r in reversed(nest.regions) if r.fold == 0)
    others = [g for g in nest.guards(scope) if g.dim not in product.taken]
    cond = nest.condition(others, scope)
    mine = Binary("%", Var(nest.tid), Const(LANES, I32), I32) if nest.threads > LANES else Var(nest.tid)
    out: list[Stmt] = [Comment(step.text, step.wrapped)] if step.text else []
    out.append(Let(lane, mine, below=LANES))
    deep = atom_levels(nest, s, product.k)
    if scope.ahead is not None:
        return [*out, *_while_loading(nest, scope, scope.ahead, region, (left, right), lane)]
    body: list[Stmt] = [
        Alloc(left.buf), Alloc(right.buf), *fragments(left, lane, scope), *fragments(right, lane, scope),
        *unrolled(left.atoms, unrolled(right.atoms, [_multiply(nest, product, region, left, right, s)])),
    ]  # fmt: skip
    inner = unrolled(deep[1:], body)
    for start, stop in chunks(step, deep[0].parts if deep else 1):
        out += [loop(deep[0].var, stop, inner, ForKind.UNROLL, start=start)] if deep else inner
        if step.promoted_turns == 1:
            out += take_over(nest, region, s)
    out += after_turn(nest, region, s, scope)
    return out if cond is None else [If(cond, tuple(out))]


def atom_levels(nest: Nest, step: int, dims: tuple[AtomDim, ...]) -> tuple[Level, ...]:
    """The loops over atoms along an axis."""
    found = (lv for x in dims for lv in nest.levels.by_dim[x.dim] if lv.step == step)
    return tuple(found)


def unrolled(levels: tuple[Level, ...], body: list[Stmt], by: int = 1) -> list[Stmt]:
    """by: of the innermost loop, if there is one."""
    for level in reversed(levels):
        body = [loop(level.var, level.parts, body, ForKind.UNROLL, step=by)]
        by = 1
    return body


def factor_of(nest: Nest, product: Product, load: Load, dims: tuple[AtomDim, ...], s: int) -> MmaFactor:
    atom = product.atom
    fragment: Fragment = product.a if dims is product.m else atom.b
    own, along = (fragment.row, fragment.column) if dims is product.m else (fragment.column, fragment.row)
    atoms = atom_levels(nest, s, dims)
    registers = fragment.count // atom.packed
    count = prod(level.parts for level in atoms)
    kind = U32 if atom.left.bytes <= WORD else load.dtype
    name = nest.fresh(f"{load.buffer}_atoms")
    buf = Buf(name, Space.RM, kind, (count, registers), (registers, 1), align=16)
    sides = (_digits(nest, own, dims, s), _digits(nest, along, product.k, s, zeros=True))
    kept = () if atom.grouped else masked(nest.program, nest.stage, nest.tiles, product)
    index = nest.access(load.index)
    assert index is not None
    copy = copies_of(nest.program, nest.stage, nest.tiles, load)[-1]
    way = way_of(nest.stage, nest.levels, AtomRead(product, load, dims, copy, index, s), kept)
    assert isinstance(way, Way), "K172 refuses what atoms cannot read"
    return MmaFactor(load, atom.left, buf, atoms, *sides, nest, way, kept)


def _digits(
    nest: Nest, place: FragmentPlace, dims: tuple[AtomDim, ...], s: int, *, zeros: bool = False
) -> _Digits:
    inner = [(x, [lv.var for lv in nest.levels.by_dim[x.dim] if lv.step > s]) for x in dims]
    # the last digit of a dimension stands for all that split an atom
    found = tuple((x, names[-1] if names else None) for x, names in inner)
    return _Digits(place, found, tuple(name for _, names in inner for name in names[:-1]), zeros)


def _multiply(nest: Nest, product: Product, region: Region, left: MmaFactor, right: MmaFactor, s: int) -> Mma:
    fragment = product.c
    acc = tuple(_result(nest, product, region, fragment.at(0, v), s) for v in range(fragment.count))
    return Mma(product.atom, acc, registers_of(left), registers_of(right))


def registers_of(factor: MmaFactor) -> tuple[Load, ...]:
    atom = number((Var(level.var), level.parts) for level in factor.atoms)
    if factor.deep:
        part = number((Var(level.var), level.parts) for level in factor.deep)
        atom = _sum([scaled(part, prod(level.parts for level in factor.atoms)), atom])
    atom = _sum([_const(factor.first), atom])
    buf = factor.buf
    return tuple(Load(buf.name, (atom, Const(r, I32)), buf.dtype) for r in range(factor.registers))


def _result(nest: Nest, product: Product, region: Region, at: tuple[int, int], s: int) -> Load:
    """The register of the element at a row and column that lane 0 holds."""
    values: dict[str, Expr] = {}
    for dims, place in ((product.m, at[0]), (product.n, at[1])):
        for x in dims:
            for level in nest.levels.by_dim[x.dim]:
                if level.step > s and level.layer is None:
                    values[level.var] = Const(x.of(place) // level.tile % level.parts, I32)
    buf = first_accumulator(region)
    return Load(buf.name, region.index(values), buf.dtype)


def loads_ahead(nest: Nest, number: int, scope: Scope, copied: Collection[str]) -> tuple[Buf, Buf] | None:
    """The registers for fragments of two parts of k, if the loop around the step with this number loads them
    ahead: it copies both factors, it stands directly around atoms of f64, which need few fragments and many
    cycles each, and there are as many parts of k in both halves. copied: buffers that the loop copies."""
    s, product = nest.plan.atoms, nest.product
    if s is None or product is None or product.atom.left != F64 or not isinstance(scope.leaf, Atoms):
        return None
    deep = atom_levels(nest, s, product.k)
    between = nest.items[nest.items.index(number) + 1 : scope.leaf.at]
    if len(deep) != 1 or deep[0].parts % 2 or any(isinstance(it, Level) for it in between):
        return None
    if nest.copies(between) or any(g.dim not in product.taken for g in nest.guards(scope)):
        return None
    both = ((product.left, product.m), (product.right, product.n))
    if any(load.buffer not in copied for load, _ in both):
        return None
    bufs = (factor_of(nest, product, load, dims, s).buf for load, dims in both)
    left, right = (replace(b, shape=(2 * b.shape[0], b.shape[1])) for b in bufs)
    return left, right


def _while_loading(
    nest: Nest, scope: Scope, ahead: NextFragments, region: Region,
    factors: tuple[MmaFactor, MmaFactor], lane: str,
) -> list[Stmt]:  # fmt: skip
    """The atoms of a turn. Before those of a part of k, the next part's fragments are loaded, and copies for
    later turns stand among the atoms of all parts but the last: its fragments are in registers when all meet
    before it, so from then on the slot of this turn is free."""
    s, product = nest.plan.atoms, nest.product
    assert s is not None and product is not None
    (level,) = atom_levels(nest, s, product.k)

    def half(part: int) -> tuple[MmaFactor, MmaFactor]:
        left, right = (
            replace(f, buf=buf, first=part % 2 * f.buf.shape[0])
            for f, buf in zip(factors, ahead.fragments, strict=True)
        )
        return left, right

    def loaded(part: int, at: Scope) -> list[Stmt]:
        at = at.at_part(level.var, part)
        return [x for f in half(part) for x in fragments(f, lane, at)]

    if ahead.first:
        return loaded(0, scope)
    out: list[Stmt] = []
    rows = list(product_of(*(range(lv.parts) for lv in factors[0].atoms)))
    places = (level.parts - 1) * len(rows)
    for part in range(level.parts):
        if part == level.parts - 1:
            out += [*ahead.meet, *loaded(0, replace(scope, live={**scope.live, **ahead.live}))]
        else:
            out += loaded(part + 1, scope)
        left, right = half(part)
        atom = _multiply(nest, product, region, left, right, s)
        for n, row in enumerate(rows, part * len(rows)):
            out += [x for i, x in enumerate(ahead.pieces) if i * places // len(ahead.pieces) == n]
            one: list[Stmt] = unrolled(right.atoms, [atom])
            for lv, i in zip(reversed(left.atoms), reversed(row), strict=True):
                one = [loop(lv.var, i + 1, one, ForKind.UNROLL, start=i)]
            out += one
    return out


# -- fragments of the factors --------------------------------------------------------------------


def fragments(factor: MmaFactor, lane: str, scope: Scope) -> list[Stmt]:
    gone = {var: 0 for side in factor.sides for var in side.gone}
    scope = replace(scope, fixed={**scope.fixed, **gone})
    if factor.pairs:
        both = range(0, factor.registers, PAIR)
        return unrolled(factor.atoms, [_pair(factor, v, lane, scope) for v in both])
    if factor.way is not Way.MATRIX:
        load = _element if factor.type.bytes >= WORD else _word
        return unrolled(factor.atoms, [load(factor, r, lane, scope) for r in range(factor.registers)])
    together = MOST // factor.registers
    while factor.atoms and factor.atoms[-1].parts % together:
        together //= 2
    together = together if factor.atoms else 1
    return unrolled(factor.atoms, [_matrices(factor, together, lane, scope)], together)


def _element(factor: MmaFactor, v: int, lane: str, scope: Scope) -> Store:
    inner = _at(factor, v, lane, scope)
    to, value = registers_of(factor)[v], factor.nest.load(factor.load, inner)
    found: Expr = Call(Intrinsic.TO_TF32, (value,), U32) if factor.type == TF32 else value
    there = _there(factor, inner)
    return Store(
        to.buffer, to.index, found if there is None else Select(there, found, Const(0, to.dtype), to.dtype)
    )


def _word(factor: MmaFactor, r: int, lane: str, scope: Scope) -> LoadWord:
    """All elements of register number r."""
    packed = WORD // factor.type.bytes
    count = 1 if factor.way is Way.WORD else packed
    inner = [_at(factor, r * packed + n, lane, scope) for n in range(count)]
    sources = [factor.nest.load(factor.load, at) for at in inner]
    places = tuple(source.index for source in sources)
    conditions = tuple(_there(factor, at) for at in inner)
    return LoadWord(registers_of(factor)[r], sources[0].buffer, places, conditions)


def _there(factor: MmaFactor, scope: Scope) -> Expr | None:
    """The condition that an element of k is one of the sum, where zeros stand for others."""
    return factor.nest.condition([g for g in factor.nest.guards(scope) if g in factor.kept], scope)


def _at(factor: MmaFactor, v: int, lane: str, scope: Scope) -> Scope:
    """The scope of a lane's element number v of an atom."""
    at: dict[str, Expr] = {}
    for side in factor.sides:

        def terms(x: AtomDim, place: FragmentPlace = side.place) -> list[Expr]:
            lanes = [_digit(d, Var(lane), factor.lanes) for d in _of(x, place.lane)]
            return [*lanes, _const(x.of(place.of(0, v)))]

        at |= side.values(terms)
    return scope.with_values(at)


def _pair(factor: MmaFactor, v: int, lane: str, scope: Scope) -> Move:
    """An element and the next one, which lie side by side in shared memory."""
    first = _element(factor, v, lane, scope)
    assert isinstance(first.value, Load)
    return Move(first.buffer, first.index, first.value.buffer, first.value.index, PAIR)


def _matrices(factor: MmaFactor, together: int, lane: str, scope: Scope) -> LoadMatrix:
    """The registers of `together` atoms after one another, of which each is a matrix of 8 rows."""
    count = together * factor.registers
    rows = _rows_along_k(factor, scope)
    eighth: Expr = Binary("/", Var(lane), Const(MATRIX, I32), I32)
    alone = count * MATRIX == factor.lanes
    which = eighth if alone else Binary("%", eighth, Const(count, I32), I32)
    at: dict[str, Expr] = {}
    for side, first in ((factor.own, rows), (factor.along, not rows)):

        def terms(x: AtomDim, place: FragmentPlace = side.place, first: bool = first) -> list[Expr]:
            starts = [_start(factor, d, x, which, count) for d in place.element]
            warps = tuple(d for d in place.lane if d.div >= LANES)
            starts += [_digit(d, Var(lane), factor.lanes) for d in _of(x, warps)]
            row = [_digit(d, Var(lane), LANES) for d in _of(x, (LaneDigit(1, MATRIX, 1),))]
            return [*starts, *row] if first else starts

        at |= side.values(terms, 1 if first else MATRIX)
    if together > 1:
        last = factor.atoms[-1].var
        behind = Binary("/", which, Const(factor.registers, I32), I32)
        at[last] = Binary("+", Var(last), behind, I32)
    source = factor.nest.load(factor.load, scope.with_values(at))
    dst = []
    for r in range(count):
        to = registers_of(factor)[r % factor.registers]
        atom: Expr = _sum([to.index[0], _const(r // factor.registers)])
        dst.append(replace(to, index=(atom, to.index[1])))
    return LoadMatrix(tuple(dst), source.buffer, source.index, transposed=not rows)


def _of(x: AtomDim, digits: tuple[LaneDigit, ...]) -> list[LaneDigit]:
    """What digits of a place say about the element of a dimension."""
    found = (_part(x, d) for d in digits)
    return [d for d in found if d is not None]


def _part(x: AtomDim, d: LaneDigit) -> LaneDigit | None:
    low, high = max(d.weight, x.weight), min(d.weight * d.count, x.weight * x.room)
    return LaneDigit(d.div * low // d.weight, high // low, low // x.weight) if low < high else None


def _start(factor: MmaFactor, digit: LaneDigit, x: AtomDim, which: Expr, count: int) -> Expr:
    """A digit of the first element of matrix number `which`: those of an atom are its registers in turn."""
    packed = LANES // factor.load.dtype.bits
    part = _part(x, digit)
    if digit.div < packed or part is None:
        return Const(0, I32)
    return _digit(replace(part, div=part.div // packed), which, count)


def _rows_along_k(factor: MmaFactor, scope: Scope) -> bool:
    """Whether the rows in shared memory run along k; else they run along the factor's own dimensions."""
    access = factor.nest.access(factor.load.index)
    assert access is not None
    instance = scope.live[key_of(factor.load.buffer, access)]
    strides = instance.buf.strides[-len(access) :]
    return any(str(x.dim) in access[strides.index(1)].names for x, _ in factor.along.dims)


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
