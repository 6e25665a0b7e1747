"""ptxas before CUDA 13.4 loses a minus in a minimum of three integers; texts hide it."""

from collections.abc import Sequence
from random import Random

import numpy as np
import pytest

from mdh.device.api import open_device
from mdh.diagnostics import Failed
from mdh.frontend.c.read import read_program
from mdh.ir.program import Program
from mdh.lower.run import lower
from mdh.machine import load_machine
from mdh.reference.interpreter import Undecided
from mdh.reference.numbers import Array
from mdh.schedule.parser import parse_schedule
from mdh.source import Source
from mdh.target.emit import emit
from mdh.target.nvrtc import compile_cubin
from mdh.target.text import KernelText
from mdh.verify.arguments import Kind, make_arrays
from tests.support.exact_interpreter import interpret
from tests.support.pairs import planned
from tests.support.random_schedules import random_schedule

HEAD = "#include <stdint.h>\n#include <stdlib.h>\n#define N 64\n#define K 4\n"
HEAD += "#define MIN(a, b) ((a) < (b) ? (a) : (b))\n#define MAX(a, b) ((b) > (a) ? (b) : (a))\n"
K = 4
KINDS: tuple[Kind, ...] = ("exact", "sparse", "wide")
ARRAYS = "int8_t", "int16_t", "int", "uint32_t", "int64_t"
VALUES = (
    "-{}", "0 - {}", "{} * -1", "{} * (j - 1)", "(j - 2) * {}", "{} / (j - 5)", "~{} + 1", "-(2 * {})",
    "-({} & 1)", "{} - {}", "-{} + {}", "({} > 0 ? -{} : {})", "abs((int){})", "-abs((int){})", "{}",
    "(int16_t)-{}", "(int64_t)-{}", "{} * {}", "{} + {}", "{} >> 1", "({} ^ -1) + 1",
)  # fmt: skip


def _program(seed: int) -> Program:
    """Minima and maxima of numbers, many of them negated."""
    rng = Random(seed)
    types = {n: rng.choice(ARRAYS) for n in ("x", "w", "A")} | {"y": rng.choice(ARRAYS[2:])}
    of = "long long" if types["y"] == "int64_t" else rng.choice(("int", "int", "short", "long long"))

    def value() -> str:
        form = rng.choice(VALUES)
        arrays = ("x[i]", "w[i]", "A[i][j]", "A[i][j]")
        return f"({of})({form.format(*(rng.choice(arrays) for _ in range(form.count('{}'))))})"

    op, join = rng.choice((("<", "MIN"), (">", "MAX")))
    start = rng.choice(("y[i]", "-x[i]", "3", "-w[i] * 2"))
    body = rng.choice((
        f"for (int j = 0; j < K; j++) if ({(v := value())} {op} y[i]) y[i] = {v};",
        f"for (int j = 0; j < K; j++) y[i] = {join}({(v := value())}, y[i]);",
        f"for (int j = 0; j < K; j++) {{ {of} t = {value()}; y[i] = y[i] {op} t ? y[i] : t; }}",
        f"int j = {rng.randrange(K)}; y[i] = {join}({join}({value()}, {value()}), {value()});",
        f"int j = {rng.randrange(K)}; {of} t = {value()}; {of} s = {join}(t, {value()});"
        f" y[i] = {join}(s, {join}({value()}, t));",
    ))  # fmt: skip
    head = f"void f(const {types['x']} x[N], const {types['w']} w[N], const {types['A']} A[N][K], "
    text = f"{HEAD}{head}{types['y']} y[N]) {{ for (int i = 0; i < N; i++) {{ y[i] = {start}; {body} }} }}\n"
    return read_program(Source(f"negations_{seed}.c", text))


def _accepted(seeds: Sequence[int]) -> dict[int, Program]:
    out = {}
    for seed in seeds:
        try:
            out[seed] = _program(seed)
        except Failed:
            continue
    return out


def _text(program: Program, schedule: str | None = None) -> KernelText:
    machine = load_machine("h200")
    parsed = None if schedule is None else parse_schedule(Source("s.mdh", schedule))
    return emit(lower(planned(program, parsed, machine, "cuda")), program)


def _cuda(body: str) -> str:
    text = f"{HEAD}void f(const int x[N], const int A[N][K], int y[N]) {{ {body} }}\n"
    return _text(read_program(Source("f.c", text))).source


@pytest.mark.parametrize("value", ["-A[i][j]", "x[i] - A[i][j]", "A[i][j] * (j - 1)", "~A[i][j] + 1"])
def test_what_is_compared_is_hidden(value: str) -> None:
    body = f"for (int i = 0; i < N; i++) for (int j = 0; j < K; j++) if ({value} < y[i]) y[i] = {value};"
    assert " kept_i32((int)" in _cuda(body)


@pytest.mark.parametrize(
    "body",
    [
        "for (int i = 0; i < N; i++) for (int j = 0; j < K; j++) y[i] = MAX(A[i][j] + x[j], y[i]);",
        "for (int i = 0; i < N; i++) y[i] = -x[i];",
        "for (int i = 0; i < N; i++) for (int j = 0; j < K; j++) y[i] -= A[i][j];",
    ],
)
def test_nothing_else_is(body: str) -> None:
    assert "kept" not in _cuda(body)


def test_most_programs_are_accepted_and_compile() -> None:
    programs = _accepted(range(40))
    assert len(programs) > 24
    texts = [_text(p) for p in programs.values()]
    assert max(len(line) for t in texts for line in t.source.splitlines()) <= 110
    hidden = [t for t in texts if "kept_" in t.source]
    assert len(hidden) > 12
    for text in hidden[:4]:
        assert compile_cubin(text, "sm_90a").image


@pytest.mark.gpu
@pytest.mark.parametrize("part", range(8))
def test_no_minus_is_lost(part: int) -> None:
    device = open_device("cuda:0")
    compared = 0
    for seed, program in _accepted(range(40 * part, 40 * part + 40)).items():
        for schedule in (None, random_schedule(program, device.machine, seed)):
            try:
                text = _text(program, schedule)
            except Failed:
                continue
            built = device.build(text)
            for kind in KINDS:
                arrays = make_arrays(program, {}, seed, kind)
                try:
                    want = _wanted(program, arrays)
                except (Undecided, Failed):
                    continue
                built.call(arrays, {}).launch()
                np.testing.assert_array_equal(arrays["y"], want, f"seed {seed}, {kind} data")
                compared += 1
    assert compared > 60


def _wanted(program: Program, arrays: dict[str, Array]) -> Array:
    assert program.syntax is not None
    return interpret(program.syntax, arrays, {})["y"]
