"""What `mdh explain` says of tensor cores, the copy engine and roles, against numbers worked out by hand."""

from mdh.lower.run import lower
from mdh.report.explain import StageReport, explain_plan
from mdh.report.text import loops_text
from tests.atoms.products import planned
from tests.support.source_tree import ROOT

GROUPS = """
1: (de-)comp( 128, 256, ^ ) ( ^, ^ ; ^ ) ( BLK.y, BLK.x, ^ ) @persistent @roles(load=1, math=2, regs=24/240)
2: (de-)comp( ^, ^, 64 ) ( A:SM[1,2]@copy(tma)@swizzle(128), B:SM[1,2]@copy(tma)@swizzle(128) ;
                           C:RM[1,2] ) ( ^, ^, FOR.1 ) @stages(4)
3: (de-)comp( 64, ^, ^ ) ( ^, ^ ; ^ ) ( WGP.y, ^, ^ )
4: (de-)comp( 64, 256, 16 ) ( ^, ^ ; ^ ) ( MMA.m, MMA.n, MMA.k ) @atom(wgmma)
"""
WARPS = """
1: (de-)comp( 128, 128, ^ ) ( ^, ^ ; ^ ) ( BLK.y, BLK.x, ^ )
2: (de-)comp( ^, ^, 32 ) ( A:SM[1,2]@pad(8), B:SM[1,2]@pad(8) ; C:RM[1,2] ) ( ^, ^, FOR.1 )
3: (de-)comp( 64, 64, ^ ) ( ^, ^ ; ^ ) ( WRP.y, WRP.x, ^ )
4: (de-)comp( 16, 8, 16 ) ( ^, ^ ; ^ ) ( MMA.m, MMA.n, MMA.k )
"""


def report_of(schedule: str) -> StageReport:
    _, plan = planned((ROOT / "inputs_c" / "matmul_bf16.c").read_text(encoding="utf-8"), schedule)
    return explain_plan(plan, lower(plan)).stages[0]


def moves_of(report: StageReport) -> dict[tuple[str, str, str], tuple[tuple[int, ...], int]]:
    return {(m.buffer, m.source, m.sink): (m.box, m.count) for m in report.moves}


def test_warp_groups_read_their_factors_for_each_atom() -> None:
    """1024 cubed is 16 × 4 × 64 atoms of 64×256×16, and an accumulator takes 16 products at once."""
    moves = moves_of(report_of(GROUPS))
    assert moves["A", "SM", "OP"] == ((64, 16), 16 * 4 * 64)
    assert moves["B", "SM", "OP"] == ((16, 256), 16 * 4 * 64)
    assert moves["C", "RM", "OP"] == ((), 1024**3 // 16)


def test_warps_share_fragments_among_their_atoms() -> None:
    """256 warps, which load 4 × 64 fragments of A and 8 × 64 of B each."""
    moves = moves_of(report_of(WARPS))
    assert moves["A", "SM", "OP"] == ((16, 16), 256 * 4 * 64)
    assert moves["B", "SM", "OP"] == ((16, 8), 256 * 8 * 64)


def test_roles_in_the_loops_and_the_registers() -> None:
    report = report_of(GROUPS)
    (kernel,) = report.resources
    assert (kernel.threads, kernel.shares, kernel.registers, kernel.resident) == (384, (240, 24), 168, 1)
    shown = loops_text(report.loops)
    assert "copy A:SM[1,2]  swizzle 128, tma copy by a warp group that only copies" in shown
    assert "64×256×16 wgmma" in shown
    assert shown.count("inside an atom") == 7


def test_turns_in_the_loops() -> None:
    by_turns = GROUPS.replace("128, 256, ^", "64, 256, ^").replace("regs=24/240", "regs=24/240, turns")
    report = report_of(by_turns)
    (kernel,) = report.resources
    assert (kernel.threads, kernel.shares) == (384, (240, 24))
    assert "2 warp groups take tiles by turns" in loops_text(report.loops)


def test_a_loop_that_blocks_share() -> None:
    shared = GROUPS.replace("C:RM[1,2]", "C:RM[1,2]@combine(stream)").replace("24/240", "40/232")
    shown = loops_text(report_of(shared).loops)
    assert "shared evenly by the blocks, 4 stages" in shown
