"""Atoms whose places along k are not all taken: empty ones add nothing, whatever lies in memory."""

import os
from collections.abc import Callable
from dataclasses import replace
from random import Random

import numpy as np
import pytest

from mdh.checker.run import check
from mdh.diagnostics import Failed
from mdh.frontend.c.read import read_program
from mdh.ir.expr import Binary, Expr
from mdh.ir.kernel import Stmt
from mdh.ir.matrix import LoadWord
from mdh.ir.walk import rewritten
from mdh.lower.run import lower
from mdh.machine import load_machine
from mdh.schedule.default import default_schedule
from mdh.schedule.default.shape import Shape
from mdh.schedule.default.short_sums import best_short_plan, find_short, short_outline
from mdh.schedule.model import Schedule
from mdh.schedule.printer import print_schedule
from mdh.source import Source
from mdh.target.emit import emit
from mdh.target.nvrtc import compile_cubin
from tests.atoms.products import Product, lowered
from tests.atoms.products import computed as product_computed
from tests.atoms.short_sums import KINDS, Layer, computed, drawn, right

COUNT = int(os.environ.get("MDH_RANDOM_ATOMS", "24")) * 2


@pytest.mark.parametrize("seed", range(COUNT))
def test_refused_or_right(seed: int) -> None:
    layer, schedule = drawn(Random(seed))
    try:
        found, want = computed(layer, schedule, seed)
    except Failed as failed:
        assert all(d.code[0] in "SK" for d in failed.diagnostics), failed
        return
    np.testing.assert_array_equal(found, want, f"{layer}\n{schedule}")


FIRST = Layer("f16", {"n": 2, "p": 4, "q": 32, "k": 16, "r": 2, "s": 7, "c": 3}, 2, (0, 0))
STEPS = """1: (de-)comp( 1, ^, ^, ^, ^, ^, ^ ) ( ^, B:SM[2,1,3,4] ; ^ ) ( BLK.x, ^, ^, ^, ^, ^, ^ )
2: (de-)comp( ^, 2, ^, ^, ^, ^, ^ ) ( A:SM[1,2,3,4], ^ ; C:RM[1,2,3,4] ) ( ^, FOR.1, ^, ^, ^, ^, ^ )
   @stages(2)
3: (de-)comp( ^, ^, ^, ^, 1, ^, ^ ) ( ^, ^ ; ^ ) ( ^, ^, ^, ^, FOR.2, ^, ^ )
4: (de-)comp( ^, 2, 16, 16, ^, ^, ^ ) ( ^, ^ ; ^ ) ( ^, ^, WRP.x, ^, ^, ^, ^ )
5: (de-)comp( ^, 1, 16, 8, ^, {s}, {c} ) ( ^, ^ ; ^ ) ( ^, MMA.m, MMA.m, MMA.n, ^, MMA.k, MMA.k )
"""


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("c", range(1, 16))
def test_every_number_of_channels(kind: str, c: int) -> None:
    layer = replace(FIRST, kind=kind, sizes={**FIRST.sizes, "c": c, "r": 1, "s": 3})
    most = max(KINDS[kind])
    room = next(n for n in (1, 2, 4, 8, 16) if n >= min(c, most))
    schedule = STEPS.format(c=min(c, most), s=min(3, most // room))
    found, want = computed(layer, schedule, 3)
    np.testing.assert_array_equal(found, want)


@pytest.mark.parametrize("kind", ["f16", "i8", "f64", "tf32"])
@pytest.mark.parametrize("k", [1, 3, 5, 7, 12])
def test_one_dimension_that_is_shorter_than_the_atom(kind: str, k: int) -> None:
    tile = min(k, {"i8": 32, "f16": 16, "f64": 16, "tf32": 8}[kind])
    product = Product(kind, "NT", 32, 16, k)
    pad = {"f16": "@pad(8)", "i8": "@pad(16)"}.get(kind, "")
    more = "@as(tf32)" if kind == "tf32" else ""
    schedule = f"""1: (de-)comp( 16, ^, ^ ) ( A:SM[1,2]{pad}, B:SM[1,2]{pad} ; C:RM[1,2] ) ( BLK.x, ^, ^ )
2: (de-)comp( 16, 8, {tile} ) ( ^, ^ ; ^ ) ( MMA.m, MMA.n, MMA.k ) {more}
"""
    before, after = product_computed(product.text, schedule)
    np.testing.assert_array_equal(after["C"].astype(np.float64), product.expected(before))


# -- planted faults ----------------------------------------------------------------------------


Change = Callable[[Stmt], Stmt]


def _unconditional(s: Stmt) -> Stmt:
    return replace(s, conditions=(None,) * len(s.conditions)) if isinstance(s, LoadWord) else s


def _further(e: Expr | None) -> Expr | None:
    if not isinstance(e, Binary) or e.op != "<":
        return e
    return replace(e, left=Binary("-", e.left, replace(e.right, value=1), e.dtype))


def _later(s: Stmt) -> Stmt:
    return replace(s, conditions=tuple(map(_further, s.conditions))) if isinstance(s, LoadWord) else s


def _of_one(change: Change, buffer: str) -> Change:
    return lambda s: change(s) if isinstance(s, LoadWord) and s.src.startswith(buffer) else s


def _swapped(s: Stmt) -> Stmt:
    return replace(s, places=s.places[::-1]) if isinstance(s, LoadWord) else s


WORDS = FIRST, STEPS.format(s=4, c=3)
ALONE = replace(FIRST, sizes={**FIRST.sizes, "c": 5, "s": 3}), STEPS.format(s=1, c=3)
"""Tiles of 3 elements begin at odd ones, so that no two of them are one word."""
FAULTS = {
    "no condition": (WORDS, _unconditional),
    "no condition of A": (WORDS, _of_one(_unconditional, "A")),
    "no condition of B": (WORDS, _of_one(_unconditional, "B")),
    "conditions that end late": (WORDS, _later),
    "elements in another order": (ALONE, _swapped),
}


@pytest.mark.parametrize("name", FAULTS)
def test_faults_are_found(name: str) -> None:
    (layer, schedule), change = FAULTS[name]
    program, module = lowered(layer.text, schedule)
    (kernel,) = module.kernels
    faulty = replace(kernel, body=rewritten(kernel.body, change))
    assert faulty != kernel, "the fault is nowhere"
    assert right(layer, program, module, 2)
    assert not all(right(layer, program, replace(module, kernels=(faulty,)), seed) for seed in range(6))


# -- defaults ----------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(COUNT // 4))
def test_defaults_are_right(seed: int) -> None:
    rng = Random(seed)
    kind = rng.choice(("f16", "bf16", "i8"))
    sizes = {"n": rng.choice((1, 3)), "p": rng.choice((8, 9, 16)), "q": rng.choice((16, 17, 32)),
             "k": rng.choice((8, 16, 40)), "r": rng.choice((1, 3)), "s": rng.choice((3, 5, 7)),
             "c": rng.choice((2, 3, 5, 7))}  # fmt: skip
    layer = Layer(kind, sizes, rng.choice((1, 2)), (0, 0), rng.choice((1, 1, 2)))
    program, on = read_program(Source("p.c", layer.text)), load_machine(rng.choice(("h200", "a100")))
    shape = Shape(program, program.stages[0])
    found = find_short(shape, on, "cuda")
    best = None if found is None else best_short_plan(shape, found, on)
    assert found is not None and best is not None
    section = short_outline(shape, found, on, best[0]).section(program.stages[0].name)
    schedule = print_schedule(Schedule((section,), target=on.name, program=program.name))
    got, want = computed(layer, schedule, seed)
    np.testing.assert_array_equal(got, want, schedule)


@pytest.mark.parametrize("machine", ["h200", "a100"])
@pytest.mark.parametrize("n", [1, 16])
def test_the_default_of_a_first_layer_has_atoms(machine: str, n: int) -> None:
    sizes = {"n": n, "p": 112, "q": 112, "k": 64, "r": 7, "s": 7, "c": 3}
    program, on = (
        read_program(Source("p.c", Layer("f16", sizes, 2, (0, 0)).text)),
        load_machine(machine),
    )
    schedule = default_schedule(program, on, "cuda")
    assert "MMA.k, MMA.k" in print_schedule(schedule)
    cubin = compile_cubin(emit(lower(check(program, schedule, on, "cuda")), program), on.arch)
    assert cubin.warnings == ()
    assert cubin.spill_bytes == 0
