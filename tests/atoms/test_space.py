"""Holes in a schedule with atoms: the space holds exactly what the checker takes, of a list of all values."""

import os
from collections import Counter
from dataclasses import replace
from itertools import product
from random import Random

import pytest

from mdh.checker.run import check
from mdh.diagnostics import Failed
from mdh.frontend.c.read import read_program
from mdh.ir.plan import Plan
from mdh.machine import load_machine
from mdh.pipeline import Pipeline
from mdh.schedule.default import default_schedule
from mdh.schedule.model import Operation
from mdh.schedule.parser import parse_schedule
from mdh.source import Source
from mdh.tuner.candidates.open_tiles import open_values, opened
from mdh.tuner.space import ExactSpace, identity, make_space
from tests.atoms.products import Product
from tests.atoms.test_axes import convolution

DRAWS = int(os.environ.get("MDH_DRAWS", "40"))
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


SIZES = ((1024, 1024, 1024), (4096, 4096, 4096), (64, 4096, 4096), (1000, 1032, 2040))
CASES = [
    (kind, layout, size, machine)
    for n, (kind, layout, machine) in enumerate((
        ("bf16", "NN", "h100"), ("f16", "NT", "h100"), ("bf16", "TN", "h100"), ("bf16", "TT", "h100"),
        ("i8", "NN", "h100"), ("i8", "NT", "h100"), ("f64", "NN", "h100"), ("f64", "TT", "h100"),
        ("bf16", "NN", "a100"), ("f8e4m3", "NT", "h100"), ("f8e5m2", "NN", "h100"), ("tf32", "NT", "h100"),
        ("tf32", "NN", "h100"),
    )) for size in (SIZES[n % 4], SIZES[(n + 1) % 4])
]  # fmt: skip
"""`scripts/legal-share` draws from all of them."""


@pytest.mark.parametrize(("kind", "layout", "size", "machine"), CASES)
def test_most_points_around_a_default_are_legal(
    kind: str, layout: str, size: tuple[int, int, int], machine: str
) -> None:
    """The tiles of a default are tied in its space, so that at least half of what is drawn is legal."""
    read = read_program(Source("p.c", Product(kind, layout, *size).text))
    on = load_machine(machine)
    schedule = default_schedule(read, on, "cuda")
    space = make_space(read, opened(schedule, read, on), on, "cuda")
    point = open_values(schedule, read, on)
    assert space.rank(point) is not None
    plan = space.plan(point)
    assert isinstance(plan, Plan)
    assert identity(plan) == identity(check(read, schedule, on, "cuda"))
    rng, codes = Random(1), Counter[str]()
    for _ in range(DRAWS):
        plan = space.plan(space.draw(rng))
        codes["" if isinstance(plan, Plan) else plan.diagnostics[0].code] += 1
    assert codes[""] >= DRAWS / 2, codes


@pytest.mark.parametrize("seed", range(4))
def test_conditions_of_a_default_s_space_refuse_nothing_legal(seed: int) -> None:
    """Of points that break limits of capacity few are legal without them: where a loop of one turn has no
    slots, and where boxes of results take less room than is kept for them."""
    rng = Random(seed)
    kind, layout = rng.choice(("bf16", "f64", "i8")), rng.choice(("NN", "NT", "TN", "TT"))
    read, on = (
        read_program(Source("p.c", Product(kind, layout, *rng.choice(SIZES)).text)),
        load_machine("h100"),
    )
    tied = opened(default_schedule(read, on, "cuda"), read, on)
    ties = [
        w for w in tied.sections[0].wheres if isinstance(w.condition, Operation) and w.condition.op == "=="
    ]
    free = replace(tied, sections=(replace(tied.sections[0], wheres=tuple(ties)),))
    within, every = (make_space(read, schedule, on, "cuda") for schedule in (tied, free))
    lost = drawn = 0
    while drawn < DRAWS // 2:
        point = every.draw(rng)
        if within.rank(point) is None:
            drawn += 1
            lost += isinstance(every.plan(point), Plan)
    assert lost <= drawn // 6, lost


SWIZZLED = """1: (de-)comp( ?, ?, ^ ) ( ^, ^ ; ^ ) ( BLK.y, BLK.x, ^ ) @roles(load=1)
2: (de-)comp( ^, ^, ? )
   ( A:SM[1,2]@copy(tma)@swizzle(?{64,128}), B:SM[1,2]@copy(tma)@swizzle(128) ; C:RM[1,2] ) ( ^, ^, FOR.1 )
   @stages(2)
3: (de-)comp( 64, ?{64,128,256}, 16 ) ( ^, ^ ; ^ ) ( MMA.m, MMA.n, MMA.k ) @atom(wgmma)
"""


def test_holes_of_swizzled_factors_are_whole_rows() -> None:
    found = {v.name: v.values for v in space_of(Product("bf16", "NN", 1024, 1024, 1024), SWIZZLED).variables}
    assert found["1.tile.j"] == (64, 128, 256, 512, 1024)
    assert min(found["1.tile.i"]) == 64
    # rows of the swizzle have 32 bytes at least
    assert min(found["2.tile.k"]) == 16


OPEN_ENGINES = """1: (de-)comp( 128, 128, ^ ) ( ^, ^ ; ^ ) ( BLK.y, BLK.x, ^ ) {roles}
2: (de-)comp( ^, ^, 64 ) ( A:SM[1,2]@copy({a}){more}, B:SM[1,2]@copy({b}) ; C:RM[1,2] ) ( ^, ^, FOR.1 )
3: (de-)comp( 64, 64, ^ ) ( ^, ^ ; ^ ) ( WRP.y, WRP.x, ^ )
4: (de-)comp( 16, 8, 16 ) ( ^, ^ ; ^ ) ( MMA.m, MMA.n, MMA.k )
"""
PRODUCT = Product("bf16", "NN", 256, 256, 256)


def engines_of(machine: str, product: Product = PRODUCT, **said: str) -> set[tuple[object, ...]]:
    """The engines of A and B in the points of the space."""
    filled = OPEN_ENGINES.format(**{"roles": "", "a": "?", "b": "?", "more": "", **said})
    space = space_of(product, filled, machine)
    names = [v.name for v in space.variables]
    mine = [names.index(n) for n in ("2.A.copy", "2.B.copy") if n in names]
    return {tuple(space.unrank(rank)[i] for i in mine) for rank in range(space.count)}


def test_open_engines_are_tma_together_or_not_at_all() -> None:
    mixed = {(a, b) for a in ("plain", "async") for b in ("plain", "async")}
    assert engines_of("h200") == {*mixed, ("tma", "tma")}
    assert engines_of("a100") == mixed
    assert engines_of("h200", a="? else plain", b="?, vec=2") == {*mixed, ("tma", "tma")}
    assert engines_of("h200", b="async") == {("plain",), ("async",)}
    assert engines_of("h200", b="tma else async") == {("tma",)}
    assert engines_of("a100", b="tma else async") == {("plain",), ("async",)}
    # what only the copy engine does leaves no other
    assert engines_of("h200", roles="@roles(load=1)") == {("tma", "tma")}
    # rows of 516 bytes have no tensor map
    assert engines_of("h200", Product("bf16", "NN", 256, 258, 258)) == mixed


def texts_of(b: str) -> dict[object, str]:
    """A legal schedule for each engine of A, with a width and padding."""
    space = space_of(PRODUCT, OPEN_ENGINES.format(roles="", a="?, vec=2", b=b, more="@pad(8)"))
    at = [v.name for v in space.variables].index("2.A.copy")
    planned = ((point[at], space.plan(point)) for point in map(space.unrank, range(space.count)))
    return {engine: plan.text for engine, plan in planned if isinstance(plan, Plan)}


def test_what_an_engine_does_not_use_falls_away() -> None:
    texts = texts_of("?")
    assert texts.keys() == {"plain", "async", "tma"}
    assert "A:SM[1,2]@copy(tma)," in texts["tma"]
    assert "@copy(async, vec=2)" in texts["async"] and "@pad(8)" in texts["async"]
    # there are no clusters, so no copy engine sends to several blocks
    shared = texts_of("?, multicast")
    assert shared.keys() == {"plain", "async"}
    assert not any("multicast" in text for text in shared.values())


STORED = """1: (de-)comp( 128, 64, ^ ) ( ^, ^ ; ^ ) ( BLK.y, BLK.x, ^ ) @roles(load=?, regs=?)
2: (de-)comp( ^, ^, 64 )
   ( A:SM[1,2]@copy(?)@swizzle(?), B:SM[1,2]@copy(?)@swizzle(?) ; C:RM[1,2]@store(?, subtile=?) )
   ( ^, ^, FOR.1 ) @stages(2)
3: (de-)comp( 64, ^, ^ ) ( ^, ^ ; ^ ) ( WGP.y, ^, ^ )
4: (de-)comp( 64, 64, 16 ) ( ^, ^ ; ^ ) ( MMA.m, MMA.n, MMA.k ) @atom(?) @inflight(?)
"""


def test_holes_of_attributes_of_warp_groups() -> None:
    space = space_of(PRODUCT, STORED.replace("@atom(?)", "@atom(wgmma)"))
    values = {v.name: v.values for v in space.variables}
    assert values["2.C.store"] == ("plain", "tma")
    assert values["2.A.copy"] == values["2.B.copy"] == ("tma",)
    assert values["1.roles.load"] == (1,) and "40/232" in values["1.roles.regs"]
    assert values["4.inflight"] == (0, 1)
    rng, seen = Random(2), set[tuple[object, ...]]()
    for _ in range(DRAWS * 3):
        point = space.draw(rng)
        plan = space.plan(point)
        if isinstance(plan, Plan):
            seen |= set(zip(values, point, strict=True))
    named = {(name, value) for name, value in seen if name.split(".")[-1] not in ("vec", "regs")}
    wanted = {(n, v) for n, vs in values.items() for v in vs if n.split(".")[-1] not in ("vec", "regs")}
    assert named == wanted
    assert len({value for name, value in seen if name == "1.roles.regs"}) >= 2


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
