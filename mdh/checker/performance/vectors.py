"""P101 and P108: dimensions that vectors of a CPU should run along, and those that they should not."""

from collections.abc import Iterator

from mdh.checker.performance.remedies import Remedy, both, lanes_of, tile_of
from mdh.checker.performance.weighed import Finding, Weighed, share_text
from mdh.cost.cpu_terms import straight
from mdh.hardware import Layer, Space
from mdh.ir.program import DimKind
from mdh.language import LANGUAGES

PLAIN, GAPS = "P101", "P108"
FULL = 4
"""Vectors that a dimension must fill: with fewer, what is left over at its end takes as long as they save."""


def check_vectorised(stage: Weighed) -> Iterator[Finding]:
    """P101. On a CPU with vectors, some VEC has parts; or the compiler finds vectors by itself; or vectors
    along no dimension are legal and faster.

    Functions and conversions are left out, because compilers have few vectors of them.
    """
    work, layers = stage.work, {x.layer for step in stage.plan.steps for x in step.splits}
    if stage.machine.kind != "cpu" or Layer.VEC in layers or work.scan or work.arg or work.called:
        return
    if straight(stage.nest)[1] > 1 or stage.plan.stage.scattered:
        return
    lanes = lanes_that_fit(stage)
    if lanes < 2:
        return
    tried = {r: d for d in range(len(stage.plan.stage.dims)) for r in _vectorised(stage, d, lanes)}
    found = stage.best(tried)
    if found is None:
        return
    remedy, share = found
    d = tried[remedy]
    vectors = f"`{stage.machine.name}` has vectors of {lanes} lanes"
    headline = f"`{stage.name(d)}` is computed element by element, {vectors}"
    labels = stage.at_core(stage.last, d, f"no VEC; {_along(stage, d)}")
    yield stage.warning(PLAIN, headline, labels, remedy.words, notes=(share_text(share),), remedy=remedy)


def _vectorised(stage: Weighed, d: int, lanes: int) -> Iterator[Remedy]:
    """A last step with VEC, if vectors may run along dimension d."""
    dim = stage.plan.stage.dims[d]
    if dim.extent < FULL * lanes or not contiguous(stage, d):
        return
    change = lanes_of(d, lanes)
    if stage.plan.steps[stage.last].splits[d].tile < lanes:
        change = both(tile_of(stage.last, d, lanes), change)
    yield Remedy(f"a last step with VEC on `{dim.name}`, in tiles of {lanes}", change)


def lanes_that_fit(stage: Weighed) -> int:
    """Lanes of the machine's vectors, counted by the widest type that the stage reads, computes or writes."""
    widest = max(stage.work.value_bytes, *(view.access.size for view in stage.nest.views))
    fitting = [n for n in LANGUAGES[stage.target].widths if n * widest <= stage.machine.vector_bytes]
    return max(fitting, default=1)


def contiguous(stage: Weighed, d: int) -> bool:
    """Whether the stage may run in vectors along dimension d: each access stays where it is or moves on by
    one element, and some access moves."""
    if stage.plan.stage.dims[d].kind is DimKind.PS:
        return False
    strides = [(stage.stride(v, d), v.access.size) for v in stage.nest.views]
    return all(s in (0, size) for s, size in strides) and any(s == size for s, size in strides)


def _along(stage: Weighed, d: int) -> str:
    names = dict.fromkeys(v.access.buffer for v in stage.nest.views if stage.stride(v, d))
    return f"{', '.join(f'`{n}`' for n in names)} {'lies' if len(names) == 1 else 'lie'} contiguous along it"


def check_gaps(stage: Weighed) -> Iterator[Finding]:
    """P108. Where VEC has parts, no access has gaps along its dimension, or every other dimension that is
    long enough has an access with gaps, too.

    On a GPU vectors only widen loads and stores, so it is enough that one access has none.
    """
    lane = next((x for x in stage.plan.tiles.levels.all if x.layer is Layer.VEC), None)
    if lane is None or stage.work.scan or stage.work.arg or stage.plan.stage.scattered:
        return
    # partial results are stored once, after many steps of the sum
    held = stage.plan.stage.written if stage.work.reduces else ()
    views = [v for v in stage.nest.views if v.region is not Space.RM and v.access.buffer not in held]
    views = [v for v in views if not v.access.gather]
    apart = [v for v in views if v.strides.get(lane.var, 0) not in (0, v.access.size)]
    together = any(v.strides.get(lane.var, 0) == v.access.size for v in views)
    if not apart or (stage.machine.kind == "gpu" and together):
        return
    others = _closed(stage, lane.dim)
    if others:
        view, name = apart[0], stage.name(lane.dim)
        gap = abs(view.strides[lane.var]) // view.access.size
        headline = (
            f"lanes of `{name}` take elements of `{view.access.buffer}` that lie {gap:,} apart, one by one"
        )
        said = f"VEC on {others}, along which all accesses stay or are contiguous"
        yield stage.warning(GAPS, headline, stage.at_core(lane.step, lane.dim), said)


def _closed(stage: Weighed, d: int) -> str:
    """The dimensions besides d that vectors could run along without gaps."""
    lanes = lanes_that_fit(stage)
    dims = list(enumerate(stage.plan.stage.dims))
    fitting = [f"`{x.name}`" for e, x in dims if e != d and x.extent >= FULL * lanes and contiguous(stage, e)]
    return " or ".join(fitting)
