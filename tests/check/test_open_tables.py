"""Default tables of open sizes: they cover the ranges, and each case computes what the C says."""

from collections.abc import Callable
from functools import cache
from itertools import pairwise, product
from math import isclose, log2
from pathlib import Path
from random import Random

import numpy as np
import pytest

import mdh
from mdh.checker import open_table
from mdh.checker.open_cells import Box, cells_of, divided
from mdh.checker.open_default import default_near, with_free_maps
from mdh.checker.open_estimate import seconds_at
from mdh.checker.open_table import MOST, default_table
from mdh.checker.run import check
from mdh.cli.main import run
from mdh.cost.predict import predict
from mdh.device.api import open_device
from mdh.diagnostics import Failed
from mdh.frontend.open_program import closed, within
from mdh.ir.open_size import OpenSize
from mdh.ir.program import Program
from mdh.machine import load_machine
from mdh.pipeline import Pipeline
from mdh.schedule.cases import Table, table_of
from mdh.schedule.default.shape import Shape
from mdh.schedule.parser import parse_schedule
from mdh.schedule.printer import print_schedule
from mdh.source import Source
from tests.support.native import compiler
from tests.support.random_open import SMALL, random_open_program, run_table

PRODUCT = Source(
    "mm.c",
    """void mm(int M, int N, int K, const float A[M][K], const float B[K][N], float C[M][N]) {
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++)
            for (int k = 0; k < K; k++)
                C[i][j] += A[i][k] * B[k][j];
}
""",
)
MAP = Source(
    "map.c",
    """void twice(int M, const float x[M], float y[M]) {
    for (int i = 0; i < M; i++)
        y[i] = 2 * x[i];
}
""",
)


def _read(source: Source = PRODUCT, **defines: str | int) -> Program:
    return Pipeline().read(source, defines=defines)


@pytest.fixture
def _eager(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small kernels are worth a table, too."""
    monkeypatch.setattr(open_table, "IDLE", {"cpu": 1e-9, "gpu": 1e-9})


@pytest.mark.parametrize("among", [1, 2, 3, 4])
@pytest.mark.parametrize("size", [
    OpenSize("M", 1, 4096), OpenSize("M", 1, 2), OpenSize("M", 5, 9), OpenSize("M", 24, 4096, 8),
    OpenSize("M", 1000, 1001), OpenSize("M", 7, 1_000_003), OpenSize("M", 6, 12, 6),
])  # fmt: skip
def test_cells_cover_a_range_once(size: OpenSize, among: int) -> None:
    cells = cells_of(size, among)
    found = [cells.range(n, n) for n in range(len(cells.tops))]
    assert found[0].least == size.least
    assert found[-1].most == size.most
    assert all(b.least == a.most + size.multiple for a, b in pairwise(found))
    assert all(top % size.multiple == 0 for top in cells.tops)
    octaves = log2((size.most + size.multiple) / size.least)
    assert isclose(sum(map(cells.weight, range(len(cells.tops)))), octaves)


def _least(counts: list[int], cost: Callable[[Box], tuple[float, int] | None], price: float) -> float:
    """The cost of the cheapest division, by looking at all of them."""

    @cache
    def best(box: Box) -> float:
        known = cost(box)
        out = float("inf") if known is None else known[0] + price
        for k, (a, b) in enumerate(box):
            for at in range(a, b):
                low, high = (*box[:k], (a, at), *box[k + 1 :]), (*box[:k], (at + 1, b), *box[k + 1 :])
                out = min(out, best(low) + best(high))
        return out

    return best(tuple((0, n - 1) for n in counts))


@pytest.mark.parametrize("seed", range(20))
def test_divisions_are_cheapest_and_cover_each_cell_once(seed: int) -> None:
    rng = Random(seed)
    counts = rng.choice(([7], [3, 4], [2, 2, 3]))
    costs = {cell: [rng.random() for _ in range(4)] for cell in product(*map(range, counts))}
    refused = {n for n in range(4) if rng.random() < 0.2} - {3}

    def cost(box: Box) -> tuple[float, int] | None:
        inside = product(*(range(a, b + 1) for a, b in box))
        sums = [sum(column) for column in zip(*(costs[cell] for cell in inside), strict=True)]
        return min((s, n) for n, s in enumerate(sums) if n not in refused)

    pieces = divided(counts, cost, 0.3)
    inside = [cell for p in pieces for cell in product(*(range(a, b + 1) for a, b in p.box))]
    assert sorted(inside) == sorted(costs)
    total = sum(found[0] + 0.3 for p in pieces if (found := cost(p.box)) is not None)
    assert isclose(total, _least(counts, cost, 0.3))


@pytest.mark.parametrize("seed", range(30))
def test_narrower_ranges_give_the_program_that_is_read_for_them(seed: int) -> None:
    rng, random = Random(seed), random_open_program(seed)
    try:
        whole = Pipeline().read(random.source, defines=random.defines)
    except Failed:
        pytest.skip("this range has one value")
    ranges = []
    for o in whole.opens:
        a, b = sorted(rng.choice(range(o.least, o.most + 1, o.multiple)) for _ in range(2))
        ranges.append(OpenSize(o.name, a, b, 1 if a == b else o.multiple))
    narrow = within(whole, ranges)
    read = Pipeline().read(random.source, defines=random.defines, ranges=ranges)
    assert narrow.stages == read.stages
    assert [(b.name, b.shape, b.open) for b in narrow.buffers] == [
        (b.name, b.shape, b.open) for b in read.buffers
    ]
    assert narrow.scalars == read.scalars


def _covered(program: Program, table: Table) -> bool:
    """Whether each size of the ranges has a case; requires short ranges."""
    every = product(*(range(o.least, o.most + 1, o.multiple) for o in program.opens))
    names = [o.name for o in program.opens]
    return all(table.at(dict(zip(names, sizes, strict=True))) for sizes in every)


@pytest.mark.parametrize(("machine", "target"), [("generic-cpu", "c"), ("h100", "cuda")])
@pytest.mark.parametrize("defines", [
    {"M": "1..700", "N": 512, "K": 512},
    {"M": 512, "N": 512, "K": "8..800:8"},
    {"M": "1..60", "N": "100..160", "K": 1024},
])  # fmt: skip
def test_tables_of_products(machine: str, target: str, defines: dict[str, str | int]) -> None:
    """Each size has a case, and every case is legal as a text."""
    program, seen = _read(**defines), load_machine(machine)
    table = table_of(default_table(program, seen, target))
    assert table is not None
    assert 2 <= len(table.cases) <= MOST
    assert table.hull == program.opens
    assert _covered(program, table)
    again = table_of(parse_schedule(Source("again.mdh", print_schedule(table.schedule))))
    assert again is not None
    for case in again.cases:
        mine = Pipeline().read(PRODUCT, defines=defines, ranges=again.ranges(case))
        Pipeline().check(mine, again.alone(case), seen, target)


def test_small_kernels_and_plain_maps_have_one_kernel() -> None:
    for program in (_read(M="1..64", N=8, K=8), _read(MAP, M="1..1000")):
        assert default_table(program, load_machine("generic-cpu"), "c") is None
    found = default_table(_read(MAP, M="1..100000000"), load_machine("h100"), "cuda")
    assert found is None or len(found.cases) <= 3


def test_few_rows_have_small_tiles() -> None:
    """On an H100, a block of 64 rows for M=2 took ten times as long as the best one."""
    table = table_of(default_table(_read(M="1..4096", N=512, K=512), load_machine("h100"), "cuda"))
    assert table is not None
    few, many = (table.at({"M": m}).sections[0].steps[0].tiles[0].value for m in (2, 4096))
    assert isinstance(few, int)
    assert isinstance(many, int)
    assert few <= 16 < many


@pytest.mark.parametrize("m", [10, 33, 96, 700])
def test_estimates_hold_for_open_forms(m: int) -> None:
    """What chose the steps for a size says the same of their open form there, and the more the larger."""
    program, seen = _read(M="1..4096", N=512, K=512), load_machine("h100")
    made = default_near(program, with_free_maps(program), {"M": m}, seen, "cuda")
    assert made.same
    (estimate,) = made.estimates
    there = [closed(program, {"M": n}) for n in (m, 16 * m)]
    first, second = (estimate(Shape(p, p.stages[0])) for p in there)
    assert 0 < first <= second


@pytest.mark.parametrize("machine", ["generic-cpu", "h100"])
def test_predictions_at_the_largest_size_are_those_of_the_plan(machine: str) -> None:
    seen = load_machine(machine)
    target = seen.targets[0]
    program = _read(M="1..512", N=512, K=512)
    made = default_near(program, with_free_maps(program), {"M": 500}, seen, target)
    assert made.opened is not None
    plan = check(program, made.opened, seen, target)
    found = predict(plan)
    assert isclose(seconds_at(plan, {"M": 512}), found.seconds - dict(found.terms)["launch"])
    times = [seconds_at(plan, {"M": m}) for m in (1, 64, 512)]
    assert times == sorted(times)


@pytest.mark.usefixtures("_eager")
@pytest.mark.parametrize(("spec", "seeds"), [("c", (10, 11)), ("oclgrind", (2054,))])
def test_random_programs_with_default_tables(spec: str, seeds: tuple[int, ...]) -> None:
    """At both ends of every case, and at sizes between."""
    if spec == "c" and compiler() is None:
        pytest.skip("no C compiler here")
    device = open_device(spec)
    for seed in seeds:
        random = random_open_program(seed, SMALL)
        program = Pipeline().read(random.source, defines=random.defines)
        table = table_of(default_table(program, device.machine, device.target))
        if table is not None:
            outcome = run_table(random, table, device, seed, 4)
            assert outcome.kind == "equal", (seed, outcome, print_schedule(table.schedule))


@pytest.mark.usefixtures("_eager")
def test_every_size_of_a_product() -> None:
    """Not only the ends of cases: each of the sizes, with one and two that stay open."""
    if compiler() is None:
        pytest.skip("no C compiler here")
    device = open_device("c")
    for defines in ({"M": "1..40", "N": 33, "K": 20}, {"M": 7, "N": "1..17", "K": "1..5"}):
        program = _read(**defines)
        table = table_of(default_table(program, device.machine, "c"))
        assert table is not None
        kernel = _kernel(table, defines)
        names = [o.name for o in program.opens]
        for values in product(*(range(o.least, o.most + 1) for o in program.opens)):
            sizes = {**defines, **dict(zip(names, values, strict=True))}
            _run_product(kernel, *(int(sizes[n]) for n in "MNK"))


def _kernel(table: Table, defines: dict[str, str | int]) -> mdh.Kernel:
    bound = {name: n for name, n in defines.items() if isinstance(n, int)}
    return mdh.compile(PRODUCT, Source("table.mdh", print_schedule(table.schedule)), "c", defines=bound)


def _run_product(kernel: mdh.Kernel, m: int, n: int, k: int) -> None:
    rng = np.random.default_rng(m + n + k)
    a, b = (rng.integers(-3, 4, shape).astype(np.float32) for shape in ((m, k), (k, n)))
    c = np.zeros((m, n), np.float32)
    kernel(m, n, k, a, b, c)
    assert (c == a @ b).all(), (m, n, k)


def test_calls_build_the_cases_that_they_need() -> None:
    if compiler() is None:
        pytest.skip("no C compiler here")
    kernel = mdh.compile(PRODUCT, device="c", defines={"M": mdh.open(1, 700), "N": 256, "K": 256})
    assert kernel.table is not None
    assert not kernel.variants
    for m in (1, 2, 700):
        _run_product(kernel, m, 256, 256)
    assert len({id(v.built) for v in kernel.variants.values()}) > 1
    with pytest.raises(Failed) as failed:
        _run_product(kernel, 701, 256, 256)
    assert [d.code for d in failed.value.diagnostics] == ["A111"]
    assert "values from 1 to 700" in failed.value.diagnostics[0].help
    bound = mdh.compile(PRODUCT, device="c", defines={"M": 3, "N": 8, "K": 8})
    assert bound.table is None


def test_commands_take_the_default_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, out = tmp_path / "mm.c", tmp_path / "out"
    source.write_text(PRODUCT.text, encoding="utf-8")
    words = [str(source), "-D", "M=1..700", "-D", "N=256", "-D", "K=256", "-m", "h100"]
    written = tmp_path / "table.mdh"
    assert run(["check", *words, "-o", str(written)]) == 0
    assert "over M=1: ok: default schedule of mm" in capsys.readouterr().out
    assert run(["check", str(source), "--schedule", str(written), *words[3:]]) == 0
    assert run(["explain", *words, "--json"]) == 0
    assert run(["compile", *words, "-o", str(out)]) == 0
    assert (out / "mm_2.cu").exists()
    assert (out / "mm.mdh").read_text(encoding="utf-8") == written.read_text(encoding="utf-8")
