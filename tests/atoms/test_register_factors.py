"""Factors that warp groups hold in registers: right in every layout, refused where they cannot be."""

import numpy as np
import pytest

from mdh.diagnostics import Failed
from mdh.ir.atoms import ATOMS, spread
from mdh.ir.dtype import TF32
from mdh.machine import load_machine
from mdh.target.emit import emit
from mdh.target.nvrtc import compile_cubin
from tests.atoms.products import Product, computed, lowered, planned

SWAPPED = """1: (de-)comp( 64, 128, ^ ) ( ^, ^ ; ^ ) ( BLK.y, BLK.x, ^ ) {roles}
2: (de-)comp( ^, ^, {depth} )
  ( A:SM[1,2]@copy(tma)@swizzle(128), B:SM[1,2]@copy(tma)@swizzle(128) ; C:RM[1,2] ) ( ^, ^, FOR.1 ) {slots}
3: (de-)comp( ^, 64, ^ ) ( ^, B:RM[1,2] ; ^ ) ( ^, WGP.y, ^ )
4: (de-)comp( 64, 64, {k} ) ( ^, ^ ; ^ ) ( MMA.n, MMA.m, MMA.k ) @atom(wgmma) {more}
"""
"""The rows of the atoms run along the columns of C, whose factor is in registers."""
KINDS = {
    "tf32": (32, 8, "@as(tf32)"), "bf16": (64, 16, ""), "f16": (64, 16, ""), "i8": (128, 32, ""),
    "f8e4m3": (128, 32, ""),
}  # fmt: skip
ROLES = "@roles(load=1, math=2)"


def swapped(kind: str, roles: str = ROLES, slots: str = "@stages(2)") -> str:
    depth, k, more = KINDS[kind]
    return SWAPPED.format(depth=depth, k=k, more=more, roles=roles, slots=slots)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("roles", ["", ROLES])
@pytest.mark.parametrize("layout", ["NN", "NT"])
def test_right(kind: str, roles: str, layout: str) -> None:
    product = Product(kind, layout, 96, 128, 256)
    schedule = swapped(kind, roles)
    if kind in ("i8", "f8e4m3") and layout == "NN":
        with pytest.raises(Failed, match="K172"):
            planned(product.text, schedule)
        return
    before, after = computed(product.text, schedule, seed=3)
    np.testing.assert_array_equal(after["C"].astype(np.float64), product.expected(before))


@pytest.mark.parametrize("units", [1, 3])
def test_teams_that_take_turns(units: int) -> None:
    """The threads of each team load the same places."""
    schedule = swapped("bf16", "@persistent @roles(load=1, math=2, turns)")
    schedule = (
        schedule.replace("64, 128, ^", "64, 64, ^").replace("WGP.y", "^").replace("^, 64, ^", "^, ^, ^")
    )
    product = Product("bf16", "NN", 136, 128, 256)
    before, after = computed(product.text, schedule, seed=3, units=units)
    np.testing.assert_array_equal(after["C"].astype(np.float64), product.expected(before))


@pytest.mark.parametrize("kind", ["tf32", "bf16", "i8"])
def test_compiles_without_spills_and_waits(kind: str) -> None:
    program, module = lowered(
        Product(kind, "NT" if kind == "i8" else "NN", 256, 256, 1024).text, swapped(kind)
    )
    text = emit(module, program)
    assert "_registers<" in text.source
    cubin = compile_cubin(text, load_machine("h200").arch)
    assert (cubin.spill_bytes, cubin.warnings) == (0, ())


TURNS = """1: (de-)comp( 64, 64, ^ ) ( ^, ^ ; ^ ) ( BLK.y, BLK.x, ^ )
  @persistent @roles(load=1, math=2, turns)
2: (de-)comp( ^, ^, {depth} )
  ( A:SM[1,2]@copy(tma)@swizzle(128), B:SM[1,2]@copy(tma)@swizzle(128) ; C:RM[1,2] ) ( ^, ^, FOR.1 ) {slots}
3: (de-)comp( ^, ^, ^ ) ( ^, B:RM[1,2] ; ^ ) ( ^, ^, ^ )
4: (de-)comp( 64, 64, {k} ) ( ^, ^ ; ^ ) ( MMA.n, MMA.m, MMA.k ) @atom(wgmma) {more}
"""


@pytest.mark.parametrize("kind", ["tf32", "bf16"])
@pytest.mark.parametrize("slots", ["@stages(2)", "@stages(3)"])
def test_teams_that_take_turns_each_read_their_own_elements(kind: str, slots: str) -> None:
    depth, k, more = KINDS[kind]
    product = Product(kind, "NN", 128, 192, 4 * depth)
    schedule = TURNS.format(depth=depth, k=k, more=more, slots=slots)
    before, after = computed(product.text, schedule, seed=4, units=2)
    np.testing.assert_array_equal(after["C"].astype(np.float64), product.expected(before))


@pytest.mark.parametrize("inflight, swizzle", [(0, 128), (1, 128), (1, 64), (0, 32)])
@pytest.mark.parametrize("sizes", [(96, 128, 256), (68, 132, 36), (64, 132, 100)])
def test_rows_in_any_order_and_groups_that_run_on(
    inflight: int, swizzle: int, sizes: tuple[int, int, int]
) -> None:
    product = Product("tf32", "NN", *sizes)
    schedule = swapped("tf32", slots="@stages(3)").replace(
        "B:SM[1,2]@copy(tma)@swizzle(128)", f"B:SM[1,2]@copy(tma)@swizzle({swizzle})"
    )
    schedule = schedule.replace("@atom(wgmma)", f"@atom(wgmma) @inflight({inflight})")
    before, after = computed(product.text, schedule, seed=5)
    np.testing.assert_array_equal(after["C"].astype(np.float64), product.expected(before))


def test_two_groups_may_not_run_on() -> None:
    schedule = swapped("tf32", slots="@stages(4)").replace("@atom(wgmma)", "@atom(wgmma) @inflight(2)")
    with pytest.raises(Failed, match="K110"):
        planned(Product("tf32", "NN", 128, 128, 256).text, schedule)


def test_threads_read_pairs_of_words_without_conflicts_of_banks() -> None:
    """Half a warp reads 16 pairs at once, all of which lie in different banks of 4 bytes."""
    fragment = spread(next(a for a in ATOMS if a.grouped and a.left == TF32).a)
    for half in range(8):
        banks = set()
        for lane in range(16 * half, 16 * half + 16):
            for v in (0, 1):
                row, k = fragment.at(lane, v)
                banks.add(row % 32 ^ k % 8 * 4)
        assert len(banks) == 32
