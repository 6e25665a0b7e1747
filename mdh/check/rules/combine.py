"""K141 to K145: how partial results meet where a reduction or a scan is split over core layers.

Source: language.md section 5. Across blocks: `kernel`, `ticket`, `atomic`, `cluster`; inside a block:
`shared`, `shuffle`. The defaults are chosen here too, so that a choice and its rule stand together.
"""

from collections.abc import Iterator
from dataclasses import replace

from mdh.check.atomics import atomic_obstacle
from mdh.check.loops import BLOCKED, THREADED, Loop, by_layer
from mdh.check.subject import Subject, listed, parts, plural
from mdh.diagnostics import Diagnostic, Label
from mdh.ir.plan import Holding, StagePlan
from mdh.ir.program import DimKind, Result
from mdh.schedule.model import Unit

NOTHING, ATOMIC, MISSING, SHUFFLE, CONFLICT = "K141", "K142", "K143", "K144", "K145"
ACROSS = ("kernel", "ticket", "atomic", "cluster")
IN_BLOCK = ("shared", "shuffle")
WARP = 32


def choose_combines(subject: Subject) -> StagePlan:
    """The plan with `combines` and `in_block` filled: what entries say, else the default of language.md 5."""
    results = subject.stage.results
    across = tuple(_across(subject, r) for r in results)
    within = tuple(_within(subject, r) for r in results)
    return replace(subject.plan, combines=across, in_block=within)


def split_loops(subject: Subject, *layers: str) -> tuple[Loop, ...]:
    """Loops over these layers that split a dimension which is not concatenated."""
    kinds = subject.stage.dims
    return tuple(x for x in by_layer(subject.plan, *layers) if kinds[x.dim].kind is not DimKind.CC)


def _across(subject: Subject, result: Result) -> str | None:
    split = split_loops(subject, *BLOCKED)
    if not split or result.op is None:
        return None
    stated = _stated(subject, result, ACROSS)
    if stated:
        return stated
    floats = any(t.is_float for t in result.types)
    settled = not (subject.draft.deterministic and floats)
    if any(subject.stage.dims[x.dim].kind is DimKind.PS for x in split):
        return "ticket" if subject.machine.acquire_release and settled else "kernel"
    if subject.stage.scattered and settled and atomic_obstacle(subject, result, explicit=False) is None:
        return "atomic"
    return "cluster" if _in_cluster(subject) else "kernel"


def _within(subject: Subject, result: Result) -> str | None:
    split = split_loops(subject, *THREADED)
    if not split or result.op is None:
        return None
    stated = _stated(subject, result, IN_BLOCK)
    if not subject.machine.shuffle:
        return "shared"
    if stated:
        return stated
    plan = subject.plan
    lanes = plan.units("WRP") > 1 or plan.units("THR") <= WARP
    scan = any(subject.stage.dims[x.dim].kind is DimKind.PS for x in split)
    if lanes and not scan and not subject.stage.scattered and shuffle_obstacle(subject) is None:
        return "shuffle"
    return "shared"


def _in_cluster(subject: Subject) -> bool:
    """The reduction is split over the blocks of a cluster, and over nothing wider."""
    plan = subject.plan
    return plan.units("CLU") > 1 and not split_loops(subject, "CLU") and bool(split_loops(subject, "BLK"))


def _stated(subject: Subject, result: Result, methods: tuple[str, ...]) -> str | None:
    return next((h.combine for _, h in _holdings(subject, result) if h.combine in methods), None)


def _holdings(subject: Subject, result: Result) -> Iterator[tuple[int, Holding]]:
    buffers = {o.buffer for o in result.outputs}
    for s, step in enumerate(subject.plan.steps):
        for holding in step.holdings:
            if holding.buffer in buffers and holding.combine is not None:
                yield s, holding


def shuffle_obstacle(subject: Subject) -> str | None:
    """Why lanes of one warp cannot exchange all parts: a split over warps, or lanes that are not consecutive.

    With linear ids x fastest, parts p at stride s stay inside a warp for XOR exchanges iff s * p divides 32.
    """
    plan = subject.plan
    for loop in split_loops(subject, "WGP", "WRP"):
        return f"`{subject.dim(loop.dim)}` is split over {loop.layer}, and warps share no registers"
    strides = [1, plan.axis_parts("THR", 0), plan.axis_parts("THR", 0) * plan.axis_parts("THR", 1)]
    for loop in split_loops(subject, "THR"):
        stride = strides[loop.axis]
        if WARP % (stride * loop.parts):
            axis = "xyz"[loop.axis]
            reach = (
                f"{plural(loop.parts, 'part')} at distance {stride}"
                if stride > 1
                else plural(loop.parts, "part")
            )
            return f"THR.{axis} has {reach}, which is not a power of two inside the {WARP} lanes of a warp"
    return None


def check_combines(subject: Subject) -> Iterator[Diagnostic]:
    """K141-K145. `@combine(m)` joins what is split, in a way that program and machine allow."""
    for result in subject.stage.results:
        taken: dict[tuple[str, ...], str] = {}
        for s, holding in _holdings(subject, result):
            method = holding.combine
            assert method is not None
            family = ACROSS if method in ACROSS else IN_BLOCK
            if family in taken and taken[family] != method:
                headline = f"`{holding.buffer}` combines by `{taken[family]}` and by `{method}`"
                labels = subject.at_entry_attr(s, holding.buffer, "combine")
                yield Diagnostic(CONFLICT, headline, labels, help="keep one of them")
                continue
            taken[family] = method
            yield from _legal(subject, result, s, holding.buffer, method)


def _legal(subject: Subject, result: Result, s: int, buffer: str, method: str) -> Iterator[Diagnostic]:
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
    if scan and method in ("atomic", "cluster", "shuffle"):
        headline = f"`@combine({method})` does not keep the order of the prefix sum `{buffer}`"
        yield Diagnostic(
            NOTHING, headline, labels, help="a prefix sum combines by `ticket`, `kernel` or `shared`"
        )
    elif subject.stage.scattered and method in ("ticket", "cluster", "shuffle"):
        headline = (
            f"`@combine({method})` cannot join the histogram `{buffer}`, whose elements are met at random"
        )
        yield Diagnostic(
            NOTHING, headline, labels, help="a histogram combines by `atomic`, `kernel` or `shared`"
        )
    elif method == "cluster" and split_loops(subject, "BLK", "CLU") and not _in_cluster(subject):
        headline = "`@combine(cluster)` joins blocks of one cluster, the split is over the grid"
        yield Diagnostic(
            NOTHING, headline, labels, help="split the reduction over BLK under CLU, or use `kernel`"
        )
    elif method == "cluster" and subject.machine.cluster == 1:
        yield _unavailable(subject, "cluster", "has no clusters of blocks", labels)
    elif method == "ticket" and not subject.machine.acquire_release:
        yield _unavailable(
            subject, "ticket", "cannot hand values from block to block inside a kernel", labels
        )
    elif method == "shuffle" and (why := shuffle_obstacle(subject)):
        headline = f"`@combine(shuffle)` cannot reach all parts: {why}"
        for loop in split_loops(subject, *THREADED):
            labels += subject.at_core(loop.step, loop.dim, parts(loop.parts))
        yield Diagnostic(SHUFFLE, headline, labels, help="`@combine(shared)`, or parts in consecutive lanes")
    elif method == "atomic" and (reason := atomic_obstacle(subject, result, explicit=True)):
        headline = f"`{buffer}` cannot be combined by atomics: {reason}"
        yield Diagnostic(
            ATOMIC, headline, labels, help="`@combine(kernel)` joins the parts in a second kernel"
        )


def _unavailable(subject: Subject, method: str, why: str, labels: tuple[Label, ...]) -> Diagnostic:
    headline = f"`@combine({method})`: `{subject.machine.name}` {why} with target {subject.target}"
    return Diagnostic(MISSING, headline, labels, help="`@combine(kernel)` joins the parts in a second kernel")


def _written_split(subject: Subject, layers: tuple[str, ...]) -> bool:
    """Some step hands a dimension that is not concatenated to one of these layers, whatever its parts."""
    return any(
        isinstance(core.value, Unit)
        and core.value.layer in layers
        and subject.stage.dims[d].kind is not DimKind.CC
        for step in subject.draft.splitting
        for d, core in enumerate(step.cores)
    )
