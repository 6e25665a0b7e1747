"""Random products by random schedules with atoms: refused with a code, or right in the interpreter."""

import os
from random import Random

import numpy as np
import pytest

from mdh.diagnostics import Failed
from tests.atoms.products import Product, computed

COUNT = int(os.environ.get("MDH_RANDOM_ATOMS", "24"))
ATOMS = {
    "bf16": ((16, 8, 16), (16, 8, 8)), "f16": ((16, 8, 16),), "f64": ((8, 8, 4), (16, 8, 4), (16, 8, 8)),
    "i8": ((16, 8, 32), (16, 8, 16)), "u8": ((16, 8, 32),),
    "tf32": ((16, 8, 8), (16, 8, 4)),
}  # fmt: skip


def drawn(rng: Random) -> tuple[Product, str]:
    """Steps of a random number, order and kind; many of them are refused."""
    kind = rng.choice(list(ATOMS))
    m, n, k = rng.choice(ATOMS[kind])
    if rng.random() < 0.1:
        m, n = n, m
    warp = (m * rng.choice((1, 1, 2, 3)), n * rng.choice((1, 2, 4)), k * rng.choice((1, 1, 2)))
    block = (warp[0] * rng.choice((1, 2, 2)), warp[1] * rng.choice((1, 2)), warp[2] * rng.choice((1, 2, 3)))
    if rng.random() < 0.2:
        # tiles of warps, or of the loop over k, that do not divide what is staged
        odd = rng.randrange(3)
        block = tuple(b + (m, n, k)[odd] * rng.choice((1, 2)) if i == odd else b for i, b in enumerate(block))
    sizes = [b + rng.choice((0, b, b // 2, rng.randrange(b))) for b in block]
    if rng.random() < 0.7:
        sizes = [size // 16 * 16 or size for size in sizes]
    sizes = [max(a, b) for a, b in zip(sizes, block, strict=True)]
    product = Product(kind, rng.choice(("NN", "NT", "TN", "TT")), *sizes)
    more = " @as(tf32)" if kind == "tf32" else ""
    return product, "\n".join(_steps(rng, block, warp, (m, n, k))) + more + "\n"


def _steps(rng: Random, block: tuple[int, ...], warp: tuple[int, ...], atom: tuple[int, ...]) -> list[str]:
    grid = rng.choice(("BLK.y, BLK.x, ^", "BLK.x, BLK.y, ^", "^, BLK.x, ^", "FOR.2, BLK.x, ^", "^, ^, ^"))
    extra = rng.choice(("", "", "@order(grouped(2))", "@persistent")) if "BLK.y" in grid else ""
    factors = ", ".join(_staged(rng, x) for x in "AB")
    held = rng.choice(("C:RM[1,2]", "C:RM[1,2]", "C:SM[1,2]", "^", "C:RM[2,1]"))
    loop = rng.choice(("FOR.1", "^"))
    stages = rng.choice(("", "", "@stages(2)", "@stages(3)"))
    units = [rng.choice(("WRP.y", "WRP.y", "^", f"WRP.y@cyclic({rng.choice((4, 8, 16, 32))})")),
             rng.choice(("WRP.x", "WRP.x", "^")), rng.choice(("^", "^", "^", "WRP.z"))]  # fmt: skip
    lines = [
        f"1: (de-)comp( {block[0]}, {block[1]}, ^ ) ( ^, ^ ; ^ ) ( {grid} ) {extra}",
        f"2: (de-)comp( ^, ^, {block[2]} ) ( {factors} ; {held} ) ( ^, ^, {loop} ) {stages}",
        f"3: (de-)comp( {warp[0]}, {warp[1]}, {warp[2]} ) ( ^, ^ ; ^ ) ( {', '.join(units)} )",
        f"4: (de-)comp( {atom[0]}, {atom[1]}, {atom[2]} ) ( ^, ^ ; ^ ) ( MMA.m, MMA.n, MMA.k )",
    ]
    if rng.random() < 0.15:
        lines = [*lines[:2], lines[3].replace("4:", "3:")]
    elif rng.random() < 0.1:
        # both staged outside of the loop over k
        lines[0] = lines[0].replace("( ^, ^ ; ^ )", f"( {factors} ; ^ )")
        lines[1] = lines[1].replace(factors, "^, ^")
    elif rng.random() < 0.1:
        lines[1], lines[2] = lines[1].replace("2:", "3:"), lines[2].replace("3:", "2:")
    return lines


def _staged(rng: Random, buffer: str) -> str:
    layout = rng.choice(("1,2", "1,2", "1,2", "2,1"))
    rows = rng.choice(("", "@pad(8)", "@pad(8)", "@pad(16)", "@pad(4)", "@swizzle(32)", "@swizzle(64)"))
    return f"{buffer}:SM[{layout}]{rows}{rng.choice(('', '@copy(async)'))}"


@pytest.mark.parametrize("seed", range(COUNT))
def test_refused_or_right(seed: int) -> None:
    product, schedule = drawn(Random(seed))
    try:
        before, after = computed(product.text, schedule, seed=seed)
    except Failed as failed:
        assert all(d.code[0] in "SK" for d in failed.diagnostics), failed
        return
    np.testing.assert_array_equal(after["C"].astype(np.float64), product.expected(before), schedule)
