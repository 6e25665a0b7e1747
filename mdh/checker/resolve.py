"""Resolves the steps as written to a stage plan: every `^`, label, layout and attribute.

Requires a draft that the structural rules accept. Source: language.md sections 2 to 4 and 7.
"""

from dataclasses import replace
from math import prod

from mdh.checker.atom_places import lane_steps
from mdh.checker.atoms import product_of
from mdh.checker.concrete import concrete_steps
from mdh.checker.entries import holding_of, staging_of
from mdh.checker.options import Found, argument, keep, no_effect, number, ordering, word
from mdh.checker.register_factors import with_registers
from mdh.checker.subject import Draft
from mdh.hardware import THREADED, BlockOrder, Engine, Layer
from mdh.ir.atoms import GROUP_LANES
from mdh.ir.plan import Grid, PlanStep, Roles, Split, StagePlan, with_open_splits
from mdh.schedule.model import Attr, Core, ForEntry, Mem, Step, TileEntry, Unit
from mdh.schedule.printer import print_step, wrapped_step

AXES = {"x": 0, "y": 1, "z": 2, "m": 0, "n": 1, "k": 2}
GRID_LAYERS = (Layer.CLU, Layer.BLK)
GRID_ATTRS = ("order", "persistent", "occupancy")
ATOM_ATTRS = ("atom", "acc", "as", "inflight", "promote")
_UNNUMBERED = 1 << 30


def resolve(draft: Draft) -> tuple[StagePlan, Found]:
    """The plan, without combine methods, and the diagnostics about attributes."""
    found: Found = []
    steps: list[PlanStep] = []
    parents = draft.extents
    loops: tuple[int | None, ...] = (None,) * len(parents)
    written = draft.splitting
    shown = concrete_steps(written, draft)
    for n, step in enumerate(written, start=1):
        sizes = zip(step.tiles, parents, strict=True)
        tiles = tuple(t.value if isinstance(t.value, int) else p for t, p in sizes)
        loops = tuple(_for_number(c, inherited) for c, inherited in zip(step.cores, loops, strict=True))
        splits = _splits(step, parents, tiles, loops, found)
        plan = _plan_step(draft, step, n, splits, found)
        if has_layer(step, Layer.MMA) and n == len(written):
            plan = replace(plan, product=product_of(draft, tiles, found))
        steps.append(replace(plan, text=print_step(shown[n - 1]), wrapped=wrapped_step(shown[n - 1])))
        parents = tiles
    staging = [bool(step.stagings) for step in steps]
    if steps and steps[-1].product is not None:
        steps, product = with_registers(steps, steps[-1].product, draft.stage)
        steps[-1] = replace(steps[-1], product=product)
        steps.extend(lane_steps(len(steps) + 1, product, parents))
    elif any(t > 1 for t in parents) and not (written and has_layer(written[-1], Layer.MMA)):
        steps.append(_last_step(len(steps) + 1, parents, loops))
    found.extend(no_effect(attr, "the initial state") for attr in _initial_attributes(draft))
    order = tuple(sorted(range(len(steps)), key=lambda i: steps[i].label))
    grid = replace(_grid(draft, order, found), one_cluster=_one_cluster(draft, steps, order))
    results = len(draft.stage.results)
    roles = _roles(draft, steps, found)
    slots = _slots(draft, steps, staging, order, grid, roles, found)
    steps = [replace(step, stages=slots.get(i, 1)) for i, step in enumerate(steps)]
    known = with_open_splits(steps, draft.stage)
    return StagePlan(draft.program, draft.stage, known, order, grid, ((),) * results, roles), found


def _initial_attributes(draft: Draft) -> tuple[Attr, ...]:
    """The attributes on the step labelled 0. That step splits, copies and stores nothing."""
    step = draft.initial
    if step is None:
        return ()
    entries: tuple[TileEntry | Mem | Core, ...] = (*step.tiles, *step.inputs, *step.outputs, *step.cores)
    return (*(a for entry in entries for a in entry.attrs), *step.attrs)


def has_layer(step: Step, *layers: Layer) -> bool:
    return any(isinstance(c.value, Unit) and c.value.layer in layers for c in step.cores)


def _for_number(core: Core, inherited: int | None) -> int | None:
    """FOR.n of a dimension at a step: its own number, else the inherited one. A core layer ends the
    inheritance."""
    match core.value:
        case ForEntry(number_):
            return number_
        case Unit():
            return None
        case _:
            return inherited


def _splits(
    step: Step,
    parents: tuple[int, ...],
    tiles: tuple[int, ...],
    loops: tuple[int | None, ...],
    found: Found,
) -> tuple[Split, ...]:
    ranks = _ranks(step.cores, loops)
    out = []
    for d, core in enumerate(step.cores):
        keep(step.tiles[d].attrs, (), "a tile", found)
        unit = core.value if isinstance(core.value, Unit) else None
        cyclic = _cyclic(core, unit, tiles[d], found)
        if cyclic and not isinstance(step.tiles[d].value, int):
            found.extend(no_effect(a, "an entry with one part") for a in core.attrs if a.name == "cyclic")
        split = Split(d, parents[d], tiles[d], None, rank=ranks[d], span=core.span)
        # A core layer with one part claims no unit: it is a loop of one iteration like any other. So are
        # atoms, which one warp issues after one another.
        if unit is not None and split.parts > 1 and unit.layer is not Layer.MMA:
            split = replace(split, layer=unit.layer, axis=AXES[unit.axis], cyclic=cyclic)
        out.append(split)
    return tuple(out)


def _ranks(cores: tuple[Core, ...], loops: tuple[int | None, ...]) -> dict[int, int]:
    """Nest position of each dimension: FOR numbers first (written before inherited ones of the same number),
    then the rest."""

    def key(d: int) -> tuple[int, bool, int]:
        n = loops[d]
        return (_UNNUMBERED if n is None else n, not isinstance(cores[d].value, ForEntry), d)

    return {d: rank for rank, d in enumerate(sorted(range(len(cores)), key=key))}


def _cyclic(core: Core, unit: Unit | None, tile: int, found: Found) -> int:
    """The block size of `@cyclic(n)`. 0 if there is none, or if n >= tile, which has no effect."""
    dealt = unit is not None and unit.layer in (Layer.THR, Layer.WRP, Layer.WGP)
    here = f"a {unit.layer} entry" if unit else "a sequential entry"
    n = number(keep(core.attrs, ("cyclic",) if dealt else (), here, found).get("cyclic"))
    return n if n is not None and n < tile else 0


def _plan_step(draft: Draft, step: Step, n: int, splits: tuple[Split, ...], found: Found) -> PlanStep:
    staged = (staging_of(draft, b, mem, found) for b, mem in zip(draft.inputs, step.inputs, strict=True))
    held = (holding_of(draft, b, mem, found) for b, mem in zip(draft.outputs, step.outputs, strict=True))
    plan = PlanStep(
        n,
        n if step.label is None else step.label,
        splits,
        tuple(s for s in staged if s is not None),
        tuple(h for h in held if h is not None),
        span=step.span,
    )
    return _step_attributes(step, plan, found)


def _step_attributes(step: Step, plan: PlanStep, found: Found) -> PlanStep:
    """`@unroll`, `@inflight` and `@promote`. `_grid` and `_roles` read the attributes of the grid, and
    `_slots` reads `@stages`."""
    mma = has_layer(step, Layer.MMA)
    known = ("stages", "unroll", "roles", *GRID_ATTRS, *(ATOM_ATTRS if mma else ()))
    attrs = keep(step.attrs, known, "a step without MMA", found)
    if mma and "unroll" in attrs:
        found.append(no_effect(attrs.pop("unroll"), "an MMA step, whose loops are always unrolled"))
    telling = [attrs[name] for name in ("unroll",) if name in attrs]
    telling += [a for mem in step.inputs for a in mem.attrs if a.name == "window" and plan.stagings]
    obstacle = _no_loop(step, plan)
    if obstacle:
        found.extend(no_effect(attr, obstacle) for attr in telling)
    turns = _turns(plan)
    # in a loop of one part there is nothing that stays
    return replace(
        plan,
        unroll=_unroll(attrs.get("unroll")),
        inflight=number(attrs.get("inflight")),
        promote=number(attrs.get("promote")),
        stagings=tuple(replace(s, window=s.window and turns) for s in plan.stagings),
    )


def _no_loop(step: Step, plan: PlanStep) -> str:
    """Why the step has no loop at any size; empty if it has one, even with a single part at these sizes."""
    cut = [isinstance(t.value, int) and not isinstance(c.value, Unit)
           for t, c in zip(step.tiles, step.cores, strict=True)]  # fmt: skip
    return "" if _turns(plan) or any(cut) else "a step without a sequential loop"


def _turns(plan: PlanStep) -> bool:
    """Whether the step has a sequential loop of several parts."""
    return any(s.layer is None and s.parts > 1 for s in plan.splits)


def _slots(
    draft: Draft, steps: list[PlanStep], staging: list[bool], order: tuple[int, ...], grid: Grid,
    roles: Roles | None, found: Found,
) -> dict[int, int]:  # fmt: skip
    """`@stages` by step. Slots look ahead in the step's own loop. With roles, those of the copy engine do so
    also in the loops around it, and through the tiles of a persistent grid. staging: whether a step stages an
    input, also one that ends up in registers of atoms."""
    out: dict[int, int] = {}
    for i, step in enumerate(draft.splitting):
        attr = next((a for a in step.attrs if a.name == "stages"), None)
        slots = number(attr) or 1
        if attr is None or slots == 1:
            continue
        obstacle = _no_loop(step, steps[i])
        outer = [n for n in order[: order.index(i)] if n < len(draft.splitting)]
        boxed = roles is not None and any(s.engine is Engine.TMA for s in steps[i].stagings)
        if boxed and (grid.persistent or any(not _no_loop(draft.splitting[n], steps[n]) for n in outer)):
            obstacle = ""
        if obstacle or not staging[i]:
            found.append(no_effect(attr, obstacle or "a step that stages no input"))
        elif _turns(steps[i]) or (boxed and (grid.persistent or any(_turns(steps[n]) for n in outer))):
            out[i] = slots
    return out


def _unroll(attr: Attr | None) -> int | None:
    if attr is None:
        return None
    full = not attr.args or word(attr) == "full"
    return 0 if full else number(attr)


def _last_step(n: int, parents: tuple[int, ...], loops: tuple[int | None, ...]) -> PlanStep:
    """The implied step of 1s: sequential, innermost, in inherited FOR order."""
    by_number = sorted(range(len(parents)), key=lambda d: (loops[d] or _UNNUMBERED, d))
    ranks = {d: rank for rank, d in enumerate(by_number)}
    splits = tuple(Split(d, p, 1, None, rank=ranks[d]) for d, p in enumerate(parents))
    return PlanStep(n, n, splits, (), ())


def _grid(draft: Draft, order: tuple[int, ...], found: Found) -> Grid:
    """`@order`, `@persistent`, `@occupancy` of the outermost grid step in code order."""
    written = draft.splitting
    grid_steps = [i for i in order if i < len(written) and has_layer(written[i], *GRID_LAYERS)]
    grid = Grid()
    for i, step in enumerate(written):
        for attr in (a for a in step.attrs if a.name in GRID_ATTRS):
            if i not in grid_steps:
                found.append(no_effect(attr, "a step without BLK"))
            elif i != grid_steps[0]:
                found.append(no_effect(attr, "a grid step inside another"))
            else:
                grid = _grid_attribute(grid, attr)
    units = (c.value for step in written for c in step.cores if isinstance(c.value, Unit))
    axes = {unit.axis for unit in units if unit.layer in GRID_LAYERS}
    for attr in (a for i in grid_steps[:1] for a in written[i].attrs):
        if attr.name == "order" and grid.order != BlockOrder.ROWS and not {"x", "y"} <= axes:
            found.append(no_effect(attr, "a grid without the axes x and y"))
    return grid


def _one_cluster(draft: Draft, steps: list[PlanStep], order: tuple[int, ...]) -> bool:
    """Whether CLU is written around BLK and has one part, so that all blocks of the grid are one cluster.
    More blocks than a cluster may have are a grid without clusters."""
    splits = [s for step in steps for s in step.splits]
    written = [order.index(n) for n, step in enumerate(draft.splitting) if has_layer(step, Layer.CLU)]
    shared = [
        order.index(n) for n, step in enumerate(steps) if any(s.layer is Layer.BLK for s in step.splits)
    ]
    around = bool(written and shared) and min(written) <= min(shared)
    blocks = prod(s.parts for s in splits if s.layer is Layer.BLK)
    whole = all(s.layer is not Layer.CLU for s in splits)
    return around and whole and 1 < blocks <= draft.machine.cluster


def _roles(draft: Draft, steps: list[PlanStep], found: Found) -> Roles | None:
    """`@roles` of the step that splits over BLK. Without `math`, all threads compute that the steps have; by
    turns, twice as many."""
    out = None
    threads = prod(s.parts for step in steps for s in step.splits if s.layer in THREADED)
    for step in draft.splitting:
        for attr in (a for a in step.attrs if a.name == "roles"):
            if not has_layer(step, Layer.BLK):
                found.append(no_effect(attr, "a step without BLK"))
                continue
            if out is not None:
                found.append(no_effect(attr, "a second step with BLK"))
                continue
            said = argument(attr, "regs")
            ratio = said.value if said is not None and isinstance(said.value, str) else None
            shares = None if ratio is None else tuple(int(n) for n in ratio.split("/"))
            registers = None if shares is None else (shares[0], shares[1])
            turns = word(attr) == "turns"
            math = number(attr, "math") or -(-threads // GROUP_LANES) * (2 if turns else 1)
            out = Roles(number(attr, "load") or 1, math, registers, turns)
    return out


def _grid_attribute(grid: Grid, attr: Attr) -> Grid:
    match attr.name:
        case "persistent":
            return replace(grid, persistent=True)
        case "occupancy":
            return replace(grid, occupancy=number(attr) or 0)
        case _:
            order, group = ordering(attr)
            return replace(grid, order=order, group=group)
