"""What the copy engine can copy: boxes of an array, which land in shared memory without gaps.

Source: CUDA driver API, cuTensorMapEncodeTiled.
"""

from math import prod

from mdh.checker.subject import Subject
from mdh.decompose.multicast import sharing_blocks, sharing_of
from mdh.hardware import CacheHint, Space
from mdh.ir.copy_engine import UNIT, unmapped
from mdh.ir.plan import Staging
from mdh.ir.program import DimKind
from mdh.ir.tile import BOX_LINE, Copy, Tile

MOST_BOXES = 64
"""Of one copy: a thread asks for each by itself."""
Reason = tuple[str, str]
"""What is wrong, and what is legal instead."""


def box_obstacle(subject: Subject, i: int, staging: Staging, *, again: bool) -> Reason | None:
    """Why step i cannot copy an input by tma, and what to do."""
    other = "@copy(async), or @copy(tma else async else plain)"
    buffer = subject.program.buffer_of[staging.buffer]
    unseen = unmapped(buffer.shape, buffer.dtype)
    stage = subject.stage
    if staging.region is not Space.SM:
        return "tma copies go to shared memory", "@copy(plain), or stage it in SM"
    if again:
        return "tma copies come from device memory, and an outer step has staged it", "@copy(plain)"
    if unseen is not None:
        return unseen, other
    if stage.scattered or any(d.kind is DimKind.PS for d in stage.dims):
        return "tma copies are not lowered yet for prefix sums and scattered outputs", "@copy(async)"
    said = (("vec", staging.vec), ("@pad", staging.pad), ("@window", staging.window))
    given = [word for word, there in said if there]
    given += ["@cache"] if staging.cache is not CacheHint.DEFAULT else []
    if given:
        return f"{given[0]} has no effect on tma copies", f"leave {given[0]} out"
    if len(staging.layout) > 1 and _moved(subject, i, staging):
        natural = ",".join(str(n + 1) for n in range(len(staging.layout)))
        return "tma copies keep the order of the dimensions", f"layout [{natural}], or @copy(plain)"
    for copy in subject.copies(i, staging.buffer):
        wrong = _box(copy.tile) or (_shared(subject, copy) if staging.multicast else None)
        if wrong is not None:
            return wrong
    return None


def _shared(subject: Subject, copy: Copy) -> Reason | None:
    blocks = sharing_blocks(subject.plan, subject.tiles, copy)
    if not blocks:
        return "no block of a cluster reads the same part: `multicast` has no effect", "leave multicast out"
    if subject.plan.roles is None:
        said = "`@roles(load=1, math=…)` on the block step, or leave multicast out"
        return "blocks that share a copy need a warp group that does nothing else", said
    if sharing_of(subject.plan, subject.tiles, copy) is None:
        count = prod(level.parts for level in blocks)
        return f"its part does not fall into {count} parts of whole boxes", "larger tiles, or no multicast"
    return None


def _moved(subject: Subject, i: int, staging: Staging) -> bool:
    """Whether dimensions of more than one element change their order."""
    shapes = [copy.tile.shape for copy in subject.copies(i, staging.buffer)]
    kept = [d for d in staging.layout if any(shape[d] > 1 for shape in shapes)]
    return kept != sorted(kept)


def _box(tile: Tile) -> Reason | None:
    size = tile.sizes[0]
    if any(axis.packed and axis.points != axis.box for axis in tile.axes):
        return "the part has gaps between its elements, and a box has none", "@copy(plain)"
    row = tile.shape[-1] * size
    if row % UNIT:
        said = f"tiles of a multiple of {UNIT // size} elements along the last dimension"
        return f"rows of its part have {row} bytes, boxes whole {UNIT} bytes", said
    boxes = tile.boxes
    if len(boxes.starts) > MOST_BOXES:
        return f"its part takes {len(boxes.starts)} boxes, at most {MOST_BOXES} are copied", "smaller tiles"
    unit = BOX_LINE * tile.swizzle if tile.swizzle else BOX_LINE * UNIT
    if len(boxes.starts) > 1 and boxes.elements * size % unit:
        fact = f"each of its boxes has {boxes.elements * size} bytes, and the next one begins at a multiple"
        return f"{fact} of {unit}", "tiles that are multiples of 8"
    return None
