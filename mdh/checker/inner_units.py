"""K125: who computes a stage inside of its reader's kernel."""

from collections.abc import Iterator

from mdh.checker.inner_places import Inner
from mdh.diagnostics import Diagnostic
from mdh.hardware import Combine, Layer, Space
from mdh.ir.plan import StagePlan
from mdh.ir.program import DimKind
from mdh.ir.tile import Hold, Loop, nested
from mdh.wording import plural

UNITS = "K125"
WARP = 32


def unfit_units(one: Inner, plan: StagePlan, given: int | None, *, alone: bool) -> Iterator[Diagnostic]:
    """K125. Only threads, vectors and loops split the box. The threads are the reader's, or some of them. In
    registers each thread computes all that it reads, or all threads of the reader share the terms of its
    sums, and then each of them knows the results. No reduction stops and goes on.

    given: the threads of the reader; None on a CPU, which loops over threads. alone: each of them computes
    the reader for itself.
    """
    blocks = [x for x in (Layer.NOD, Layer.DEV, Layer.CLU, Layer.BLK) if plan.units(x) > 1]
    if blocks:
        what = f"its steps use {blocks[0]}, and the box belongs to one block"
        yield one.wrong(UNITS, what, "split the box over THR, WRP, VEC and loops")
        return
    if plan.atoms is not None or plan.roles is not None or plan.grid.persistent:
        yield one.wrong(UNITS, "its steps use MMA, @roles or @persistent", "leave these out")
    for result, carried in _carried(plan):
        outputs = plan.stage.results[result].outputs
        hint = f"hold its partial results: `{outputs[0].buffer}:RM[…]` at the step of that loop"
        yield one.wrong(UNITS, f"the loop `{carried}` stops in the middle of its sums", hint)
    if given is None:
        return
    used = plan.threads
    if alone and one.space is Space.SM:
        what = "each thread computes the stage around it, and SM belongs to all"
        yield one.wrong(UNITS, what, f"`{one.outputs[0]}:RM[…]`")
    elif one.space is Space.RM and used > 1 and not (one.known_to_all and _shares_sums(plan)):
        what = f"its results lie in registers of each thread, and its steps split them over {used} threads"
        yield one.wrong(UNITS, what, f"use loops, or `{one.outputs[0]}:SM[…]`")
    elif one.known_to_all and used < given:
        what = f"its results lie in registers of {plural(used, 'thread')}, and its reader has {given}"
        yield one.wrong(UNITS, what, f"split its sums over {given} threads, or `{one.outputs[0]}:SM[…]`")
    elif one.space is Space.RM and any(n.tile.space is Space.SM for n in plan.tiles.kept):
        what = "its results lie in registers, and its steps put tiles into SM, which belongs to all threads"
        yield one.wrong(UNITS, what, f"RM in its steps, or `{one.outputs[0]}:SM[…]`")
    elif used > given:
        what = f"it uses {plural(used, 'thread')}, and its reader has {given}"
        yield one.wrong(UNITS, what, "larger tiles in the entries of threads")
    elif used < given and given % WARP and any(Combine.SHUFFLE in m for m in plan.combines):
        what = (
            f"lanes of a warp combine its results, and the last of the reader's {given} threads are no warp"
        )
        yield one.wrong(UNITS, what, "`@combine(shared)`")


def _shares_sums(plan: StagePlan) -> bool:
    """Whether threads split reduced dimensions alone."""
    return all(plan.stage.dims[v.dim].kind is DimKind.PW for v in plan.tiles.threads)


def _carried(plan: StagePlan) -> Iterator[tuple[int, str]]:
    """Results that are reduced by loops outside of their outermost region, with the dimension of one."""
    seen = set[int]()
    for node, around in nested(plan.tiles.body):
        if isinstance(node, Hold) and node.result not in seen:
            seen.add(node.result)
            dims = [x.level.dim for x in around if isinstance(x, Loop)]
            summed = [d for d in dims if plan.stage.dims[d].kind is DimKind.PW]
            if summed and plan.stage.results[node.result].op is not None:
                yield node.result, plan.stage.dims[summed[0]].name
