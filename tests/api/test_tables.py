"""Tables: each call is served by the first case that takes its sizes, and computes what the C says."""

from random import Random

import numpy as np
import pytest

import mdh
from mdh.diagnostics import Failed
from mdh.ir.open_size import OpenSize
from mdh.source import Source

MACROS = Source(
    "macros.c",
    """#ifndef M
#define M 8
#endif
#ifndef N
#define N 16
#endif
void mm(const int A[M][24], const int B[24][N], int C[M][N]) {
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++)
            for (int k = 0; k < 24; k++)
                C[i][j] += A[i][k] * B[k][j];
}
""",
)
PARAMETERS = Source(
    "parameters.c",
    """void mm(int N, int M, const int A[M][24], const int B[24][N], int C[M][N]) {
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++)
            for (int k = 0; k < 24; k++)
                C[i][j] += A[i][k] * B[k][j];
}
""",
)
BLOCK = "1: (de-)comp( {m}, {n}, ^ ) ( ^, ^ ; ^ ) ( BLK.y, BLK.x, ^ )\n"
STAGED = BLOCK + "2: (de-)comp( ^, ^, 5 ) ( ^, B:SM[1,2] ; C:RM[1,2] ) ( ^, ^, FOR.1 )\n"
LOOPS = (
    "1: (de-)comp( {m}, ^, ^ ) ( ^, ^ ; ^ ) ( FOR.1, ^, ^ )\n"
    "2: (de-)comp( ^, {n}, ^ ) ( ^, ^ ; ^ ) ( ^, BLK.x, ^ )\n"
)


def _tile(rng: Random, least: int, most: int) -> int | str:
    """A tile for an extent of `least` to `most`: one that splits it if it stays open."""
    return "^" if least == most else rng.randint(1, min(most - 1, 12))


def _case(rng: Random) -> tuple[str, list[tuple[int, int, int]]]:
    """The text of a case, and its ranges of M and N: least, most, multiple."""
    ranges = []
    for _ in range(2):
        multiple = rng.choice((1, 1, 4))
        least = rng.randint(1, 6) * multiple
        ranges.append((least, least + rng.choice((0, 1, 3, 9)) * multiple, multiple))
    steps = rng.choice((BLOCK, STAGED, LOOPS))
    text = steps.format(m=_tile(rng, *ranges[0][:2]), n=_tile(rng, *ranges[1][:2]))
    words = [f"{s}={a}" if a == b else f"{s}={a}..{b}:{m}" for s, (a, b, m) in zip("MN", ranges, strict=True)]
    rng.shuffle(words)
    return f"over {' '.join(words)} {{\n{text}}}\n", ranges


def _takes(ranges: list[tuple[int, int, int]], sizes: tuple[int, int]) -> bool:
    return all(a <= n <= b and (a == b or n % m == 0) for (a, b, m), n in zip(ranges, sizes, strict=True))


@pytest.mark.parametrize("seed", range(12))
def test_random_tables(seed: int) -> None:
    rng = Random(seed)
    cases = {tuple(ranges): (text, ranges) for text, ranges in (_case(rng) for _ in range(4))}
    program = rng.choice((MACROS, PARAMETERS))
    kernel = mdh.compile(program, Source("table.mdh", "".join(t for t, _ in cases.values())), "c")
    numbers = np.random.default_rng(seed)
    for _ in range(12):
        chosen = rng.choice(list(cases.values()))[1]
        sizes = (rng.randrange(*_span(chosen[0])), rng.randrange(*_span(chosen[1])))
        a, b, c = (
            numbers.integers(-9, 9, s, dtype=np.int32) for s in ((sizes[0], 24), (24, sizes[1]), sizes)
        )
        want = c + a @ b
        first = next(n for n, (_, ranges) in enumerate(cases.values()) if _takes(ranges, sizes))
        assert np.array_equal(kernel(A=a, B=b, C=c), want)
        variant = kernel.specialise(**dict(zip("MN", sizes, strict=True)))
        assert variant.plan.program.params[-3:] == ("A", "B", "C")
        steps = list(cases.values())[first][0].split("\n", 1)[1].rsplit("}", 1)[0]
        assert "".join(variant.schedule.split()).endswith("".join(steps.split()))


def _span(one: tuple[int, int, int]) -> tuple[int, int, int]:
    least, most, multiple = one
    return least, most + 1, multiple if most > least else 1


TABLE = Source(
    "table.mdh",
    "over M=1 {" + BLOCK.format(m="^", n=4) + "}\nover M=8..64:8 {" + BLOCK.format(m=8, n=4) + "}",
)


def test_sizes_that_no_case_takes() -> None:
    kernel = mdh.compile(MACROS, TABLE, "c", defines={"N": 16})
    for size in (2, 9, 65):
        with pytest.raises(Failed) as failed:
            kernel.specialise(M=size)
        (found,) = failed.value.diagnostics
        assert (found.code, found.help) == ("A111", "its cases: M=1; M=8..64:8")


def test_a_bound_size_chooses_its_case() -> None:
    kernel = mdh.compile(MACROS, TABLE, "c", defines={"N": 16, "M": 16})
    a, b = np.ones((16, 24), np.int32), np.ones((24, 16), np.int32)
    assert (kernel(A=a, B=b, C=np.zeros((16, 16), np.int32)) == 24).all()
    with pytest.raises(Failed, match="no case"):
        kernel.specialise(M=1)
    assert mdh.check(MACROS, TABLE, "generic-cpu", defines={"N": 16, "M": 1}).program.params[0] == "M"


@pytest.mark.parametrize(
    ("defines", "code"), [({"M": 9}, "S157"), ({"M": "1..8"}, "C125"), ({"M": mdh.open(1, 8)}, "C125")]
)
def test_wrong_sizes(defines: dict[str, int | str | OpenSize], code: str) -> None:
    with pytest.raises(Failed) as failed:
        mdh.compile(MACROS, TABLE, "c", defines=defines)
    assert [d.code for d in failed.value.diagnostics] == [code]


def test_functions_of_one_schedule_take_no_table() -> None:
    for call in (
        lambda: mdh.check(MACROS, TABLE, "generic-cpu"),
        lambda: mdh.tune(MACROS, TABLE, "c", trials=1),
    ):
        with pytest.raises(Failed) as failed:
            call()
        assert [d.code for d in failed.value.diagnostics] == ["S157"]


def test_holes_of_cases_are_given_values() -> None:
    table = Source(
        "table.mdh",
        "over M=1..7 {"
        + BLOCK.format(m="?m", n=4)
        + "}\nover M=8..64 {"
        + BLOCK.format(m="?m", n="?n")
        + "}",
    )
    kernel = mdh.compile(MACROS, table, "c", defines={"N": 16}, holes={"m": 2, "n": 8})
    assert "2, 4, ^" in kernel.specialise(M=3).schedule
    assert "2, 8, ^" in kernel.specialise(M=9).schedule
    with pytest.raises(Failed, match="no hole"):
        mdh.compile(MACROS, table, "c", defines={"N": 16}, holes={"m": 2, "n": 8, "q": 1})


def test_build_builds_all_cases() -> None:
    kernel = mdh.compile(MACROS, TABLE, "c", defines={"N": 16})
    kernel.build()
    with pytest.raises(Failed) as failed:
        mdh.compile(
            MACROS, Source("t", "over M=1..8 {" + BLOCK.format(m=16, n=4) + "}"), "c", defines={"N": 16}
        ).build()
    assert [d.code for d in failed.value.diagnostics] == ["K104"]
