"""Searchers over the space of a schedule with holes."""

from importlib.util import find_spec

import pytest

from mdh.frontend.c.read import read_program
from mdh.ir.plan import Plan
from mdh.machine import load_machine
from mdh.schedule.parser import parse_schedule
from mdh.source import Source
from mdh.tuner.search import SAMPLERS, make_searcher
from mdh.tuner.search.encoding import encoding_of
from mdh.tuner.space.make import make_space
from mdh.tuner.space.space import ExactSpace
from tests.support.source_tree import ROOT

HERE = [s.name for s in SAMPLERS if all(find_spec(p) for p in s.packages)]


@pytest.fixture(scope="module")
def space() -> ExactSpace:
    name = ROOT / "inputs_c" / "matmul.c"
    program = read_program(
        Source("matmul.c", name.read_text(encoding="utf-8")), defines={"M": 1000, "N": 1024, "K": 768}
    )
    text = "1: (de-)comp( ?, ?, ^ ) ( ^, ^ ; ^ ) ( ?{BLK.y,BLK.x}, ?{BLK.x,BLK.y}, ^ )\n"
    text += "2: (de-)comp( ?, ?, ? ) ( ?, ? ; ? ) ( THR.y, THR.x, ^ )\n"
    return make_space(program, parse_schedule(Source("s.mdh", text)), load_machine("h200"), "cuda")


def test_points_survive_the_encoding(space: ExactSpace) -> None:
    encoding = encoding_of(space.variables)
    for n in range(200):
        point = space.unrank(n * (space.count // 200))
        words = encoding.encode(point)
        assert set(words) == encoding.parameters.keys()
        assert tuple(encoding.decode(words)) == point


@pytest.mark.parametrize("name", HERE)
def test_searchers(space: ExactSpace, name: str) -> None:
    searcher = make_searcher(name, space, seed=1)
    asked, legal = set(), 0
    for n in range(40):
        point = searcher.ask()
        assert point is not None and space.rank(point) is not None
        asked.add(point)
        plan = space.plan(point)
        legal += isinstance(plan, Plan)
        searcher.tell(point, 1e-3 * (1 + n % 5) if isinstance(plan, Plan) else None)
    assert len(asked) == 40
    assert legal or name in ("qmc", "exhaustive")


def test_no_program_is_proposed_in_two_spellings() -> None:
    """How loops nest says nothing where one entry at most is a loop."""
    text = "1: (de-)comp( ?{4,8}, ?{4,8}, 8 ) ( ^, ^ ; ^ ) ( ?, ?, ? )\n"
    program = read_program(
        Source("matmul.c", (ROOT / "inputs_c" / "matmul.c").read_text(encoding="utf-8")),
        defines={"M": 32, "N": 32, "K": 32},
    )
    machine = load_machine("generic-cpu")
    space = make_space(program, parse_schedule(Source("s.mdh", text)), machine, "opencl")
    names = [v.name for v in space.variables]
    order, cores = names.index("1.loops"), [names.index(f"1.core.{d}") for d in "ijk"]
    searcher = make_searcher("evolution", space, seed=0)
    seen = set()
    for number in range(60):
        point = searcher.ask()
        assert point is not None
        loops = tuple(c for c in cores if point[c] == "FOR")
        if len(loops) < 2:
            said = (*point[:order], "", *point[order + 1 :])
            assert said not in seen
            seen.add(said)
        searcher.tell(point, 1e-3 + 1e-5 * (number % 7))
    assert seen
