"""Reads a text by mdh, runs the program by the reference, and prints it as C."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from mdh.frontend.c.read import read_program
from mdh.frontend.read import bound_text, free_sizes, read_bound, read_heading, read_syntax
from mdh.ir.program import Program
from mdh.ir.syntax_text import function_text
from mdh.reference.evaluate import evaluate
from mdh.source import Source
from tests.languages.kinds import F64, Array

COUNT = int(os.environ.get("MDH_RANDOM_LANGUAGES", "40"))
"""The number of random programs of each kind."""


@dataclass(frozen=True)
class Written:
    """A text with the values of its sizes. function: its name, if there are several."""

    name: str
    text: str
    sizes: Mapping[str, int]
    function: str | None = None

    def __str__(self) -> str:
        return f"{self.name} with {dict(self.sizes)}, function {self.function}:\n{self.text}"


def read(w: Written) -> Program:
    """The program. Its heading says the same of it, with and without sizes."""
    source = Source(w.name, w.text)
    program = read_bound(bound_text(source, w.sizes), function=w.function)
    for sizes in (w.sizes, {}):
        heading = read_heading(source, defines=sizes, function=w.function)
        assert heading.parameters == program.params, w
        assert heading.name == program.name, w
        assert heading.fixed == (program.sizes if sizes else {}), w
    assert free_sizes(source, defines=w.sizes, function=w.function) == (), w
    assert set(free_sizes(source, function=w.function)) == set(program.sizes), w
    return program


def outcome(program: Program, given: Sequence[Array], scalars: Sequence[float]) -> dict[str, Array]:
    """What the program computes. given: the arrays in the order of its parameters; scalars: those that are no
    sizes, in order."""
    arrays = [p for p in program.params if p in program.buffer_of]
    free = [s.name for s in program.scalars if s.size is None]
    values = dict(zip(free, scalars, strict=True))
    with np.errstate(all="ignore"):
        return evaluate(program, dict(zip(arrays, given, strict=True)), values)


def assert_like(w: Written, got: Mapping[str, Array], names: Sequence[str], wanted: Sequence[Array],
                errors: Sequence[float]) -> None:  # fmt: skip
    """names: of the results in the program. errors: how much each may differ."""
    for name, right, error in zip(names, wanted, errors, strict=True):
        assert name in got, f"{name} is never written\n{w}"
        found = got[name]
        form = f"{name}: {found.dtype}{found.shape} for {right.dtype}{right.shape}"
        assert (found.shape, found.dtype) == (right.shape, right.dtype), f"{form}\n{w}"
        a, b = found.astype(F64), right.astype(F64)
        good = a == b if not error else np.abs(a - b) <= error
        assert good.all(), f"{name}, up to {error}: {a[~good][:4]} for {b[~good][:4]}\n{w}"


def assert_same_in_c(w: Written) -> None:
    """The program, printed as C and read by the C front end, is the same program."""
    program = read(w)
    syntax = read_syntax(bound_text(Source(w.name, w.text), w.sizes), function=w.function)
    assert syntax is not None
    written = frozenset().union(*(s.written for s in program.stages))
    text = function_text(syntax, written)
    again = read_program(Source("x.c", text), defines=program.sizes)
    assert again.params == program.params, f"{text}\n{w}"
    assert again.buffers == program.buffers, f"{text}\n{w}"
    assert again.stages == program.stages, f"{text}\n{w}"
