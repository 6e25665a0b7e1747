"""The factor that threads of a warp group hold in registers: its fragments of all atoms of a turn.

Requires what K172 checks of `A:RM[…]` above the MMA step.
"""

from dataclasses import dataclass, replace
from math import prod

from mdh.hardware import Engine
from mdh.ir.atoms import GROUP_LANES
from mdh.ir.construct import loop
from mdh.ir.dtype import F32, TF32
from mdh.ir.expr import Load
from mdh.ir.kernel import Buf, ForKind, Stmt
from mdh.ir.plan import Product
from mdh.lower.atoms import PAIR, MmaFactor, atom_levels, factor_of, fragments, registers_of, unrolled
from mdh.lower.nest import Nest
from mdh.lower.scope import Scope, key_of


@dataclass(frozen=True, slots=True)
class HeldFactor:
    """The factor A of a warp group's atoms in registers. registers: of one atom."""

    factor: MmaFactor

    @property
    def buf(self) -> Buf:
        return self.factor.buf

    @property
    def registers(self) -> tuple[Load, ...]:
        return registers_of(self.factor)

    def loaded(self, lane: str, scope: Scope, start: int, stop: int) -> list[Stmt]:
        """Loads the fragments of the parts start … stop of k, counted along its first dimension. lane: the
        thread's number in its warp group."""
        fill, deep = fragments(self.factor, lane, scope), self.factor.deep
        inner = unrolled(deep[1:], fill)
        return [loop(deep[0].var, stop, inner, ForKind.UNROLL, start=start)] if deep else inner


def held_factor(nest: Nest, product: Product, s: int, scope: Scope) -> HeldFactor:
    """The fragments of A for all atoms of a turn."""
    factor = factor_of(nest, product, product.left, product.m, s)
    deep = atom_levels(nest, s, product.k)
    count, registers = factor.buf.shape
    shape = (count * prod(level.parts for level in deep), registers)
    buf = replace(factor.buf, shape=shape)
    if factor.type == TF32 and _by_engine(nest, product.left):
        # the copy engine has rounded the elements
        buf, factor = replace(buf, dtype=F32), replace(factor, type=F32)
    # one declaration outside of all loops: atoms of a turn still read registers while the next one begins
    buf = nest.declarations.fragments.setdefault(product.left.buffer, buf)
    pairs = product.spread and buf.dtype == product.left.dtype and _even(nest, product, scope)
    return HeldFactor(replace(factor, buf=buf, lanes=GROUP_LANES, deep=deep, pairs=pairs))


def _even(nest: Nest, product: Product, scope: Scope) -> bool:
    """Whether the first of a thread's two neighbouring rows lies at a multiple of two in its row of shared
    memory, and the other one behind it."""
    access = nest.access(product.left.index)
    assert access is not None
    instance = scope.live[key_of(product.left.buffer, access)]
    half = nest.levels.by_dim[product.m[0].dim][-1].var
    place = next(f for f in instance.local(tuple(nest.levels.over(i) for i in access)) if f.coefficient(half))
    return place.coefficient(half) == 1 and not any(
        n % PAIR for n in (*(c for var, c in place.terms if var != half), place.const)
    )


def _by_engine(nest: Nest, load: Load) -> bool:
    """Whether the copy engine brings a factor into shared memory."""
    access = nest.access(load.index)
    key = None if access is None else key_of(load.buffer, access)
    copies = [c for c in nest.tiles.copies if (c.tile.buffer, c.linear) == key]
    return bool(copies) and copies[-1].engine is Engine.TMA
