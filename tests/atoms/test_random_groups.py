"""Random schedules with warp groups, boxes, roles and slots: refused with a code, or right."""

import os
from random import Random

import numpy as np
import pytest

from mdh.diagnostics import Failed
from mdh.reference.evaluate import evaluate_bounded
from mdh.verify.verdict import fits
from tests.atoms.blocks import numpy_type
from tests.atoms.products import lowered, whole_numbers
from tests.atoms.random_maps import mapped, stencil
from tests.atoms.random_products import Case, by_groups, by_threads, by_warps, by_windows
from tests.atoms.warps import run

COUNT = int(os.environ.get("MDH_RANDOM_ATOMS", "24"))

KINDS = (by_groups, by_groups, by_groups, by_warps, by_windows, by_threads, stencil, mapped)


def drawn(seed: int) -> Case:
    """Many schedules are refused."""
    rng = Random(seed)
    return rng.choice(KINDS)(rng)


def judged(case: Case, seed: int) -> None:
    """Raises Failed where it is refused, AssertionError where it is wrong."""
    program, module = lowered(case.text, case.schedule, units=seed % 4)
    arrays = whole_numbers(program, seed)
    want = evaluate_bounded(program, arrays, exact=True)["C"]
    if "C" not in {name for stage in program.stages for name in stage.read}:
        arrays["C"] = np.full(arrays["C"].shape, 77, numpy_type(program.buffer_of["C"].dtype))
    run(module, arrays, seed=seed)
    assert fits(arrays["C"], want).all(), f"wrong at {np.argwhere(~fits(arrays['C'], want))[:4].tolist()}"


@pytest.mark.parametrize("seed", range(COUNT))
def test_refused_or_right(seed: int) -> None:
    case = drawn(seed)
    try:
        judged(case, seed)
    except Failed as failed:
        assert all(d.code[0] in "SK" for d in failed.diagnostics), failed
