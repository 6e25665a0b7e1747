"""P104: threads that are neighbours, and read or write elements that are not."""

from collections.abc import Iterator
from dataclasses import replace

from mdh.checker.performance.remedies import Remedy, axes_swapped, dealt
from mdh.checker.performance.weighed import WORTH, Finding, Weighed, share_text
from mdh.cost.gpu import VECTOR_BYTES
from mdh.cost.nest import AccessView, CostNest, NestLevel
from mdh.cost.warp import CACHED, global_cycles, lane_offsets
from mdh.hardware import THREADED, Space

APART = "P104"
WASTED = 4
"""Cycles of the first-level cache over those of contiguous lanes. Below that, lanes share most of what is
fetched, now or in the next iteration."""
BLOCKS = (1, 2, 4)


def check_coalescing(stage: Weighed) -> Iterator[Finding]:
    """P104. An access of a warp keeps the first-level cache busy for less than four times as long as if its
    lanes were contiguous; or the stage would hardly be faster then; or no other mapping and no copy helps."""
    if stage.machine.kind == "cpu":
        return
    told: set[str] = set()
    for view in stage.nest.views:
        source = _global(stage.nest, view)
        found = None if source is None else _lines(stage, source)
        if source is None or found is None:
            continue
        if stage.seconds_of(_contiguous(stage.nest, source)) > WORTH * stage.seconds:
            continue
        for finding in _warning(stage, source, *found):
            # one change of the mapping often helps several accesses
            if finding.diagnostic.help not in told:
                told.add(finding.diagnostic.help)
                yield finding


def _global(nest: CostNest, view: AccessView) -> AccessView | None:
    """What threads read or write in device memory themselves for an access; None where a copy of the block
    does it, or where atoms read."""
    if view.region is Space.DM:
        return view
    copies = [c for c in nest.copies if c.access is view.access]
    mine = copies and copies[0].node.tile.space is Space.RM and nest.plan.atoms is None
    return copies[0].source if mine else None


def _lines(stage: Weighed, view: AccessView) -> tuple[int, int] | None:
    """(lines of the first-level cache that the lanes of a warp reach, lines that their elements fill) if the
    former keep it busy at least WASTED times as long; else, and where data decides, None."""
    offsets, warp = lane_offsets(stage.nest, view, stage.machine.warp), stage.machine.warp
    if offsets is None:
        return None
    width, places = _width(stage, view), len(set(offsets))
    ideal = [k * width for k in range(places)]
    if global_cycles(offsets, width, warp) < WASTED * global_cycles(ideal, width, warp):
        return None
    return len({a // CACHED for a in offsets}), -(-places * width // CACHED)


def _width(stage: Weighed, view: AccessView) -> int:
    """Bytes that a thread reads or writes beside one another in straight code or in the innermost loop, which
    compilers join into wide accesses."""
    width = view.access.size
    for v in reversed(stage.nest.levels):
        if view.strides.get(v.var) == width:
            width *= v.parts
        elif not v.unrolled:
            break
    return min(width, VECTOR_BYTES)


def _contiguous(nest: CostNest, view: AccessView) -> CostNest:
    """The same nest, had the threads elements of this access that follow one another."""
    strides, step = dict(view.strides), view.access.size
    for v in reversed(nest.threads):
        if strides.get(v.var):
            strides[v.var], step = step, step * v.parts
    ideal = replace(view, strides=strides)
    views = tuple(ideal if v is view else v for v in nest.views)
    copies = tuple(replace(c, source=ideal) if c.source is view else c for c in nest.copies)
    return replace(nest, views=views, copies=copies)


def _warning(stage: Weighed, view: AccessView, reached: int, filled: int) -> Iterator[Finding]:
    buffer, store = view.access.buffer, view.access.store
    along = [d for d in range(len(stage.plan.stage.dims)) if abs(_step(stage, view, d)) == view.access.size]
    wide = [d for d in along if stage.plan.stage.dims[d].extent * view.access.size >= CACHED]
    if not wide:
        return
    fastest = next(v for v in reversed(stage.nest.threads) if view.strides.get(v.var))
    name, found = stage.name(wide[0]), stage.best(_remedies(stage, view, fastest))
    gap = abs(view.strides.get(fastest.var, 0)) // view.access.size
    verb = "write" if store else "read"
    headline = (
        f"neighbouring threads {verb} elements of `{buffer}` that lie {gap:,} apart: "
        f"a warp reaches {reached} lines of {CACHED} bytes, contiguous elements fill {filled}"
    )
    s = stage.plan.tiles.levels.of_var(fastest.var).step
    labels = stage.at_core(s, fastest.dim, f"threads along `{stage.name(fastest.dim)}`")
    said = f"threads along `{name}`, along which `{buffer}` is contiguous"
    if found is None and not store and not view.access.gather:
        said += f", or a copy in shared memory that is filled along `{name}`"
    if found is None:
        if fastest.dim not in wide:
            yield stage.warning(APART, headline, labels, said)
        return
    remedy, share = found
    yield stage.warning(APART, headline, labels, remedy.words, notes=(share_text(share),), remedy=remedy)


def _step(stage: Weighed, view: AccessView, d: int) -> int:
    """Bytes in device memory between neighbouring indices of a dimension; 0 where data decides."""
    rows = zip(view.access.linear, view.access.row_bytes, strict=True)
    return sum(0 if f is None else f.coefficient(str(d)) * row for f, row in rows)


def _remedies(stage: Weighed, view: AccessView, fastest: NestLevel) -> Iterator[Remedy]:
    """Threads along other dimensions, elements dealt to threads in turn, and copies in shared memory."""
    level = stage.plan.tiles.levels.of_var(fastest.var)
    for block in (n for n in BLOCKS if level.layer in THREADED and n < level.tile and level.tile % n == 0):
        words = (
            f"`@cyclic({block})` on `{stage.name(level.dim)}` at step {stage.plan.steps[level.step].label}"
        )
        yield Remedy(words, dealt(level.step, level.dim, block))
    for layer in THREADED:
        axes = {x.axis for step in stage.plan.steps for x in step.splits if x.layer is layer}
        for axis in sorted(axes - {0}):
            words = f"{layer}.x and {layer}.{'xyz'[axis]} in each other's place"
            yield Remedy(words, axes_swapped(layer, "x", "xyz"[axis]))
    if not view.access.store and not view.access.gather:
        rank = len(view.access.shape)
        yield from stage.copies_of(view.access.buffer, tuple(range(1, rank + 1)), int(rank > 1))
