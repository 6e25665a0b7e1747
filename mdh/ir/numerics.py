"""How a plan computes sums of products, where that is coarser than the C's types. The judge follows it."""

from dataclasses import dataclass, replace
from math import inf

from mdh.ir.atoms import Atom
from mdh.ir.dtype import F32, F64, TF32
from mdh.ir.plan import Plan, PlanStep
from mdh.ir.product_sum import truncating
from mdh.ir.program import Stage


@dataclass(frozen=True, slots=True)
class Numerics:
    """Of one stage.

    factor_bits: significant bits with which factors are multiplied; 0: all that their type has. cuts_factors:
    the other bits are cut off; else factors are rounded to nearest.
    sum_bits: bits behind the leading one that the sum keeps, the others being cut off; 0: the sum is rounded
    to nearest in its own type. block: terms that are added at once, with one cut. promote: terms after which
    their sum is added to one that is rounded to nearest, and the next begins; 0: never.
    """

    factor_bits: int = 0
    cuts_factors: bool = False
    sum_bits: int = 0
    block: int = 1
    promote: int = 0

    @property
    def product_error(self) -> float:
        """The relative error of a product that comes from those of its two factors."""
        if not self.factor_bits:
            return 0.0
        one = 2.0 ** (self.cuts_factors - self.factor_bits)
        return 2 * one + one * one

    def sum_error(self, count: int) -> float:
        """The error of a sum of `count` terms that comes from cuts, in units of the sum of absolute values:
        each cut takes up to one last place."""
        if not self.sum_bits:
            return 0.0
        return min(count, self.promote or count) / self.block * 2.0**-self.sum_bits

    @property
    def exact_factor(self) -> float:
        """Integers up to this size are exact as factors."""
        return 2.0**self.factor_bits if self.factor_bits else inf

    def exact_sum(self, bits: int, term: float = inf) -> float:
        """Sums of integers up to this size are exact. bits: the precision of the sum's type. term: the
        largest one."""
        most = 2.0 ** min(bits, self.sum_bits + 1 if self.sum_bits else bits)
        return 2.0**bits if self.promote and self.promote * term <= most else most


OWN = Numerics()
"""As the types of the C say."""
_CUT = Numerics(sum_bits=23, block=4)
"""Of sums in f32 that tensor cores add. By type and GPU, they add four to sixteen products to a sum at once,
each cut off a bit or two behind the last one of the largest: the cuts of terms of one sign add up. Measured
on an H100 with 256 to 65,536 positive products of 16-bit factors: up to 0.26 of what this allows."""

_COARSE = Numerics(sum_bits=13, block=2)
"""Of sums of 8-bit floats that tensor cores add: each term is cut off 13 bits behind the leading one of the
largest."""

_UNKNOWN = {F32: Numerics(sum_bits=24), F64: Numerics(sum_bits=53)}
"""Of sums that a library adds: each addition may round by half a last place, in whatever order they come."""

ByStage = tuple[tuple[str, Numerics], ...]
"""Names of stages and their numerics. The other stages have those that are `assumed`."""


def assumed(stage: Stage) -> Numerics:
    """Of a stage whose plan says nothing: tensor cores may add sums of 16-bit floats for any library."""
    return _CUT if truncating(stage) else OWN


def numerics_of(plan: Plan) -> ByStage:
    """Of the stages that atoms compute, and of those that a library does."""
    found = ((p.stage.name, step) for p in plan.stages for step in p.steps)
    atoms = tuple(
        (name, _of_step(step, step.product.atom)) for name, step in found if step.product is not None
    )
    calls = ((p.stage.name, p.call.call.dtype) for p in plan.stages if p.call is not None)
    return (*atoms, *((name, _UNKNOWN[t]) for name, t in calls))


def _of_step(step: PlanStep, atom: Atom) -> Numerics:
    if atom.coarse:
        return replace(_COARSE, promote=step.promote or 0)
    if atom.acc != F32:
        return OWN
    return replace(_CUT, factor_bits=11) if atom.left == TF32 else _CUT
