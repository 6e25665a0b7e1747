"""The texts of cases: their programs, the values of their sizes and constants, and their schedules."""

from pathlib import Path

import numpy as np

from mdh.frontend.constant_arrays import constant_text
from mdh.results.experiment import Case, Constant
from mdh.shipped import example_called, schedule_path
from mdh.source import Source

_OWN = Path(__file__).parent / "schedules"
_SEED = 25


def source_of(case: Case) -> Source:
    """The text of a case's program, which comes with mdh."""
    found = example_called(case.program)
    assert found is not None, case.program
    return Source(found.source_name, found.text)


def defines_of(case: Case) -> dict[str, str | int]:
    arrays = {c.name: constant_text(_array(c)) for c in case.constants}
    return {**dict(case.sizes), **arrays}


def _array(constant: Constant) -> np.ndarray:
    """The same in every process: numbers from 0 to 1, and zeros."""
    rng = np.random.default_rng(_SEED)
    shape = constant.shape
    return np.where(rng.random(shape) < constant.share, rng.random(shape), 0).astype(np.float32)


def schedule_source(name: str) -> Source:
    """The text of a schedule: of those here, else of the shipped ones."""
    own = _OWN / f"{name}.mdh"
    path = own if own.is_file() else schedule_path(name)
    return Source(f"{name}.mdh", path.read_text(encoding="utf-8"))
