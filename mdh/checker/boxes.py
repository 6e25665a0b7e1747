"""What the copy engine can copy: boxes of an array, which land in shared memory without gaps.

Source: CUDA driver API, cuTensorMapEncodeTiled.
"""

from math import prod

from mdh.checker.subject import Subject
from mdh.decompose.multicast import sharing_blocks, sharing_of
from mdh.hardware import CacheHint, Engine, Space
from mdh.ir.copy_engine import MOST_BOX, MOST_STEP, UNIT, unmapped
from mdh.ir.plan import Staging
from mdh.ir.program import DimKind
from mdh.ir.tile import BOX_LINE, Copy, Tile

MOST_BOXES = 64
"""Of one copy: a thread asks for each by itself."""
Reason = tuple[str, str]
"""What is wrong, and what is legal instead."""


def box_obstacle(subject: Subject, i: int, staging: Staging, *, again: bool) -> Reason | None:
    """Why step i cannot copy an input by tma, and what to do."""
    all_tma = [s.engine is Engine.TMA for s in subject.plan.steps[i].stagings]
    whole = " for all inputs of the step" if sum(all_tma) > 1 else ""
    buffer = subject.program.buffer_of[staging.buffer]
    unseen = unmapped(buffer)
    stage = subject.stage
    if staging.region is not Space.SM:
        return "tma copies go to shared memory", f"@copy(plain){whole}, or stage it in SM"
    if again:
        fact = "tma copies come from device memory, and an outer step has staged it"
        return fact, f"@copy(plain){whole}"
    if unseen is not None:
        chain = "" if whole else ", or @copy(tma else async else plain)"
        return unseen, f"@copy(async){whole}{chain}"
    if stage.scattered or any(d.kind is DimKind.PS for d in stage.dims):
        fact = "tma copies are not lowered yet for prefix sums and scattered outputs"
        return fact, f"@copy(async){whole}"
    if len(staging.layout) > 1 and _moved(subject, i, staging):
        natural = ",".join(str(n + 1) for n in range(len(staging.layout)))
        return "tma copies keep the order of the dimensions", f"layout [{natural}], or @copy(plain){whole}"
    for copy in subject.copies(i, staging.buffer):
        if not copy.linear and copy.tile.axes:
            return "tma copies are not lowered yet for arrays that are read at data", f"@copy(async){whole}"
        wrong = _box(copy.tile, f"@copy(plain){whole}")
        wrong = wrong or (_shared(subject, copy) if staging.multicast else None)
        if wrong is not None:
            return wrong
    return None


def _shared(subject: Subject, copy: Copy) -> Reason | None:
    if not subject.plan.clustered:
        fact = "`multicast` has no effect: the grid has no clusters"
        return fact, "CLU on a step above BLK, or leave multicast out"
    if any(axis.packed for axis in copy.tile.axes):
        return "blocks share boxes without gaps between their elements", "leave multicast out"
    blocks = sharing_blocks(subject.plan, subject.tiles, copy)
    if not blocks:
        return "`multicast` has no effect: no blocks of a cluster read the same part", "leave multicast out"
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


def ineffective(staging: Staging) -> list[str]:
    """Attributes of a tma copy that cannot change it; `copy` stands for its `vec=`."""
    said = (("copy", staging.vec), ("pad", staging.pad), ("window", staging.window))
    out = [name for name, there in said if there]
    return out + (["cache"] if staging.cache is not CacheHint.DEFAULT else [])


def _box(tile: Tile, other: str) -> Reason | None:
    """other: what does without boxes."""
    size = tile.sizes[0]
    if tile.axes[-1].packed:
        return "its rows have gaps between their elements, and those of a box have none", other
    if any(not 0 < (axis.pace or 0) <= MOST_STEP for axis in tile.axes):
        return f"its part has unequal gaps, or gaps of more than {MOST_STEP - 1} elements", other
    row = tile.shape[-1] * size
    if row % UNIT:
        said = f"tiles of a multiple of {UNIT // size} elements along the last dimension"
        return f"rows of its part have {row} bytes, and those of a box a multiple of {UNIT}", said
    boxes = tile.boxes
    if len(boxes.starts) > MOST_BOXES:
        said = f"smaller tiles: a box has at most {MOST_BOX} elements along a dimension"
        return f"its part takes {len(boxes.starts)} boxes, and a copy has at most {MOST_BOXES}", said
    unit = BOX_LINE * tile.swizzle if tile.swizzle else BOX_LINE * UNIT
    if len(boxes.starts) > 1 and boxes.elements * size % unit:
        fact = f"each of its boxes has {boxes.elements * size} bytes, and the next one begins at a multiple"
        return f"{fact} of {unit}", "tiles that are multiples of 8"
    return None
