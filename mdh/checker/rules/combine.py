"""K141 to K145: how partial results are combined when core layers split a reduction or a scan.

Source: language.md section 5. Across blocks: `kernel`, `ticket`, `atomic`, `cluster`. Inside a block:
`shared`, `shuffle`. This module also chooses the defaults, so that a choice and its rule stand together.
"""

from collections.abc import Iterator
from dataclasses import replace

from mdh.checker.atomics import atomic_obstacle
from mdh.checker.loops import by_layer, code_loops
from mdh.checker.subject import Subject, listed, parts
from mdh.diagnostics import Diagnostic, Label
from mdh.hardware import BLOCKED, THREADED, BlockOrder, Combine, Layer
from mdh.ir.layout import Level
from mdh.ir.plan import Holding, StagePlan
from mdh.ir.program import DimKind, Result
from mdh.schedule.model import Unit

NOTHING, ATOMIC, MISSING, SHUFFLE, CONFLICT = "K141", "K142", "K143", "K144", "K145"
GRID = (Combine.KERNEL, Combine.TICKET, Combine.ATOMIC)
ACROSS = (Combine.CLUSTER, *GRID)
IN_BLOCK = (Combine.SHUFFLE, Combine.SHARED)
WARP = 32


def choose_combines(subject: Subject) -> StagePlan:
    """The plan with `combines` filled: as entries say, else the default of language.md section 5."""
    chosen = tuple((*_within(subject, r), *_across(subject, r)) for r in subject.stage.results)
    return replace(subject.plan, combines=chosen)


def split_loops(subject: Subject, *layers: Layer) -> tuple[Level, ...]:
    """Loops over these layers that split a pw or ps dimension."""
    kinds = subject.stage.dims
    return tuple(x for x in by_layer(subject.plan, *layers) if kinds[x.dim].kind is not DimKind.CC)


def _across(subject: Subject, result: Result) -> tuple[Combine, ...]:
    """The methods across blocks: `cluster` if blocks of a cluster share the result, then the method across
    the grid."""
    if not split_loops(subject, *BLOCKED) or result.op is None:
        return ()
    stated, clustered = (_stated(subject, result, methods) for methods in (GRID, (Combine.CLUSTER,)))
    meet = _in_cluster(subject) and bool(clustered or not stated)
    if meet and not split_loops(subject, Layer.CLU):
        return (Combine.CLUSTER,)
    return (*((Combine.CLUSTER,) if meet else ()), *(stated or (_over_grid(subject, result),)))


def _over_grid(subject: Subject, result: Result) -> Combine:
    floats = any(t.is_float for t in result.types)
    settled = not (subject.draft.deterministic and floats)
    if any(subject.stage.dims[x.dim].kind is DimKind.PS for x in split_loops(subject, *BLOCKED)):
        able = subject.machine.acquire_release and look_back_obstacle(subject) is None
        return Combine.TICKET if able and settled else Combine.KERNEL
    if subject.stage.scattered and settled and atomic_obstacle(subject, result, explicit=False) is None:
        return Combine.ATOMIC
    return Combine.KERNEL


def _within(subject: Subject, result: Result) -> tuple[Combine, ...]:
    """The methods among the lanes of a warp and the threads of a block: as stated, else shuffles as far as
    they reach."""
    split = split_loops(subject, *THREADED)
    if not split or result.op is None:
        return ()
    stated = _stated(subject, result, IN_BLOCK)
    if not subject.machine.shuffle:
        return (Combine.SHARED,)
    if stated:
        return stated
    scan = any(subject.stage.dims[x.dim].kind is DimKind.PS for x in split)
    if scan or subject.stage.scattered:
        return (Combine.SHARED,)
    return (Combine.SHUFFLE,) if shuffle_obstacle(subject) is None else (Combine.SHUFFLE, Combine.SHARED)


def _in_cluster(subject: Subject) -> bool:
    """Whether the blocks of one cluster share a reduction, and can access one another's shared memory."""
    # ranks in a cluster keep no order, as a prefix sum needs; parts of a histogram are combined in no fixed
    # order
    plain = all(x.kind is not DimKind.PS for x in subject.stage.dims) and not subject.stage.scattered
    able = subject.machine.cluster > 1 and subject.plan.clustered
    return plain and able and bool(split_loops(subject, Layer.BLK))


def _stated(subject: Subject, result: Result, methods: tuple[Combine, ...]) -> tuple[Combine, ...]:
    said = {h.combine for _, h in _holdings(subject, result)}
    return tuple(m for m in methods if m in said)


def _holdings(subject: Subject, result: Result) -> Iterator[tuple[int, Holding]]:
    buffers = {o.buffer for o in result.outputs}
    for s, step in enumerate(subject.plan.steps):
        for holding in step.holdings:
            if holding.buffer in buffers and holding.combine is not None:
                yield s, holding


def shuffle_obstacle(subject: Subject) -> str | None:
    """Why the lanes of one warp cannot exchange all parts, or None. Either the split is over warps, or the
    lanes are not consecutive.

    With linear ids (x fastest), p parts at stride s stay inside a warp for XOR exchanges iff s * p divides
    32.
    """
    plan = subject.plan
    for loop in split_loops(subject, Layer.WGP, Layer.WRP):
        return f"`{subject.dim(loop.dim)}` is split over {loop.layer}, and warps share no registers"
    strides = [
        1,
        plan.axis_parts(Layer.THR, 0),
        plan.axis_parts(Layer.THR, 0) * plan.axis_parts(Layer.THR, 1),
    ]
    for loop in split_loops(subject, Layer.THR):
        stride = strides[loop.axis]
        if WARP % (stride * loop.parts):
            axis = "xyz"[loop.axis]
            reach = f"{parts(loop.parts)} at distance {stride}" if stride > 1 else parts(loop.parts)
            return f"THR.{axis} has {reach}, which is not a power of two inside the {WARP} lanes of a warp"
    return None


def look_back_obstacle(subject: Subject) -> str | None:
    """Why blocks cannot pass a prefix sum on, or None. They can if each block takes its part in one iteration
    of all its threads, in the order in which blocks start."""
    grid = subject.plan.grid
    if grid.persistent or grid.order != BlockOrder.ROWS:
        return f"blocks take their tiles as told by {'@persistent' if grid.persistent else '@order'}"
    kinds = subject.stage.dims
    layers = [x.layer for x in code_loops(subject.plan) if kinds[x.dim].kind is DimKind.PS]
    inside = [layer for layer in layers if layer not in BLOCKED]
    if not inside or inside[0] != Layer.THR:
        return "a block takes its part in several turns, its threads do not split it"
    return None


def check_combines(subject: Subject) -> Iterator[Diagnostic]:
    """K141-K145. `@combine(m)` combines parts that exist, by a method that is possible there."""
    for result in subject.stage.results:
        taken: list[Combine] = []
        for s, holding in _holdings(subject, result):
            method = holding.combine
            assert method is not None
            if method is Combine.STREAM:
                yield from _stream(subject, s, holding.buffer)
                continue
            other = next((t for t in taken if _clash(t, method)), None)
            if other is not None:
                headline = f"`{holding.buffer}` combines by `{other}` and by `{method}`"
                labels = subject.at_entry_attr(s, holding.buffer, "combine")
                yield Diagnostic(CONFLICT, headline, labels, help="keep one of them")
                continue
            taken.append(method)
            yield from _legal(subject, result, s, holding.buffer, method)


def _stream(subject: Subject, s: int, buffer: str) -> Iterator[Diagnostic]:
    """`stream` shares a loop of all tiles among the blocks of a persistent grid; see `check_stream`, too."""
    labels = subject.at_entry_attr(s, buffer, "combine")
    split = _written_split(subject, BLOCKED)
    if not subject.machine.acquire_release:
        yield _unavailable(
            subject, Combine.STREAM, "cannot hand values from block to block inside a kernel", labels
        )
    elif split or not subject.plan.grid.persistent:
        what = "and here blocks split the sum" if split else "and here each block has one tile"
        said = (
            "the loop over the sum, without BLK or CLU"
            if split
            else "`@persistent` on the outermost grid step"
        )
        headline = (
            f"`@combine(stream)` lets the blocks of a persistent grid share the loops of all tiles, {what}"
        )
        yield Diagnostic(NOTHING, headline, labels, help=said)


def _clash(a: Combine, b: Combine) -> bool:
    """Whether two methods across the grid contradict: two of them at once, or a ticket, which every block
    draws, with clusters, which produce one result each."""
    return a != b and ({a, b} <= set(GRID) or {a, b} == {Combine.CLUSTER, Combine.TICKET})


def _legal(subject: Subject, result: Result, s: int, buffer: str, method: Combine) -> Iterator[Diagnostic]:
    layers = BLOCKED if method in ACROSS else THREADED
    where = "blocks" if method in ACROSS else "threads of a block"
    labels = subject.at_entry_attr(s, buffer, "combine")
    if not _written_split(subject, layers) or result.op is None:
        others = IN_BLOCK if method in ACROSS else ACROSS
        other = BLOCKED if method in IN_BLOCK else THREADED
        legal = f"here: {listed(others)}" if _written_split(subject, other) else "leave `@combine` out"
        headline = f"`@combine({method})` has nothing to combine: no reduction is split over {where}"
        yield Diagnostic(NOTHING, headline, labels, help=legal)
        return
    scan = any(d.kind is DimKind.PS for d in subject.stage.dims)
    if scan and method in (Combine.ATOMIC, Combine.CLUSTER, Combine.SHUFFLE):
        headline = f"`@combine({method})` does not keep the order of the prefix sum `{buffer}`"
        yield Diagnostic(
            NOTHING, headline, labels, help="a prefix sum combines by `ticket`, `kernel` or `shared`"
        )
    elif subject.stage.scattered and method in (Combine.TICKET, Combine.CLUSTER, Combine.SHUFFLE):
        headline = (
            f"`@combine({method})` cannot join the histogram `{buffer}`, whose elements are met at random"
        )
        yield Diagnostic(
            NOTHING, headline, labels, help="a histogram combines by `atomic`, `kernel` or `shared`"
        )
    elif method == Combine.CLUSTER and subject.machine.cluster == 1:
        yield _unavailable(subject, Combine.CLUSTER, "has no clusters of blocks", labels)
    elif method == Combine.CLUSTER and split_loops(subject, *BLOCKED) and not _in_cluster(subject):
        headline = "`@combine(cluster)` joins blocks of one cluster, the split is over the grid"
        yield Diagnostic(
            NOTHING, headline, labels, help="split the reduction over BLK under CLU, or use `kernel`"
        )
    elif method == Combine.TICKET and not subject.machine.acquire_release:
        yield _unavailable(
            subject, Combine.TICKET, "cannot hand values from block to block inside a kernel", labels
        )
    elif method == Combine.TICKET and scan and (obstacle := look_back_obstacle(subject)):
        headline = f"`@combine(ticket)` cannot pass the prefix sum `{buffer}` on: {obstacle}"
        yield Diagnostic(
            NOTHING, headline, labels, help="split it over BLK, then THR, then loops; or `@combine(kernel)`"
        )
    elif (
        method == Combine.SHUFFLE
        and not _stated(subject, result, (Combine.SHARED,))
        and (why := shuffle_obstacle(subject))
    ):
        headline = f"`@combine(shuffle)` cannot reach all parts: {why}"
        for loop in split_loops(subject, *THREADED):
            labels += subject.at_core(loop.step, loop.dim, parts(loop.parts))
        yield Diagnostic(
            SHUFFLE,
            headline,
            labels,
            help="add `@combine(shared)` at another step, or choose parts in consecutive lanes",
        )
    elif method == Combine.ATOMIC and (reason := atomic_obstacle(subject, result, explicit=True)):
        headline = f"`{buffer}` cannot be combined by atomics: {reason}"
        yield Diagnostic(
            ATOMIC, headline, labels, help="`@combine(kernel)` joins the parts in a second kernel"
        )


def _unavailable(subject: Subject, method: Combine, why: str, labels: tuple[Label, ...]) -> Diagnostic:
    headline = f"`@combine({method})`: `{subject.machine.name}` {why} with target {subject.target}"
    return Diagnostic(MISSING, headline, labels, help="`@combine(kernel)` joins the parts in a second kernel")


def _written_split(subject: Subject, layers: tuple[Layer, ...]) -> bool:
    """Whether a step gives a dimension that is not concatenated to these layers, whatever its parts."""
    return any(
        isinstance(core.value, Unit)
        and core.value.layer in layers
        and subject.stage.dims[d].kind is not DimKind.CC
        for step in subject.draft.splitting
        for d, core in enumerate(step.cores)
    )
