"""One random program through the front end and, where there is one, a device: what came of it.

C's meaning is the interpreter's, on the text. The merged Program has two other meanings to compare with it:
what the vectorised reference computes, and what a device does.
"""

import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from mdh.device.protocols import Executable
from mdh.diagnostics import Diagnostic, Failed
from mdh.frontend.c.read import read_program
from mdh.ir.program import Program
from mdh.lower.run import lower
from mdh.machine import Machine
from mdh.reference import evaluate, evaluate_bounded
from mdh.reference.error import Bounded
from mdh.reference.interpreter import Undecided, interpret_bounded
from mdh.reference.numbers import numpy_dtype
from mdh.schedule.model import Schedule
from mdh.schedule.parser import parse_schedule
from mdh.source import Source
from mdh.target.emit import emit
from mdh.target.text import KernelText
from tests.soundness.apart import evaluate_apart
from tests.soundness.data import Flat, arguments_of, shaped, whole_of
from tests.soundness.tree import Tree
from tests.soundness.verdict import EQUAL, Verdict, alike, compared
from tests.support.exact_interpreter import interpret
from tests.support.pairs import planned
from tests.support.random_schedules import random_schedule

DRAWS = 3
"""Arguments are drawn anew where those of before leave a comparison open."""


@dataclass(frozen=True, slots=True)
class Ready:
    """An accepted program with arguments, what C leaves in them, and the bounds around that for others."""

    tree: Tree
    program: Program
    flat: Flat
    want: Flat
    bounded: Mapping[str, Bounded]

    @property
    def scalars(self) -> dict[str, float]:
        return {**self.tree.scalars, **self.tree.sizes}


def accepted(tree: Tree) -> Program | Verdict:
    """The Program, or how it is refused."""
    try:
        return read_program(tree.source, defines=tree.defines)
    except Failed as failed:
        return refusal(failed.diagnostics)
    except Exception:
        return broken()


def refusal(diagnostics: tuple[Diagnostic, ...]) -> Verdict:
    codes = sorted({d.code for d in diagnostics})
    bug = any(c[0] == "B" for c in codes)
    return Verdict("traceback" if bug else "refused", " ".join(codes))


def broken() -> Verdict:
    """What has just been raised is no diagnostic."""
    return Verdict("traceback", " / ".join(traceback.format_exc(limit=-3).split("\n"))[-400:])


def examined(tree: Tree, seed: int) -> Ready | Verdict:
    """The front end's Program compared with C; a Ready where they are equal."""
    program = accepted(tree)
    if isinstance(program, Verdict):
        return program
    verdict = Verdict("undecided")
    for draw in range(DRAWS):
        flat = arguments_of(tree, seed + (draw << 40), whole=whole_of(tree))
        verdict, ready = against_c(tree, program, flat)
        if ready is not None and verdict == EQUAL:
            return ready
        if verdict.kind != "undecided":
            break
    return verdict


def against_c(tree: Tree, program: Program, flat: Flat) -> tuple[Verdict, Ready | None]:
    """The two references on the Program against the interpreter on the text."""
    scalars = {**tree.scalars, **tree.sizes}
    arrays = shaped(program, flat)
    try:
        bounded = evaluate_bounded(program, arrays, scalars, exact=whole_of(tree))
        plain = evaluate(program, arrays, scalars)
        apart = evaluate_apart(program, arrays, scalars, len(tree.source.text))
    except Failed as failed:
        return refusal(failed.diagnostics), None
    except Exception:
        return broken(), None
    try:
        want = interpret(_syntax(program), flat, scalars)
        allowed = interpret_bounded(_syntax(program), flat, scalars)
    except Undecided:
        return Verdict("undecided", "a comparison depends on rounding"), None
    except Exception:
        return Verdict("judge", broken().detail), None
    verdict = EQUAL
    # C rounds a sum of 16-bit floats at each step, mdh at its end: the bounds are about the latter
    halves = any(b.dtype.is_float and b.dtype.bits == 16 for b in program.buffers)
    whole = {} if halves else want
    for by, found in (("the interpreter", whole), ("the Program", plain), ("the Program in parts", apart)):
        if verdict == EQUAL:
            verdict = compared(program, found, allowed, by)
    if verdict == EQUAL:
        values = {n: b.value for n, b in bounded.items()}
        verdict = compared(program, values, _wider(allowed, bounded), "the Program's bounds")
    return verdict, Ready(tree, program, flat, want, allowed)


def _wider(judge: Mapping[str, Bounded], other: Mapping[str, Bounded]) -> dict[str, Bounded]:
    """`judge` with the bounds of both: neither is nearer to what others may leave than the other."""
    out = {}
    for name, b in judge.items():
        value, bound = b.value.reshape(-1), np.zeros(b.value.size)
        if b.bound is not None:
            bound += np.broadcast_to(b.bound, b.value.shape).reshape(-1)
        mine = other.get(name)
        if mine is not None and mine.bound is not None:
            more = np.broadcast_to(mine.bound, mine.value.shape).reshape(-1)[: bound.size]
            bound[: more.size] += more
        out[name] = Bounded(value, bound)
    return out


def _syntax(program: Program) -> Any:
    assert program.syntax is not None
    return program.syntax


def native_difference(ready: Ready, run: Callable[[Tree, Flat], Flat], by: str) -> Verdict:
    """A compiler's meaning against the interpreter's, bit for bit but for 16-bit floats and NaN's bits."""
    got = run(ready.tree, ready.flat)
    for name, c in got.items():
        mine = ready.want.get(name, ready.flat[name])
        if c.dtype == np.float16:
            same = np.isclose(c.astype(float), mine.astype(float), rtol=0.02, atol=0.02, equal_nan=True)
        else:
            same = alike(c, mine)
        if not same.all():
            at = int(np.argmin(same))
            return Verdict("judge", f"{name}[{at}] is {mine[at]} for the interpreter, {c[at]} by {by}")
    return EQUAL


def prepared(ready: Ready, machine: Machine, target: str, seed: int | None) -> KernelText | Verdict:
    """The kernels of a program, by the default schedule or by the random one of `seed`."""
    program = ready.program
    schedule: Schedule | None = None
    try:
        if seed is not None:
            text = random_schedule(program, machine, seed)
            schedule = parse_schedule(Source(f"random_{seed}.mdh", text))
        plan = planned(program, schedule, machine, target)
    except Failed as failed:
        found = refusal(failed.diagnostics)
        # mdh's own schedule is always legal
        return Verdict("report", found.detail) if seed is None and found.kind == "refused" else found
    except Exception:
        return broken()
    try:
        return emit(lower(plan), program)
    except Failed as failed:
        return reported(failed)
    except Exception:
        return broken()


def executed(ready: Ready, build: Callable[[], Executable], by: str) -> Verdict:
    """The program on a device."""
    arrays = shaped(ready.program, ready.flat)
    mine = {n: a.copy() for n, a in arrays.items()}
    typed = {s.name: numpy_dtype(s.dtype).type(ready.scalars[s.name]) for s in ready.program.scalars}
    try:
        build().call(mine, typed).launch()
    except Failed as failed:
        return reported(failed)
    except Exception:
        return broken()
    return outcome(ready, arrays, mine, by)


def reported(failed: Failed) -> Verdict:
    return Verdict("report", "; ".join(f"{d.code}: {d.headline}" for d in failed.diagnostics)[:400])


def outcome(ready: Ready, before: Mapping[str, Any], after: Mapping[str, Any], by: str) -> Verdict:
    """What a device has left in the arrays, within the bounds around C's values; inputs as they were."""
    written = frozenset[str]().union(*(s.written for s in ready.program.stages))
    for name, a in after.items():
        if name not in written and a.tobytes() != before[name].tobytes():
            return Verdict("wrong", f"input {name} was changed")
    found = {n: a.reshape(-1) for n, a in after.items() if n in written}
    return compared(ready.program, found, ready.bounded, by)
