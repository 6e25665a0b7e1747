"""Every shipped schedule with atoms: right at small sizes in the interpreter, without spills at full ones."""

import numpy as np
import pytest

from mdh.checker.footprint import shared_bytes, store_bytes
from mdh.machine import load_machine
from mdh.pipeline import Pipeline
from mdh.target.emit import emit
from mdh.target.shared import shared_layout
from tests.atoms.blocks import Array
from tests.atoms.products import computed, planned
from tests.support.corpus import WORKLOADS, Shipped, Use, schedules
from tests.support.cubins import cubin_of

WITH_ATOMS = [s for s in schedules() if "MMA." in s.source.text]
SMALL = [(s, use) for s in WITH_ATOMS for use in s.small]
FULL = [(s, use, name) for s in WITH_ATOMS for use in s.uses for name in use.machines]

UNITS = 3
"""Multiprocessors, so that blocks of @persistent have several tiles."""


def _product(name: str, arrays: dict[str, Array]) -> Array:
    wide = np.int64 if "int8" in name else np.float64
    a, b = (arrays[x].astype(wide) for x in "AB")
    return a @ (b.T if name.endswith("_t") or "fp8" in name else b)


def _convolution(arrays: dict[str, Array]) -> Array:
    image, filters = (arrays[x].astype(np.float64) for x in "IF")
    out = np.zeros(arrays["O"].shape)
    (_, h, w, _), (_, r, s, _) = out.shape, filters.shape
    stride = (image.shape[1] - r) // (h - 1)
    for i in range(r):
        for j in range(s):
            part = image[:, i : i + stride * (h - 1) + 1 : stride, j : j + stride * (w - 1) + 1 : stride]
            out += np.einsum("npqc,kc->npqk", part, filters[:, i, j])
    return out


def _grouped(arrays: dict[str, Array]) -> Array:
    image, filters = (arrays[x].astype(np.float64) for x in ("I", "weight"))
    out = np.zeros(arrays["O"].shape)
    (_, h, w, *_), (_, _, r, s, _) = out.shape, filters.shape
    for i in range(r):
        for j in range(s):
            out += np.einsum("npqgc,gfc->npqgf", image[:, i : i + h, j : j + w], filters[:, :, i, j])
    return out


@pytest.mark.parametrize(("shipped", "use"), SMALL, ids=[f"{s.name}-{u.program}" for s, u in SMALL])
def test_right_at_small_sizes(shipped: Shipped, use: Use) -> None:
    c = WORKLOADS[use.program].source.text
    before, after = computed(c, shipped.source.text, seed=11, units=UNITS, **dict(use.sizes))
    ways = {"conv2d_half": _convolution, "grouped_conv_half": _grouped}
    result = "O" if use.program in ways else "C"
    want = ways[use.program](before) if result == "O" else _product(use.program, before)
    np.testing.assert_array_equal(after[result], want.astype(after[result].dtype))


@pytest.mark.parametrize(
    ("shipped", "use", "name"), FULL, ids=[f"{s.name}-{u.program}-{m}" for s, u, m in FULL]
)
def test_texts_compile_without_spills(shipped: Shipped, use: Use, name: str) -> None:
    c = WORKLOADS[use.program].source.text
    program, plan = planned(c, shipped.source.text, name, **dict(use.sizes))
    module = Pipeline().lower(plan)
    counted = shared_bytes(plan.stages[0], plan.stages[0].tiles, cpu=False)
    counted += store_bytes(program, plan.stages[0], plan.stages[0].tiles)
    assert max(slot.end for kernel in module.kernels for slot in shared_layout(kernel)) <= counted
    cubin = cubin_of(emit(module, program), load_machine(name).arch)
    assert cubin.warnings == ()
    assert cubin.spill_bytes == 0
