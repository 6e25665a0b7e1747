"""Random programs with constants compute what they do where the array is a parameter."""

import os
from functools import cache

import numpy as np
import pytest

from mdh.device.api import open_device
from mdh.device.protocols import Device
from mdh.diagnostics import Failed
from mdh.frontend.c.read import read_program
from mdh.frontend.constant_arrays import constant_text
from mdh.frontend.constant_sizes import sizes_of_constants
from mdh.ir.program import Program
from mdh.lower.run import lower
from mdh.machine import load_machine
from mdh.schedule.parser import parse_schedule
from mdh.source import Source
from mdh.target.emit import emit
from mdh.verify.arguments import make_arrays
from tests.constants.random_constants import Case, case
from tests.languages.kinds import Array
from tests.support.exact_interpreter import interpret
from tests.support.pairs import planned
from tests.support.random_schedules import random_schedule

COUNT = int(os.environ.get("MDH_RANDOM_CONSTANTS", "24"))


def programs(one: Case, seed: int) -> tuple[Program, dict[str, Array], Array]:
    """The program with the constant, its arrays, and what it must compute."""
    source = Source("f.c", f"#include <stdint.h>\n{one.text}")
    plain, pattern = read_program(source), seed % 3 == 2
    if seed % 3 == 1:
        program = read_program(Source("f.c", one.static))
    else:
        sized = Source("f.c", f"#include <stdint.h>\n{one.sized if seed % 2 else one.text}")
        defines: dict[str, str | int] = {"C": constant_text(one.array, pattern=pattern)}
        program = read_program(sized, defines=defines | sizes_of_constants(sized, defines, None))
    assert ("C" in program.params) == pattern
    arrays = make_arrays(plain, {"C": one.array}, seed, "exact")
    assert plain.syntax is not None and program.syntax is not None
    want = interpret(plain.syntax, arrays, {})["O"]
    del arrays["C"]
    if pattern:
        # an array of zeros has one element that nothing reads
        arrays["C"] = one.array[one.array != 0] if one.array.any() else one.array.ravel()[:1]
    np.testing.assert_array_equal(interpret(program.syntax, arrays, program.sizes)["O"], want)
    return program, arrays, want


@cache
def device(spec: str) -> Device:
    return open_device(spec)


def check(program: Program, text: str | None, spec: str, arrays: dict[str, Array], want: Array) -> bool:
    """Runs a schedule, or the default one. False if it is not legal."""
    there = device(spec)
    try:
        schedule = None if text is None else parse_schedule(Source("s.mdh", text))
        plan = planned(program, schedule, there.machine, there.target)
    except Failed:
        assert text is not None
        return False
    mine = {name: array.copy() for name, array in arrays.items()}
    there.build(emit(lower(plan), program)).call(mine, program.sizes).launch()
    np.testing.assert_array_equal(mine["O"], want)
    return True


@pytest.mark.parametrize("seed", range(COUNT))
@pytest.mark.parametrize("spec", ["c", "opencl:0"])
def test_values(spec: str, seed: int) -> None:
    program, arrays, want = programs(case(f"values {seed}"), seed)
    check(program, None, spec, arrays, want)
    texts = (random_schedule(program, device(spec).machine, n) for n in range(20 * seed, 20 * seed + 20))
    next((t for t in texts if check(program, t, spec, arrays, want)), None)


@pytest.mark.parametrize("seed", range(COUNT // 6))
def test_on_a_simulated_gpu(seed: int) -> None:
    program, arrays, want = programs(case(f"gpu {seed}"), seed)
    check(program, None, "oclgrind", arrays, want)
    texts = (
        random_schedule(program, device("oclgrind").machine, n) for n in range(20 * seed, 20 * seed + 20)
    )
    next((t for t in texts if check(program, t, "oclgrind", arrays, want)), None)


@pytest.mark.gpu
@pytest.mark.parametrize("seed", range(COUNT))
def test_on_a_gpu(seed: int) -> None:
    program, arrays, want = programs(case(f"cuda {seed}"), seed)
    check(program, None, "cuda:0", arrays, want)
    texts = (random_schedule(program, device("cuda:0").machine, n) for n in range(20 * seed, 20 * seed + 20))
    next((t for t in texts if check(program, t, "cuda:0", arrays, want)), None)


@pytest.mark.parametrize("seed", range(COUNT))
def test_cuda_texts(seed: int) -> None:
    """Default and random schedules become verified kernels."""
    program, _, _ = programs(case(f"cuda {seed}"), seed)
    machine = load_machine("h100")
    emit(lower(planned(program, None, machine, "cuda")), program)
    for n in range(20 * seed, 20 * seed + 20):
        try:
            schedule = parse_schedule(Source("s.mdh", random_schedule(program, machine, n)))
            plan = planned(program, schedule, machine, "cuda")
        except Failed:
            continue
        emit(lower(plan), program)
