"""Backward programs of random programs against central differences, both by the reference in double."""

from typing import Any

import numpy as np
import pytest

from mdh.diagnostics import Failed
from mdh.gradient.derive import backward
from mdh.pipeline import Pipeline
from mdh.reference.evaluate import evaluate
from mdh.source import Source
from tests.support.random_layers import random_layers

STEP = 1e-6
Arrays = dict[str, np.ndarray[Any, Any]]


def checked(seed: int) -> str:
    """Compares the gradients of one random program. What was refused is said in words."""
    d = random_layers(seed)
    rng = np.random.default_rng(seed)
    try:
        program = Pipeline().read(Source("f.c", d.text))
    except Failed as failed:
        return f"forward: {failed}"
    arrays: Arrays = {n: rng.standard_normal(d.shapes[n]) for n in d.inputs}
    arrays |= {n: rng.integers(0, most, count, np.int32) for n, (count, most) in d.indices.items()}
    results = {n: np.zeros(d.shapes[n]) for n in d.results}
    made = evaluate(program, {**arrays, **results})
    seeds = {f"{n}_grad": rng.standard_normal(d.shapes[n]) for n in d.results}
    try:
        found = backward(program)
    except Failed as failed:
        if "another kernel may round otherwise" not in str(failed):
            raise
        return "a maximum of computed values"
    reverse = Pipeline().read(found.source)
    zeros = {g: np.full(d.shapes[n], 7.0) for g, n in found.results.items()}
    known = {**arrays, **made, **seeds, **zeros}
    wanted = evaluate(reverse, {n: known[n] for n in reverse.params})

    def value(at: Arrays) -> float:
        out = evaluate(program, {**at, **results})
        return sum(float((out[n] * seeds[f"{n}_grad"]).sum()) for n in d.results)

    for g, n in found.results.items():
        for _ in range(3):
            place = tuple(rng.integers(0, extent) for extent in d.shapes[n])
            ends = []
            for step in (STEP, -STEP):
                moved = arrays[n].copy()
                moved[place] += step
                ends.append(value({**arrays, n: moved}))
            slope = (ends[0] - ends[1]) / (2 * STEP)
            assert wanted[g][place] == pytest.approx(slope, rel=1e-4, abs=1e-6), (
                g,
                place,
                d.text,
                found.text,
            )
    return ""


@pytest.mark.parametrize("seed", range(40))
def test_gradients_of_random_layers(seed: int) -> None:
    said = checked(seed)
    assert said in ("", "a maximum of computed values"), said
