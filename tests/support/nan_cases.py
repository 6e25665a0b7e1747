"""Random reductions by comparison over NaNs, infinities and both zeros, on a device against the C compiler.

    python -m tests.support.nan_cases --cases 500 --seed 1 --device c --device opencl:0

Each case is a nest, a form of the comparison, a type, data, and several schedules. With --strict-fp every bit
is the C's. Without it an element is the C's or, where the form takes a NaN or what follows it, that of the
form that passes over NaNs: both come from the C compiler, from two texts. The meaning is held to the same.
"""

import argparse
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random

import numpy as np

from mdh.device.api import open_device
from mdh.device.protocols import Device
from mdh.diagnostics import Failed
from mdh.frontend.c.read import read_program
from mdh.ir.plan import Plan
from mdh.ir.program import Program
from mdh.lower.run import lower
from mdh.reference import evaluate, evaluate_bounded
from mdh.reference.error import Bounded
from mdh.reference.judge import expected
from mdh.schedule.parser import parse_schedule
from mdh.source import Source
from mdh.target.emit import emit
from mdh.verify.verdict import fits
from tests.support.arrays import Arrays
from tests.support.native import knows, run_native
from tests.support.pairs import planned
from tests.support.random_schedules import random_schedule

ROWS, COLUMNS, BINS = 5, 37, 6
NESTS = {
    "rows": "for i for j { @y[i],x[i][j]@ }",
    "columns": "for j for i { @z[j],x[i][j]@ }",
    "all": "for i for j { @y[0],x[i][j]@ }",
    "first": "for i { y[i] = x[i][0]; for (int j = 1; j < 37; j++) { @y[i],x[i][j]@ } }",
    "constant": "for i { y[i] = -INFINITY; for j { @y[i],x[i][j]@ } }",
    "above": "for i { y[i] = INFINITY; for j { @y[i],x[i][j]@ } }",
    "local": "for i { T m = 1; for j { @m,x[i][j]@ } y[i] = m * 2; }",
    "masked": "for i for j if (b[j] > 2) { @y[i],x[i][j]@ }",
    "histogram": "for i for j { @h[b[j]],x[i][j]@ }",
    "prefix": "for (int j = 1; j < 37; j++) { @z[j] = z[j - 1],x[0][j]@ }",
    "from the first": "for j { z[j] = j == 0 ? x[0][0] : ?z[j - 1],x[0][j]?; }",
    "running": "y[0] = -INFINITY; for j { @y[0],x[1][j]@ z[j] = y[0]; }",
}
LOOPS = {"for i": "for (int i = 0; i < 5; i++)", "for j": "for (int j = 0; j < 37; j++)"}
PAIR = "for i for j if (%s) { y[i] = x[i][j]; at[i] = j; }"
TYPES = {"float": np.float32, "double": np.float64, "_Float16": np.float16}
NUMBERS = ((-1, -0.0, 0.0, 1, 2), (-0.0, 0.0), (-np.inf, np.inf, 1.5), (-2, -1, -0.0, 0.0))
CHOICES = tuple(
    (f"{a} {sign} {b}", kept, other)
    for a, b in (("X", "M"), ("M", "X"))
    for sign in ("<", "<=", ">", ">=")
    for kept, other in (("X", "M"), ("M", "X"))
)
"""(condition, chosen where it holds, chosen where not) of all forms."""


@dataclass(frozen=True, slots=True)
class Case:
    """text: the C; passing: that in which NaNs are passed over, which is as right without --strict-fp."""

    text: str
    passing: str
    call: bool
    arrays: Arrays
    skips: bool = False
    """The meaning is that in which NaNs are passed over: no value leaves a NaN as it is."""


def mirrored(choice: tuple[str, str, str]) -> tuple[str, str, str]:
    """The same choice among numbers, keeping M where the comparison is false."""
    cond, then, other = choice
    if then == "X":
        return choice
    left, sign, right = cond.split()
    return f"{left} {'<' if sign[0] == '>' else '>'} {right}", other, then


def random_case(seed: int) -> Case:
    rng = Random(f"nan {seed}")
    kind = rng.choice(("float", "double", "_Float16") if knows("_Float16") else ("float", "double"))
    if rng.random() < 0.15:
        sign, sides = rng.choice(("<", "<=", ">", ">=")), ["x[i][j]", "y[i]"]
        rng.shuffle(sides)
        text = _function(PAIR % f"{sides[0]} {sign} {sides[1]}", kind)
        return Case(text, text, False, random_data(rng, kind))
    nest = NESTS[rng.choice(sorted(NESTS))]
    if rng.random() < 0.2:
        call = rng.choice(("fmax", "fmin")) + ("" if kind == "double" else "f")
        value = rng.choice((f"{call}(M, X)", f"{call}(X, M)"))
        text = _function(_filled(nest, value, "M = V;"), kind)
        return Case(text, text, True, random_data(rng, kind))
    choice = rng.choice(CHOICES)
    branch = choice[1] == "X" and rng.random() < 0.5 and "?z" not in nest and " = z" not in nest
    texts = []
    for cond, then, other in (choice, mirrored(choice)):
        update = f"if ({cond}) M = {then};" if branch else "M = V;"
        texts.append(_function(_filled(nest, f"({cond} ? {then} : {other})", update), kind))
    return Case(*texts, False, random_data(rng, kind), texts[0] != texts[1] and "if (b[j]" in nest)


def _filled(nest: str, value: str, update: str) -> str:
    """The nest with `@M,X@` as a statement, `@T = M,X@` as one that stores elsewhere, `?M,X?` as a value."""
    mark = "@" if "@" in nest else "?"
    before, inner, after = nest.split(mark, 2) if mark == "@" else _within(nest)
    target, x = inner.split(",")
    m = target.split(" = ")[-1]
    whole = update.replace("V", value) if mark == "@" else value
    if target != m:
        whole = f"T0 = {value};"
    named = whole.replace("INFINITY", "I0").replace("X", x).replace("M", m).replace("I0", "INFINITY")
    return before + named.replace("T0", target.split(" = ")[0]) + after


def _within(nest: str) -> tuple[str, str, str]:
    at = nest.index("?z")
    end = nest.index("?", at + 1)
    return nest[:at], nest[at + 1 : end], nest[end + 1 :]


def _function(body: str, kind: str) -> str:
    for short, loop in LOOPS.items():
        body = body.replace(f"{short} ", f"{loop} ")
    names = {
        "x": "T x[5][37]",
        "b": "int b[37]",
        "y": "T y[5]",
        "z": "T z[37]",
        "h": "T h[6]",
        "at": "int at[5]",
    }
    used = (p if n not in "xb" else f"const {p}" for n, p in names.items() if re.search(rf"\b{n}\[", body))
    return f"#include <math.h>\nvoid f({', '.join(used)}) {{\n  {body}\n}}\n".replace("T ", f"{kind} ")


def random_data(rng: Random, kind: str) -> Arrays:
    """Few values, so that ties are common; NaNs rare, common or everywhere."""
    t = TYPES[kind]
    gen = np.random.default_rng(rng.randrange(2**32))
    share = rng.choice((0.0, 0.03, 0.1, 0.5, 0.9))
    numbers = np.array(
        rng.choice(((-1, -0.0, 0.0, 1, 2), (-0.0, 0.0), (-np.inf, np.inf, 1.5), (-2, -1, -0.0, 0.0)))
    )

    def some(*shape: int) -> np.ndarray:
        out = gen.choice(numbers, shape)
        out[gen.random(shape) < share] = np.nan
        return out.astype(t)

    x = some(ROWS, COLUMNS)
    if rng.random() < 0.2:
        x[rng.randrange(ROWS)] = np.nan
    b = gen.integers(0, BINS, COLUMNS).astype(np.int32)
    at = gen.integers(0, 9, ROWS).astype(np.int32)
    return {"x": x, "b": b, "y": some(ROWS), "z": some(COLUMNS), "h": some(BINS), "at": at}


def plans(program: Program, device: Device, seed: int, count: int) -> Iterator[Plan]:
    """Of the default schedule and of those of `count` random ones that are legal."""
    yield planned(program, None, device.machine, device.target)
    for n in range(count):
        text = random_schedule(program, device.machine, seed * 100 + n)
        try:
            yield planned(program, parse_schedule(Source("s.mdh", text)), device.machine, device.target)
        except Failed:
            continue


def same(a: np.ndarray, b: np.ndarray, *, zeros: bool) -> np.ndarray:
    """Equal elements, NaNs too; zeros: those of either sign differ."""
    if a.dtype.kind != "f":
        return np.asarray(a == b)
    return np.asarray(
        ((a == b) & (~np.bool_(zeros) | (np.signbit(a) == np.signbit(b)))) | (np.isnan(a) & np.isnan(b))
    )


def _native(text: str, program: Program, arrays: Arrays) -> Arrays:
    with tempfile.TemporaryDirectory() as folder:
        return run_native(Source("f.c", text), program, Path(folder), {}, arrays, flags=("-O0",))


def run_case(seed: int, device: Device, schedules: int) -> tuple[Counter[str], list[str]]:
    """(how many runs of each kind, what went wrong)."""
    case = random_case(seed)
    tally: Counter[str] = Counter()
    wrong: list[str] = []
    for strict in (False, True):
        try:
            program = read_program(Source("f.c", case.text), strict_fp=strict)
        except Failed as failed:
            tally["refused " + " ".join(sorted({d.code for d in failed.diagnostics}))] += 1
            continue
        arrays = {k: v for k, v in case.arrays.items() if k in program.buffer_of}
        in_c = _native(case.text, program, arrays)
        allowed = [in_c] if strict else [in_c, _native(case.passing, program, arrays)]
        zeros = strict and not case.call
        meant = allowed[-1:] if case.skips else allowed
        found = list(_meanings(program, arrays, meant, zeros=zeros))
        found += _judged(expected(program, arrays, {}).want, allowed)
        for plan in plans(program, device, seed, schedules):
            tally["strict" if strict else "free"] += 1
            found += _run(plan, device, arrays, allowed, zeros=zeros)
        wrong += [f"seed {seed} strict {strict}\n{case.text}{w}" for w in found]
    return tally, wrong


def _run(plan: Plan, device: Device, arrays: Arrays, allowed: list[Arrays], *, zeros: bool) -> Iterator[str]:
    """What the device leaves that is none of `allowed`."""
    mine = {k: v.copy() for k, v in arrays.items()}
    try:
        device.build(emit(lower(plan), plan.program)).call(mine, {}).launch()
    except Failed as failed:
        yield str(failed)
        return
    for name in allowed[0]:
        good = np.any([same(mine[name], a[name], zeros=zeros) for a in allowed], axis=0)
        if not good.all():
            yield f"{name} is {mine[name]}, not one of {[a[name] for a in allowed]}"


def _meanings(program: Program, arrays: Arrays, allowed: list[Arrays], *, zeros: bool) -> Iterator[str]:
    """Where the reference gives another result than the C, or the judge accepts another than it should."""
    for name, got in evaluate(program, arrays).items():
        if not same(got, allowed[0][name], zeros=zeros).all():
            yield f"{name}: the meaning is {got}, C's {allowed[0][name]}"
    yield from _judged(evaluate_bounded(program, arrays), allowed)


def _judged(bounded: Mapping[str, Bounded], allowed: list[Arrays]) -> Iterator[str]:
    """Where the judge refuses a right result, or accepts another."""
    for name, got in allowed[0].items():
        for right in allowed:
            if not fits(right[name], bounded[name]).all():
                yield f"{name}: the judge refuses {right[name]}"
        for value in (np.nan, 0.0, 1.0, -np.inf, np.inf, 7.0):
            other = np.full_like(got, value if got.dtype.kind == "f" else 7)
            mine = np.any([same(other, a[name], zeros=False) for a in allowed], axis=0)
            if (fits(other, bounded[name]) != mine).any():
                yield f"{name}: the judge accepts other results than {allowed}: {other}"


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--cases", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--schedules", type=int, default=2)
    parser.add_argument("--device", action="append")
    given = parser.parse_args()
    status = 0
    for spec in given.device or ["opencl:0"]:
        device, total = open_device(spec), Counter[str]()
        for seed in range(given.seed, given.seed + given.cases):
            tally, wrong = run_case(seed, device, given.schedules)
            total += tally
            status = status or int(bool(wrong))
            for text in wrong:
                sys.stdout.write(text + "\n")
        sys.stdout.write(f"{spec} {dict(total)}\n")
        sys.stdout.flush()
    return status


if __name__ == "__main__":
    sys.exit(main())
