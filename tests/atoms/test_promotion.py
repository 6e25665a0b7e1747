"""`@promote`: when the second accumulator takes over. The interpreter finds what is planted there."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from mdh.ir.dtype import I32
from mdh.ir.expr import Const, loads
from mdh.ir.kernel import Module, Stmt, Store
from mdh.ir.matrix import GroupMma, MmaWait
from mdh.ir.program import Program
from mdh.ir.walk import rewritten, statements
from tests.atoms.products import Product, lowered, planned, whole_numbers
from tests.atoms.warps import run

GROUPS = """1: (de-)comp( 128, 64, ^ ) ( ^, ^ ; ^ ) ( BLK.y, BLK.x, ^ ) @roles(load=1, math=2) @persistent
2: (de-)comp( ^, ^, {depth} ) ( A:SM[1,2]@copy(tma)@swizzle({swizzle}), B:SM[1,2]@copy(tma)@swizzle({swizzle}) ; C:RM[1,2] ) ( ^, ^, FOR.1 ) @stages(3)
3: (de-)comp( 64, ^, ^ ) ( ^, ^ ; ^ ) ( WGP.y, ^, ^ )
4: (de-)comp( 64, 64, 32 ) ( ^, ^ ; ^ ) ( MMA.m, MMA.n, MMA.k ) @atom(wgmma) @promote({promote})
"""  # noqa: E501
WARPS = """1: (de-)comp( 64, 32, ^ ) ( ^, ^ ; ^ ) ( BLK.y, BLK.x, ^ )
2: (de-)comp( ^, ^, {depth} ) ( A:SM[1,2]@pad(16), B:SM[1,2]@pad(16) ; C:RM[1,2] ) ( ^, ^, FOR.1 )
3: (de-)comp( 32, 32, ^ ) ( ^, ^ ; ^ ) ( WRP.y, ^, ^ )
4: (de-)comp( 16, 8, 32 ) ( ^, ^ ; ^ ) ( MMA.m, MMA.n, MMA.k ) @promote({promote})
"""
PRODUCT = Product("f8e4m3", "NT", 136, 80, 464)
SEEDS = range(3)


def right(module: Module, program: Program, seed: int) -> bool:
    arrays = whole_numbers(program, seed)
    try:
        run(module, arrays, seed=seed)
    except AssertionError:
        return False
    return np.array_equal(arrays["C"].astype(np.float64), PRODUCT.expected(arrays))


@pytest.mark.parametrize("steps", [GROUPS, WARPS], ids=["groups", "warps"])
@pytest.mark.parametrize(
    ("depth", "promote", "turns"), [(64, 64, 1), (192, 64, 1), (64, 128, 2), (96, 256, 2), (32, 128, 4)]
)
def test_takes_over_in_time(steps: str, depth: int, promote: int, turns: int) -> None:
    text = steps.format(depth=depth, promote=promote, swizzle=32 if depth % 64 else 64)
    _, plan = planned(PRODUCT.text, text)
    stage = plan.stages[0]
    assert stage.steps[stage.atoms or 0].promoted_turns == turns
    program, module = lowered(PRODUCT.text, text)
    assert [seed for seed in SEEDS if not right(module, program, seed)] == []


def without_keep(s: Stmt) -> Stmt:
    """The atoms go on with the sum that was taken over."""
    return replace(s, keep=Const(1, I32)) if isinstance(s, GroupMma) else s


def without_wait(s: Stmt) -> Stmt:
    """Threads take over what atoms still add to."""
    return replace(s, pending=1) if isinstance(s, MmaWait) else s


def without_taking(s: Stmt) -> Stmt:
    """The second accumulator forgets what it had."""
    if isinstance(s, Store) and not s.buffer.endswith("_first"):
        first = next((x for x in loads(s.value) if x.buffer.endswith("_first")), None)
        return s if first is None else replace(s, value=first)
    return s


@pytest.mark.parametrize("change", [without_keep, without_wait, without_taking])
def test_faults_are_found(change: Callable[[Stmt], Stmt]) -> None:
    program, module = lowered(PRODUCT.text, GROUPS.format(depth=128, promote=64, swizzle=64))
    kernels = tuple(replace(k, body=rewritten(k.body, change)) for k in module.kernels)
    assert [list(statements(k.body)) for k in kernels] != [list(statements(k.body)) for k in module.kernels]
    planted = replace(module, kernels=kernels)
    assert any(not right(planted, program, seed) for seed in SEEDS)
