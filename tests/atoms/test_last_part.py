"""Blocks that share a sum of which the last one has less: its loops end where the sum does."""

import re

import numpy as np
import pytest

from mdh.lower import emit as lowering
from mdh.lower.trip_counts import TripCounts, trip_counts
from mdh.target.emit import emit
from tests.atoms.products import Product, computed, lowered

PRODUCT = Product("bf16", "NN", 64, 64, 181)
SCHEDULE = """1: (de-)comp( 32, 32, {part} ) ( ^, ^ ; ^@combine({how}) ) ( BLK.y, BLK.x, BLK.z )
2: (de-)comp( ^, ^, 16 ) ( A:SM[1,2]@pad(8), B:SM[1,2]@pad(8) ; C:RM[1,2] ) ( ^, ^, ^ ) @stages(2)
3: (de-)comp( 16, 16, ^ ) ( ^, ^ ; ^ ) ( WRP.y, WRP.x, ^ )
4: (de-)comp( 16, 8, 16 ) ( ^, ^ ; ^ ) ( MMA.m, MMA.n, MMA.k )
"""


def right(part: int, how: str, product: Product = PRODUCT) -> bool:
    before, after = computed(product.text, SCHEDULE.format(part=part, how=how))
    return np.array_equal(after["C"].astype(np.float64), product.expected(before))


@pytest.mark.parametrize("how", ["atomic", "kernel"])
@pytest.mark.parametrize("part", [48, 80, 96, 160, 176])
def test_whole_turns_and_one_that_the_end_cuts(part: int, how: str) -> None:
    """The last parts have 37, 21, 85, 21 and 5 elements: slices of 16, and 5 more."""
    assert right(part, how)
    assert right(part, how, Product("bf16", "NN", 67, 35, 181)), "edges of other dimensions, too"


def test_only_the_last_turn_has_guards() -> None:
    program, module = lowered(PRODUCT.text, SCHEDULE.format(part=96, how="kernel"))
    text = re.sub(r"\s+", " ", emit(module, program).source)
    whole, last = text.split("// whole parts of the reduction")[1].split("// the last part")
    assert "< 181" not in whole
    loop, tail = last.split("__syncthreads(); // all slots are free again", 1)
    assert "k_2 < 5;" in loop and "< 181" not in loop and "< 181" in tail


def test_a_loop_that_ends_too_early_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def early(*given: object) -> TripCounts | None:
        ends = trip_counts(*given)  # type: ignore[arg-type]
        return None if ends is None else TripCounts(ends.whole - 1, ends.begun - 1)

    monkeypatch.setattr(lowering, "trip_counts", early)
    assert not right(96, "atomic")
