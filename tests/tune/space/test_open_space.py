"""Spaces that are wide open: nesting and regions counted, draws cheap, the first one at once."""

from collections.abc import Iterator
from itertools import product
from random import Random
from time import process_time

import pytest

from mdh.diagnostics import Failed
from mdh.frontend.c.read import read_program
from mdh.ir.plan import Plan
from mdh.machine import load_machine
from mdh.results.variable import Point
from mdh.schedule.parser import parse_schedule
from mdh.source import Source
from mdh.tuner.space import ExactSpace
from mdh.tuner.space import make as make_module
from mdh.tuner.space.exact import Joint
from mdh.tuner.space.frames import BLOCK, GRID, THREAD, Bands, Nesting
from mdh.tuner.space.ladder import Ladder, Rung
from mdh.tuner.space.make import make_space
from tests.support.source_tree import ROOT
from tests.tune.space.test_space import CHEAP, COPY, empty, space

BANDS = ((GRID, BLOCK, THREAD), (GRID, BLOCK + THREAD))
TWO_DIMS = """void add(const float A[M][N], float C[M][N]) {
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) C[i][j] = A[i][j] + 1.0f;
}
"""
HOLES = "(de-)comp( ?,? ) ( ^ ; ^ ) ( ?,? )\n"
LABELLED = "2: (de-)comp( ?,? ) ( ^ ; ^ ) ( ?,? )\n1: (de-)comp( ?,? ) ( ^ ; ^ ) ( ?{THR.x,BLK.x}, ? )\n"
OPEN = ((HOLES * 2, "h200"), (HOLES * 2, "generic-cpu"), (LABELLED, "a100"))


def banded(found: ExactSpace, bands: Bands) -> Joint:
    """The joint chains of a space of one stage, nested by these bands."""
    plain = found.joint
    labels = [s.label or n for n, s in enumerate(found.template.sections[0].steps)]
    order = sorted(range(len(labels)), key=lambda s: labels[s])
    return Joint(plain.chains, plain.groups, (Nesting.of(plain.chains, order, bands),))


def nests(found: ExactSpace, point: Point, bands: Bands) -> bool:
    """The rule itself, asked of the splits of a point."""
    plan = found._outlines[0].plan(dict(enumerate(point)))
    deepest = -1
    for i in plan.code_order:
        layers = [x.layer for x in plan.steps[i].splits if x.layer is not None]
        depths = [next(n for n, band in enumerate(bands) if layer in band) for layer in layers]
        if depths and min(depths) < deepest:
            return False
        deepest = max((deepest, *depths))
    return True


@pytest.mark.parametrize(("schedule", "machine"), OPEN)
@pytest.mark.parametrize("bands", BANDS)
def test_nesting_is_counted_as_listed(
    schedule: str, machine: str, bands: Bands, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of all points without the rule, those that keep it: none is missing, none counts twice."""
    monkeypatch.setattr(make_module, "SPLITS", ())
    found = space(schedule, machine, TWO_DIMS, M=4, N=2)
    wanted = {p for p in map(found.unrank, range(found.count)) if nests(found, p, bands)}
    joint = banded(found, bands)
    assert 0 < joint.count == len(wanted) < found.count
    points = [tuple(v for _, v in sorted(joint.unrank(rank).items())) for rank in range(joint.count)]
    assert set(points) == wanted
    some = Random(1).sample(range(joint.count), 300)
    assert [joint.rank(dict(enumerate(points[rank]))) for rank in some] == some
    outside = [p for p in map(found.draw, [Random(2)] * 300) if p not in wanted]
    assert outside and all(joint.rank(dict(enumerate(p))) is None for p in outside)
    for point in (*Random(3).sample(points, 40), *outside[:40]):
        near = joint.nearest(dict(enumerate(point)))
        assert joint.rank(near) is not None
        assert point in outside or near == dict(enumerate(point))


def test_what_does_not_nest_has_no_legal_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(make_module, "SPLITS", ())
    found, rng = space(HOLES * 2, "h200", TWO_DIMS, M=4, N=2), Random(5)
    for point in (found.draw(rng) for _ in range(200)):
        if not all(nests(found, point, bands) for bands in BANDS):
            plan = found.plan(point)
            assert isinstance(plan, Failed) and "K106" in {d.code for d in plan.diagnostics}


def test_a_space_emptied_by_nesting_says_so() -> None:
    inside_out = """1: (de-)comp( ?{4} ) ( ^ ; ^ ) ( THR.x )
    2: (de-)comp( ?{2} ) ( ^ ; ^ ) ( VEC.x )
    3: (de-)comp( ?{1} ) ( ^ ; ^ ) ( BLK.x )"""
    assert empty(inside_out, COPY, N=8)[0] in ("S160", "S161")
    crossed = """1: (de-)comp( ?{2}, ^ ) ( ^ ; ^ ) ( THR.x, ^ )
    2: (de-)comp( ^, ?{2} ) ( ^ ; ^ ) ( ^, BLK.x )"""
    code, headline = empty(crossed, TWO_DIMS, M=4, N=4)
    assert code == "S161" and "inside one that it contains" in headline


def rows(ladder: Ladder) -> Iterator[tuple[int | str, ...]]:
    """All choices, listed."""
    for places in product(*(range(len(r.values)) for r in ladder.rungs)):
        chosen = list(zip(ladder.rungs, places, strict=True))
        depths = [d for r, n in chosen if (d := r.depths[n]) is not None]
        if depths == sorted(depths) and all(d >= 1 for d in depths):
            yield tuple(r.values[n] for r, n in chosen if r.variable is not None)


def test_ladders_count_as_listed() -> None:
    open_ = ("^", "s1", "s2", "r1", "r2", "d"), (None, 2, 2, 3, 3, 1)
    ladder = Ladder(
        (Rung(0, *open_), Rung(None, ("s",), (2,)), Rung(4, *open_), Rung(2, ("^", "r"), (None, 3)))
    )
    listed = list(rows(ladder))
    assert ladder.variables == (0, 4, 2)
    assert [ladder.unrank(rank) for rank in range(ladder.count)] == listed
    assert [ladder.rank(row) for row in listed] == list(range(ladder.count))
    assert ladder.rank(("r1", "^", "^")) is None and ladder.rank(("x", "^", "^")) is None
    assert ladder.columns == (("^", "s1", "s2", "d"), ("^", "s1", "s2", "r1", "r2"), ("^", "r"))
    for row in listed:
        assert ladder.nearest(dict(zip(ladder.variables, row, strict=True))) == row
    assert ladder.nearest({0: "r1", 4: "s2", 2: "r"}) in listed


def test_entries_that_a_name_ties_are_left_to_the_checker() -> None:
    named = "(de-)comp( 4,4,^ ) ( ?a{^,A:SM[1,2],A:RM[1,2]}, ? ; ^ ) ( BLK.y,BLK.x,^ )\n"
    named += "(de-)comp( 2,2,^ ) ( ?a, ? ; ^ ) ( THR.y,THR.x,^ )\n"
    found = space(named, M=8, N=8, K=8)
    (ladder,) = [g for g in found.joint.groups if isinstance(g, Ladder)]
    assert [found.variables[v].name for v in ladder.variables] == ["1.B", "2.B"]
    assert found.counted[-1] == "copies inward"


def open_space(workload: str, machine: str, steps: int) -> ExactSpace:
    """`?` alone, at the sizes of the workload's file."""
    path = ROOT / "inputs_c" / f"{workload}.c"
    sizes = {"M": 1024, "N": 1024, "K": 1024} if workload == "matmul" else {}
    program = read_program(Source(path.name, path.read_text(encoding="utf-8")), defines=sizes)
    stage = program.stages[0]
    groups = (len(stage.dims), len(program.inputs(stage)), len(program.outputs(stage)), len(stage.dims))
    step = "(de-)comp( {} ) ( {} ; {} ) ( {} )\n".format(*(", ".join("?" * n) for n in groups))
    target = "opencl" if machine == "generic-cpu" else "cuda"
    return make_space(program, parse_schedule(Source("s.mdh", step * steps)), load_machine(machine), target)


@pytest.mark.parametrize("machine", ["h200", "a100", "generic-cpu"])
def test_the_first_draws_of_open_schedules_are_quick(machine: str) -> None:
    """Five steps of `?`: about 10^47 combinations. A free core takes a second."""
    start = process_time()
    found, rng = open_space("matmul", machine, 5), Random(1)
    assert found.raw > 10**42 and found.count > 10**27
    assert found.draw_legal(rng) is not None
    assert process_time() - start < 10
    start = process_time()
    for _ in range(10):
        drawn = found.draw_legal(rng)
        assert drawn is not None and isinstance(found.plan(drawn[0]), Plan)
        rank = found.rank(drawn[0])
        assert rank is not None and found.unrank(rank) == drawn[0]
    assert process_time() - start < 10


def test_draws_in_several_steps_find_what_those_of_one_find() -> None:
    found, one, several = open_space("matmul", "a100", 4), Random(3), Random(3)
    for _ in range(3):
        whole = found.draw_legal(one, tries=150)
        assert whole is not None
        parts = (found.draw_legal(several, tries=5, after=after) for after in range(0, 150, 5))
        drawn = next(part for part in parts if part is not None)
        assert drawn[0] == whole[0]


@pytest.mark.parametrize(
    ("workload", "machine"), [("jacobi3d", "h200"), ("matmul", "a100"), ("conv2d", "generic-cpu")]
)
def test_cheap_rejection_of_open_schedules_is_the_checkers(workload: str, machine: str) -> None:
    found, rng = open_space(workload, machine, 3), Random(7)
    rejected = 0
    for point in (found.draw(rng) for _ in range(60)):
        if not found.plausible(point):
            rejected += 1
            plan = found.plan(point)
            assert isinstance(plan, Failed) and {d.code for d in plan.diagnostics} & CHEAP
    assert rejected


def test_amended_points_are_plausible() -> None:
    found, rng = open_space("matmul", "h200", 3), Random(8)
    for point in (found.draw(rng) for _ in range(60)):
        values, (outline,) = dict(enumerate(point)), found._outlines
        outline.amend(values)
        assert outline.plausible(values)


def test_what_is_counted_is_said() -> None:
    """As many bands as the count can afford."""
    assert space(HOLES * 2, "generic-cpu", TWO_DIMS, M=4, N=2).counted == (
        "tiles, sets and shared names",
        "units and axes of layers",
        "nesting of layers (BLK > THR > VEC)",
    )
    wide = open_space("conv2d", "a100", 5).counted
    assert wide[-1] == "copies inward" and not any("nesting" in rule for rule in wide)
