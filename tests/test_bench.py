"""scripts/bench: its contestants compute what the programs mean, and its page says who won."""

from pathlib import Path

import numpy as np
import pytest

from bench.cases import program_of, written
from bench.cpu import by_gcc, by_numpy, einsum_table, ours, table
from bench.cpu.aims import short
from bench.cpu.cases import Case, cases
from bench.cpu.data import random_arrays
from bench.cpu.roof import Rates
from bench.cpu.sums import sum_of
from bench.cpu.turns import Pairs, Result, Settings
from bench.cpu.worker import Turn
from bench.einsums import einsums, flops_of, touched_bytes
from mdh.compare.calling import finish_of
from mdh.frontend.c.read import read_program
from mdh.reference import evaluate
from tests.support.arrays import random_arrays as small_arrays
from tests.support.corpus import WORKLOADS

CASES = {c.name: c for c in cases(3_000_000)}
PROGRAMS = sorted({c.program for c in CASES.values()})


@pytest.mark.parametrize("name", PROGRAMS)
def test_numpy_computes_the_program(name: str) -> None:
    work = WORKLOADS[name]
    sizes = dict(work.small[-1])
    program = read_program(work.source, defines=sizes)
    below = {array: sizes[size] for array, size in work.below.items()}
    arrays = small_arrays(program, 3, "exact", below)
    for array in written(program):
        arrays[array][...] = 0
    expected = evaluate(program, arrays, {})
    by_numpy.prepare(name, arrays)()
    for array, values in expected.items():
        assert np.allclose(arrays[array], values, rtol=1e-5), array


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.skipif(by_gcc.compiler() is None, reason="no C compiler")
def test_directives_are_c(name: str, tmp_path: Path) -> None:
    case = next(c for c in CASES.values() if c.program == name)
    text = by_gcc.threaded(name, case.path.read_text(encoding="utf-8"))
    assert text.count("#pragma omp parallel for") == 1
    assert by_gcc.prepare(case, {}, tmp_path) is not None


@pytest.mark.parametrize("name", PROGRAMS)
def test_sums_compute_the_program(name: str) -> None:
    """What Halide and TVM are told, on every point of a small size."""
    work = WORKLOADS[name]
    sizes = dict(work.small[-1])
    program = read_program(work.source, defines=sizes)
    arrays = small_arrays(program, 3, "exact", {array: sizes[size] for array, size in work.below.items()})
    described = sum_of(name, arrays)
    if described is None:
        return
    expected = {k: v.astype(np.float64) for k, v in arrays.items()}
    by_numpy.prepare(name, expected)()
    found = np.zeros_like(expected[described.out])
    letters = described.kept + described.summed
    for place in np.ndindex(*(described.extents[x] for x in letters)):
        at = dict(zip(letters, place, strict=True))
        terms = [
            arrays[f.array][tuple(sum(k * at[x] for k, x in subscript) for subscript in f.subscripts)]
            for f in described.factors
        ]
        found[place[: len(described.kept)]] += np.prod(terms, dtype=np.float64)
    if described.bias is not None:
        found = np.maximum(found + arrays[described.bias], 0)
    assert np.allclose(found, expected[described.out])


def test_cases_are_read_and_small_ones_are_drawn() -> None:
    case = CASES["matmul 10x500x64"]
    program = program_of(case)
    arrays = random_arrays(case, program)
    assert arrays["A"].shape == (10, 64)
    assert not arrays["C"].any()


@pytest.mark.parametrize("text", sorted({c.text for c in einsums(Case)}))
def test_peers_compute_the_einsum(text: str) -> None:
    """At small sizes: the program of each text, numpy in either way, and mdh as Python calls it."""
    sizes = {letter: 2 + n % 3 for n, letter in enumerate(sorted(set(text) - set(",->")))}
    case = Case("small", text, sizes, flops_of(text, sizes), text=text, language="einsum")
    program = program_of(case)
    arrays = random_arrays(case, program)
    (name,) = written(program)
    expected = evaluate(program, arrays, program.sizes)[name]
    contraction = case.contraction
    assert contraction is not None and contraction.result == name
    for call in (by_numpy.prepare(text, arrays), ours.einsum(contraction, arrays, "c")):
        arrays[name].fill(-1)
        call()
        finish_of(call)()
        assert np.allclose(arrays[name], expected, rtol=1e-5)


def test_work_of_einsums() -> None:
    assert flops_of("ab,bc->ac", {"a": 2, "b": 3, "c": 5}) == 60
    assert flops_of("ab->ba", {"a": 2, "b": 3}) == 0
    # numpy and opt_einsum begin with another pair
    assert flops_of("ab,bc,cd->ad", {"a": 2, "b": 3, "c": 5, "d": 7}) in (60 + 140, 210 + 84)
    assert touched_bytes("aab,bc->ac", {"a": 2, "b": 3, "c": 5}) == 4 * (6 + 15 + 10)


def test_einsum_page_says_where_a_ratio_is_low() -> None:
    case = einsums(Case)[0]
    ours, peer, call = Turn(2.0, 2.0), Turn(3.0, 3.0), Turn(4.0, 4.0)
    pairs, calls = Pairs((peer,) * 3, (ours,) * 3, True), Pairs((call,) * 3, (ours,) * 3, True)
    result = Result(case, "c", {}, {"torch": "right"}, {"torch": pairs}, {"torch": pairs}, call=calls)
    result.rates.append(Rates(1e9, 5e8, 1e9, 1e9))
    lost = Result(case, verdicts={"ours": "c: died"})
    settings = Settings(3, 1, 0.01, 1.0)
    text = einsum_table.page([result, lost], {"torch": "2"}, "scripts/bench cpu", 2, settings)
    assert "| ab,ab-> 2048 | c | 2000 |" in text
    assert "| torch | **1.50** | – | 1.50 (3000 ms) | 4000 | **0.75** |" in text
    assert "Best peer over our kernel: geometric mean 1.50 of 1.2 over 1 cases, from 1.50 to 1.50;" in text
    assert "- ab,ab-> 2048: 0.75 by call" in text
    assert "| ab,ab-> 2048 | ours c: died |" in text


def test_page_says_who_won() -> None:
    case = CASES["dot 2^24"]
    ours, peer = Turn(2.0, 1.0), Turn(3.0, 3.0)
    pairs = Pairs((peer,) * 3, (ours,) * 3, True)
    verdicts = {"ours": "right", "numpy": "right", "gcc": "wrong C"}
    result = Result(case, "opencl:0", {"c": pairs}, verdicts, {"numpy": pairs}, {"numpy": pairs})
    result.rates.append(Rates(1e9, 5e8, 1e9, 1e9))
    text = table.page([result], {"numpy": "2"}, "scripts/bench cpu", 2, Settings(3, 1, 0.01, 1.0))
    assert "| dot 2^24 | opencl:0 | 2000 | 1000 |" in text
    assert "| c 67% |" in text
    assert "**1.50** | 3.00 | 1.50 (3000 ms) | wrong C |" in text
    assert "geometric mean 1.50 over 1 cases; at least 1 in 1 of them" in text
    assert "Left out for wrong results: dot 2^24: gcc wrong C." in text


def test_what_falls_short_says_why() -> None:
    assert short("dot 2^24", 1.0, 0.95, "memory") == ""
    assert short("scan 2^24", 3.0, 0.58, "memory").startswith("scan 2^24: 58% of the memory's speed, since ")
    assert short("matmul 1024", 0.97, 0.5, "arithmetic") == "matmul 1024: 0.97 of the best peer"


def test_rates_bound_work() -> None:
    rates = Rates(f32=100.0, f64=50.0, read=10.0, copy=8.0)
    assert rates.seconds(1000.0, True, 0, 0) == (20.0, "arithmetic")
    assert rates.seconds(1.0, False, 30, 10) == (2.5 + 2.0, "memory")
