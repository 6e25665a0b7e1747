"""Turns whose arrays swap roles: the launches of `ir.swaps`, without the copies of all turns but the last.

The kernels of a turn are launched with other arrays in their places, and no text is added for that. The loop
goes through two turns at once: one that reads A and writes W, and one that reads W and writes A.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from mdh.ir.dtype import I32
from mdh.ir.expr import Load, Var
from mdh.ir.kernel import Kernel
from mdh.ir.plan import Plan
from mdh.ir.program import Buffer, Dim, DimKind
from mdh.ir.swaps import Swap, swaps_of
from mdh.ir.turns import Turns
from mdh.ir.walk import rewritten, with_buffers
from mdh.lower.names import Names
from mdh.lower.passes.table import Observer
from mdh.lower.stages import Built, Context, map_stage, workspaces

Launch = tuple[tuple[int, ...], Built]
"""The numbers of its stages, and their kernels."""


def with_swaps(
    plan: Plan, names: Names, observe: Observer, each: Sequence[Launch], loops: Sequence[Turns]
) -> tuple[list[Launch], tuple[Turns, ...], tuple[str, ...]]:
    """The launches and the loops around them, without copies that turns can do without, and what to say of
    it."""
    out, around, notes = list(each), tuple(loops), list[str]()
    context = Context(plan.computed, plan.machine, plan.target, names, observe)
    found = swaps_of(plan)
    for loop in dict.fromkeys(x.loop for x in found):
        turns = next((x for x in around if x.var == loop), None)
        mine = [] if turns is None else out[turns.first : turns.last + 1]
        if turns is None or any(w.zero for _, built in mine for w in built.workspaces):
            # what begins as zeros is cleared in each turn of a loop, and nowhere else
            continue
        swaps = [x for x in found if x.loop == loop]
        made, inner = _unrolled(plan, context, swaps, mine, turns)
        more = len(made) - len(mine)
        out[turns.first : turns.last + 1] = made
        moved = (_moved(x, turns, more) for x in around)
        around = tuple(inner if x.var == loop else y for x, y in zip(around, moved, strict=True))
        arrays = " and ".join(f"{x.target} with {x.source}" for x in swaps)
        notes.append(f"loop {turns.name}: only the last turn copies; in the others swap roles: {arrays}")
    return out, around, tuple(notes)


def _moved(x: Turns, turns: Turns, more: int) -> Turns:
    """Another loop, where one has more launches."""
    first = x.first + (more if x.first > turns.last else 0)
    return replace(x, first=first, last=x.last + (more if x.last >= turns.last else 0))


def _unrolled(
    plan: Plan, context: Context, swaps: Sequence[Swap], mine: Sequence[Launch], turns: Turns
) -> tuple[list[Launch], Turns]:
    """The launches of all turns, and the loop around those of two turns."""
    begun: list[Launch] = []
    free: dict[str, Buffer] = {}
    for x in swaps:
        free[x.target], built = _copied(plan, context, x)
        begun.append(((), built))
    copies = {x.copy for x in swaps}
    kept = [launch for launch in mine if copies.isdisjoint(launch[0])]
    forth = {x.source: free[x.target] for x in swaps}
    back = free | {x.source: plan.computed.buffer_of[x.target] for x in swaps}
    pairs, odd = divmod(turns.trips - 1, 2)
    # the first kernels have the texts, and the others are launched with other arrays
    ahead, again = _with(context, kept, forth, ""), _with(context, kept, back, "back")
    rest = _with(context, kept, forth, "rest") if odd else []
    # after an odd number of turns, the last one finds in W what the one before has written
    ending = iter(_with(context, kept, free if odd else {}, "last"))
    last = [launch if not copies.isdisjoint(launch[0]) else next(ending) for launch in mine]
    first = turns.first + len(begun)
    two = [*ahead, *again]
    loop = replace(turns, trips=pairs, first=first, last=first + len(two) - 1)
    spaces = [((), Built((), built.workspaces)) for _, built in kept]
    return [*begun, *two, *rest, *last, *spaces], loop


def _copied(plan: Plan, context: Context, x: Swap) -> tuple[Buffer, Built]:
    """The array that a target changes roles with, and the kernel that copies the target into it."""
    names, stage = context.names, plan.computed.stages[x.copy]
    known = plan.computed.buffer_of[x.target]
    name = names.workspace(f"{x.target}_other")
    space = Buffer(name, known.dtype, known.shape, temp=True)
    dims = tuple(Dim(names.dim(f"s{k}", stage), n, DimKind.CC) for k, n in enumerate(known.shape))
    index = tuple(Var(d.name, I32) for d in dims)
    value = Load(x.target, index, known.dtype)
    kernel = map_stage(context, f"{plan.computed.name}_{name}", stage, dims, name, index, value, (space,))
    return space, workspaces((space,)) + kernel


def _with(
    context: Context, launches: Sequence[Launch], arrays: Mapping[str, Buffer], word: str
) -> list[Launch]:
    """The same kernels with other arrays. word: what their names end in; without one they have the texts."""
    return [
        (stages, Built(tuple(_other(context, k, arrays, word) for k in built.kernels)))
        for stages, built in launches
    ]


def _other(context: Context, kernel: Kernel, arrays: Mapping[str, Buffer], word: str) -> Kernel:
    buffers = tuple(
        replace(b, name=arrays[b.name].name, shape=arrays[b.name].shape) if b.name in arrays else b
        for b in kernel.buffers
    )
    names = {old: new.name for old, new in arrays.items()}
    body = rewritten(kernel.body, lambda s: with_buffers(s, names))
    out = replace(kernel, buffers=buffers, body=body)
    if not word:
        return out
    name = context.names.kernel(f"{kernel.name}_{word}")
    return replace(out, name=name, stage=f"{kernel.stage}_{word}", twin=kernel.name)
