"""Random products by random schedules with atoms on a GPU: integers exactly, others within their bounds."""

from random import Random

import numpy as np
import pytest

from mdh.checker.run import check
from mdh.device.api import open_device
from mdh.diagnostics import Failed
from mdh.frontend.c.read import read_program
from mdh.ir.numerics import numerics_of
from mdh.lower.run import lower
from mdh.reference.evaluate import evaluate_bounded
from mdh.schedule.default import default_schedule
from mdh.schedule.printer import print_schedule
from mdh.source import Source
from mdh.target.emit import emit
from mdh.verify.verdict import fits
from tests.atoms.blocks import Array, numpy_type
from tests.atoms.products import Product, Tiling, planned, whole_numbers
from tests.atoms.test_random_groups import drawn as drawn_case

pytestmark = pytest.mark.gpu
ATOMS = {
    "bf16": ((16, 8, 16), (16, 8, 8)), "f16": ((16, 8, 16), (16, 8, 8)),
    "f64": ((8, 8, 4), (16, 8, 4), (16, 8, 8), (16, 8, 16)),
    "i8": ((16, 8, 32), (16, 8, 16)), "u8": ((16, 8, 32), (16, 8, 16)),
    "tf32": ((16, 8, 8), (16, 8, 4)),
}  # fmt: skip
STEP = {"bf16": 32, "f16": 32, "f64": 16, "i8": 64, "u8": 64, "tf32": 32}
SIDE_BY_SIDE = {"bf16": 8, "f16": 8, "f64": 2, "i8": 16, "u8": 16, "tf32": 4}
"""Elements of 16 bytes."""
NARROW = {"bf16": "__bf16", "f16": "_Float16"}


def drawn(rng: Random, number: int) -> tuple[Product, Tiling]:
    """Sizes that asynchronous copies allow, or any."""
    kind, layout = list(ATOMS)[number % len(ATOMS)], rng.choice(("NN", "NT", "TN", "TT"))
    block = rng.choice(((64, 64), (128, 64), (64, 128), (32, 64)))
    depth = STEP[kind] * rng.choice((1, 2))
    sizes = [rng.randrange(n, 300) // 16 * 16 for n in (*block, depth)]
    m, n, k = (max(a, b) for a, b in zip(sizes, (*block, depth), strict=True))
    along_k = ("1,2", "1,2")
    if kind in ("i8", "u8"):
        along_k = ("1,2" if layout[0] == "N" else "2,1", "2,1" if layout[1] == "N" else "1,2")
    copy = "plain" if "2,1" in along_k or rng.random() < 0.3 else "async"
    if copy == "plain":
        m, n, k = (size + rng.randrange(SIDE_BY_SIDE[kind]) for size in (m, n, k))
    tiling = Tiling(
        (*block, depth),
        rng.choice(((32, 32), (16, 32), (32, 16))),
        rng.choice(ATOMS[kind]),
        stages=rng.choice((1, 2, 3)),
        copy=copy,
        rows=(f"@pad({max(4, SIDE_BY_SIDE[kind])})",) * 2,
        layouts=along_k,
        grid=rng.choice(("", "@order(grouped(2))", "@persistent")),
        more="@as(tf32)" if kind == "tf32" else "",
    )
    return Product(kind, layout, m, n, k, rng.choice(("", NARROW[kind])) if kind in NARROW else ""), tiling


def random_numbers(arrays: dict[str, Array], seed: int) -> dict[str, Array]:
    draw = np.random.default_rng(seed)
    out = {}
    for name, a in arrays.items():
        whole = a.dtype.kind in "iu"
        values = draw.integers(-128 if a.dtype.kind == "i" else 0, 128, a.shape) if whole else None
        out[name] = (draw.uniform(-1, 1, a.shape) if values is None else values).astype(a.dtype)
    return out


@pytest.mark.parametrize("number", range(48))
def test_random_products(number: int) -> None:
    product, tiling = drawn(Random(number), number)
    try:
        program, plan = planned(product.text, tiling.text)
    except Failed as failed:
        assert {d.code for d in failed.diagnostics} <= {"K152", "K153"}, failed
        pytest.skip("too large")
    device = open_device("cuda:0")
    built = device.build(emit(lower(plan), program))
    exact = whole_numbers(program, number)
    for arrays, whole in ((exact, True), (random_numbers(exact, number), False)):
        want = evaluate_bounded(program, arrays, exact=whole, numerics=numerics_of(plan))["C"]
        arrays["C"] = np.full(arrays["C"].shape, 77, numpy_type(program.buffer_of["C"].dtype))
        built.call(arrays, {}).launch()
        assert fits(arrays["C"], want).all()


@pytest.mark.parametrize("number", range(80))
def test_random_groups_and_boxes(number: int) -> None:
    """What the interpreter judges elsewhere."""
    case = drawn_case(number)
    try:
        program, plan = planned(case.text, case.schedule, units=number % 4)
    except Failed:
        pytest.skip("refused")
    arrays = whole_numbers(program, number)
    want = evaluate_bounded(program, arrays, exact=True)["C"]
    open_device("cuda:0").build(emit(lower(plan), program)).call(arrays, {}).launch()
    assert fits(arrays["C"], want).all()


SPLITS = {
    "kernel": "( BLK.y, BLK.x, BLK.z )",
    "atomic": "( BLK.y, BLK.x, BLK.z )",
    "ticket": "( BLK.y, BLK.x, BLK.z )",
    "cluster": "( CLU.y, CLU.x, ^ )",
}


def _split(how: str) -> str:
    """A sum of 256 in four parts of blocks, each in two parts of warps."""
    first = f"1: (de-)comp( 64, 64, {{k}} ) ( ^, ^ ; {{c}} ) {SPLITS[how]}\n"
    second = "2: (de-)comp( ^, ^, 64 ) ( ^, ^ ; {c} ) ( ^, ^, {unit} )\n"
    inner = """3: (de-)comp( ^, ^, 32 ) ( A:SM[1,2]@pad(8), B:SM[1,2]@pad(8) ; C:RM[1,2] ) ( ^, ^, ^ )
4: (de-)comp( 32, 64, 16 ) ( ^, ^ ; ^ ) ( WRP.y, ^, WRP.x )
5: (de-)comp( 16, 8, 16 ) ( ^, ^ ; ^ ) ( MMA.m, MMA.n, MMA.k )
"""
    combined = f"^@combine({how})"
    if how == "cluster":
        outer = first.format(k="^", c="^") + second.format(c=combined, unit="BLK.z")
    else:
        outer = first.format(k="64", c=combined) + second.format(c="^", unit="^")
    return outer + inner


@pytest.mark.parametrize("how", SPLITS)
def test_sums_split_over_blocks(how: str) -> None:
    product = Product("bf16", "NN", 130, 136, 256)
    program, plan = planned(product.text, _split(how))
    arrays = whole_numbers(program)
    built = open_device("cuda:0").build(emit(lower(plan), program))
    built.call(arrays, {}).launch()
    np.testing.assert_array_equal(arrays["C"], product.expected(arrays))


def defaults(number: int) -> Product:
    """Sizes of any kind, of every type and layout."""
    rng = Random(f"default {number}")
    kind, layout = list(ATOMS)[number % len(ATOMS)], ("NN", "NT", "TN", "TT")[number // len(ATOMS) % 4]
    step = rng.choice((1, 4, 8, 16))
    m, n, k = (max(16, rng.randrange(16, 700) // step * step) for _ in range(3))
    return Product(kind, layout, m, n, k, rng.choice(("", NARROW[kind])) if kind in NARROW else "")


@pytest.mark.parametrize("number", range(48))
def test_default_schedules(number: int) -> None:
    product, device = defaults(number), open_device("cuda:0")
    program = read_program(Source("p.c", product.text))
    schedule = default_schedule(program, device.machine, "cuda")
    plan = check(program, schedule, device.machine, "cuda")
    built = device.build(emit(lower(plan), program))
    exact = whole_numbers(program, number)
    for arrays, whole in ((exact, True), (random_numbers(exact, number), False)):
        want = evaluate_bounded(program, arrays, exact=whole, numerics=numerics_of(plan))["C"]
        arrays["C"] = np.full(arrays["C"].shape, 77, numpy_type(program.buffer_of["C"].dtype))
        built.call(arrays, {}).launch()
        assert fits(arrays["C"], want).all(), print_schedule(schedule)
