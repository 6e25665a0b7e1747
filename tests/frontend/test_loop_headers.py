"""A loop runs as often as it does in C, with C's types of counter and comparison; or it is refused."""

import random
from pathlib import Path

import numpy as np
import pytest

from mdh.diagnostics import Failed
from mdh.frontend.c.read import read_program
from mdh.frontend.counters import header, run
from mdh.frontend.typing_rules import wrap
from mdh.ir.dtype import I8, I16, I32, I64, U8, U16, U32, U64, DType, common, promote_integer
from mdh.ir.expr import Const
from mdh.reference import evaluate
from mdh.source import Source
from tests.support.native import compiler, run_native

_C = {I8: "int8_t", I16: "int16_t", I32: "int", I64: "long", U8: "uint8_t", U16: "uint16_t",
      U32: "unsigned", U64: "size_t"}  # fmt: skip
MOST = 300


def _trips_of_c(start: Const, op: str, bound: Const, step: int, counter: DType) -> int | None:
    """One iteration after another, each conversion made.

    None: beyond MOST, where C has no meaning, and where a counter goes on after it came round.
    """
    seen = common(promote_integer(counter), bound.dtype)
    value, trips, around = wrap(int(start.value), counter), 0, False
    while trips <= MOST:
        x, b = wrap(value, seen), wrap(int(bound.value), seen)
        if not {"<": x < b, "<=": x <= b, ">": x > b, ">=": x >= b, "!=": x != b}[op]:
            return trips
        around = wrap(value + step, counter) != value + step or around
        if around and (
            counter.kind == "int" or (trips < MOST and wrap(value + step, counter) == value + step)
        ):
            return None
        trips, value = trips + 1, wrap(value + step, counter)
    return None


def test_trip_counts_are_those_of_steps_one_by_one() -> None:
    rng, ended = random.Random(7), 0
    for _ in range(8_000):
        counter, other = rng.choice(list(_C)), rng.choice((I32, U32, I64, U64))
        near = rng.choice((0, 0, 0, 120, 250, 2**31 - 9, 2**32 - 9, 2**63 - 9))
        start = Const(wrap(near + rng.randint(-20, 20), other), other)
        bound = Const(wrap(near + rng.randint(-40, 40), other), other)
        op, step = rng.choice(("<", "<=", ">", ">=", "!=")), rng.choice((-3, -2, -1, 1, 1, 2, 5))
        want = _trips_of_c(start, op, bound, step, counter)
        found = run(header(start, op, bound, step, counter))
        if want is not None:
            assert found.trips == want, (start, op, bound, step, counter)
            ended += 1
        elif found.trips is not None:
            assert found.trips > MOST, (start, op, bound, step, counter)
    assert ended > 2000


HEADERS = (
    "int i = -2; i < 9; i++", "unsigned i = 7; i < 8; i--", "size_t i = 7; i != (size_t)-1; i--",
    "unsigned char i = 250; i < 255; i++", "uint8_t i = 4; i < 9u; i += 2", "int8_t i = -128; i < -120; i++",
    "short i = 300; 290 <= i; i = i - 3", "int i = 8; i > -1L; i--",
    "long i = 3000000000; i < 3000000005; i++",
    "unsigned i = 4294967290; i < 4294967295; i++", "unsigned char i = 258; i < 9; i++",
    "int i = 0; i != 9; i += 3", "int i = 0; i < 5; i += 4294967297u", "uint64_t i = 18446744073709551610u;"
    " i < 18446744073709551615u; i++", "int64_t i = -3000000000; i != -3000000004; --i",
    "int i = 2147483640; i < 2147483645; i += 3", "unsigned i = 0; i < 3000000000; i += 700000000",
)  # fmt: skip


@pytest.mark.parametrize("header_", HEADERS)
def test_counters_in_the_body_have_c_s_values(header_: str, tmp_path: Path) -> None:
    text = f"#include <stdint.h>\n#include <stddef.h>\nvoid f(int64_t y[4], double z[2]) {{ for ({header_})" \
        " { y[0] += i; y[1] += i * 3 - 1; y[2] += -i / 2; y[3] += 1; z[0] += i; } }"  # fmt: skip
    source = Source("f.c", text)
    program = read_program(source)
    if compiler() is None:
        pytest.skip("no C compiler")
    arrays = {"y": np.zeros(4, np.int64), "z": np.zeros(2)}
    want = run_native(source, program, tmp_path, {}, arrays)
    got = evaluate(program, arrays, {})
    assert (want["y"] == got["y"]).all(), (want, got)
    assert (want["z"] == got["z"]).all(), (want, got)


@pytest.mark.parametrize(("header_", "why"), [
    ("int i = -2; i < 8 - 2u; i++", "the comparison is unsigned, and takes -2 as 4,294,967,294"),
    ("unsigned i = 63; i >= 0; i--", "wraps to 4,294,967,295 after 0"),
    ("unsigned char i = 0; i < 300; i++", "wraps to 0 after 255"),
    ("int8_t i = 0; i < 128; i++", "still holds after 127"),
    ("uint8_t i = 250; i != 2; i++", "wraps to 0 after 255"),
    ("int i = 0; i <= 2147483647; i += 1000000000", "still holds after 2,000,000,000"),
    ("unsigned i = 0; i < -1; i++", "takes -1 as 4,294,967,295"),
    ("int i = 0; i < 8u - 9u; i++", "4,294,967,295"),
    ("int i = 3; i != 9; i += 0", "never ends"),
])  # fmt: skip
def test_loops_that_c_does_not_end_are_refused(header_: str, why: str) -> None:
    with pytest.raises(Failed) as failed:
        read_program(Source("f.c", f"void f(float y[8]) {{ for ({header_}) y[0] += 1; }}"))
    (d,) = failed.value.diagnostics
    assert d.code == "C132"
    assert why in d.headline


def test_a_counter_behind_its_loop(tmp_path: Path) -> None:
    text = """void f(int y[20], int z[4]) {
  int i, k = 2;
  long j;
  for (i = 0; i < 17; i += 3) y[i] = i;
  z[0] = i;
  for (j = 9; j > 2; j -= 2) { for (int i = 0; i < 2; i++) y[j] += i; z[1] += i; }
  z[2] = j + i;
  z[3] = k;
}
"""
    source = Source("f.c", text)
    program = read_program(source)
    if compiler() is None:
        pytest.skip("no C compiler")
    arrays = {"y": np.zeros(20, np.int32), "z": np.zeros(4, np.int32)}
    want, got = run_native(source, program, tmp_path, {}, arrays), evaluate(program, arrays, {})
    for name, array in want.items():
        assert (array == got[name]).all(), (name, array, got[name])


def test_the_counter_of_an_inner_loop_is_not_what_it_was_before_the_outer_one() -> None:
    text = "void f(int y[8]) { int i = 5;" \
        " for (int j = 0; j < 8; j++) { y[j] = i; for (i = 0; i < 3; i++) y[j] += 1; } }"  # fmt: skip
    with pytest.raises(Failed) as failed:
        read_program(Source("f.c", text))
    assert failed.value.diagnostics[0].code == "C115"


@pytest.mark.parametrize(
    "loops",
    [
        "for (n = 0; n < 8; n++) y[n] = 1; y[0] = n;",
        "for (int i = 0; i < 8; i++) for (i = 0; i < 8; i++) y[i] = 1;",
    ],
)
def test_parameters_and_outer_counters_do_not_count(loops: str) -> None:
    with pytest.raises(Failed) as failed:
        read_program(Source("f.c", f"void f(int n, int y[8]) {{ {loops} }}"))
    assert failed.value.diagnostics[0].code == "C118"
