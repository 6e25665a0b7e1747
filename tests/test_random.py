"""Random programs with random schedules, and damaged texts: a small number of what scripts/fuzz runs."""

from pathlib import Path

import numpy as np
import pytest

from mdh.frontend.c.read import read_program
from mdh.reference import evaluate
from mdh.reference.error import Bounded
from tests.support.fuzz import fuzz_mutations, fuzz_pairs
from tests.support.native import compiler, run_native
from tests.support.pairs import arguments, difference
from tests.support.random_programs import EIGHTHS_FROM, KINDS, random_program

PAIRS = [
    ("opencl:0", 1, 24), ("c", 7001, 24), ("oclgrind", 5101, 12),
    ("opencl:0", EIGHTHS_FROM, 12), ("c", EIGHTHS_FROM + 100, 12), ("oclgrind", EIGHTHS_FROM + 200, 6),
]  # fmt: skip


@pytest.mark.parametrize(("device", "seed", "pairs"), PAIRS)
def test_accepted_pairs_equal_the_reference(device: str, seed: int, pairs: int) -> None:
    if device == "c" and compiler() is None:
        pytest.skip("no C compiler here")
    """`scripts/fuzz --pairs 2000` draws the same pairs and many more."""
    kinds, codes, wrong = fuzz_pairs(pairs, seed, device, None, jobs=2, limit=60)
    assert not wrong, wrong[0]
    assert kinds["equal"] >= pairs // 3, (kinds, codes)


@pytest.mark.parametrize("seed", [*range(40), *range(EIGHTHS_FROM, EIGHTHS_FROM + 40)])
def test_programs_mean_what_the_c_compiler_says(seed: int, tmp_path: Path) -> None:
    if compiler() is None:
        pytest.skip("no C compiler here")
    random = random_program(seed)
    program = read_program(random.source)
    arrays = arguments(program, random.below, seed)
    native = run_native(random.source, program, tmp_path, {}, arrays, random.scalars)
    want = evaluate(program, arrays, random.scalars)
    for name, array in native.items():
        if array.dtype == np.float16:
            # compilers differ in how often they round halves on the way
            np.testing.assert_allclose(array.astype(float), want[name].astype(float), rtol=0.02, atol=0.02)
        else:
            assert difference(name, array, Bounded(want[name])) is None, random.text


def test_every_class_is_drawn() -> None:
    assert {random_program(seed).kind for seed in range(80)} == set(KINDS)


@pytest.mark.parametrize("language", ["c", "mdh"])
def test_damaged_texts_are_read_or_refused(language: str) -> None:
    _, wrong, _ = fuzz_mutations(language, 200, 1, jobs=2, limit=20)
    assert not wrong, wrong[0]
