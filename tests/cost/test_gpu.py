"""The published ladder of fp32 products, and other pairs whose order is known, in the model's order.

Source of the ladder: siboehm, "How to Optimize a CUDA Matmul Kernel" (2022), RTX A6000 at 4096: naive 1.3 %
of cuBLAS, coalesced 8.5, shared memory 12.8, one-dimensional register tile 36.5, two-dimensional 68.7, warp
tiling 93.7.
"""

import pytest

from mdh.cost.predict import predict
from tests.cost.plans import plan_of, seconds

BIG = {"M": 4096, "N": 4096, "K": 4096}
NAIVE = """
1: (de-)comp( 32, 32, ^ ) ( ^, ^ ; ^ ) ( BLK.y, BLK.x, ^ )
2: (de-)comp( 1, 1, ^ )   ( ^, ^ ; ^ ) ( {}, {}, ^ )
"""
UNCOALESCED, COALESCED = NAIVE.format("THR.x", "THR.y"), NAIVE.format("THR.y", "THR.x")
TILE = """
1: (de-)comp( {0}, {0}, ^ ) ( ^, ^ ; ^ )                          ( BLK.y, BLK.x, ^ )
2: (de-)comp( ^, ^, 8 )     ( A:SM[1,2], B:SM[1,2] ; C:RM[1,2] ) ( ^, ^, FOR.1 )
3: (de-)comp( {1}, {2}, ^ ) ( ^, ^ ; ^ )                          ( THR.y, THR.x, ^ )
4: (de-)comp( ^, ^, 1 )     ( A:RM[1,2], B:RM[1,2] ; ^ )          ( ^, ^, FOR.1 ) @unroll
"""
ROW_TILE, SQUARE_TILE = TILE.format(64, 8, 1), TILE.format(128, 8, 8)


def test_the_ladder_of_products() -> None:
    rungs = [UNCOALESCED, COALESCED, ROW_TILE, SQUARE_TILE, "matmul/a100/base.mdh"]
    times = [seconds("matmul", text, **BIG) for text in rungs]
    assert times == sorted(times, reverse=True)
    uncoalesced, coalesced, row, square, warps = times
    assert uncoalesced > 3 * coalesced > 6 * square
    assert coalesced > 1.5 * row > 2 * square
    assert warps < square


def test_a_good_product_is_near_the_peak_and_none_is_above() -> None:
    for schedule in ("matmul/a100/base.mdh", "matmul/h200/base.mdh", None):
        peak = plan_of("matmul", schedule, **BIG).machine.peak_f32
        rate = 2 * 4096**3 / seconds("matmul", schedule, **BIG)
        assert 0.3 * peak < rate < peak


def test_columns_of_shared_memory_without_padding_conflict() -> None:
    text = """
    1: (de-)comp( 32, 32 ) ( A:SM[1,2]{} ; ^ ) ( BLK.x, BLK.y )
    2: (de-)comp( 1, 4 )   ( ^ ; ^ )           ( THR.x, THR.y )
    """
    plain, padded = (predict(plan_of("transpose", text.format(pad))) for pad in ("", "@pad(1)"))
    assert dict(plain.terms)["shared"] > 8 * dict(padded.terms)["shared"]
    assert plain.seconds > 1.3 * padded.seconds


def test_a_transposition_by_threads_alone_is_worse_than_one_by_way_of_shared_memory() -> None:
    direct = """
    1: (de-)comp( 8, 32 ) ( ^ ; ^ ) ( BLK.y, BLK.x )
    2: (de-)comp( 1, 1 )  ( ^ ; ^ ) ( THR.y, THR.x )
    """
    assert seconds("transpose", direct) > 1.2 * seconds("transpose", "transpose/h200/base.mdh")


def test_a_few_blocks_leave_the_device_idle() -> None:
    text = """
    1: (de-)comp( {0}, ^ ) ( ^, ^ ; ^ ) ( BLK.x, ^ )
    2: (de-)comp( 1, ^ )   ( ^, ^ ; ^ ) ( THR.x, ^ )
    """
    few = predict(plan_of("matvec", text.format(1024)))
    assert few.signs.idle > 0.9
    assert few.seconds > 5 * seconds("matvec", "matvec/h200/base.mdh")


def test_occupancy_that_leaves_too_few_registers_spills() -> None:
    text = TILE.format(128, 8, 8)
    free = predict(plan_of("matmul", text, **BIG))
    forced = predict(plan_of("matmul", text.replace("BLK.x, ^ )", "BLK.x, ^ ) @occupancy(4)", 1), **BIG))
    assert free.signs.spills == 0
    assert forced.signs.spills > 0
    assert forced.seconds > free.seconds


def test_one_warp_a_block_hides_less_than_eight() -> None:
    text = """
    1: (de-)comp( 1, {0} ) ( ^ ; ^ ) ( BLK.y, BLK.x )
    2: (de-)comp( ^, 1 )   ( ^ ; ^ ) ( ^, THR.x )
    """
    assert seconds("jacobi2d", text.format(8)) > 1.5 * seconds("jacobi2d", text.format(256))


def test_a_second_kernel_costs_a_launch() -> None:
    one, two = (predict(plan_of("dot", f"dot/h200/{n}.mdh")) for n in ("atomic", "kernel"))
    assert dict(two.terms)["launch"] > dict(one.terms)["launch"]


def terms(text: str, **sizes: int) -> dict[str, float]:
    return dict(predict(plan_of("matmul", text, **sizes)).terms)


TILES = """1: (de-)comp( {0}, {1}, ^ ) ( ^, ^ ; ^ ) ( BLK.y, BLK.x, ^ )
2: (de-)comp( ^, ^, 8 ) ( A:SM[2,1], B:SM[1,2] ; C:RM[1,2] ) ( ^, ^, FOR.1 )
3: (de-)comp( 8, {2}, ^ ) ( ^, ^ ; ^ ) ( THR.y, THR.x, ^ )"""


def test_results_that_no_thread_has_registers_for_lie_in_memory_as_a_whole() -> None:
    """Of 128 results a thread of 1,024 has registers for less than half."""
    sizes = {"M": 1024, "N": 1024, "K": 1024}
    held, over = (terms(TILES.format(*block, 16), **sizes)["spills"] for block in ((128, 128), (256, 512)))
    assert held == 0
    assert over > 1e-4


def test_cut_blocks_that_run_beside_all_others_decide() -> None:
    whole, cut = (terms(TILES.format(128, n, 8), M=512, N=512, K=512)["issue"] for n in (128, 96))
    assert cut > 1.3 * whole


def test_loads_of_a_loop_are_in_flight_together() -> None:
    """Of sixteen times as many iterations each waits for an eighth."""
    text = "1: (de-)comp( 1, 40, {0} ) ( ^, ^ ; ^@combine(atomic) ) ( ^, BLK.x, BLK.y )\n"
    text += "2: (de-)comp( ^, ^, {1} ) ( ^, ^ ; ^@combine(shared) ) ( ^, ^, THR.y )\n"
    text += "3: (de-)comp( ^, 1, ^ ) ( ^, ^ ; C:RM[1,2] ) ( ^, THR.x, ^ )"
    sizes = {"M": 1, "N": 1000, "K": 2048}
    few, many = (terms(text.format(256, n), **sizes)["latency"] for n in (16, 64))
    assert few < many < 2e-6


MEASURED = {
    ("matmul_bf16", "tensor", 4096): 449, ("matmul_bf16", "tensor_small", 4096): 638,
    ("matmul_bf16", "tensor", 1024): 18.8, ("matmul_bf16", "tensor_small", 1024): 12.7,
    ("matmul_double", "tensor", 4096): 2651, ("matmul_double", "tensor_small", 4096): 2940,
    ("matmul_double", "tensor", 1024): 57.7, ("matmul_double", "tensor_small", 1024): 45.3,
    ("matmul_int8_t", "tensor", 4096): 222, ("matmul_int8_t", "tensor", 1024): 10.2,
    ("matmul_bf16", "boxes", 2048): 26.3, ("matmul_bf16", "cluster", 4096): 192,
    ("matmul_half", "thirds", 3072): 81.6, ("matmul_int8_t", "group", 4096): 94.8,
}  # fmt: skip
"""Microseconds on an H100: artifacts/h100/tensor_cores.md."""


@pytest.mark.parametrize(("program", "schedule", "size"), MEASURED)
def test_products_on_tensor_cores_are_near_what_was_measured(program: str, schedule: str, size: int) -> None:
    folder = "matmul_bf16" if program == "matmul_half" else program
    text, measured = f"{folder}/h200/{schedule}.mdh", MEASURED[program, schedule, size] * 1e-6
    found = seconds(program, text, "h100", M=size, N=size, K=size)
    assert 0.8 * measured < found < 1.4 * measured


def test_tensor_cores_are_faster_than_threads() -> None:
    for program, base in (
        ("matmul_double", "matmul_double/h200/base.mdh"),
        ("matmul_bf16", TILE.format(64, 8, 8)),
    ):
        assert 2 * seconds(program, None, "h100", **BIG) < seconds(program, base, "h100", **BIG)
