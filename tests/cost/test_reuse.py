"""Bytes that caches fetch, against counts by hand."""

import pytest

from mdh.cost.nest import CostNest, nest_of
from mdh.cost.reuse import LINE, Footprint, fetched, streams_of, translated
from mdh.cost.work import stage_work
from mdh.ir.plan import Plan
from tests.cost.plans import plan_of

ROWS = "1: (de-)comp( 64, ^ ) ( ^ ; ^ ) ( BLK.x, ^ )\n2: (de-)comp( 1, 1 ) ( ^ ; ^ ) ( FOR.1, FOR.2 )"
COLUMNS = ROWS.replace("FOR.1, FOR.2", "FOR.2, FOR.1")


def nest_for(plan: Plan) -> CostNest:
    stage = plan.stages[0]
    return nest_of(stage_work(stage.program, stage.stage), stage, plan.machine)


def bytes_into(name: str, schedule: str, capacity: float, **sizes: int) -> dict[str, float]:
    nest = nest_for(plan_of(name, schedule, "generic-cpu", **sizes))
    streams = streams_of(nest)
    found = fetched(nest, streams, capacity)
    return {s.access.buffer: n for s, n in zip(streams, found, strict=True)}


def test_rows_are_fetched_once_and_columns_a_line_an_element() -> None:
    sizes = {"M": 1024, "N": 1024}
    rows = bytes_into("transpose", ROWS, 8192, **sizes)
    assert rows["A"] == pytest.approx(4 * 1024 * 1024, rel=0.1)
    assert rows["B"] == pytest.approx(LINE * 1024 * 1024, rel=0.1)
    columns = bytes_into("transpose", COLUMNS, 2048, **sizes)
    assert columns["A"] == pytest.approx(LINE * 1024 * 1024, rel=0.1)
    assert columns["B"] == pytest.approx(4 * 1024 * 1024, rel=0.1)


def test_what_fits_is_fetched_once() -> None:
    found = bytes_into("transpose", ROWS, 1 << 30, M=512, N=512)
    assert found["A"] == found["B"] == 4 * 512 * 512


def test_a_product_without_tiles_fetches_a_factor_for_every_row() -> None:
    text = "1: (de-)comp( 1, ^, ^ ) ( ^, ^ ; ^ ) ( BLK.x, ^, ^ )"
    found = bytes_into("matmul", text, 64 * 1024, M=256, N=256, K=256)
    assert found["B"] >= 256 * 256 * 256 * 4
    assert found["A"] == pytest.approx(256 * 256 * 4, rel=0.1)


def test_rows_a_page_apart_crowd_in_a_first_level_cache() -> None:
    apart = Footprint(32 * 64.0, 32.0, 64.0, 4096)
    assert apart.crowded(64) == 32 * 64 * 64
    assert Footprint(32 * 64.0, 32.0, 64.0, 4096 + 64).crowded(64) == 32 * 64
    assert Footprint(4 * 64.0, 4.0, 64.0, 4096).crowded(64) == 4 * 64


def test_columns_need_a_page_an_element() -> None:
    sizes = {"M": 4096, "N": 4096}
    rows, columns = (nest_for(plan_of("transpose", t, "generic-cpu", **sizes)) for t in (ROWS, COLUMNS))
    elements = 4096 * 4096
    for nest in (rows, columns):
        assert elements <= translated(nest, streams_of(nest), 32) < 1.1 * elements
    assert translated(rows, streams_of(rows), 1 << 20) < elements / 100
