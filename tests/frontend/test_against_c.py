"""The meaning of a Program is what the compiled C file computes."""

from pathlib import Path

import numpy as np
import pytest

from mdh.frontend.c.read import read_program
from mdh.reference import evaluate
from mdh.source import Source
from tests.support.arrays import random_arrays
from tests.support.corpus import WORKLOADS, Sizes, Workload
from tests.support.native import compiler, knows, run_native
from tests.support.random_programs import EIGHTHS_FROM, RandomProgram, random_program

SMALL = [(w, sizes) for w in WORKLOADS.values() for sizes in w.small]
IDS = [f"{w.name}-{'x'.join(str(v) for _, v in sizes)}" for w, sizes in SMALL]


@pytest.mark.parametrize(("work", "sizes"), SMALL, ids=IDS)
def test_shipped_inputs(work: Workload, sizes: Sizes, tmp_path: Path) -> None:
    below = {array: dict(sizes)[size] for array, size in work.below.items()}
    _compare(work.source, sizes, below, work.scalars, tmp_path)


@pytest.mark.parametrize("seed", [*range(60), *range(EIGHTHS_FROM, EIGHTHS_FROM + 30)])
def test_random_programs(seed: int, tmp_path: Path) -> None:
    p: RandomProgram = random_program(seed)
    _compare(p.source, (), p.below, p.scalars, tmp_path)


def _compare(source: Source, sizes: Sizes, below, scalars, folder: Path) -> None:  # type: ignore[no-untyped-def]
    missing = "__bf16" if "__bf16" in source.text else "_Float16" if "_Float16" in source.text else ""
    program = read_program(source, defines=dict(sizes))
    if compiler() is None or (missing and not knows(missing)):
        pytest.skip("no compiler here that has the types")
    arrays = random_arrays(program, 1, "exact", below)
    native = run_native(source, program, folder, dict(sizes), arrays, scalars)
    want = evaluate(program, arrays, scalars)
    assert native.keys() <= want.keys()
    for name, array in native.items():
        np.testing.assert_allclose(
            array.astype(np.float64),
            want[name].astype(np.float64),
            rtol=2e-3 if missing else 2e-5,
            err_msg=name,
        )
