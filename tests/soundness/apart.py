"""A Program run in pieces: the points of a stage one after another in a random order, each storing at once.

The vectorised reference reads all that a stage reads before it stores anything, which no device does. Points
of one stage have no order, so that any order has to leave the same.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from random import Random
from typing import Any

import numpy as np

from mdh.ir.dtype import I32
from mdh.ir.expr import Const, Expr, substitute
from mdh.ir.numerics import OWN
from mdh.ir.program import DimKind, LocalValue, Output, Program, Result, Stage
from mdh.ir.turns import run_order
from mdh.reference.exact import CArithmetic
from mdh.reference.numbers import Array, numpy_dtype
from mdh.reference.stage import run_stage


def evaluate_apart(
    program: Program, arrays: Mapping[str, Array], scalars: Mapping[str, Any], seed: int
) -> dict[str, Array]:
    """As `reference.evaluate`, each stage cut along one of its dimensions that are not combined."""
    rng, arithmetic = Random(seed), CArithmetic()
    buffers: dict[str, Any] = {}
    for b in program.buffers:
        given = np.zeros(b.shape, numpy_dtype(b.dtype)) if b.temp else np.asarray(arrays[b.name])
        buffers[b.name] = arithmetic.copy(arithmetic.of(given.reshape(b.shape), b.dtype))
    values = {s.name: arithmetic.of(np.asarray(scalars[s.name]), s.dtype) for s in program.scalars}
    for number, counters in run_order(program.loops, len(program.stages)):
        turns = {name: arithmetic.of(np.asarray(turn), I32) for name, turn in counters.items()}
        for part in _parts(program.stages[number], rng):
            run_stage(part, program, arithmetic, buffers, {**values, **turns}, OWN)
    written = frozenset[str]().union(*(s.written for s in program.stages))
    return {b.name: buffers[b.name] for b in program.buffers if not b.temp and b.name in written}


def _parts(stage: Stage, rng: Random) -> list[Stage]:
    """The stage at each value of one dimension, in a random order."""
    free = [d for d in stage.dims if d.kind is DimKind.CC and d.extent > 1]
    if not free:
        return [stage]
    dim = rng.choice(free)
    order = list(range(dim.extent))
    rng.shuffle(order)
    dims = tuple(replace(d, extent=1) if d is dim else d for d in stage.dims)
    return [replace(_at(stage, dim.name, n), dims=dims) for n in order]


def _at(stage: Stage, name: str, n: int) -> Stage:
    def fixed(e: Expr) -> Expr:
        return substitute(e, {name: Const(n, I32)})

    return replace(
        stage,
        lets=tuple(LocalValue(x.name, fixed(x.value), x.dtype) for x in stage.lets),
        results=tuple(_result(r, fixed) for r in stage.results),
    )


def _result(r: Result, fixed: Callable[[Expr], Expr]) -> Result:
    return replace(
        r,
        values=tuple(fixed(v) for v in r.values),
        starts=tuple(None if s is None else fixed(s) for s in r.starts),
        outputs=tuple(
            Output(o.buffer, tuple(fixed(i) for i in o.index), fixed(o.value), o.span) for o in r.outputs
        ),
    )
