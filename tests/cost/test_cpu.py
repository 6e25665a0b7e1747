"""Pairs of CPU schedules whose order was measured, in the model's order."""

import pytest

from mdh.cost.predict import predict
from tests.cost.plans import plan_of, seconds
from tests.support.source_tree import ROOT

SIZES = {"M": 512, "N": 512, "K": 512}
TILE = """
1: (de-)comp( 64, 64, ^ )   ( ^, ^ ; ^ )         ( BLK.y, BLK.x, ^ )
2: (de-)comp( ^, ^, 128 )   ( ^, B:SM[1,2] ; ^ ) ( ^, ^, FOR.1 )
3: (de-)comp( {0}, {1}, ^ ) ( ^, ^ ; ^ )         ( FOR.2, FOR.1, ^ )
4: (de-)comp( ^, ^, 1 )     ( ^, ^ ; C:RM[1,2] ) ( ^, ^, FOR.1 )
5: (de-)comp( 1, {2}, ^ )   ( ^, ^ ; ^ )         ( FOR.1, FOR.2, ^ ) @unroll
6: (de-)comp( ^, 1, ^ )     ( ^, ^ ; ^ )         ( ^, VEC.x, ^ )
"""


def product(*tile: int) -> float:
    return seconds("matmul", TILE.format(*tile), "generic-cpu", **SIZES)


def test_register_tiles_of_products() -> None:
    best = product(4, 16, 8)
    assert product(1, 8, 8) > 1.3 * best  # a load for every multiply-add
    assert product(16, 32, 8) > 1.3 * best  # 64 accumulators in 16 registers
    assert product(4, 4, 2) > 2 * best  # narrow vectors


def test_scalar_code_is_slower_than_vectors() -> None:
    scalar = TILE.format(4, 16, 8).replace("VEC.x", "^")
    assert seconds("matmul", scalar, "generic-cpu", **SIZES) > 2 * product(4, 16, 8)


def test_lanes_across_rows_are_no_vectors() -> None:
    along, across = (
        f"1: (de-)comp( 32, ^ ) ( ^ ; ^ ) ( BLK.x, ^ )\n2: (de-)comp( {tile} ) ( ^ ; ^ ) ( ^, ^ )\n"
        f"3: (de-)comp( 1, 1 ) ( ^ ; ^ ) ( {core} )"
        for tile, core in (("1, 8", "^, VEC.x"), ("8, 1", "VEC.x, ^"))
    )
    assert seconds("jacobi2d", across, "generic-cpu") > 2 * seconds("jacobi2d", along, "generic-cpu")


def test_one_group_leaves_cores_idle() -> None:
    text = "1: (de-)comp( {0}, ^ ) ( ^ ; ^ ) ( BLK.x, ^ )\n2: (de-)comp( 1, 8 ) ( ^ ; ^ ) ( ^, ^ )\n"
    text += "3: (de-)comp( ^, 1 ) ( ^ ; ^ ) ( ^, VEC.x )"
    one = predict(plan_of("jacobi2d", text.format(4096), "generic-cpu"))
    many = predict(plan_of("jacobi2d", text.format(64), "generic-cpu"))
    assert one.signs.idle == pytest.approx(7 / 8)
    assert many.signs.idle == 0
    assert one.seconds > 2 * many.seconds


def test_a_short_stage_may_leave_cores_idle() -> None:
    """The prefix of the rows' sums is one group's work, and a thousandth of the time."""
    text = (ROOT / "schedules" / "mbbs/generic-cpu/base.mdh").read_text(encoding="utf-8")
    assert predict(plan_of("mbbs", text, "generic-cpu")).signs.idle < 0.25


def test_more_accumulators_than_registers_are_said() -> None:
    assert predict(plan_of("matmul", TILE.format(16, 32, 8), "generic-cpu", **SIZES)).signs.spills > 0
    assert predict(plan_of("matmul", TILE.format(4, 16, 8), "generic-cpu", **SIZES)).signs.spills == 0


def test_a_cut_vector_dimension_costs() -> None:
    whole, cut = ({"M": 64, "N": n, "K": 64} for n in (32, 31))
    text = (
        TILE.format(4, 16, 8).replace("64, 64", "4, 16").replace("128", "^").replace("FOR.1 )\n3", "^ )\n3")
    )
    assert seconds("matmul", text, "generic-cpu", **cut) > 1.5 * seconds(
        "matmul", text, "generic-cpu", **whole
    )


def guards(cut: str, core: str, **sizes: int) -> float:
    text = f"1: (de-)comp( 8, {cut}, ^ ) ( ^, ^ ; ^ ) ( BLK.y, {core}, ^ )\n"
    text += "2: (de-)comp( ^, ^, 1 ) ( ^, ^ ; C:RM[1,2] ) ( ^, ^, FOR.1 )\n"
    text += "3: (de-)comp( 1, 8, ^ ) ( ^, ^ ; ^ ) ( FOR.1, FOR.2, ^ ) @unroll\n"
    text += "4: (de-)comp( ^, 1, ^ ) ( ^, ^ ; ^ ) ( ^, VEC.x, ^ )"
    return dict(predict(plan_of("matmul", text, "generic-cpu", **sizes)).terms)["guards"]


def test_guards_whose_place_is_known_cost_little() -> None:
    """Of 24 columns the second 16 are cut: a loop's last part is code of its own, a block's tests."""
    sizes = {"M": 64, "N": 24, "K": 64}
    assert guards("24", "BLK.x", **sizes) == 0
    assert 0 < 4 * guards("16", "FOR.1", **sizes) < guards("16", "BLK.x", **sizes)


def test_short_chains_overlap_the_next() -> None:
    chains = [
        dict(predict(plan_of("prefix_sum", f"1: (de-)comp( {part} ) ( ^ ; ^ ) ( BLK.x )", "generic-cpu",
                             N=1 << 20)).terms)["chains"]
        for part in (32, 256, 1 << 16)
    ]  # fmt: skip
    assert 1.5 * chains[0] < chains[1] < chains[2]


def test_many_rows_of_a_stencil_in_turn_lose_the_prefetches() -> None:
    jumps = []
    for rows in (1, 2, 4, 8):
        text = (
            f"1: (de-)comp( 32, ^ ) ( ^ ; ^ ) ( BLK.x, ^ )\n2: (de-)comp( {rows}, 16 ) ( ^ ; ^ ) ( ^, ^ )\n"
        )
        text += "3: (de-)comp( ^, 1 ) ( ^ ; ^ ) ( ^, VEC.x )"
        plan = plan_of("jacobi2d", text, "generic-cpu", N=2048, M=2048)
        jumps.append(dict(predict(plan).terms)["jumps"])
    assert max(jumps[:2]) < 0.2 * min(jumps[2:])
