"""Several dimensions on an axis of an atom: convolutions, contractions of tensors, and random ones."""

import os
from dataclasses import replace
from random import Random

import pytest

from mdh.diagnostics import Failed
from mdh.ir.construct import add, mod
from mdh.ir.copy_engine import Arrive
from mdh.ir.kernel import Stmt
from mdh.ir.walk import rewritten
from mdh.reference.evaluate import evaluate_bounded
from mdh.target.emit import emit
from mdh.target.nvrtc import compile_cubin
from mdh.verify.verdict import fits
from tests.atoms.products import lowered, whole_numbers
from tests.atoms.random_axes import by_axes, by_group_axes
from tests.atoms.random_products import Case
from tests.atoms.test_random_groups import judged
from tests.atoms.warps import run

COUNT = int(os.environ.get("MDH_RANDOM_ATOMS", "24"))

CONVOLUTION = """void conv(const _Float16 I[1][{rows}][{columns}][32], const _Float16 F[{k}][3][3][32],
          float C[1][{p}][{q}][{k}]) {{
  for (int n = 0; n < 1; n++)
    for (int p = 0; p < {p}; p++)
      for (int q = 0; q < {q}; q++)
        for (int k = 0; k < {k}; k++) {{
          float sum = 0;
          for (int r = 0; r < 3; r++)
            for (int s = 0; s < 3; s++)
              for (int c = 0; c < 32; c++)
                sum += (float)I[n][{stride} * p + r][{stride} * q + s][c] * (float)F[k][r][s][c];
          C[n][p][q][k] = sum;
        }}
}}
"""
CONVOLVED = """1: (de-)comp( 1, {p}, {q}, {k}, ^, ^, ^ ) ( ^, ^ ; ^ ) ( BLK.z, BLK.y, BLK.x, ^, ^, ^, ^ )
2: (de-)comp( ^, ^, ^, ^, 1, 1, ^ ) ( I:SM[1,2,3,4]@pad(8)@copy(async), F:SM[1,2,3,4]@pad(8) ; C:RM[1,2,3,4] )
             ( ^, ^, ^, ^, FOR.1, FOR.2, ^ )
3: (de-)comp( 1, {warp}, {q}, {columns}, ^, ^, ^ ) ( ^, ^ ; ^ ) ( ^, WRP.y, ^, WRP.x, ^, ^, ^ )
4: (de-)comp( 1, {atom}, 8, 1, 1, 16 ) ( ^, ^ ; ^ ) ( ^, MMA.m, MMA.m, MMA.n, ^, ^, MMA.k )
"""


def convolution(
    p: int, q: int, stride: int, block: tuple[int, int], atom: tuple[int, int], k: int = 24, columns: int = 8
) -> Case:
    height, width = (stride * (n - 1) + 3 for n in (p, q))
    text = CONVOLUTION.format(p=p, q=q, k=k, rows=height, columns=width, stride=stride)
    steps = CONVOLVED.format(
        p=block[0], q=block[1], warp=block[0] // 2, atom=f"{atom[0]}, {atom[1]}", k=k, columns=columns
    )
    return Case(text, steps)


@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize(
    ("sizes", "block", "atom"),
    [((8, 8), (4, 8), (2, 8)), ((7, 7), (4, 7), (2, 7)), ((6, 14), (2, 14), (1, 14)),
     ((8, 12), (8, 4), (4, 4)), ((9, 10), (4, 10), (2, 5)), ((5, 9), (4, 6), (2, 3))],
)  # fmt: skip
def test_convolutions(
    sizes: tuple[int, int], block: tuple[int, int], atom: tuple[int, int], stride: int
) -> None:
    judged(convolution(*sizes, stride, block, atom), seed=stride)


TRIPLES = """void triples(const double lhs[12][4][2][8], const double rhs[3][16][12][4],
             double C[2][8][4][4][3][16]) {
  for (int a = 0; a < 2; a++)
    for (int b = 0; b < 8; b++)
      for (int c = 0; c < 4; c++)
        for (int d = 0; d < 4; d++)
          for (int e = 0; e < 3; e++)
            for (int f = 0; f < 16; f++) {
              C[a][b][c][d][e][f] = 0;
              for (int g = 0; g < 12; g++)
                C[a][b][c][d][e][f] += lhs[g][d][a][b] * rhs[e][f][g][c];
            }
}
"""
TRIPLE = """1: (de-)comp( 2, 8, 1, 2, 3, 8, ^ ) ( ^, ^ ; ^ ) ( ^, ^, BLK.z, BLK.y, ^, BLK.x, ^ )
2: (de-)comp( ^, ^, ^, ^, ^, ^, 8 )
             ( lhs:SM[1,2,3,4], rhs:SM[1,2,3,4] ; C:RM[1,2,3,4,5,6] ) ( ^, ^, ^, ^, ^, ^, FOR.1 )
3: (de-)comp( {tiles}, 4 ) ( ^, ^ ; ^ ) ( MMA.m, MMA.m, MMA.n, MMA.m, MMA.n, MMA.n, MMA.k )
"""


@pytest.mark.parametrize(
    "tiles", ["1, 8, 1, 2, 1, 8", "1, 4, 1, 2, 3, 2", "2, 2, 1, 2, 3, 1", "1, 8, 1, 1, 1, 8"]
)
def test_triples(tiles: str) -> None:
    judged(Case(TRIPLES, TRIPLE.format(tiles=tiles)), seed=1)


ATTENTION = """void scores(const __bf16 Q[2][20][3][32], const __bf16 K[2][24][3][32],
            float C[2][3][20][24]) {
  for (int b = 0; b < 2; b++)
    for (int h = 0; h < 3; h++)
      for (int i = 0; i < 20; i++)
        for (int j = 0; j < 24; j++) {
          float sum = 0;
          for (int d = 0; d < 32; d++)
            sum += (float)Q[b][i][h][d] * (float)K[b][j][h][d];
          C[b][h][i][j] = sum;
        }
}
"""
HEADS = """1: (de-)comp( 1, 1, 16, 24, ^ ) ( ^, ^ ; ^ ) ( BLK.z, BLK.y, BLK.x, ^, ^ )
2: (de-)comp( ^, ^, ^, ^, 32 )
             ( Q:SM[1,2,3,4]@pad(8), K:SM[1,2,3,4]@pad(8) ; C:RM[1,2,3,4] ) ( ^, ^, ^, ^, ^ )
3: (de-)comp( ^, ^, 16, 8, 16 ) ( ^, ^ ; ^ ) ( ^, ^, MMA.m, MMA.n, MMA.k )
"""


def test_batches_stay_outside() -> None:
    judged(Case(ATTENTION, HEADS), seed=2)


GROUPED = """1: (de-)comp( 1, {p}, {q}, 24, ^, ^, ^ )
             ( ^, ^ ; ^ ) ( BLK.z, BLK.y, BLK.x, ^, ^, ^, ^ ) @roles(load=1)
2: (de-)comp( ^, ^, ^, ^, 1, 1, 32 )
             ( I:SM[1,2,3,4]@copy(tma)@swizzle(64), F:SM[1,2,3,4]@copy(tma)@swizzle(64) ; C:RM[1,2,3,4] )
             ( ^, ^, ^, ^, FOR.1, FOR.2, ^ ) @stages(4)
3: (de-)comp( 1, {atom}, 24, 1, 1, 16 ) ( ^, ^ ; ^ ) ( MMA.m, MMA.m, MMA.m, MMA.n, ^, ^, MMA.k ) @atom(wgmma)
"""


def grouped(sizes: tuple[int, int], block: tuple[int, int], atom: str, stride: int = 1) -> Case:
    case = convolution(*sizes, stride, block, (2, 8))
    return Case(case.text, GROUPED.format(p=block[0], q=block[1], atom=atom))


@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize(
    ("sizes", "block", "atom"),
    [((8, 8), (8, 8), "8, 8"), ((14, 16), (8, 16), "8, 8"), ((9, 7), (8, 7), "8, 7"),
     ((5, 16), (4, 16), "4, 16"), ((7, 10), (7, 8), "7, 8")],
)  # fmt: skip
def test_convolutions_by_warp_groups(
    sizes: tuple[int, int], block: tuple[int, int], atom: str, stride: int
) -> None:
    judged(grouped(sizes, block, atom, stride), seed=3)


@pytest.mark.parametrize("result", ["float", "_Float16"])
@pytest.mark.parametrize(
    ("sizes", "block", "atom"),
    [((8, 8), (8, 8), "8, 8"), ((14, 16), (8, 16), "8, 8"), ((9, 7), (8, 7), "8, 7"),
     ((5, 16), (4, 16), "4, 16"), ((7, 10), (7, 8), "7, 8"), ((11, 14), (4, 14), "4, 14")],
)  # fmt: skip
def test_results_of_convolutions_leave_in_boxes(
    sizes: tuple[int, int], block: tuple[int, int], atom: str, result: str
) -> None:
    """Tiles that leave places of atoms empty, and tiles that the edge cuts."""
    case = grouped(sizes, block, atom)
    steps = case.schedule.replace("C:RM[1,2,3,4]", "C:RM[1,2,3,4]@store(tma, subtile=8)")
    steps = steps.replace("@roles(load=1)", "@persistent @roles(load=1, math=2, turns)")
    judged(Case(case.text.replace("float C[", f"{result} C["), steps), seed=5)


HALO = """1: (de-)comp( 1, {p}, {q}, 24, ^, ^, ^ )
             ( ^, ^ ; ^ ) ( BLK.z, BLK.y, BLK.x, ^, ^, ^, ^ ) @persistent @roles(load=1{turns})
2: (de-)comp( ^, ^, ^, ^, ^, ^, {c} )
             ( I:SM[1,2,3,4]@copy(tma)@swizzle({wide}), ^ ; C:RM[1,2,3,4] ) ( ^, ^, ^, ^, ^, ^, ^ ) @stages(2)
3: (de-)comp( ^, ^, ^, ^, 1, 1, ^ )
             ( ^, F:SM[1,2,3,4]@copy(tma)@swizzle({wide}) ; ^ ) ( ^, ^, ^, ^, ^, ^, ^ ) @stages({slots})
4: (de-)comp( 1, {p}, {q}, ^, ^, ^, 16 ) ( ^, ^ ; ^ ) ( MMA.m, MMA.m, MMA.m, MMA.n, ^, ^, MMA.k ) @atom(wgmma)
"""


@pytest.mark.parametrize("turns", ["", ", math=2, turns"])
@pytest.mark.parametrize("c", [16, 32])
@pytest.mark.parametrize(("slots", "inflight"), [(1, ""), (3, ""), (3, "@inflight(2)"), (2, "@inflight(0)")])
@pytest.mark.parametrize(("sizes", "block"), [((14, 16), (8, 8)), ((9, 10), (8, 7)), ((2, 70), (1, 64))])
def test_halos(
    sizes: tuple[int, int], block: tuple[int, int], slots: int, inflight: str, c: int, turns: str
) -> None:
    """A copy serves the whole window, and the next one is under way meanwhile, also that of the next tile."""
    steps = HALO.format(p=block[0], q=block[1], c=c, wide=2 * c, slots=slots, turns=turns)
    judged(Case(convolution(*sizes, 1, block, (2, 8)).text, steps.rstrip() + f" {inflight}\n"), seed=slots)


def _in_the_other_slot(s: Stmt) -> Stmt:
    if not isinstance(s, Arrive) or s.buffer != "free_2":
        return s
    return replace(s, index=(mod(add(s.index[0], 1), 2),))


def test_a_slot_that_is_released_too_early_is_found() -> None:
    steps = HALO.format(p=8, q=8, c=16, wide=32, slots=3, turns="")
    program, module = lowered(convolution(14, 16, 1, (8, 8), (2, 8)).text, steps, units=1)
    kernels = tuple(replace(k, body=rewritten(k.body, _in_the_other_slot)) for k in module.kernels)
    assert kernels != module.kernels
    arrays = whole_numbers(program, 1)
    wanted = evaluate_bounded(program, arrays, exact=True)["C"]
    for seed in range(12):
        try:
            run(replace(module, kernels=kernels), arrays, seed=seed)
        except AssertionError:
            return
        if not fits(arrays["C"], wanted).all():
            return
    pytest.fail("not found")


@pytest.mark.parametrize("seed", range(COUNT))
def test_groups_refused_or_right(seed: int) -> None:
    case = by_group_axes(Random(seed))
    try:
        judged(case, seed)
    except Failed as failed:
        assert all(d.code[0] in "SK" for d in failed.diagnostics), failed


def test_texts_of_warp_groups_compile_clean() -> None:
    case = grouped((56, 56), (8, 8), "8, 8")
    program, module = lowered(case.text, case.schedule, "h200")
    cubin = compile_cubin(emit(module, program), "sm_90a")
    assert cubin.warnings == ()
    assert cubin.spill_bytes == 0


@pytest.mark.parametrize("machine", ["a100", "h200"])
def test_texts_compile_clean(machine: str) -> None:
    wide = convolution(56, 56, 1, (8, 14), (2, 7), k=64, columns=32)
    for case in (wide, Case(TRIPLES, TRIPLE.format(tiles="1, 8, 1, 1, 1, 8"))):
        program, module = lowered(case.text, case.schedule, machine)
        cubin = compile_cubin(emit(module, program), "sm_80" if machine == "a100" else "sm_90a")
        assert cubin.warnings == ()
        assert cubin.spill_bytes == 0


@pytest.mark.parametrize("seed", range(COUNT))
def test_refused_or_right(seed: int) -> None:
    case = by_axes(Random(seed))
    try:
        judged(case, seed)
    except Failed as failed:
        assert all(d.code[0] in "SK" for d in failed.diagnostics), failed
