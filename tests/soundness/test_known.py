"""Programs that were once accepted and wrong: each is refused now, or means what C says."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from mdh.device.api import open_device
from mdh.diagnostics import Failed
from mdh.frontend.c.read import read_program
from mdh.ir.program import Program
from mdh.lower.run import lower
from mdh.reference import evaluate, evaluate_bounded
from mdh.reference.error import Bounded
from mdh.reference.interpreter import Undecided, interpret_bounded
from mdh.reference.numbers import Array, numpy_dtype
from mdh.schedule.parser import parse_schedule
from mdh.source import Source
from mdh.target.emit import emit
from mdh.verify.arguments import Kind, make_arrays
from tests.soundness.known import ANY, HEAD, KNOWN, N
from tests.soundness.verdict import EQUAL, compared
from tests.support.exact_interpreter import interpret
from tests.support.native import compiler, run_native
from tests.support.pairs import planned
from tests.support.random_schedules import random_schedule


def _source(text: str) -> Source:
    return Source("known.c", HEAD + text + "\n")


KINDS: tuple[Kind, ...] = ("exact", "sparse", "wide")


def _drawn(program: Program, seeds: int) -> Iterator[tuple[dict[str, Array], dict[str, Bounded]]]:
    """Arrays that have a result in C, of small numbers and of others, and what C leaves in them."""
    assert program.syntax is not None
    for seed in range(seeds):
        for kind in KINDS:
            small = kind == "exact"
            arrays = _arrays(program, seed) if small else make_arrays(program, {}, seed, kind)
            try:
                yield arrays, interpret_bounded(program.syntax, arrays, _scalars(program))
            except (Undecided, Failed):
                assert not small


def _arrays(program: Program, seed: int) -> dict[str, Array]:
    rng = np.random.default_rng(seed)
    out = {}
    for b in program.buffers:
        if not b.temp:
            index = b.name in ("p", "g")
            values = (
                rng.integers(0, N, b.shape)
                if index
                else rng.integers(-3 * (b.dtype.kind != "uint"), 4, b.shape)
            )
            out[b.name] = values.astype(numpy_dtype(b.dtype))
    return out


@pytest.mark.parametrize("name", KNOWN)
def test_it_is_right_or_refused(name: str) -> None:
    text, expected = KNOWN[name]
    try:
        program = read_program(_source(text))
    except Failed as failed:
        codes = {d.code for d in failed.diagnostics}
        assert expected == ANY or codes == {expected}, codes
        return
    assert expected in (ANY, "right")
    for arrays, judge in _drawn(program, 5):
        scalars = _scalars(program)
        assert compared(program, evaluate(program, arrays, scalars), judge, "the Program") == EQUAL
        bounded = evaluate_bounded(program, arrays, scalars)
        values = {n: b.value for n, b in bounded.items()}
        assert compared(program, values, judge, "the Program in doubles") == EQUAL


@pytest.mark.parametrize("spec", ["c", "opencl:0", pytest.param("cuda:0", marks=pytest.mark.gpu)])
@pytest.mark.parametrize("name", [n for n, (_, e) in KNOWN.items() if e in (ANY, "right")])
def test_it_is_right_on_a_device(name: str, spec: str) -> None:
    if spec == "c" and compiler() is None:
        pytest.skip("no C compiler here")
    try:
        program = read_program(_source(KNOWN[name][0]))
    except Failed:
        return
    device = open_device(spec)
    built = device.build(emit(lower(planned(program, None, device.machine, device.target)), program))
    written = frozenset[str]().union(*(stage.written for stage in program.stages))
    scalars = {s.name: numpy_dtype(s.dtype).type(_scalars(program)[s.name]) for s in program.scalars}
    for before, judge in _drawn(program, 3):
        arrays = {n: a.copy() for n, a in before.items()}
        built.call(arrays, scalars).launch()
        assert compared(program, arrays, judge, spec) == EQUAL
        assert all(arrays[n].tobytes() == a.tobytes() for n, a in before.items() if n not in written)


@pytest.mark.skipif(compiler() is None, reason="no C compiler here")
@pytest.mark.parametrize("name", [n for n, (_, e) in KNOWN.items() if e in (ANY, "right")])
def test_the_judge_is_the_compilers(name: str, tmp_path: Path) -> None:
    """The interpreter gives what a C compiler gives for the texts that may be right."""
    source = _source(KNOWN[name][0])
    try:
        program = read_program(source)
    except Failed:
        return
    assert program.syntax is not None
    arrays = _arrays(program, 3)
    native = run_native(source, program, tmp_path, {}, arrays, _scalars(program))
    mine = interpret(program.syntax, arrays, _scalars(program))
    for n, a in native.items():
        np.testing.assert_array_equal(a, mine[n], n)


def _scalars(program: Program) -> dict[str, float]:
    return {s.name: 3 for s in program.scalars if s.size is None}


NARROW = """void f(int x[1], const int *B) {
  for (int i = 0; i < 1; i++) {
    uint8_t t = B[i];
    for (int j = 0; j < 3; j++) t += 1;
    x[i] += t;
  }
}"""


@pytest.mark.skipif(compiler() is None, reason="no C compiler here")
@pytest.mark.parametrize("seed", [None, *range(12)])
def test_narrow_sums_are_narrowed_before_they_widen(seed: int | None) -> None:
    """Parts of a sum of uint8_t were added as int, and 255 + 3 was 258 in an epilogue of type int."""
    device = open_device("c")
    program = read_program(_source(NARROW))
    schedule = None
    if seed is not None:
        text = random_schedule(program, device.machine, seed)
        schedule = parse_schedule(Source("random.mdh", text))
    try:
        plan = planned(program, schedule, device.machine, device.target)
    except Failed:
        return
    arrays = {"x": np.array([0], np.int32), "B": np.array([255], np.int32)}
    device.build(emit(lower(plan), program)).call(arrays, {}).launch()
    assert arrays["x"][0] == 2
