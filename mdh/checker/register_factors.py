"""Factors that warp groups hold in registers: `A:RM[…]` above the MMA step. No copy makes them: the lowering
loads them as the atoms take them, each thread its own elements."""

from dataclasses import replace

from mdh.checker.subject import Subject
from mdh.diagnostics import Diagnostic
from mdh.hardware import CacheHint, Engine, Space
from mdh.ir.atoms import WORD
from mdh.ir.expr import Var, walk
from mdh.ir.plan import PlanStep, Product, Staging
from mdh.ir.program import Stage
from mdh.ir.tile import Copy

CODE = "K172"
SPREAD = 128
"""Bytes of the swizzle that the rows of atoms are spread for."""


def with_registers(steps: list[PlanStep], product: Product, stage: Stage) -> tuple[list[PlanStep], Product]:
    """The steps without the entry that puts A into registers, and the product with the step of it."""
    left, right = product.left.buffer, product.right.buffer
    if not product.atom.grouped or left == right:
        return steps, product
    held = [i for i, step in enumerate(steps) if any(_holds(s, left) for s in step.stagings)]
    if not held:
        return steps, product
    out = [replace(s, stagings=tuple(x for x in s.stagings if not _holds(x, left))) for s in steps]
    return out, replace(product, held=held[-1], spread=_spread(out, product, stage))


def _spread(steps: list[PlanStep], product: Product, stage: Stage) -> bool:
    """Whether the rows of the atoms get other numbers: threads that read words along m would come to the same
    banks. Results that the copy engine stores keep the order of the atom's rows."""
    shared = [x for s in steps for x in s.stagings if x.buffer == product.left.buffer]
    if product.atom.left.bytes != WORD or not shared or shared[-1].swizzle != SPREAD:
        return False
    if any(h.engine is Engine.TMA for s in steps for h in s.holdings):
        return False
    if len(product.m) > 1 or len(product.n) > 1:
        return False
    fast = product.left.index[shared[-1].layout[-1]]
    name = stage.dims[product.m[0].dim].name
    return any(isinstance(v, Var) and v.name == name for v in walk(fast))


def _holds(staging: Staging, buffer: str) -> bool:
    """Whether it is such an entry. With attributes of a copy it stays one, which K172 refuses."""
    plain = staging.engine is Engine.PLAIN and staging.vec is None and not staging.window
    return (
        plain
        and staging.cache is CacheHint.DEFAULT
        and (staging.buffer, staging.region) == (buffer, Space.RM)
    )


def misplaced(subject: Subject, s: int, product: Product, shared: Copy) -> Diagnostic | None:
    """K172 for an entry that does not stand inside of the copy to SM and directly around the atoms. s: index
    of the MMA step. shared: the copy that registers are loaded from."""
    held, name = product.held, product.left.buffer
    assert held is not None
    labels = subject.at_entry(held, name)
    if held <= shared.step or held >= s:
        headline = f"`{name}:RM[…]` stands outside of its copy in SM" if held < s else ""
        headline = headline or f"`{name}` is held in registers at the MMA step, whose atoms read it"
        said = "move it to a step between the one with `SM` and the MMA step"
        return Diagnostic(CODE, headline, labels, help=said)
    if subject.plan.steps[s].promote is not None:
        headline = f"`{name}` is held in registers, and `@promote` ends sums within a turn"
        return Diagnostic(CODE, headline, labels, help="leave one of the two out")
    loop = next((i for i in range(held + 1, s) if _loops(subject.plan.steps[i])), None)
    if loop is None and subject.plan.steps[held].stages == 1:
        return None
    if loop is None:
        headline, said = f"registers of `{name}` have one slot", "leave `@stages` out at this step"
    else:
        headline = f"step {loop + 1} loops between the registers of `{name}` and the atoms that read them"
        said = f"move `{name}:RM[…]` to step {loop + 1}"
    return Diagnostic(CODE, headline, labels, help=said)


def _loops(step: PlanStep) -> bool:
    return any(split.layer is None and split.parts > 1 for split in step.splits)
