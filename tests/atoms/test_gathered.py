"""Results in registers meet in shared memory and leave from there in whole rows. The interpreter of the
kernel IR checks this: it runs warps in random order and detects reads of memory that was never written."""

import os
import re
from dataclasses import replace
from random import Random

import numpy as np
import pytest

from mdh.diagnostics import Failed
from mdh.ir.kernel import Barrier, Stmt
from mdh.ir.walk import with_bodies
from mdh.lower import close
from mdh.target.emit import emit
from tests.atoms.products import Product, computed, lowered, whole_numbers
from tests.atoms.warps import run

COUNT = int(os.environ.get("MDH_RANDOM_GATHERED", "24"))
ATOMS = {
    "bf16": (16, 8, 16), "f16": (16, 8, 16), "i8": (16, 8, 32), "f64": (8, 8, 4), "f32": (1, 1, 1),
}  # fmt: skip


def drawn(rng: Random) -> tuple[Product, str]:
    """Products with edges everywhere. The region in SM opens at the step of the blocks, or at one that splits
    nothing; a loop over k may stand around the one in RM."""
    kind = rng.choice(list(ATOMS))
    m, n, k = ATOMS[kind]
    warp = max(8, m) * rng.choice((1, 2)), max(8, n) * rng.choice((1, 2))
    block = warp[0] * rng.choice((1, 2)), warp[1] * rng.choice((1, 2)), max(4, k) * rng.choice((1, 2))
    sizes = [b + rng.choice((0, 1, rng.randrange(b), b)) for b in block]
    layout = "NT" if kind in ("i8", "u8") else rng.choice(("NN", "NT", "TN"))
    parts = rng.choice((1, 1, 2))
    part = -(-sizes[2] // (parts * block[2])) * block[2] if parts > 1 else sizes[2]
    joined = rng.choice(("", "@combine(atomic)", "@combine(kernel)")) if part < sizes[2] else ""
    held = f"C:SM[{rng.choice(('1,2', '1,2', '2,1'))}]@pad({rng.choice((0, 4, 8, 3))})"
    grid = rng.choice(("BLK.y, BLK.x", "^, BLK.x", "BLK.x, ^", "^, ^"))
    more = rng.choice(("", "", "@persistent", "@order(grouped(2))")) if grid == "BLK.y, BLK.x" else ""
    inputs = ", ".join(f"{x}:SM[1,2]@pad({8 if kind != 'i8' else 16})" for x in "AB")
    around = rng.random() < 0.2
    apart = part < sizes[2] or rng.random() < 0.3
    tiles = f"{block[0]}, {block[1]}, {part if part < sizes[2] else '^'}"
    units = f"{grid}, {'BLK.z' if part < sizes[2] else '^'}"
    lines = [f"(de-)comp( {tiles} ) ( ^, ^ ; {f'^{joined}' if apart else held} ) ( {units} ) {more}"]
    lines += [f"(de-)comp( ^, ^, ^ ) ( ^, ^ ; {held} ) ( ^, ^, ^ )"] if apart else []
    lines += [f"(de-)comp( ^, ^, {block[2]} ) ( {inputs} ; {'^' if around else 'C:RM[1,2]'} ) ( ^, ^, ^ )"]
    lines[-1] += rng.choice(("", " @stages(2)"))
    lines += [f"(de-)comp( {warp[0]}, {warp[1]}, ^ ) ( ^, ^ ; ^ ) ( WRP.y, WRP.x, ^ )"]
    if kind == "f32":
        lines += [f"(de-)comp( {warp[0] // 8}, {warp[1] // 4}, ^ ) ( ^, ^ ; ^ ) ( THR.y, THR.x, ^ )"]
    else:
        lines += [f"(de-)comp( {m}, {n}, {k} ) ( ^, ^ ; ^ ) ( MMA.m, MMA.n, MMA.k )"]
    numbered = [f"{number}: {line}\n" for number, line in enumerate(lines, 1)]
    return Product(kind, layout, *sizes), "".join(numbered)


@pytest.mark.parametrize("seed", range(COUNT))
def test_refused_or_right(seed: int) -> None:
    product, schedule = drawn(Random(seed))
    try:
        before, after = computed(product.text, schedule, seed=seed, units=2)
    except Failed as failed:
        assert all(d.code[0] in "SK" for d in failed.diagnostics), failed
        return
    np.testing.assert_array_equal(after["C"].astype(np.float64), product.expected(before), schedule)


# -- what the kernels look like, and faults --------------------------------------------------------

ONCE = """1: (de-)comp( 32, 32, ^ ) ( ^, ^ ; C:SM[1,2]@pad(8) ) ( BLK.y, BLK.x, ^ )
2: (de-)comp( ^, ^, 16 ) ( A:SM[1,2]@pad(8), B:SM[1,2]@pad(8) ; C:RM[1,2] ) ( ^, ^, ^ ) @stages(2)
3: (de-)comp( 16, 16, ^ ) ( ^, ^ ; ^ ) ( WRP.y, WRP.x, ^ )
4: (de-)comp( 16, 8, 16 ) ( ^, ^ ; ^ ) ( MMA.m, MMA.n, MMA.k )
"""
"""The region in RM has all terms when it closes."""
AGAIN = """1: (de-)comp( 32, 32, ^ ) ( ^, ^ ; C:SM[1,2]@pad(8) ) ( BLK.y, BLK.x, ^ )
2: (de-)comp( ^, ^, 16 ) ( A:SM[1,2]@pad(8), B:SM[1,2]@pad(8) ; ^ ) ( ^, ^, FOR.1 )
3: (de-)comp( 16, ^, ^ ) ( ^, ^ ; ^ ) ( FOR.2, ^, ^ )
4: (de-)comp( ^, 16, ^ ) ( ^, ^ ; C:RM[1,2] ) ( ^, WRP.x, ^ )
5: (de-)comp( 16, 8, 16 ) ( ^, ^ ; ^ ) ( MMA.m, MMA.n, MMA.k )
"""
"""A region in RM for each slice of k."""
TILES = """1: (de-)comp( 16, 8, ^ ) ( ^, ^ ; C:SM[2,1] ) ( BLK.y, BLK.x, ^ ) @persistent
2: (de-)comp( 2, 1, ^ ) ( ^, ^ ; C:RM[1,2] ) ( THR.y, THR.x, ^ )
"""
"""Nothing but the region itself lets threads meet between the tiles of a block."""
KINDS = {ONCE: "bf16", AGAIN: "bf16", TILES: "f32"}


def right(schedule: str, without: str = "") -> bool:
    """without: how the reasons of the barriers end that are left out."""
    product = Product(KINDS[schedule], "NN", 67, 35, 45)
    program, module = lowered(product.text, schedule, units=2)
    (kernel,) = module.kernels
    body = _without_barriers(kernel.body, without) if without else kernel.body
    assert (body != kernel.body) == bool(without)
    changed = replace(module, kernels=(replace(kernel, body=body),))
    for seed in range(4):
        arrays = whole_numbers(program, seed)
        run(changed, arrays, seed=seed)
        if not np.array_equal(arrays["C"].astype(np.float64), product.expected(arrays)):
            return False
    return True


def _without_barriers(body: tuple[Stmt, ...], reason: str) -> tuple[Stmt, ...]:
    kept = (s for s in body if not (isinstance(s, Barrier) and s.reason.endswith(reason)))
    return tuple(with_bodies(s, lambda b: _without_barriers(b, reason)) for s in kept)


@pytest.mark.parametrize("schedule", [ONCE, AGAIN, TILES])
def test_kernels_without_a_fault_are_right(schedule: str) -> None:
    assert right(schedule)


@pytest.mark.parametrize("reason", ["is complete", "opens"])
def test_a_missing_barrier_is_found(reason: str) -> None:
    assert not right(TILES, without=reason)


def test_a_region_that_is_filled_again_needs_sums(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(close, "_filled_once", lambda nest, region: True)
    assert right(ONCE) and not right(AGAIN)


def test_sums_where_they_are_needed_alone() -> None:
    """A region that is filled once takes vectors as they are, and neighbouring threads store neighbours."""
    once, again = (_text(schedule) for schedule in (ONCE, AGAIN))
    assert "*(float2 *)&C_SM[" in once and "C_SM" in again
    assert "+= C_RM[" not in once and "+= C_RM[" in again
    assert "C[blk_i * 1120 + m_C_SM_round * 140 + blk_j * 32 + tid / 32 * 35 + tid % 32] =" in once


def _text(schedule: str) -> str:
    program, module = lowered(Product("bf16", "NN", 67, 35, 45).text, schedule)
    return re.sub(r"\s+", " ", emit(module, program).source)
