"""What the model will do to a search is what it does."""

from random import Random

from mdh.frontend.c.read import read_program
from mdh.machine import load_machine
from mdh.results.trial import Candidate
from mdh.schedule.default import default_schedule
from mdh.schedule.parser import parse_schedule
from mdh.source import Source
from mdh.tuner.candidates.foresight import foresee
from mdh.tuner.candidates.shortlist import DRAWN, FIRST, Shortlist, drawn_first
from mdh.tuner.space import ExactSpace, identity, make_space

MATMUL = """void matmul(int M, int N, int K, const float A[M][K], const float B[K][N], float C[M][N]) {
  for (int i = 0; i < M; i++) for (int j = 0; j < N; j++) {
    C[i][j] = 0.0f;
    for (int k = 0; k < K; k++) C[i][j] += A[i][k] * B[k][j];
  }
}"""
OPEN = """1: (de-)comp( ?, ?, ^ ) ( ^,^ ; ^ ) ( BLK.y, BLK.x, ^ )
2: (de-)comp( ?, ?, ? ) ( ^,^ ; C:RM[1,2] ) ( ^,^,FOR.1 )"""


def space(schedule: str, n: int) -> ExactSpace:
    program = read_program(Source("m.c", MATMUL), defines={"M": n, "N": n, "K": n})
    machine = load_machine("generic-cpu")
    return make_space(
        program, parse_schedule(Source("m.mdh", schedule)), machine, "opencl", deterministic=False,
        default=default_schedule(program, machine, "opencl"),
    )  # fmt: skip


def test_a_seed_fixes_it_and_the_numbers_add_up() -> None:
    large = space(OPEN, 256)
    found = foresee(large)
    assert found is not None and found == foresee(large)
    assert found.group == FIRST and 0 < found.drawn <= DRAWN
    assert found.first == -(-found.drawn // FIRST)
    assert found.first + found.explored + found.aside == found.drawn
    assert 0.0 < found.best <= found.median <= found.worst


def test_it_is_what_a_shortlist_does_with_the_same_points() -> None:
    large, shortlist = space(OPEN, 256), Shortlist("cpu", Random("3 model"))
    rng, seen, built = Random("3 drawn"), set[str](), 0
    for _ in range(DRAWN):
        point = large.draw_legal(rng)
        assert point is not None
        key = identity(point[1])
        if key not in seen:
            seen.add(key)
            if shortlist.add(Candidate(key, "", ()), point[1]) == FIRST:
                built += len(shortlist.choose(1 / FIRST))
    built += len(shortlist.choose(1 / FIRST))
    found = foresee(large, seed=3)
    assert found is not None
    assert (found.first + found.explored, found.aside) == (built, shortlist.aside)


def test_of_a_small_space_all_is_built() -> None:
    small = space("1: (de-)comp( ?, 8, ^ ) ( ^,^ ; ^ ) ( BLK.y, BLK.x, ^ )", 64)
    assert not drawn_first(small.count)
    found = foresee(small)
    assert found is not None
    assert (found.group, found.aside, found.first) == (1, 0, found.drawn)
