"""Contractions on a GPU: chooses tiles, and the number of parts of the sum, by an estimate of the time.

A block computes rows x columns results in registers, from slices of both operands in shared memory. The next
slice is copied while one is used. With small blocks a multiprocessor holds several, so that one computes
while another waits for its copies; large blocks read less. If the results are too few to fill the machine,
blocks share the sum, and a second kernel or the blocks themselves add the parts.

The ladder of tiles and the costs of the estimate are fitted to measured fp32 products of random sizes
(`scripts/fit-default`): 247 of multiples of 32 on an H200 (artifacts/h200/default_fit*.jsonl.gz), with some
30 schedules each, and 97 of any integer sizes on an H100 (artifacts/h100/default_fit_any.jsonl.gz), with some
10. The chosen schedule takes 1.042 times the best of the former, and 1.027 times the best of the latter
(geometric means).
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from math import prod

from mdh.cost.gpu import (
    BOXES,
    PRODUCTS,
    PRODUCTS_F64,
    VECTOR_BYTES,
    WORD,
    Joining,
    Work,
    dealt,
    resident,
    seconds,
)
from mdh.hardware import Layer, Space
from mdh.machine import Machine
from mdh.schedule.default.atoms import every_matrices
from mdh.schedule.default.contraction_atoms import GROUP, atom_outline, best_plan
from mdh.schedule.default.contraction_boxes import box_plans
from mdh.schedule.default.contraction_groups import best_group_plan
from mdh.schedule.default.grid import block_axes, ceil_div, grid_size
from mdh.schedule.default.group_outline import group_outline
from mdh.schedule.default.group_products import find_groups
from mdh.schedule.default.ladder import WHOLE, fits
from mdh.schedule.default.ladder_plans import LadderTiling, plans, registers_of
from mdh.schedule.default.operands import (
    BOX_COPIES,
    MATRIX_COPIES,
    Contraction,
    aligned_elements,
    asynchronous,
    blocks_step,
    copy_instructions,
    cut_rows,
    diagonal_dims,
    elements_read,
    gathered_bytes,
    gathers,
    has_diagonal,
    is_product,
    shared_copy,
    vector_copy,
)
from mdh.schedule.default.outline import ScheduleBuilder, attribute, held, staged
from mdh.schedule.default.shape import Shape
from mdh.schedule.default.short_sums import best_short_plan, find_short, short_outline
from mdh.schedule.default.sum_vectors import best_vector_plan, find_vectors
from mdh.schedule.default.window import find_window
from mdh.schedule.default.window_gpu import window_gpu
from mdh.schedule.model import Arg, ArgCall, Attr, Mem, Unit

LOW = 1.2
"""What warps take of their estimate for rows along several dimensions. From one convolution of 28x28x128 on
an H100: 4.26 of 3.27 microseconds."""
FAR = 1.5
"""How much better the estimate of threads has to be than that of atoms in f64. Of 70 sizes on an H100,
threads were faster for two, by 4 %."""
SHARED = 48 * 1024
"""Bytes of shared memory that every GPU gives a block by default."""
BURST, SCATTERED = 64, 0.75
"""Bytes side by side that memory stores at full speed. The exponent makes single words eight times as slow:
sectors have 32 bytes."""
SLOTS = 2
BANKS = 32
"""Words that shared memory gives a multiprocessor in a cycle."""
WARP = 32
"""Threads of a warp, as the ladder assumes."""


Timed = tuple[ScheduleBuilder, float]
"""The steps of a plan, and its estimate in seconds."""


def contraction_gpu(
    shape: Shape, found: Contraction, machine: Machine, target: str, joining: Joining
) -> Timed:
    """The plan with the best estimate. Products of 8- and 16-bit factors are computed on tensor
    cores where these can, and those of f32 if the user allows tf32; those of f64 unless the estimate of
    threads is far better."""
    atoms = _by_atoms(shape, machine, target, joining)
    if atoms is not None and has_diagonal(shape, found, atoms[0]):
        # they would copy a box
        atoms = None
    if atoms is not None and shape.value_bytes <= WORD:
        return atoms
    threads = _by_threads(shape, found, machine, joining)
    return threads if atoms is None or FAR * threads[1] < atoms[1] else atoms


def _by_atoms(shape: Shape, machine: Machine, target: str, joining: Joining) -> Timed | None:
    """By warp groups where these can. Where their rows have several dimensions, the estimate decides: of a
    few images there are few rows."""
    grouped = best_group_plan(shape, find_groups(shape, machine, target), machine, joining)
    groups = None if grouped is None else (group_outline(shape, machine, grouped[0]), grouped[1])
    if grouped is not None and len(grouped[0].product.rows.dims) == 1:
        return groups
    every = list(every_matrices(shape, machine, target))
    planned = ((matrices, best_plan(shape, matrices, machine, joining)) for matrices in every)
    atoms = min(((m, *p) for m, p in planned if p is not None), key=lambda t: t[2], default=None)
    if not every and groups is None:
        short = find_short(shape, machine, target)
        best = None if short is None else best_short_plan(shape, short, machine)
        return (
            None
            if short is None or best is None
            else (short_outline(shape, short, machine, best[0]), best[1])
        )
    if atoms is None:
        return groups
    matrices, plan, seconds_ = atoms
    warps = atom_outline(shape, matrices, machine, plan), seconds_
    return warps if groups is None or LOW * warps[1] < groups[1] else groups


def _by_threads(shape: Shape, found: Contraction, machine: Machine, joining: Joining) -> Timed:
    window = find_window(shape, found)
    adding = joining is Joining.IN_PLACE
    slid = None if window is None else window_gpu(shape, window, machine, adding=adding)
    vectors = find_vectors(shape, found)
    along = None if vectors is None else best_vector_plan(shape, vectors, machine, joining)
    if slid is not None:
        return slid if along is None or slid[1] < along[1] else along
    blocks = dict[object, Work]()
    matrices = is_product(found)
    costs = PRODUCTS_F64 if shape.value_bytes > WORD else PRODUCTS if matrices else BOXES

    def time(turned: Contraction, plan: LadderTiling) -> float:
        key = tuple(plan.block.items()), tuple(plan.thread.items()), plan.tile
        if key not in blocks:
            blocks[key] = _work_of_block(shape, turned, machine, plan)
        return seconds(_shared_out(shape, turned, blocks[key], plan), machine, costs)

    every = [(found, plan) for plan in plans(shape, found, machine, joining=joining)]
    if not matrices:
        every += box_plans(shape, found, machine, joining)
    taken, _, turned, best = min((time(*one), n, *one) for n, one in enumerate(every))
    if along is not None and along[1] < taken:
        return along
    outline = outline_of(shape, turned, machine, best)
    outline.estimate = lambda there: seconds(work_of(there, turned, machine, best), machine, costs)
    return outline, taken


def outline_of(shape: Shape, found: Contraction, machine: Machine, plan: LadderTiling) -> ScheduleBuilder:
    """The steps of a plan."""
    first = plan.first
    axes = block_axes(first, shape.extents, machine, found.columns[0])
    blocks = grid_size(axes, first, shape.extents)
    outline = ScheduleBuilder(shape)
    ordered = found.rows[0] in axes and found.columns[0] in axes and blocks >= 4 * machine.units
    order = (attribute("order", ArgCall("grouped", (Arg(GROUP),))),) if ordered and plan.parts == 1 else ()
    blocks_step(shape, outline, plan, axes, order, gathered=_gathers(shape, machine, plan))
    copies = _copies(shape, found, plan, machine)
    outline.step(plan.slices, entries=held(shape) | copies, attrs=_slots(shape, plan, copies))
    _threads(shape, found, machine, plan, outline)
    fragments = {b: staged(shape, b, Space.RM) for b in dict.fromkeys((found.first, found.second))}
    unroll = attribute("unroll")
    single = {b: dims for b in fragments if (dims := diagonal_dims(shape, b, {**plan.block, **plan.slices}))}
    if single:
        # the box of a single element along the diagonal has no more elements than the thread reads
        diagonals = {b: fragments.pop(b) for b in single}
        deep = {d: _deep(shape, single, plan, d) for d in found.reduced}
        outline.step(deep, entries=fragments, attrs=(unroll,))
        outline.step(dict.fromkeys(set().union(*single.values()), 1), entries=diagonals, attrs=(unroll,))
        outline.step(dict.fromkeys(found.reduced, 1), attrs=(unroll,))
        return outline
    alone = sum(t > 1 for t in plan.slices.values()) == 1
    ahead = (attribute("stages", plan.tile.ahead),) if plan.tile.ahead > 1 and alone else ()
    outline.step(dict.fromkeys(found.reduced, 1), entries=fragments, attrs=(*ahead, unroll))
    return outline


def _deep(shape: Shape, diagonals: Iterable[str], plan: LadderTiling, d: int) -> int:
    """Iterations along a reduced dimension of which a thread reads the elements of diagonals at once: those
    of a vector along which one of them is contiguous."""
    along = (b for b in diagonals if any(shape.contiguous(a) == d for a in shape.reads_of(b)))
    widest = max((aligned_elements(shape, b) for b in along), default=1)
    return min(widest, plan.slices[d] & -plan.slices[d])


def work_of(shape: Shape, found: Contraction, machine: Machine, plan: LadderTiling) -> Work:
    """The quantities that a plan's time depends on."""
    return _shared_out(shape, found, _work_of_block(shape, found, machine, plan), plan)


def _shared_out(shape: Shape, found: Contraction, block: Work, plan: LadderTiling) -> Work:
    """block: the work of a plan with the same tile, whatever its number of parts."""
    iterations = prod(shape.extents[d] for d in found.reduced)
    # a grid has three axes; other dimensions are loops of the blocks
    counts = sorted((ceil_div(shape.extents[d], t) for d, t in plan.block.items()), reverse=True)
    axes = 3 if plan.parts == 1 else 2
    return replace(
        block,
        blocks=plan.parts * prod(counts[:axes]),
        slices=prod(counts[axes:]) * ceil_div(iterations, prod(plan.slices.values()) * plan.parts),
        parts=plan.parts,
        joining=plan.joining,
    )


def _work_of_block(shape: Shape, found: Contraction, machine: Machine, plan: LadderTiling) -> Work:
    size = shape.value_bytes
    rows, high = _of(plan, found.rows)
    columns, wide = _of(plan, found.columns)
    threads = ceil_div(rows, high) * ceil_div(columns, wide)
    depth = prod(plan.slices.values())
    written = prod(shape.extents[d] for d in (*found.batch, *found.rows, *found.columns)) * size
    read = sum(elements_read(shape, b) for b in {found.first, found.second}) * size
    registers = registers_of(plan.tile.ahead, max(1, size // WORD), (high, wide))
    shared = SLOTS * depth * (rows + columns + 4) * size
    gathered = _gathers(shape, machine, plan)
    if gathered:
        shared += gathered_bytes(shape, plan.block, size)
    spread = _spread(shape, found, plan, gathered=gathered)
    written = round(written * spread)
    # lanes of a warp that are not there cost as much as others, but few products have such blocks
    sides = (found.rows, high), (found.columns, wide)
    direct = _direct(shape, found, plan, found.first), _direct(shape, found, plan, found.second)
    warps = max(1.0, threads / machine.warp if is_product(found) else ceil_div(threads, machine.warp))
    return Work(
        # a small product that a block computes whole mostly waits for its copies
        size, warps if plan.tile is WHOLE else dealt(warps),
        resident=resident(machine, threads, min(registers, machine.registers_per_thread), shared),
        blocks=1,
        slices=1,
        multiplies=depth * high * wide,
        vectors=depth * sum(
            own / direct[n] if direct[n] else _reads(plan, n, dims, own, size)
            for n, (dims, own) in enumerate(sides)
        ),
        words=depth * _cycles(plan, found, (high, wide), machine, size, direct),
        loops=depth,
        copied=_copied(shape, found, machine, plan) / threads,
        results=high * wide * spread,
        moved=read + written,
        written=written,
        parts=1,
    )  # fmt: skip


def _spread(shape: Shape, found: Contraction, plan: LadderTiling, *, gathered: bool) -> float:
    """The time to store the results over the time to store as many that lie side by side. It is longest where
    each lane of a warp stores to a sector of its own. gathered: the results meet in shared memory first, and
    the threads then store whole rows of them."""
    apart = abs(shape.result_strides[found.columns[0]])
    near = _row(shape, plan.block) if gathered else plan.block[found.columns[0]] if apart == 1 else 1
    missing = max(1.0, BURST / shape.value_bytes / near)
    return float(missing**SCATTERED)


def _row(shape: Shape, block: Mapping[int, int]) -> int:
    """Results of a block that lie side by side in memory."""
    out = 1
    for d in sorted(block, key=lambda d: abs(shape.result_strides[d])):
        if abs(shape.result_strides[d]) != out:
            break
        out *= block[d]
        if block[d] < shape.extents[d]:
            break
    return out


def _reads(plan: LadderTiling, side: int, dims: tuple[int, ...], held: int, size: int) -> float:
    """Accesses by which a thread reads its elements of an operand, for one iteration. side: 0 for rows, 1 for
    columns."""
    near = plan.near[side]
    own = plan.thread[dims[0]] if near is None else plan.block[near]
    return held / min(VECTOR_BYTES // size, own & -own)


def _direct(shape: Shape, found: Contraction, plan: LadderTiling, buffer: str) -> int:
    """Elements that a thread reads at once of an operand that is read where it lies; 0 for others."""
    if not diagonal_dims(shape, buffer, {**plan.block, **plan.slices}):
        return 0
    return prod(_deep(shape, (buffer,), plan, d) for d in found.reduced)


def _cycles(
    plan: LadderTiling,
    found: Contraction,
    own: tuple[int, int],
    machine: Machine,
    size: int,
    direct: tuple[int, int],
) -> float:
    """Cycles in which shared memory gives a warp the elements of both operands for one iteration. In each it
    gives BANKS words that differ; lanes with the same address share them. own: elements of a thread along
    each side. direct: see `_direct`. Of a side that is not copied, every access reads another sector."""
    wide = ceil_div(plan.block[found.columns[0]], plan.thread[found.columns[0]])
    high = ceil_div(plan.block[found.rows[0]], plan.thread[found.rows[0]])
    lanes = min(high, ceil_div(machine.warp, wide)), min(wide, machine.warp)
    if plan.tile.warp[0]:
        lanes = plan.tile.warp[0] // plan.tile.thread[0], plan.tile.warp[1] // plan.tile.thread[1]
    return sum(
        held / direct[side] * n
        if direct[side]
        else reads * max(1.0, held / reads * n * size / (BANKS * WORD))
        for side, (dims, held, n) in enumerate(zip((found.rows, found.columns), own, lanes, strict=True))
        for reads in (_reads(plan, side, dims, held, size),)
    )


def _copied(shape: Shape, found: Contraction, machine: Machine, plan: LadderTiling) -> float:
    """Instructions that a block's threads need to copy the slices of both operands."""
    copies, tiles = _copies(shape, found, plan, machine), {**plan.block, **plan.slices}
    costs = MATRIX_COPIES if is_product(found) else BOX_COPIES
    return sum(copy_instructions(shape, c, tiles, costs) for c in copies.values())


def _gathers(shape: Shape, machine: Machine, plan: LadderTiling) -> bool:
    """Whether the results of a block meet in shared memory, beside the slices. Those of a small product that
    a block computes whole leave as they are."""
    size = shape.value_bytes
    room = machine.shared_per_block - SHARED
    able = gathers(shape, size) and cut_rows(shape) and plan.tile is not WHOLE
    return able and gathered_bytes(shape, plan.block, size) <= room


def _of(plan: LadderTiling, dims: tuple[int, ...]) -> tuple[int, int]:
    """(tile of a block, tile of a thread) along one side."""
    side = prod(plan.block[d] for d in dims)
    return side, side * plan.thread[dims[0]] // plan.block[dims[0]] or 1


def _slots(shape: Shape, plan: LadderTiling, copies: Mapping[str, Mem]) -> tuple[Attr, ...]:
    """Two slots, if one loop goes through the slices."""
    loops = [d for d, t in plan.slices.items() if t < (plan.part if d == plan.k else shape.extents[d])]
    return (attribute("stages", SLOTS),) if copies and len(loops) == 1 else ()


def _threads(
    shape: Shape, found: Contraction, machine: Machine, plan: LadderTiling, outline: ScheduleBuilder
) -> None:
    """Splits over warps where tiles are whole, then over threads. A thread's results are vectors that lie
    apart, so that neighbouring threads read neighbouring elements."""
    main = (found.rows[0], found.columns[0])
    whole = machine.warp == WARP and all(
        plan.thread[d] == plan.tile.thread[n] and fits(plan.tile, n, plan.block[d])
        for n, d in enumerate(main)
    )
    if whole:
        warps = {d: Unit(Layer.WRP, axis) for d, axis in zip(main, ("y", "x"), strict=True)}
        outline.step(dict(zip(main, plan.tile.warp, strict=True)), warps)
    lanes = VECTOR_BYTES // shape.value_bytes
    dealt = {d: lanes for d in main if whole and plan.thread[d] > lanes}
    dealt |= {
        d: 1 for d, near in zip(main, plan.near, strict=True) if near is not None and plan.thread[d] > 1
    }
    axes = _interleaved(plan, main, outline) if whole else ("y", "x")
    outline.step(plan.thread, {d: Unit(Layer.THR, a) for d, a in zip(main, axes, strict=True)}, cyclic=dealt)


def _interleaved(plan: LadderTiling, main: tuple[int, int], outline: ScheduleBuilder) -> tuple[str, str]:
    """Axes of the threads of rows and of columns.

    Shared memory serves half a warp of vector reads at once if the lanes that differ in their lowest bit, or
    else those that differ in the next bit, read the same address (measured on an H200: `scripts/ports
    reads`). So one operand depends on a lane's lowest bit and not on the next one, and the other operand the
    other way round. The side with fewer threads takes every second lane. If it has more than two threads, it
    also takes the warp's halves.
    """
    counts = [outline.tiles[d] // plan.thread[d] for d in main]
    few = counts.index(min(counts))
    if counts[few] > 2:
        outline.step({main[few]: 2 * plan.thread[main[few]]}, {main[few]: Unit(Layer.THR, "z")})
    return ("x", "y") if few == 0 else ("y", "x")


def _copies(shape: Shape, found: Contraction, plan: LadderTiling, machine: Machine) -> dict[str, Mem]:
    room = min(machine.shared_per_block, SHARED)
    tiles = {**plan.block, **plan.slices}
    out: dict[str, Mem] = {}
    mains = (found.first, found.rows[0]), (found.second, found.columns[0])
    for (buffer, main), near in zip(mains, plan.near, strict=True):
        size = shape.boxes[buffer].elements(tiles) * shape.element_bytes(buffer) * 5 // 4 + 1024
        if buffer not in out and SLOTS * size <= room and not diagonal_dims(shape, buffer, tiles):
            room -= SLOTS * size
            copy = (
                shared_copy(shape, buffer, main)
                if near is None
                else vector_copy(shape, buffer, main, near, plan.block[near])
            )
            out[buffer] = asynchronous(shape, copy, machine)
    return out
