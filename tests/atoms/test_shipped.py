"""Every shipped schedule with atoms: right at small sizes in the interpreter, without spills at full ones."""

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

from mdh.checker.footprint import shared_bytes, store_bytes
from mdh.machine import load_machine
from mdh.pipeline import Pipeline
from mdh.target.emit import emit
from mdh.target.nvrtc import compile_cubin
from mdh.target.shared import shared_layout
from tests.atoms.blocks import Array
from tests.atoms.products import computed, planned
from tests.support.corpus import WORKLOADS, Shipped, Use, schedules

WITH_ATOMS = [s for s in schedules() if "MMA." in s.source.text]
SMALL = [(s, use) for s in WITH_ATOMS for use in s.small]
FULL = [(s, use, name) for s in WITH_ATOMS for use in s.uses for name in use.machines]

UNITS = 3
"""Multiprocessors, so that blocks of @persistent have several tiles."""


def _expected(name: str, arrays: dict[str, Array]) -> tuple[str, Array]:
    """The output's name, and its values."""
    if name == "conv2d_half":
        image, filters = (arrays[x].astype(np.float64) for x in "IF")
        windows = sliding_window_view(image, filters.shape[1:3], axis=(1, 2))
        return "O", np.einsum("npqcrs,krsc->npqk", windows, filters)
    return "C", _product(name, arrays)


def _product(name: str, arrays: dict[str, Array]) -> Array:
    wide = np.int64 if "int8" in name else np.float64
    a, b = (arrays[x].astype(wide) for x in "AB")
    return a @ (b.T if name.endswith("_t") or "fp8" in name else b)


@pytest.mark.parametrize(("shipped", "use"), SMALL, ids=[f"{s.name}-{u.program}" for s, u in SMALL])
def test_right_at_small_sizes(shipped: Shipped, use: Use) -> None:
    c = WORKLOADS[use.program].source.text
    before, after = computed(c, shipped.source.text, seed=11, units=UNITS, **dict(use.sizes))
    out, wanted = _expected(use.program, before)
    np.testing.assert_array_equal(after[out], wanted.astype(after[out].dtype))


@pytest.mark.parametrize(
    ("shipped", "use", "name"), FULL, ids=[f"{s.name}-{u.program}-{m}" for s, u, m in FULL]
)
def test_texts_compile_without_spills(shipped: Shipped, use: Use, name: str) -> None:
    c = WORKLOADS[use.program].source.text
    program, plan = planned(c, shipped.source.text, name, **dict(use.sizes))
    module = Pipeline().lower(plan)
    counted = shared_bytes(plan.stages[0], plan.stages[0].tiles, cpu=False)
    counted += store_bytes(program, plan.stages[0], plan.stages[0].tiles)
    assert max(slot.end for slot in shared_layout(module.kernels[-1])) <= counted
    cubin = compile_cubin(emit(module, program), load_machine(name).arch)
    assert cubin.warnings == ()
    assert cubin.spill_bytes == 0
