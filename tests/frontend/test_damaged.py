"""Damaged C is read or refused, in good order and soon."""

import time
from random import Random

import pytest

from mdh.diagnostics import Failed, render_text
from mdh.frontend.c.read import free_sizes, read_program
from mdh.source import Source
from tests.support.corpus import WORKLOADS
from tests.support.mutations import mutate

TEXTS = [w.source.text for w in WORKLOADS.values()]
DOUBLING = "\n".join(f"#define A{k} A{k + 1} A{k + 1}" for k in range(60))
HOSTILE = {
    "macros that double": (f"{DOUBLING}\nvoid f(float y[8]) {{ y[0] = A0; }}", "C103"),
    "a long sum": (f"void f(float y[8]) {{ y[0] = {' + '.join(['y[1]'] * 5000)}; }}", "C121"),
    "brackets": (f"void f(float y[8]) {{ y[0] = {'(' * 190}1{')' * 190}; }}", "C121"),
    "minuses": (f"void f(float y[8]) {{ y[0] = {'- ' * 3000}1; }}", "C121"),
    "squares": (f"void f(float y[8]) {{ float t = y[0]; {'t = t * t;' * 200} y[1] = t; }}", "C121"),
    "directive without a name": ("#define\nvoid f(float y[8]) { y[0] = 1; }", "C103"),
}

HANG = 20
"""Seconds of this process: texts take a fraction of one, hangs do not end (scripts/fuzz has the times)."""


@pytest.mark.parametrize(("text", "code"), HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile(text: str, code: str) -> None:
    begin = time.process_time()
    with pytest.raises(Failed) as failed:
        read_program(Source("hostile.c", text))
    assert failed.value.diagnostics[0].code == code
    assert time.process_time() - begin < HANG


@pytest.mark.parametrize("seed", range(20))
def test_mutants(seed: int) -> None:
    rng = Random(f"damaged {seed}")
    for _ in range(20):
        source = Source("mutant.c", mutate(rng, rng.choice(TEXTS), TEXTS))
        for read in (read_program, free_sizes):
            try:
                read(source)
            except Failed as failed:
                assert all(render_text(d) for d in failed.diagnostics)
                assert all(d.code.startswith("C1") for d in failed.diagnostics)
