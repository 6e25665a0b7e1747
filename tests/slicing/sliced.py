"""A function run as a whole and as a slice, by the interpreter."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mdh.frontend.c.cparse import parse_function
from mdh.frontend.c.preprocess import preprocess
from mdh.frontend.c.syntax_of import function_of
from mdh.ir.program import Program
from mdh.ir.syntax import Function, Number
from mdh.reference.error import Bounded
from mdh.reference.interpreter import interpret_bounded, interpret_elements
from mdh.reference.sampling import picked
from mdh.reference.slicing import SampledSlice
from mdh.reference.slicing.structure import written_arrays
from mdh.source import Source

Arrays = Mapping[str, NDArray[Any]]


def syntax_of(text: str) -> Function:
    """The abstract syntax, whether or not the front end accepts the function."""
    parsed = parse_function(preprocess(Source("f.c", text), {}), None)
    return function_of(parsed.node, parsed.globals, parsed.places)


def arrays_of(function: Function, seed: int, below: int = 8) -> dict[str, NDArray[Any]]:
    """Of literal extents; integers are small enough to index with."""
    rng = np.random.default_rng(seed)
    out: dict[str, NDArray[Any]] = {}
    for p in function.parameters:
        shape = tuple(int(e.text) for e in p.extents if isinstance(e, Number)) or (120,)
        if "int" in p.type.words:
            out[p.name] = rng.integers(0, below, shape).astype(np.int32)
        else:
            out[p.name] = rng.uniform(-2, 2, shape).astype(np.float32)
    return out


def shapes_of(arrays: Arrays) -> dict[str, tuple[int, ...]]:
    return {name: a.shape for name, a in arrays.items()}


def outputs_of(function: Function) -> list[str]:
    changed = written_arrays(function)
    return [p.name for p in function.parameters if p.name in changed]


def sizes_of(program: Program) -> dict[str, int | float]:
    return {s.name: s.size for s in program.scalars if s.size is not None}


def left_by(function: Function, arrays: Arrays, scalars: Mapping[str, Any]) -> dict[str, Bounded]:
    """What the whole function leaves in the arrays that it writes."""
    return interpret_bounded(function, arrays, scalars)


def differences(
    function: Function,
    arrays: Arrays,
    scalars: Mapping[str, Any],
    sample: SampledSlice,
    whole: Mapping[str, Bounded],
) -> list[str]:
    """Sampled elements that the slice computes otherwise than the whole function. Raises EndlessLoop where
    more iterations are run than the sample says."""
    part = interpret_elements(function, arrays, scalars, only=sample.only, limit=sample.executions)
    some = picked(part, arrays, sample.elements)
    out = []
    for name, at in sample.elements.items():
        mine, want = some[name].value, whole[name].value[at]
        for k in np.flatnonzero(~((mine == want) | (np.isnan(mine) & np.isnan(want)))):
            out.append(f"{name}{[int(x[k]) for x in at]} is {mine[k]}, not {want[k]}")
    return out
