"""Resolution: the published programs, `^`, labels, FOR orders, neutral values."""

import pytest

from mdh.hardware import Layer
from mdh.ir.plan import Grid
from tests.check.programs import dot, matmul, rowsum, scan
from tests.check.schedules import LISTING_1, LISTING_5, WORKED, plan_of


def test_listing_1() -> None:
    plan = plan_of(matmul(1, 1000, 2048), LISTING_1).stages[0]
    assert [tuple(s.tile for s in step.splits) for step in plan.steps] == [
        (1, 20, 2048),
        (1, 20, 512),
        (1, 1, 4),
        (1, 1, 1),
    ]
    assert plan.units(Layer.BLK) == 50
    assert plan.units(Layer.THR) == 20
    assert plan.code_order == (0, 1, 2, 3)
    assert [s.text for s in plan.steps][-1] == ""


def test_listing_5_runs_its_coarse_step_innermost() -> None:
    plan = plan_of(matmul(16, 1000, 2048), LISTING_5).stages[0]
    assert [plan.steps[i].label for i in plan.code_order] == [1, 2, 3, 4, 5, 6]
    innermost = plan.steps[plan.code_order[-1]]
    assert [s.parts for s in innermost.splits] == [2, 1, 1]
    assert (plan.axis_parts(Layer.THR, 1), plan.axis_parts(Layer.THR, 0)) == (4, 20)
    staged = plan.steps[plan.code_order[2]]
    assert [s.buffer for s in staged.stagings] == ["A", "B"]
    assert staged.splits[2].rank == 0


def test_worked_example() -> None:
    plan = plan_of(matmul(1024, 1024, 1024), WORKED).stages[0]
    assert plan.grid == Grid("grouped", 8, False, 2)
    assert (plan.units(Layer.BLK), plan.units(Layer.WRP), plan.units(Layer.THR)) == (64, 8, 32)
    assert [s.cyclic for s in plan.steps[3].splits] == [4, 4, 0]
    copies = plan.steps[1]
    assert copies.stages == 2
    assert [(s.layout, s.pad, s.engine, s.vec) for s in copies.stagings] == [
        ((1, 0), 4, "plain", None),
        ((0, 1), 0, "async", 4),
    ]
    assert plan.steps[4].unroll == 0
    assert plan.combines == ((),)


def test_for_numbers_are_inherited_until_a_core_layer() -> None:
    text = """\
(de-)comp( 8,8,8 ) ( ^,^ ; ^ ) ( FOR.2, FOR.3, FOR.1 )
(de-)comp( 4,4,4 ) ( ^,^ ; ^ ) ( ^, THR.x, ^ )
(de-)comp( 2,2,2 ) ( ^,^ ; ^ ) ( ^, ^, ^ )
"""
    plan = plan_of(matmul(), text).stages[0]
    ranks = [[s.rank for s in sorted(step.splits, key=lambda s: s.dim)] for step in plan.steps]
    assert ranks == [[1, 2, 0], [1, 2, 0], [1, 2, 0], [1, 2, 0]]
    assert plan.steps[1].splits[1].layer == Layer.THR
    assert plan.steps[2].splits[1].layer is None


@pytest.mark.parametrize(
    ("entry", "cyclic"), [("THR.x@cyclic(8)", 0), ("THR.x@cyclic(16)", 0), ("THR.x@cyclic(4)", 4)]
)
def test_cyclic_of_a_whole_tile_is_neutral(entry: str, cyclic: int) -> None:
    plan = plan_of(matmul(), f"(de-)comp( ^,8,^ ) ( ^,^ ; ^ ) ( ^, {entry}, ^ )").stages[0]
    assert plan.steps[0].splits[1].cyclic == cyclic


def test_neutral_values_disappear() -> None:
    text = "(de-)comp( 8,8,8 ) ( A:SM[1,2]@pad(0), ^ ; ^ ) ( BLK.y, BLK.x, ^ ) @stages(1) @order(grouped(1))"
    plan = plan_of(matmul(), text).stages[0]
    assert plan.grid == Grid()
    assert plan.steps[0].stages == 1


def test_core_layer_with_one_part_is_a_loop() -> None:
    plan = plan_of(matmul(), "(de-)comp( 64,8,^ ) ( ^,^ ; ^ ) ( BLK.x, BLK.x, ^ )").stages[0]
    assert [s.layer for s in plan.steps[0].splits] == [None, Layer.BLK, None]


def test_engine_fallback_takes_what_the_machine_has() -> None:
    text = "(de-)comp( 8,8,8 ) ( A:SM[1,2]@copy(tma else async else plain), ^ ; ^ ) ( ^,^,FOR.1 )"
    engines = {
        m: plan_of(matmul(), text, m).stages[0].steps[0].stagings[0].engine for m in ("v100", "a100", "h200")
    }
    assert engines == {"v100": "plain", "a100": "async", "h200": "tma"}


@pytest.mark.parametrize(
    ("text", "methods"),
    [
        ("(de-)comp( 64 ) ( ^,^ ; ^ ) ( BLK.x )", "kernel"),
        ("(de-)comp( 32 ) ( ^,^ ; ^ ) ( THR.x )", "shuffle"),
        ("(de-)comp( 16 ) ( ^,^ ; ^ ) ( THR.x )", "shuffle shared"),
        ("(de-)comp( 16 ) ( ^,^ ; ^@combine(shared) ) ( THR.x )", "shared"),
        ("(de-)comp( 64 ) ( ^,^ ; ^@combine(ticket) ) ( BLK.x )\n(de-)comp( 1 ) ( ^,^ ; ^ ) ( THR.x )",
         "shuffle shared ticket"),
        ("(de-)comp( 128 ) ( ^,^ ; ^ ) ( WRP.x )\n(de-)comp( 4 ) ( ^,^ ; ^ ) ( THR.x )", "shuffle shared"),
        ("(de-)comp( 128 ) ( ^,^ ; ^@combine(shared) ) ( WRP.x )\n"
         "(de-)comp( 4 ) ( ^,^ ; ^@combine(shuffle) ) ( THR.x )", "shuffle shared"),
        ("(de-)comp( 256 ) ( ^,^ ; ^ ) ( CLU.x )\n(de-)comp( 64 ) ( ^,^ ; ^ ) ( BLK.x )", "cluster kernel"),
        ("(de-)comp( 256 ) ( ^,^ ; ^@combine(kernel) ) ( CLU.x )\n(de-)comp( 64 ) ( ^,^ ; ^ ) ( BLK.x )",
         "kernel"),
        ("(de-)comp( 256 ) ( ^,^ ; ^@combine(atomic) ) ( CLU.x )\n"
         "(de-)comp( 64 ) ( ^,^ ; ^@combine(cluster) ) ( BLK.x )", "cluster atomic"),
    ],
)  # fmt: skip
def test_combines_of_a_reduction(text: str, methods: str) -> None:
    plan = plan_of(dot(), text, "h200").stages[0]
    assert plan.combines == (tuple(methods.split()),)


def test_lanes_shuffle_under_warps() -> None:
    text = "(de-)comp( 2,^,^ ) ( ^ ; ^ ) ( WRP.y,^,^ )\n(de-)comp( ^,1,2 ) ( ^ ; ^ ) ( ^,THR.x,THR.y )"
    assert plan_of(rowsum(), text).stages[0].combines == (("shuffle",),)
    assert plan_of(rowsum(), text, "h200", "opencl").stages[0].combines == (("shared",),)


def test_scans_pass_values_on_where_blocks_can() -> None:
    text = "(de-)comp( 128 ) ( ^ ; ^ ) ( BLK.x )\n(de-)comp( 4 ) ( ^ ; ^ ) ( THR.x )"
    assert plan_of(scan(), text).stages[0].combines == (("shared", "ticket"),)
    assert plan_of(scan(), text, deterministic=True).stages[0].combines == (("shared", "kernel"),)
    assert plan_of(scan(), text, "oclgrind", "opencl").stages[0].combines == (("shared", "kernel"),)


def test_cluster_blocks_combine_in_the_cluster() -> None:
    text = "(de-)comp( 16,^,^ ) ( ^,^ ; ^ ) ( CLU.x,^,^ )\n(de-)comp( 1,1,16 ) ( ^,^ ; ^ ) ( ^,^,BLK.x )"
    assert plan_of(matmul(), text, "h100").stages[0].combines == (("cluster",),)


def test_the_text_of_a_plan_names_stage_and_machine() -> None:
    text = plan_of(matmul(1, 1000, 2048), LISTING_1).text
    assert "target a100" in text
    assert "program matmul" in text
