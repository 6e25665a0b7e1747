"""P105: lanes of a warp that ask one bank of shared memory for different words."""

from collections import Counter
from collections.abc import Iterator

from mdh.checker.performance.remedies import Remedy, attribute_of, dealt
from mdh.checker.performance.weighed import Finding, Weighed, share_text
from mdh.cost.gpu import WORD
from mdh.cost.gpu_terms import loads_of
from mdh.cost.nest import AccessView, StagedFill, body_of
from mdh.cost.warp import BANKS, lane_offsets, served, words_of
from mdh.hardware import Layer, Space

CONFLICT = "P105"
PADS = (1, 2, 4, 8)
BLOCKS = (1, 2, 4, 8)


def check_conflicts(stage: Weighed) -> Iterator[Finding]:
    """P105. No two lanes that shared memory serves together read different words of one bank; or no padding,
    swizzle or dealing of elements to threads makes the stage faster.

    Tiles with a swizzle are left out: their places are not those of the tile's strides. So are the factors of
    atoms, which lanes load together in another order.
    """
    if stage.machine.kind == "cpu" or stage.plan.atoms is not None:
        return
    seen: set[str] = set()
    for view in stage.nest.views:
        copy = _copied(stage, view)
        if copy is None or copy.node.tile.swizzle or view.access.buffer in seen:
            continue
        _, width = loads_of(stage.nest, view, body_of(stage.nest))
        fold = _fold(lane_offsets(stage.nest, view, stage.machine.warp), width)
        found = stage.best(_remedies(stage, copy)) if fold > 1 else None
        if found is None:
            continue
        seen.add(view.access.buffer)
        remedy, share = found
        name = view.access.buffer
        headline = (
            f"threads of a warp read `{name}` with {fold}-fold bank conflicts: {_stride(stage, view, width)}"
        )
        labels = stage.at_entry(copy.node.step, name, f"rows of {_row(copy)} bytes")
        yield stage.warning(
            CONFLICT, headline, labels, remedy.words, notes=(share_text(share),), remedy=remedy
        )


def _copied(stage: Weighed, view: AccessView) -> StagedFill | None:
    """The copy in shared memory that an access reads."""
    if view.region is not Space.SM or view.access.store:
        return None
    found = [c for c in stage.nest.copies if c.access is view.access and c.node.tile.space is Space.SM]
    return found[-1] if found else None


def _fold(offsets: list[int] | None, width: int) -> int:
    """The most turns that a group of lanes takes which shared memory serves together, over those that its
    different words need."""
    if offsets is None:
        return 1
    worst = 1
    for group in served(len(offsets), width):
        words = {word for lane in group for word in words_of(offsets[lane], width)}
        most = max(Counter(word % BANKS for word in words).values())
        worst = max(worst, most // -(-len(words) // BANKS))
    return worst


def _stride(stage: Weighed, view: AccessView, width: int) -> str:
    fastest = next(v for v in reversed(stage.nest.threads) if view.strides.get(v.var))
    stride = abs(view.strides[fastest.var])
    apart = f"{width} bytes each, neighbours along `{stage.name(fastest.dim)}` {stride} bytes apart"
    return f"{apart}, and {BANKS} banks hold {BANKS * WORD}"


def _row(copy: StagedFill) -> int:
    tile = copy.node.tile
    return (tile.shape[tile.layout[-1]] + tile.pad) * tile.sizes[0]


def _remedies(stage: Weighed, copy: StagedFill) -> Iterator[Remedy]:
    buffer, s = copy.access.buffer, copy.node.step
    entry = stage.plan.program.inputs(stage.plan.stage).index(buffer)
    for n in PADS if len(copy.access.shape) > 1 else ():
        if n != copy.node.tile.pad:
            yield Remedy(f"`@pad({n})` on `{buffer}`", attribute_of(s, entry, "pad", n))
    for t, step in enumerate(stage.plan.steps):
        for x in step.splits:
            if x.layer is Layer.THR and not x.cyclic and copy.source.strides:
                for block in (n for n in BLOCKS if n < x.tile and x.tile % n == 0):
                    words = f"`@cyclic({block})` on `{stage.name(x.dim)}` at step {step.label}"
                    yield Remedy(words, dealt(t, x.dim, block))
