"""Evaluates programs in one of the two arithmetics."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from mdh.ir.dtype import I32
from mdh.ir.numerics import ByStage, assumed
from mdh.ir.program import Program
from mdh.ir.turns import run_order
from mdh.reference.arithmetic import Arithmetic, V
from mdh.reference.bounded import BoundedArithmetic
from mdh.reference.error import Bounded
from mdh.reference.exact import CArithmetic
from mdh.reference.gathers import constant_arrays
from mdh.reference.numbers import Array, numpy_dtype
from mdh.reference.stage import run_stage


def evaluate(
    program: Program, arrays: Mapping[str, Array], scalars: Mapping[str, Any] | None = None
) -> dict[str, Array]:
    """The contents of each array parameter that the C function writes, computed as C does it.

    arrays: every array parameter by name, of the buffer's shape and numpy type; they are not changed.
    scalars: the scalar parameters; sizes that the program binds may be left out. Raises Failed A130 if an
    index array points outside of the array that it indexes.
    """
    return _run(program, arrays, scalars or {}, CArithmetic())


def evaluate_bounded(
    program: Program,
    arrays: Mapping[str, Array],
    scalars: Mapping[str, Any] | None = None,
    *,
    exact: bool = False,
    numerics: ByStage = (),
) -> dict[str, Bounded]:
    """The same in double precision, with the error that an implementation may make at each element.

    exact: the inputs are small integers; elements whose every operation is exact have no bound. numerics:
    of the plan whose results are judged. If a minimum or maximum by comparison met a NaN, `also` has the
    other right results.
    """
    found = _run(program, arrays, scalars or {}, BoundedArithmetic(exact=exact), numerics)
    held = {name: _without_doubt_of_nan(v) for name, v in found.items()}
    return with_passed_over(held, program, arrays, scalars, exact=exact, numerics=numerics)


def _without_doubt_of_nan(v: Bounded) -> Bounded:
    """The value without bounds at NaNs, where they have no meaning."""
    if v.bound is None or not np.isnan(v.value).any():
        return v
    return replace(v, bound=np.where(np.isnan(v.value), 0.0, v.bound))


def with_passed_over(
    found: Mapping[str, Bounded],
    program: Program,
    arrays: Mapping[str, Array],
    scalars: Mapping[str, Any] | None = None,
    *,
    exact: bool = False,
    numerics: ByStage = (),
) -> dict[str, Bounded]:
    """`found` with `also`: the results if `m > x ? m : x` skips NaNs like `x > m ? x : m`.

    Without --strict-fp they are as right as C's own, in which x replaces m if either is a NaN. If no minimum
    or maximum by comparison meets a NaN, nothing is added.
    """
    compares = any(r.op is not None and r.op.name in ("min", "max") and not r.op.nan
                   and r.types[0].is_float for s in program.stages for r in s.results)  # fmt: skip
    if program.strict_fp or not compares:
        return dict(found)
    arithmetic = BoundedArithmetic(exact=exact, passing=True)
    also = _run(program, arrays, scalars or {}, arithmetic, numerics)
    if not arithmetic.met:
        return dict(found)
    others = {name: _without_doubt_of_nan(v) for name, v in also.items()}
    return {name: replace(v, also=others.get(name)) for name, v in found.items()}


def _run(
    program: Program, arrays: Mapping[str, Array], scalars: Mapping[str, Any], arithmetic: Arithmetic[V],
    numerics: ByStage = (),
) -> dict[str, V]:  # fmt: skip
    written: frozenset[str] = frozenset().union(*(s.written for s in program.stages))
    buffers: dict[str, V] = {}
    constants = constant_arrays(program)
    for b in program.buffers:
        if b.values is not None:
            array = constants[b.name]
        elif b.temp:
            array = np.zeros(b.shape, numpy_dtype(b.dtype))
        else:
            array = np.asarray(arrays[b.name]).reshape(b.shape)
        value = arithmetic.of(array, b.dtype)
        buffers[b.name] = arithmetic.copy(value) if b.name in written else value
    values: dict[str, V] = {}
    for s in program.scalars:
        given = scalars.get(s.name, s.size)
        assert given is not None, f"no value for `{s.name}`"
        values[s.name] = arithmetic.of(np.asarray(given), s.dtype)
    known = dict(numerics)
    for number, counters in run_order(program.loops, len(program.stages)):
        stage = program.stages[number]
        own = known.get(stage.name) or assumed(stage)
        turns = {name: arithmetic.of(np.asarray(turn), I32) for name, turn in counters.items()}
        run_stage(stage, program, arithmetic, buffers, {**values, **turns}, own)
    return {b.name: buffers[b.name] for b in program.buffers if not b.temp and b.name in written}
