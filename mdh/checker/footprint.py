"""What a stage keeps in shared memory and registers besides its tiles, and the digits of its dimensions."""

import math

from mdh.decompose.box_store import ResultBoxes, box_store
from mdh.decompose.tiles import state_sizes
from mdh.hardware import THREADED, Combine, Engine, Space
from mdh.ir.layout import Level
from mdh.ir.plan import StagePlan
from mdh.ir.program import DimKind, Program
from mdh.ir.tile import ALIGNMENT, Hold, Tile, Tiles
from mdh.poly.digits import Chain, Cut, index_of

WORD = 4
TOKEN = 8
WARP = 32


def shared_bytes(plan: StagePlan, tiles: Tiles, *, cpu: bool) -> int:
    """Bytes of shared memory of a block: staged inputs in all slots, regions, and scratch of combines, also
    those of stages that its kernel computes for itself."""
    inner = sum(shared_bytes(x.plan, x.plan.tiles, cpu=cpu) for x in plan.inner)
    return inner + tiles.bytes_in(Space.SM) + (0 if cpu else combine_bytes(plan) + token_bytes(plan))


def meets(plan: StagePlan) -> bool:
    """Whether threads that compute the stage exchange values in shared memory before it is done."""
    ways = {m for methods in plan.combines for m in methods}
    exchanged = Combine.SHARED in ways or (Combine.SHUFFLE in ways and plan.threads % WARP > 0)
    return exchanged or any(node.tile.space is Space.SM for node in plan.tiles.kept)


def store_bytes(program: Program, plan: StagePlan, tiles: Tiles) -> int:
    """Bytes of shared memory through which `@store(tma)` passes results."""
    found = box_store(program, plan, tiles.levels)
    return found.bytes if isinstance(found, ResultBoxes) else 0


def token_bytes(plan: StagePlan) -> int:
    """Bytes of the tokens of tma copies: for each slot one that says it is filled, and with `@roles` one that
    says it is free. With `turns`, each team has one that says it is its turn."""
    slots = [s.stages for s in plan.steps if any(x.engine is Engine.TMA for x in s.stagings)]
    each = TOKEN * (1 if plan.roles is None else 2)
    turns = [plan.teams * TOKEN] if plan.teams > 1 else []
    return sum(-(-n // ALIGNMENT) * ALIGNMENT for n in (*(n * each for n in slots), *turns))


def register_words(plan: StagePlan, tiles: Tiles) -> int:
    """32-bit registers that a thread's RM buffers take; addresses and temporaries come on top. With
    `@promote` the sums are held twice. Of the stages that a kernel computes for itself, one at a time has
    registers."""
    inner = max((register_words(x.plan, x.plan.tiles) for x in plan.inner), default=0)
    held = [node for node in tiles.kept if node.tile.space is Space.RM]
    results = [taken(node.tile) // WORD for node in held if isinstance(node, Hold)]
    twice = plan.atoms is not None and plan.steps[plan.atoms].promote is not None
    own = sum(taken(node.tile) // WORD for node in held) + (results[-1] if twice and results else 0)
    return own + inner


def taken(tile: Tile) -> int:
    """Bytes that a tile takes of its memory layer: registers are taken whole."""
    return tile.room if tile.space is not Space.RM else -(-tile.bytes // WORD) * WORD


def fragment_words(plan: StagePlan) -> int:
    """32-bit registers in which a lane holds the factors' fragments, for its warp's atoms along m and n."""
    step = None if plan.atoms is None else plan.steps[plan.atoms]
    if step is None or step.product is None or step.product.atom.grouped:
        return 0
    atom, (m, n, _) = step.product.atom, step.atoms
    left = atom.a.count * atom.left.bytes * m
    right = atom.b.count * atom.right.bytes * n
    return (left + right) // WORD


def combine_bytes(plan: StagePlan) -> int:
    """Bytes of shared memory that combines need as scratch: a partial result of each thread, or two for a
    scan.

    Shuffles need none, unless the last warp of the block is partial. With tickets, blocks learn who came
    last, and with `stream` their number. With look-back, a block also passes on a value for each element that
    its threads share. In plans that the lowering makes, `combines` may end at the one result that they
    compute.
    """
    threads = math.prod(plan.units(layer) for layer in THREADED)
    kinds = [d.kind for d in plan.stage.dims]
    scan = DimKind.PS in kinds
    shared = (x for step in plan.steps for x in step.splits if x.layer in THREADED)
    groups = math.prod(x.parts for x in shared if kinds[x.dim] is DimKind.CC)
    out = ALIGNMENT if plan.streamed else 0
    for result, methods in zip(plan.stage.results, plan.combines, strict=False):
        sizes = state_sizes(result)
        if Combine.SHARED in methods or (Combine.SHUFFLE in methods and threads % WARP):
            out += sum(_room(threads * size) for size in sizes) * (2 if scan else 1)
        if Combine.TICKET in methods:
            # which block came last or this block's number, and the values that are passed on
            out += ALIGNMENT + (sum(_room(groups * size) for size in sizes) if scan else 0)
    return out


def _room(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT


def chain_of(plan: StagePlan, dim: int) -> Chain:
    return tuple(Cut(s.splits[dim].parent, s.splits[dim].tile, s.splits[dim].cyclic) for s in plan.steps)


def first_of_part(plan: StagePlan, loop: Level, part: int) -> int:
    """The first iteration of the loop's dimension in part `part`, with all other parts being their first.

    If @cyclic makes that undefined (K120), the start of the part without @cyclic.
    """
    chain = chain_of(plan, loop.dim)
    element = index_of(chain, tuple(part if i == loop.step else 0 for i in range(len(chain))))
    return part * loop.tile if element is None else element
