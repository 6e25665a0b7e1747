"""`@promote(n)`: atoms add to a first accumulator, and after n elements a second one takes over.

The first one keeps few bits of a sum of 8-bit floats. The second one is the region of the results, to which
threads add in f32. At every place the sum is what both hold together. So it does not matter where parts of
the reduction begin and end, or whether a guard leaves some out.
"""

from mdh.decompose.regions import levels_from
from mdh.ir.construct import ZERO, equal, loop, mod, number, when
from mdh.ir.expr import Binary, Const, Expr, Load
from mdh.ir.kernel import Alloc, Buf, ForKind, Stmt, Store
from mdh.ir.layout import Level
from mdh.ir.matrix import MmaWait
from mdh.ir.plan import PlanStep
from mdh.ir.program import DimKind
from mdh.lower.nest import Nest
from mdh.lower.scope import Region, Scope


def first_accumulator(region: Region) -> Buf:
    """What the atoms add to: the region's registers, or those that these take over from."""
    return region.bufs[0] if region.first is None else region.first


def open_first(nest: Nest, region: Region) -> list[Stmt]:
    """Where the region opens: the first accumulator begins at 0. Atoms of warp groups begin it themselves
    where their sums end in each turn."""
    s = nest.plan.atoms
    if region.first is None or s is None:
        return []
    step = nest.plan.steps[s]
    assert step.product is not None
    begun = step.product.atom.grouped and step.promoted_turns == 1
    return [Alloc(region.first, None if begun else Const(0.0, region.first.dtype))]


def close_first(nest: Nest, region: Region) -> list[Stmt]:
    """Where the region closes: what the last turns added is taken over."""
    s = nest.plan.atoms
    if region.first is None or s is None or nest.plan.steps[s].promoted_turns < 2:
        return []
    return take_over(nest, region, s, everywhere=True)


def take_over(
    nest: Nest, region: Region, s: int, *, everywhere: bool = False, clear: bool = True
) -> list[Stmt]:
    """Adds the first accumulator to the second: what the atoms of a turn add to, or `everywhere`. clear: the
    first one is 0 then. s: the index of the MMA step."""
    first, second = first_accumulator(region), region.bufs[0]
    index = region.index({})
    both = Binary(
        "+", Load(second.name, index, second.dtype), Load(first.name, index, first.dtype), second.dtype
    )
    body: list[Stmt] = [Store(second.name, index, both)]
    if clear:
        body.append(Store(first.name, index, Const(0.0, first.dtype)))
    held = [lv for lv in map(nest.levels.of_var, region.loops) if lv.layer is None]
    for level in reversed([lv for lv in held if everywhere or lv.step >= s]):
        body = [loop(level.var, level.parts, body, ForKind.UNROLL)]
    return body


def after_turn(nest: Nest, region: Region, s: int, scope: Scope) -> list[Stmt]:
    """Behind a turn of the atoms: every so many turns the second accumulator takes over."""
    turns = nest.plan.steps[s].promoted_turns
    if turns < 2:
        return []
    passed = _reductions(nest, region, s)
    count: Expr = number((scope.value(lv.var), lv.parts) for lv in passed)
    ended: Expr | None = equal(mod(count, turns), turns - 1)
    if count == ZERO:
        return []
    return when(ended, [*wait(nest, s), *take_over(nest, region, s)])


def wait(nest: Nest, s: int) -> list[Stmt]:
    """Atoms of warp groups run on until they are awaited."""
    product = nest.plan.steps[s].product
    return [MmaWait(0)] if product is not None and product.atom.grouped else []


def chunks(step: PlanStep, parts: int) -> list[tuple[int, int]]:
    """The parts of k in a turn, from … to …, behind each of which the second accumulator takes over; one pair
    if it does so behind turns alone, or never."""
    if step.promote is None or step.product is None or step.promoted_turns > 1:
        return [(0, parts)]
    each = max(1, step.promote // step.product.atom.k)
    return [(start, min(start + each, parts)) for start in range(0, parts, each)]


def _reductions(nest: Nest, region: Region, s: int) -> list[Level]:
    """The loops between the region and its atoms that add to the same elements."""
    inside = levels_from(nest.items, region.opens)
    kinds = [d.kind for d in nest.stage.dims]
    return [lv for lv in inside if lv.layer is None and lv.step < s and kinds[lv.dim] is DimKind.PW]
