"""`@window` where units take turns in a step before: parts move on by all of theirs."""

import pytest

from mdh.checker.run import check
from mdh.diagnostics import Failed
from mdh.frontend.c.read import read_program
from mdh.lower.run import lower
from mdh.machine import load_machine
from mdh.schedule.parser import parse_schedule
from mdh.source import Source
from mdh.target.emit import emit


def made(term: str) -> str:
    """Three threads that take turns; `term` is what they read of A."""
    program = f"void f(const float A[16], float C[12]) {{ for (int i = 0; i < 12; i++) C[i] = {term}; }}"
    steps = (
        "1: (de-)comp( 4 ) ( ^ ; ^ ) ( THR.x@cyclic(1) )\n2: (de-)comp( 1 ) ( A:SM[1]@window ; ^ ) ( ^ )\n"
    )
    source = read_program(Source("f.c", program))
    plan = check(source, parse_schedule(Source("s.mdh", steps)), load_machine("h200"), "cuda")
    return emit(lower(plan), source).source


def test_parts_that_touch_have_nothing_in_common() -> None:
    with pytest.raises(Failed) as failed:
        made("A[i]")
    assert [d.code for d in failed.value.diagnostics] == ["K110"]


def test_a_halo_stays() -> None:
    text = made("A[i] + A[i + 4]")
    assert "i_2 * 3" in text and "A_SM[7]" in text
