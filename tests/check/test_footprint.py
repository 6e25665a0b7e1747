"""Footprints against the published and worked examples, and against enumeration."""

from itertools import product

import pytest

from mdh.checker.footprint import chain_of, register_words, shared_bytes
from mdh.decompose.tiles import decompose
from mdh.ir.plan import StagePlan
from mdh.poly.digits import index_of
from tests.check.programs import conv, jacobi, matmul
from tests.check.schedules import LISTING_5, WORKED, plan_of


def shapes(plan: StagePlan, program: object) -> dict[tuple[str, str], tuple[int, ...]]:
    return {(n.tile.buffer, n.tile.space): n.tile.shape for n in decompose(program, plan, cpu=False).kept}  # type: ignore[arg-type]


def test_listing_5() -> None:
    program = matmul(16, 1000, 2048)
    plan = plan_of(program, LISTING_5).stages[0]
    assert shapes(plan, program) == {("C", "RM"): (2, 1), ("A", "SM"): (8, 256), ("B", "SM"): (256, 20)}


def test_worked_example() -> None:
    program = matmul(1024, 1024, 1024)
    plan = plan_of(program, WORKED).stages[0]
    assert shapes(plan, program)["C", "RM"] == (8, 8)
    # The last row of A needs no padding behind it: 8 * 132 - 4 elements.
    assert (
        shared_bytes(plan, decompose(program, plan, cpu=False), cpu=False)
        == ((8 * 132 - 4) + 8 * 128) * 4 * 2
    )
    assert register_words(plan, decompose(program, plan, cpu=False)) == 64 + 8 + 8


def test_halo() -> None:
    program = jacobi(64)
    text = "(de-)comp( 16 ) ( a:SM[1] ; ^ ) ( BLK.x )\n(de-)comp( 1 ) ( ^ ; ^ ) ( THR.x )"
    assert shapes(plan_of(program, text).stages[0], program)["a", "SM"] == (18,)


@pytest.mark.parametrize("tile", [1, 3, 5, 16])
def test_stencil_image_against_enumeration(tile: int) -> None:
    program = conv(16, 3)
    text = f"(de-)comp( {tile},^ ) ( x:SM[1],^ ; ^ ) ( BLK.x,^ )\n(de-)comp( 1,^ ) ( ^,^ ; ^ ) ( ^,^ )"
    plan = plan_of(program, text).stages[0]
    chains = [chain_of(plan, d) for d in range(2)]
    most = 0
    for block in range(chains[0][0].parts):
        rest = [
            product(*(range(c.parts) for c in chains[0][1:])),
            product(*(range(c.parts) for c in chains[1])),
        ]
        touched = {
            i + p
            for inner, outer in product(*rest)
            if (i := index_of(chains[0], (block, *inner))) is not None
            and (p := index_of(chains[1], outer)) is not None
        }
        most = max(most, len(touched))
    assert shapes(plan, program)["x", "SM"] == (most,)


def test_threads_are_loops_on_a_cpu() -> None:
    program = matmul()
    blocks = "(de-)comp( 8,8,^ ) ( ^,^ ; C:RM[1,2] ) ( BLK.y,BLK.x,^ )"
    text = blocks + "\n(de-)comp( 2,2,^ ) ( ^,^ ; ^ ) ( THR.y,THR.x,^ )"
    plan = plan_of(program, text, "generic-cpu", "opencl").stages[0]
    assert decompose(program, plan, cpu=False).kept[0].tile.shape == (2, 2)
    assert decompose(program, plan, cpu=True).kept[0].tile.shape == (8, 8)
