"""Holes in a schedule with atoms: the space holds exactly what the checker takes, of a list of all values."""

import os
from collections import Counter
from itertools import product
from random import Random

import pytest

from mdh.diagnostics import Failed
from mdh.frontend.c.read import read_program
from mdh.ir.plan import Plan
from mdh.machine import load_machine
from mdh.pipeline import Pipeline
from mdh.schedule.default import default_schedule
from mdh.schedule.parser import parse_schedule
from mdh.schedule.printer import print_schedule
from mdh.source import Source
from mdh.tuner.candidates.open_tiles import open_values, opened
from mdh.tuner.space import ExactSpace, identity, make_space
from tests.atoms.products import Product
from tests.atoms.test_axes import convolution

DRAWS = int(os.environ.get("MDH_DRAWS", "200"))
TEXT = Product("bf16", "NN", 128, 128, 64).text
OPEN = """1: (de-)comp( ?{32,128}, ?{64,128}, ^ ) ( ^,^ ; ^ ) ( BLK.y, BLK.x, ^ )
2: (de-)comp( ^, ^, 32 ) ( A:SM[1,2]@pad(8), B:SM[1,2]@pad(8) ; C:RM[1,2] ) ( ^, ^, FOR.1 )
3: (de-)comp( ?{16,32,64}, ?{8,64}, ^ ) ( ^,^ ; ^ ) ( WRP.y, WRP.x, ^ )
4: (de-)comp( 16, 8, 16 ) ( ^,^ ; ^ ) ( MMA.m, MMA.n, MMA.k )
"""
CHOICES = ((32, 128), (64, 128), (16, 32, 64), (8, 64))


def legal(values: tuple[int, ...]) -> bool:
    text = OPEN
    for choices, value in zip(CHOICES, values, strict=True):
        text = text.replace("?{" + ",".join(map(str, choices)) + "}", str(value), 1)
    pipeline = Pipeline()
    program = read_program(Source("p.c", TEXT))
    try:
        pipeline.check(program, pipeline.schedule(Source("s.mdh", text)), load_machine("h200"), "cuda")
    except Failed:
        return False
    return True


def test_points_are_what_the_checker_takes() -> None:
    space = make_space(
        read_program(Source("p.c", TEXT)), parse_schedule(Source("s.mdh", OPEN)), load_machine("h200"), "cuda"
    )
    fitting = [v for v in product(*CHOICES) if legal(v)]
    # counted before memory is looked at: eight warps of 64x64 have room, 64 warps are too many for a block
    structural = [v for v in product(*CHOICES) if v[2] <= v[0] and v[0] // v[2] * (v[1] // v[3]) <= 32]
    assert space.count == len(structural)
    assert 0 < len(fitting) <= len(structural)
    assert set(fitting) <= set(structural)


BARE = """1: (de-)comp( ?, ?, ^ ) ( ^,^ ; ^ ) ( BLK.y, BLK.x, ^ )
2: (de-)comp( ^, ^, ? ) ( A:SM[1,2], B:SM[1,2] ; C:RM[1,2] ) ( ^, ^, FOR.1 )
3: (de-)comp( ?, ?, ^ ) ( ^,^ ; ^ ) ( WRP.y, WRP.x, ^ )
4: (de-)comp( ?, ?, ? ) ( ^,^ ; ^ ) ( MMA.m, MMA.n, MMA.k ) @atom(?)
"""


def space_of(product: Product, text: str, machine: str = "h200") -> ExactSpace:
    read, on = read_program(Source("p.c", product.text)), load_machine(machine)
    return make_space(read, parse_schedule(Source("s.mdh", text)), on, "cuda")


def test_bare_holes_of_an_atom_are_its_shapes() -> None:
    found = {v.name: v.values for v in space_of(Product("bf16", "NN", 96, 64, 48), BARE).variables}
    assert found["4.tile.i"] == (16,)
    assert found["4.tile.j"] == (8,)
    assert found["4.tile.k"] == (8, 16)
    assert found["4.atom"] == ("mma",)
    assert found["3.tile.i"] == (16, 32, 48, 64, 96)
    # of 48 elements: 32 is cut at the end, and 24 is no multiple of 16, but of 8
    assert found["2.tile.k"] == (8, 16, 24, 32, 48)
    old = {v.name: v.values for v in space_of(Product("f64", "NN", 96, 64, 48), BARE, "a100").variables}
    assert (old["4.tile.i"], old["4.tile.k"], old["4.atom"]) == ((8,), (4,), ("dmma",))
    new = {v.name: v.values for v in space_of(Product("f64", "NN", 96, 64, 48), BARE).variables}
    assert (new["4.tile.i"], new["4.tile.k"]) == ((16,), (4, 8, 16))


CASES = [(kind, layout, machine) for kind in ("bf16", "f64", "i8") for layout in ("NN", "TN")
         for machine in ("h200", "a100")]  # fmt: skip


@pytest.mark.parametrize(("kind", "layout", "machine"), CASES)
def test_the_space_around_a_default_is_searchable(kind: str, layout: str, machine: str) -> None:
    """The points that are not legal have too many registers, or too much shared memory. With atoms of warp
    groups fewer are legal, because their factors lie in whole rows of the swizzle."""
    read = read_program(Source("p.c", Product(kind, layout, 1000, 1024, 2040).text))
    on = load_machine(machine)
    schedule = default_schedule(read, on, "cuda")
    space = make_space(read, opened(schedule), on, "cuda")
    point = open_values(schedule)
    # a part of the sum need be no divisor
    shared = len(point) < 3 or point[2] not in (8, 32, 128)
    assert shared or space.rank(point) is not None
    assert isinstance(space.plan(point), Plan)
    rng, codes = Random(1), Counter[str]()
    for _ in range(DRAWS):
        plan = space.plan(space.unrank(rng.randrange(space.count)))
        codes["" if isinstance(plan, Plan) else plan.diagnostics[0].code] += 1
    grouped = "wgmma" in print_schedule(schedule)
    rows = {"K166", "K167", "K172"} if grouped else set[str]()
    assert set(codes) <= {"", "K152", "K153", "K131", *rows}, codes
    assert codes[""] > (0 if grouped else DRAWS // 20), codes
    drawn = space.draw_legal(rng)
    assert drawn is not None


def test_each_promotion_is_a_program_of_its_own() -> None:
    text = """1: (de-)comp( 128, 128, ^ ) ( ^, ^ ; ^ ) ( BLK.y, BLK.x, ^ )
2: (de-)comp( ^, ^, 128 ) ( A:SM[1,2]@pad(16), B:SM[1,2]@pad(16) ; C:RM[1,2] ) ( ^, ^, FOR.1 )
3: (de-)comp( 32, 32, ^ ) ( ^, ^ ; ^ ) ( WRP.y, WRP.x, ^ )
4: (de-)comp( 16, 8, 32 ) ( ^, ^ ; ^ ) ( MMA.m, MMA.n, MMA.k ) @promote(?)
"""
    eighths = Product("f8e4m3", "NT", 256, 256, 512)
    assert space_of(eighths, text, "rtx4090").count == 3
    pipeline, program = Pipeline(), read_program(Source("p.c", eighths.text))
    texts = (text.replace("@promote(?)", said) for said in ("", *(f"@promote({n})" for n in (64, 128, 256))))
    machine = load_machine("rtx4090")
    plans = [
        pipeline.check(program, pipeline.schedule(Source("s.mdh", t)), machine, "cuda").plan for t in texts
    ]
    assert len({identity(plan) for plan in plans}) == 4


def test_dimensions_that_share_an_axis() -> None:
    """Tiles of several dimensions on an axis need not be those of an atom: their product counts."""
    case = convolution(14, 14, 1, (4, 14), (2, 7), k=64, columns=32)
    read, on = read_program(Source("p.c", case.text)), load_machine("h200")
    fixed = case.schedule.replace("( 1, 4, 14, 64,", "( 1, ?{2,4,8}, 14, 64,").replace("32 ) ( I", "? ) ( I")
    space = make_space(read, parse_schedule(Source("s.mdh", fixed)), on, "cuda")
    assert space.count > 1
    bare = case.schedule.replace("( 1, 2, 7, 8, 1, 1, 16 )", "( 1, ?, ?, 8, 1, 1, 16 )")
    found = make_space(read, parse_schedule(Source("s.mdh", bare)), on, "cuda")
    assert {v.name: v.values for v in found.variables}["4.tile.q"] == (1, 2)
    rng, legal = Random(1), 0
    for _ in range(DRAWS):
        for drawn in (space, found):
            plan = drawn.plan(drawn.unrank(rng.randrange(drawn.count)))
            legal += isinstance(plan, Plan)
            assert isinstance(plan, Plan) or plan.diagnostics[0].code in ("K153", "K171", "K173"), plan
    assert legal > DRAWS // 2
