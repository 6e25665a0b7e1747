"""Compares the two meanings of a program: its C text by the interpreter, its stages by the reference."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from mdh.diagnostics import Diagnostic, Failed, Label, Severity
from mdh.frontend.bound import BoundText
from mdh.frontend.read import read_bound, read_syntax
from mdh.ir.program import Program
from mdh.ir.syntax import Function
from mdh.reference.evaluate import evaluate, evaluate_bounded, with_passed_over
from mdh.reference.interpreter import EndlessLoop, Undecided, UnknownMeaning, interpret_bounded, steps
from mdh.reference.judge import rounds_in_turns, widened
from mdh.verify.arguments import Kind, make_arrays
from mdh.verify.scaling import LADDER, scaled
from mdh.verify.verdict import fits

STEPS = 4_000
"""The most assignments of a program that is run, which take some 10 ms."""
LONGER = 4 * STEPS
"""And of one that has no smaller form, as an LSTM: layers of sums in time steps."""
BYTES = 1 << 22
"""The most bytes of its arrays, since a short loop may step through a large one."""
STATEMENTS = 300
"""The most statements of a text that is searched for a small program."""
DRAWS = 4
"""The number of data sets that the two are compared on."""
DRAWN: tuple[tuple[Kind, bool], ...] = tuple(
    (kind, positive) for positive in (False, True) for kind in ("exact", "random", "wide", "sparse")
)
"""The kinds of data. In the second half all numbers are positive, because some programs divide by zero, or
compare values that differ by rounding."""


@dataclass(frozen=True, slots=True)
class Disagreement:
    """An element in which the two meanings of a program differ, with the sizes that it was run on."""

    sizes: tuple[tuple[str, int], ...]
    buffer: str
    index: tuple[int, ...]
    by_stages: str
    by_c: str


def misread(text: BoundText, program: Program) -> Diagnostic | None:
    """B102 for a program whose stages compute something else than its text. None if they agree, or if there
    is no small program to run."""
    small = small_program(text, program)
    found = None if small is None else difference(small)
    return None if found is None else _diagnostic(program, found)


def _diagnostic(program: Program, d: Disagreement) -> Diagnostic:
    place = d.buffer + "".join(f"[{i}]" for i in d.index)
    sizes = ", ".join(f"{name} = {size}" for name, size in d.sizes)
    at = f" with {sizes}" if sizes else ""
    headline = f"mdh has misread `{program.name}`: {place} is {d.by_stages} by its stages, {d.by_c} by C{at}"
    spans = [s.span for s in program.stages if d.buffer in s.written and s.span is not None]
    return Diagnostic(
        "B102",
        headline,
        tuple(Label(s) for s in spans[-1:]),
        help="this is a bug of mdh; send the C file; loops of their own for its statements may help",
        witness=(("element", place), ("got", d.by_stages), ("wanted", d.by_c)),
        severity=Severity.BUG,
    )


def small_program(text: BoundText, program: Program) -> Program | None:
    """The program itself, or one like it with short loops and the same stages; None if there is none."""
    if _short(program, STEPS):
        return program
    tried: set[str] = set()
    for scale, most in (*((s, STEPS) for s in LADDER), *((s, LONGER) for s in LADDER)):
        one = scaled(text, scale)
        if one.text in tried or len(tried) * len(program.statements) > STATEMENTS:
            continue
        try:
            if not _runs_soon(read_syntax(one, function=program.name), program, one.sizes, most):
                continue
            tried.add(one.text)
            small = read_bound(one, function=program.name, strict_fp=program.strict_fp)
        except Failed:
            continue
        if _form(small) == _form(program) and _short(small, most):
            return small
    return None


def difference(program: Program) -> Disagreement | None:
    """The first element that differs on one of a few data sets; None if they agree."""
    compared = 0
    for attempt in range(len(DRAWN)):
        try:
            with np.errstate(all="ignore"):
                found = _compared(program, attempt)
        except (Undecided, UnknownMeaning, EndlessLoop, Failed):
            continue
        if found is not None:
            return found
        compared += 1
        if compared == DRAWS:
            break
    return None


def _compared(program: Program, attempt: int) -> Disagreement | None:
    assert program.syntax is not None
    kind, positive = DRAWN[attempt]
    arrays = make_arrays(program, {}, attempt, kind, positive=positive)
    scalars = dict(_scalars(program, attempt))
    want = interpret_bounded(program.syntax, arrays, scalars, strict=program.strict_fp, limit=2 * LONGER)
    right = with_passed_over(want, program, arrays, scalars)
    if rounds_in_turns(program):
        right = widened(right, evaluate_bounded(program, arrays, scalars))
    for name, got in evaluate(program, arrays, scalars).items():
        if name in right:
            sizes = tuple(program.sizes.items())
            good = fits(got, right[name])
            if not good.all():
                at = tuple(int(i) for i in np.argwhere(~good)[0])
                return Disagreement(sizes, name, at, str(got[at]), str(right[name].value[at]))
    return None


def _scalars(program: Program, attempt: int) -> Iterator[tuple[str, Any]]:
    rng = np.random.default_rng(attempt)
    for s in program.scalars:
        signed = s.dtype.kind != "uint" and attempt % 2 == 1
        drawn = int(rng.integers(-3 if signed else 1, 4))
        yield s.name, s.size if s.size is not None else float(drawn) if s.dtype.is_float else drawn


def _short(program: Program, most: int) -> bool:
    """Whether the interpreter can run the program, and quickly."""
    if sum(prod(b.shape) * b.dtype.bytes for b in program.buffers) > BYTES:
        return False
    return _runs_soon(program.syntax, program, program.sizes, most)


def _runs_soon(syntax: Function | None, program: Program, sizes: Mapping[str, int], most: int) -> bool:
    values = {s.name: sizes.get(s.name, 1) for s in program.scalars}
    return syntax is not None and steps(syntax, values, most) <= most


def _form(program: Program) -> tuple[Any, ...]:
    """The properties that a small program must share with a large one to stand for it."""
    return tuple(
        (
            s.name,
            tuple(d.kind for d in s.dims),
            tuple((r.op, len(r.values), r.exclusive, tuple(x is None for x in r.starts),
                   tuple(o.buffer for o in r.outputs)) for r in s.results),
        )
        for s in program.stages
    )  # fmt: skip
