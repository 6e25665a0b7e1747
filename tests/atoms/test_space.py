"""Holes in a schedule with atoms: the space holds exactly what the checker takes, of a list of all values."""

from itertools import product

from mdh.diagnostics import Failed
from mdh.frontend.c.read import read_program
from mdh.machine import load_machine
from mdh.pipeline import Pipeline
from mdh.schedule.parser import parse_schedule
from mdh.source import Source
from mdh.tuner.space import make_space
from tests.atoms.products import Product

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
