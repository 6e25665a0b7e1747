"""The tile tree: texts that are read like code, and what holds of random programs and schedules."""

import pytest

from mdh.checker.footprint import shared_bytes
from mdh.decompose.tiles import decompose
from mdh.ir.plan import Plan, StagePlan
from mdh.ir.program import Program
from mdh.ir.tile import ALIGNMENT, Copy, Hold, walk
from mdh.ir.tile_text import print_tiles
from mdh.ir.tile_verify import verify_tiles
from mdh.lower.fold import folds_of
from mdh.lower.names import names_of
from mdh.lower.run import lower
from mdh.lower.stages import Context, kernel_name
from mdh.target.shared import shared_layout
from tests.support.golden_plans import MACHINES, PROGRAMS, check_golden, plan_of, random_plans
from tests.support.source_tree import ROOT

GOLDEN = ROOT / "tests" / "golden" / "tiles"
OWN = 16384


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("name", PROGRAMS)
def test_texts(name: str, machine: str, update_golden: bool) -> None:
    plan = plan_of(name, machine)
    cpu = plan.machine.kind == "cpu"
    text = "\n".join(print_tiles(decompose(stage.program, stage, cpu=cpu)) for stage in plan.stages)
    check_golden(text, GOLDEN / f"{name}.{machine}.txt", update_golden)


@pytest.mark.parametrize("seed", range(60))
def test_random_trees(seed: int) -> None:
    for plan in random_plans(seed, *MACHINES.items()):
        for stage in plan.stages:
            tiles = decompose(stage.program, stage, cpu=plan.machine.kind == "cpu")
            verify_tiles(tiles)
            assert print_tiles(tiles).count("copy ") == len(tiles.copies)
            _as_lowered(plan, stage.program, stage)
        _fits(plan)


def _fits(plan: Plan) -> None:
    """A stage's kernel takes no more shared memory than the checker has counted, and slack where there is
    room. Kernels that join the parts are mdh's own, and small."""
    if plan.machine.kind == "cpu":
        return
    names = {kernel_name(plan.program, stage.stage): stage for stage in plan.stages}
    for kernel in lower(plan).kernels:
        used = max((slot.end for slot in shared_layout(kernel)), default=0)
        if (stage := names.get(kernel.name)) is None:
            assert used <= OWN, kernel.name
            continue
        bufs = [slot.buf for slot in shared_layout(kernel)]
        slack = sum(b.slack * b.dtype.bytes + ALIGNMENT for b in bufs if b.slack)
        counted = shared_bytes(stage, decompose(stage.program, stage, cpu=False), cpu=False)
        assert used <= min(counted + slack, plan.machine.shared_per_block), kernel.name


def _as_lowered(plan: Plan, program: Program, stage: StagePlan) -> None:
    """Regions have the shapes, and the places, that the lowering gives them."""
    if stage.stage.scattered or any(d.kind == "ps" for d in stage.stage.dims):
        return
    nest = Context(program, plan.machine, plan.target, names_of(plan)).nest("f", stage, folds_of(stage.stage))
    tiles = decompose(program, stage, cpu=plan.machine.kind == "cpu")
    for f in range(len(stage.stage.results)):
        made = [(r.space, r.bufs[0].shape, r.bufs[0].strides) for r in nest.regions if r.fold == f]
        held = [(h.tile.space, h.tile.shape, h.tile.strides) for h in tiles.holds if h.result == f]
        assert made == held[: len(made)]


def test_nodes_stand_in_the_order_of_the_code() -> None:
    plan = plan_of("matmul", "h200")
    nodes = list(walk(decompose(plan.program, plan.stages[0], cpu=False).body))
    hold = next(n for n, node in enumerate(nodes) if isinstance(node, Hold))
    copies = [n for n, node in enumerate(nodes) if isinstance(node, Copy)]
    assert copies and hold < copies[0]
