"""Random programs of each kind, with schedules of their own and with the default ones.

The results are those of the C text, there are no races, nothing is read that has not been written, and a
plan's text is a schedule for the same plan. `MDH_RANDOM=500 MDH_RANDOM_FROM=1000 pytest
tests/test_random_kinds.py -k loops` runs more of them.
"""

import os
from collections import Counter
from dataclasses import dataclass

import pytest

from mdh.machine import load_machine
from tests.support.native import compiler
from tests.support.pairs import arguments
from tests.support.random_kinds import (
    BESIDE,
    FRONTS,
    INNER,
    LOOPS,
    ONLINE,
    ROWS,
    SWAPS,
    WEIGHTS,
    Kind,
    right_in_the_interpreter,
)

MORE = int(os.environ.get("MDH_RANDOM", "0"))
FIRST = int(os.environ.get("MDH_RANDOM_FROM", "0"))
OPPOSED = 7090
"""Turns of one loop run early, those of another late: a kernel knows of the loops around it alone."""
NESTED = 55
"""A stage in a nested one reads a tile of the kernel that the one around it does not read."""
FIVE_WARPS = (5091, 5158)
"""All lanes of five warps need the sum of their parts."""


@dataclass(frozen=True)
class Amount:
    """Of a kind: programs that run on a CPU, on a simulated GPU, and whose CUDA text is compiled."""

    kind: Kind
    cpu: int
    gpu: int
    cuda: int


AMOUNTS = (
    Amount(LOOPS, 12, 6, 6),
    Amount(FRONTS, 8, 4, 4),
    Amount(BESIDE, 8, 4, 4),
    Amount(INNER, 16, 8, 8),
    Amount(ONLINE, 6, 3, 3),
    Amount(SWAPS, 8, 2, 2),
    Amount(WEIGHTS, 8, 2, 2),
    Amount(ROWS, 12, 6, 6),
)
Case = tuple[Kind, int]


def cases(where: str, *known: Case) -> pytest.MarkDecorator:
    """A case for each seed of each kind, and for seeds that found a fault."""
    found = [(a.kind, FIRST + n) for a in AMOUNTS for n in range(MORE or getattr(a, where))]
    each = [pytest.param(kind, seed, id=f"{kind.name}-{seed}") for kind, seed in (*found, *known)]
    return pytest.mark.parametrize(("kind", "seed"), each)


@cases("cpu")
@pytest.mark.skipif(compiler() is None, reason="no C compiler")
def test_right_in_c(kind: Kind, seed: int) -> None:
    kind.run(seed, "c")


@cases("gpu", (LOOPS, OPPOSED))
def test_right_on_a_gpu_without_races(kind: Kind, seed: int) -> None:
    kind.run(seed, "oclgrind")


@cases("cuda")
def test_cuda_compiles(kind: Kind, seed: int) -> None:
    kind.compiled(seed)


@pytest.mark.parametrize("seed", [*range(FIRST, FIRST + (MORE or 12)), NESTED, *FIVE_WARPS])
def test_rows_are_right_in_the_interpreter(seed: int) -> None:
    """Kernels for a large GPU. The interpreter has no loops around them."""
    for plan in ROWS.plans(seed, load_machine("h100"), "cuda"):
        if not plan.program.loops:
            right_in_the_interpreter(plan, arguments(plan.program, {}, seed), seed)


@pytest.mark.parametrize(
    ("kind", "machine", "target", "seeds", "least"),
    [
        (LOOPS, "generic-cpu", "c", 24, {"shared": 6, "several": 4}),
        (FRONTS, "generic-cpu", "c", 16, {"fronts": 8, "several": 1, "strips": 1}),
        (BESIDE, "generic-cpu", "c", 30, {"shared": 4, "moved": 1, "K127": 1, "three": 1}),
        (BESIDE, "h100", "cuda", 30, {"shared": 4, "moved": 1, "K127": 1, "K128": 1}),
        (INNER, "generic-cpu", "c", 40, {"legal": 12, "nested": 1, "K124": 1, "K125": 1}),
        (ONLINE, "generic-cpu", "c", 12, {"legal": 4}),
        (SWAPS, "generic-cpu", "c", 24, {"0 swapped": 5, "1 swapped": 5}),
        # what stays apart has results that the user gets, or several stages at the end
        (ROWS, "h100", "cuda", 60, {"inside": 20, "alone": 12, "nested": 1}),
    ],
    ids=lambda value: value.name if isinstance(value, Kind) else "",
)
def test_each_kind_draws_what_it_is_for(
    kind: Kind, machine: str, target: str, seeds: int, least: dict[str, int]
) -> None:
    """The plans alone, of the schedules that are drawn."""
    on, seen = load_machine(machine), Counter[str]()
    for seed in range(seeds):
        for plan in (kind.by_default if kind.draw is None else kind.drawn)(seed, on, target):
            seen.update(plan.split() if isinstance(plan, str) else ["legal", *kind.words(plan)])
    assert all(seen[word] >= count for word, count in least.items()), seen
