"""Sets of arrays that candidates are judged on, with the expected results."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

import numpy as np

from mdh.ir.numerics import ByStage
from mdh.ir.program import Program
from mdh.reference.error import Bounded
from mdh.reference.judge import POSITIVE, Arguments, draw_expected
from mdh.reference.numbers import Array
from mdh.reference.sampling import FEW
from mdh.verify.arguments import Kind, make_arrays, make_scalars, read_before_written
from mdh.verify.index_data import index_arrays

_ANEW = 1_000_003
"""Added to the seed when data are drawn again."""
_CHOOSING = ("min", "max", "argmin", "argmax")
"""Operators that keep one of many values."""


@dataclass(frozen=True)
class InputSet:
    """before: arrays as given to a run. want: expected results with their error bounds. private: outputs
    whose first contents no stage reads; they are poisoned. right: results that were judged right first. Most
    candidates give the same bits, and comparing those takes a fraction of the time of judging them again."""

    before: Mapping[str, Array]
    scalars: Mapping[str, int | float]
    want: Mapping[str, Bounded]
    private: frozenset[str]
    right: dict[str, Array] = field(default_factory=dict)


def kind_of(number: int) -> Kind:
    """The kind of data of a set. Exact integers come first: they show a wrong index best, and random values a
    wrong rounding."""
    return "random" if number % 2 else "exact"


def write_expected(program: Program, seed: int, number: int, folder: Path, numerics: ByStage = ()) -> None:
    """Computes the results of set `number` once and keeps them for every worker. numerics: of the candidates
    that are judged by them."""

    def draw(attempt: int) -> Arguments:
        return _given(program, seed, number, attempt)

    exact, name = kind_of(number) == "exact", _name(number, numerics)
    drawn = draw_expected(program, draw, exact=exact, numerics=numerics, executions=FEW)
    names = []
    for i, (array, w) in enumerate(drawn.expected.want.items()):
        np.save(folder / f"{name}-{i}-value.npy", w.value, allow_pickle=False)
        if w.bound is not None:
            bound = np.broadcast_to(w.bound, w.value.shape)
            np.save(folder / f"{name}-{i}-bound.npy", bound, allow_pickle=False)
        names.append([array, w.bound is not None])
    made = folder / f"{name}.new"
    text = {"attempt": drawn.attempt, "judge": drawn.expected.judge, "arrays": names}
    made.write_text(json.dumps(text), encoding="utf-8")
    os.replace(made, folder / f"{name}.json")


def read_set(program: Program, seed: int, number: int, folder: Path, numerics: ByStage = ()) -> InputSet:
    """The set, with the results that `write_expected` left. The files stay."""
    name = _name(number, numerics)
    written = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
    before, scalars = _given(program, seed, number, written["attempt"])
    want = {}
    for i, (array, bounded) in enumerate(written["arrays"]):
        value = np.load(folder / f"{name}-{i}-value.npy", mmap_mode="r", allow_pickle=False)
        bound = None
        if bounded:
            bound = np.load(folder / f"{name}-{i}-bound.npy", mmap_mode="r", allow_pickle=False)
        want[array] = Bounded(value, bound)
    private = frozenset(want) - read_before_written(program)
    return InputSet(before, scalars, want, private)


def _name(number: int, numerics: ByStage) -> str:
    """Of the files of a set."""
    return f"{number}-{sha256(repr(numerics).encode()).hexdigest()[:16]}" if numerics else str(number)


def _given(
    program: Program, seed: int, number: int, attempt: int
) -> tuple[dict[str, Array], dict[str, int | float]]:
    own = seed + 1000 * number + _ANEW * attempt
    positive = attempt >= POSITIVE or program.has_integer("<<", ">>")
    arrays = make_arrays(program, {}, own, kind_of(number), positive=positive)
    if any(r.op is not None and r.op.name in _CHOOSING for s in program.stages for r in s.results):
        indices, read = index_arrays(program), read_before_written(program)
        for name in (read - indices) & arrays.keys():
            _mark_edges(arrays[name], number)
    return arrays, make_scalars(program, {}, own)


def _mark_edges(array: Array, number: int) -> None:
    """Puts the greatest value at the end and the least at the beginning of every other line along each axis,
    and the other way round in the next set. With random values alone, a minimum or maximum hardly ever shows
    that a loop leaves out its last iteration."""
    least, greatest = (-7, 7) if array.dtype.kind != "u" else (0, 7)
    first, last = (least, greatest) if number % 4 in (0, 3) else (greatest, least)
    for axis in range(array.ndim):
        lines = np.moveaxis(array, axis, 0)
        others = np.indices(lines.shape[1:], sparse=True)
        chosen = np.broadcast_to(np.asarray(sum(others, 0) % array.ndim == axis), lines.shape[1:])
        lines[0, ...][chosen] = first
        lines[-1, ...][chosen] = last
