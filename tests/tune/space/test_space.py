"""The space against a listing of all that its holes could hold: nothing is missing, nothing counts twice."""

from itertools import product
from random import Random

import pytest

from mdh.diagnostics import Failed
from mdh.frontend.c.read import read_program
from mdh.ir.plan import Plan
from mdh.ir.program import Program
from mdh.machine import load_machine
from mdh.schedule.parser import parse_schedule
from mdh.source import Source
from mdh.tuner.space import ExactSpace, Metric, identity, make_space

MATMUL = """void matmul(const float A[M][K], const float B[K][N], float C[M][N]) {
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++)
      for (int k = 0; k < K; k++)
        C[i][j] += A[i][k] * B[k][j];
}
"""
COPY = """void copy(const float A[N], float C[N]) {
  for (int i = 0; i < N; i++) C[i] = A[i];
}
"""


def program(text: str = MATMUL, **sizes: int) -> Program:
    return read_program(Source("f.c", text), defines=sizes)


def space(schedule: str, machine: str = "h200", text: str = MATMUL, **sizes: int) -> ExactSpace:
    target = "opencl" if machine == "generic-cpu" else "cuda"
    return make_space(
        program(text, **sizes), parse_schedule(Source("s.mdh", schedule)), load_machine(machine), target
    )


WARPS = """
1: (de-)comp( ?{8,16}, ?{8,16}, ^ ) ( ^,^ ; ^ ) ( BLK.y, BLK.x, ^ )
2: (de-)comp( ?, ?, ^ ) ( ^,^ ; ^ ) ( WRP.y, WRP.x, ^ )
3: (de-)comp( ?, ?, ^ ) ( ^,^ ; ^ ) ( THR.y, THR.x, ^ )
"""
NAMED = """
1: (de-)comp( ?t, ?t{2,4,8,32}, ^ ) ( ^,^ ; ^ ) ( BLK.y, BLK.x, ^ )
2: (de-)comp( ?, ?u, ?u ) ( A:SM[?,?]@pad(?{0,4}), ^ ; ^ ) ( THR.y, THR.x, ^ ) @unroll(?u)
where ?t >= 4
"""
CORES = """
1: (de-)comp( 4, 2, ^ ) ( ^,^ ; ^ ) ( ?{BLK.x,BLK.y}, ?{BLK.x,THR.x,FOR.1}, ^ )
2: (de-)comp( ?{1,2,4}, ^, ^ ) ( ^,^ ; ^ ) ( ?, ^, ^ )
"""


def default(parent: int | str, tile: int | str) -> bool:
    """Language section 6: a divisor of the parent tile, or a power of two up to it."""
    above, size = int(parent), int(tile)
    return size <= above and (above % size == 0 or size.bit_count() == 1)


CHEAP = {"K106", "K114", "K140", "K150", "K152", "K153", "K163", "S122"}
"""What is seen from the values alone."""
LOOPS = """
1: (de-)comp( 4, 2, ^ ) ( ^,^ ; ^ ) ( ?{FOR.1,FOR.2,BLK.x}, ?{FOR.1,FOR.2}, FOR.3 )
2: (de-)comp( ?{1,2}, ^, 1 ) ( ^,^ ; ^ ) ( ?{FOR.1,FOR.2,FOR.3}, ?{FOR.1,FOR.3}, FOR.2 )
"""
SPACES = (
    (WARPS, "h200", {"M": 16, "N": 16, "K": 4}),
    (NAMED, "h200", {"M": 12, "N": 8, "K": 4}),
    (CORES, "h200", {"M": 8, "N": 4, "K": 2}),
    (CORES, "generic-cpu", {"M": 8, "N": 4, "K": 2}),
    (LOOPS, "generic-cpu", {"M": 8, "N": 4, "K": 2}),
)


@pytest.mark.parametrize(("schedule", "machine", "sizes"), SPACES)
def test_ranks_are_a_bijection(schedule: str, machine: str, sizes: dict[str, int]) -> None:
    found = space(schedule, machine, **sizes)
    points = [found.unrank(rank) for rank in range(found.count)]
    assert len(set(points)) == found.count
    assert [found.rank(point) for point in points] == list(range(found.count))
    with pytest.raises(IndexError):
        found.unrank(found.count)


@pytest.mark.parametrize(("schedule", "machine", "sizes"), SPACES)
def test_every_legal_choice_is_a_point(schedule: str, machine: str, sizes: dict[str, int]) -> None:
    """All values of all holes, each combination asked of the checker: what is legal is in the space."""
    found = space(schedule, machine, **sizes)
    inside = {found.unrank(rank) for rank in range(found.count)}
    programs = {identity(plan) for plan in map(found.plan, inside) if isinstance(plan, Plan)}
    drawn = 0
    for point in product(*(v.values for v in found.variables)):
        plan = found.plan(point) if _fits(schedule, point) else None
        if isinstance(plan, Plan):
            drawn += 1
            assert point in inside or identity(plan) in programs, plan.text
    assert drawn


def _fits(schedule: str, point: tuple[int | str, ...]) -> bool:
    """The open tiles of the spaces above have default sizes for the tile above them."""
    if schedule == WARPS:
        bi, bj, wi, wj, ti, tj = point
        return all(default(a, b) for a, b in ((bi, wi), (bj, wj), (wi, ti), (wj, tj)))
    if schedule == NAMED:
        t, i, u = point[0], point[1], point[2]
        return default(12, t) and default(t, i) and default(t, u) and default(4, u)
    return True


@pytest.mark.parametrize(("schedule", "machine", "sizes"), SPACES)
def test_the_nearest_point_of_a_point_is_itself(schedule: str, machine: str, sizes: dict[str, int]) -> None:
    found, rng = space(schedule, machine, **sizes), Random(1)
    for _ in range(50):
        point = found.draw(rng)
        assert found.nearest(point) == point
    for _ in range(50):
        wish = [rng.choice((*v.values, None)) for v in found.variables]
        assert found.rank(found.nearest(wish)) is not None


def test_units_of_warps_are_counted() -> None:
    """Under WRP the threads are 32 lanes; in each point, and all such points."""
    found = space(WARPS, M=16, N=16, K=4)
    names = [v.name for v in found.variables]
    assert names == ["1.tile.i", "1.tile.j", "2.tile.i", "2.tile.j", "3.tile.i", "3.tile.j"]
    for rank in range(found.count):
        bi, bj, wi, wj, ti, tj = (int(v) for v in found.unrank(rank))
        warps, lanes = -(-bi // wi) * -(-bj // wj), -(-wi // ti) * -(-wj // tj)
        assert warps == 1 or lanes == 32
        assert warps * lanes <= 1024


def test_names_are_shared_and_domains_meet() -> None:
    found = space(NAMED, M=12, N=8, K=4)
    values = {v.name: v.values for v in found.variables}
    assert values["?t"] == (2, 4, 8), "divisors of 12 and powers of two up to it, and the set, and at most 8"
    assert values["?u"] == (1, 2, 4), "tiles of j and k, and what @unroll takes"
    layouts = {tuple(p[names] for names in (3, 4)) for p in map(found.unrank, range(found.count))}
    assert layouts == {(1, 2), (2, 1)}


def test_conditions_are_counted() -> None:
    found = space(NAMED, M=12, N=8, K=4)
    points = list(map(found.unrank, range(found.count)))
    assert points and all(int(p[0]) >= 4 for p in points)
    assert found.rank((2, *points[0][1:])) is None
    assert "conditions" in found.counted


TIED = """
1: (de-)comp( ?a, ?b, ^ ) ( ^,^ ; ^ ) ( BLK.y, BLK.x, ^ ) @order(grouped(?g{1,2,4,8}))
2: (de-)comp( ^, ^, ?c ) ( A:SM[1,2], ^ ; ^ ) ( ^, ^, FOR.1 ) @stages(?s)
3: (de-)comp( ?d, ?, ^ ) ( ^,^ ; ^ ) ( THR.y, THR.x, ^ )
where ?a * ?c * ?s <= 64 and ?c > 1
where ?a / ?d == 4
where ?g * ?s % 3 == 0 or ?b == N
"""


def test_conditions_on_tiles_and_other_numbers_leave_exactly_what_keeps_them() -> None:
    """Against the same space without them."""
    tied, free = space(TIED, M=8, N=4, K=8), space(TIED.partition("where")[0], M=8, N=4, K=8)
    names = [v.name for v in tied.variables]
    assert names == [v.name for v in free.variables]
    a, b, c, d, g, s = (names.index(f"?{x}") for x in "abcdgs")

    def kept(p: tuple[int | str, ...]) -> bool:
        v = [x if isinstance(x, int) else 0 for x in p]
        first = v[a] * v[c] * v[s] <= 64 and v[c] > 1
        return first and v[a] // v[d] == 4 and (v[g] * v[s] % 3 == 0 or v[b] == 4)

    wanted = {p for p in map(free.unrank, range(free.count)) if kept(p)}
    got = [tied.unrank(rank) for rank in range(tied.count)]
    assert len(got) == len(set(got)) and set(got) == wanted
    assert [tied.rank(p) for p in got] == list(range(tied.count))
    rng = Random(3)
    for _ in range(200):
        wish = [rng.choice((*v.values, None)) for v in tied.variables]
        assert tied.nearest(wish) in wanted
    assert all(tied.rank(p) is None for p in map(free.unrank, range(free.count)) if p not in wanted)


def test_conditions_of_many_combinations_are_asked_of_points() -> None:
    text = TIED.replace("where ?a / ?d == 4\n", "where ?a * ?b * ?c * ?d * ?g * ?s % 11 > 0\n")
    found = space(text, M=4096, N=4096, K=4096)
    assert not found.joint.conditions
    drawn = found.draw_legal(Random(1))
    assert drawn is not None


def test_a_space_that_its_conditions_empty_says_so() -> None:
    with pytest.raises(Failed) as caught:
        space(TIED + "where ?a * ?s > 64", M=16, N=8, K=8)
    assert caught.value.diagnostics[0].code == "S161"
    assert "no choice of values meets the conditions" in caught.value.diagnostics[0].headline


def test_axes_are_given_once() -> None:
    found = space(CORES, M=8, N=4, K=2)
    for point in map(found.unrank, range(found.count)):
        first, second = point[0], point[1]
        assert first != second


def test_kinds_and_places() -> None:
    found = space(NAMED, M=12, N=8, K=4)
    by_name = {v.name: v for v in found.variables}
    assert by_name["?t"].kind is Metric.TILE
    assert by_name["2.A.pad"].kind is Metric.NUMBER
    assert by_name["2.A.pad"].values == (0, 4)


def test_attributes_beside_open_entries_fall_away() -> None:
    """`^` has nothing to pad: the attribute goes, the point stays legal."""
    found = space(
        "1: (de-)comp( ?{4}, 4, ^ ) ( ?{^,A:SM[1,2]}@pad(4), ^ ; ^ ) ( BLK.y, BLK.x, ^ )", M=8, N=8, K=8
    )
    plans = [found.plan(found.unrank(rank)) for rank in range(found.count)]
    assert len(plans) == 2 and all(isinstance(p, Plan) for p in plans)


def test_a_schedule_of_holes_alone_counts() -> None:
    step = "(de-)comp( ?,?,? ) ( ?,? ; ? ) ( ?,?,? )\n"
    found = space(step * 4, "generic-cpu", M=64, N=64, K=64)
    assert found.count > 10**12
    rng = Random(2)
    for _ in range(20):
        point = found.draw(rng)
        assert found.unrank(found.rank(point) or 0) == point


def test_draws_are_uniform() -> None:
    found, rng = space(CORES, M=8, N=4, K=2), Random(3)
    n = 200 * found.count
    seen = dict.fromkeys(range(found.count), 0)
    for _ in range(n):
        seen[found.rank(found.draw(rng)) or 0] += 1
    expected = n / found.count
    chi = sum((c - expected) ** 2 / expected for c in seen.values())
    assert chi < found.count + 6 * (2 * found.count) ** 0.5


def empty(schedule: str, text: str = MATMUL, **sizes: int) -> tuple[str, str]:
    with pytest.raises(Failed) as caught:
        space(schedule, text=text, **sizes)
    (found,) = caught.value.diagnostics
    return found.code, found.headline


def test_an_empty_space_says_why() -> None:
    one = "1: (de-)comp( ?{300,400} ) ( ^ ; ^ ) ( BLK.x )"
    assert empty(one, COPY, N=64) == (
        "S160",
        "the space is empty: no value fits step 1 of `i`, which splits 64",
    )
    two = """1: (de-)comp( ^, ^, ^ ) ( ^,^ ; ^ ) ( ^, ^, ^ )
    2: (de-)comp( ?{64}, ?{64}, ^ ) ( ^,^ ; ^ ) ( WRP.y, WRP.x, ^ )
    3: (de-)comp( ?{32}, ?{16}, ^ ) ( ^,^ ; ^ ) ( THR.y, THR.x, ^ )"""
    code, headline = empty(two, M=128, N=128, K=4)
    assert code == "S161" and "fits all dimensions" in headline
    same = "1: (de-)comp( 4, 4, ^ ) ( A:SM[?a,?a], ^ ; ^ ) ( BLK.y, BLK.x, ^ )"
    assert empty(same, M=8, N=8, K=8) == ("S160", "the space is empty: no value fits `?a`")
    lanes = """1: (de-)comp( ?{4,8}, 8, ^ ) ( ^,^ ; ^ ) ( BLK.y, BLK.x, ^ )
    2: (de-)comp( 1, 1, ^ ) ( ^,^ ; ^ ) ( FOR.1, VEC.x, ^ )"""
    assert empty(lanes, M=16, N=16, K=16) == (
        "S160",
        "the space is empty: no value fits step 2 of `j`, which splits 8",
    ), "dimensions of one extent are not mixed up"


def test_a_schedule_without_holes_is_one_point() -> None:
    found = space("1: (de-)comp( 4, 4, ^ ) ( ^,^ ; ^ ) ( BLK.y, BLK.x, ^ )", M=8, N=8, K=8)
    assert found.count == 1 and found.unrank(0) == () and isinstance(found.plan(()), Plan)


@pytest.mark.parametrize(("schedule", "machine", "sizes"), SPACES)
def test_cheap_rejection_is_the_checkers(schedule: str, machine: str, sizes: dict[str, int]) -> None:
    found = space(schedule, machine, **sizes)
    for point in map(found.unrank, range(found.count)):
        if not found.plausible(point):
            plan = found.plan(point)
            assert isinstance(plan, Failed)
            assert {d.code for d in plan.diagnostics} & CHEAP


def test_loops_of_a_step_are_drawn_with_different_numbers() -> None:
    core = "?{FOR.1,FOR.2,FOR.3}, ?{FOR.1,FOR.2,FOR.3}, ?{FOR.1,FOR.2,FOR.3}"
    found, rng = space(f"(de-)comp( ?,?,? ) ( ^,^ ; ^ ) ( {core} )\n" * 4, M=8, N=8, K=8), Random(2)
    for _ in range(20):
        assert found.draw_legal(rng, tries=200) is not None


def test_open_memory_entries_go_inward() -> None:
    step = "(de-)comp( ?,?,? ) ( ?,? ; ? ) ( ?,?,? )\n"
    found, rng = space(step * 3, "generic-cpu", M=8, N=8, K=8), Random(4)
    legal = 0
    for _ in range(300):
        point = found.draw(rng)
        plan = found.plan(point)
        legal += isinstance(plan, Plan)
        assert found.plausible(point) or isinstance(plan, Failed)
    assert legal
    assert found.draw_legal(rng) is not None
