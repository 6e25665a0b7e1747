"""Two meanings of one program compared: what came of it, in a word and a sentence."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod

import numpy as np

from mdh.ir.program import Program
from mdh.reference.error import Bounded
from mdh.reference.numbers import Array


@dataclass(frozen=True, slots=True)
class Verdict:
    """kind: `equal`, `wrong`, `undecided`, `refused` (detail: the codes), `traceback`, `crash` (the process
    died or hung), `report` (what is legal was not built), `judge` (the interpreter is not a compiler's)."""

    kind: str
    detail: str = ""

    @property
    def bad(self) -> bool:
        return self.kind not in ("equal", "refused", "undecided")


EQUAL = Verdict("equal")


def alike(a: Array, b: Array) -> Array:
    """Where the elements are equal; NaN is equal to NaN."""
    equal: Array = (a == b) | (np.isnan(a) & np.isnan(b))
    return equal


def compared(program: Program, found: Mapping[str, Array], judge: Mapping[str, Bounded], by: str) -> Verdict:
    """`found`: what arrays hold `by` somebody; `judge`: what they should, within bounds."""
    undecided = ""
    written = frozenset().union(*(s.written for s in program.stages))
    for name, array in found.items():
        buffer = program.buffer_of.get(name)
        if buffer is None or name not in written or name not in judge:
            continue
        count = min(prod(buffer.shape), array.size, judge[name].value.size)
        mine = judge[name]
        theirs = array.reshape(-1)[:count].astype(mine.value.dtype)
        value = mine.value.reshape(-1)[:count]
        with np.errstate(all="ignore"):
            same = alike(value, theirs)
            bound = np.zeros(count) if mine.bound is None else np.broadcast_to(mine.bound, mine.value.shape)
            bound = bound.reshape(-1)[:count]
            near = np.abs(value - theirs) <= bound
        if not (same | near | np.isinf(bound) | np.isnan(bound)).all():
            at = int(np.argmin(same | near))
            return Verdict("wrong", f"{name}[{at}] is {theirs[at]} by {by}, not {value[at]}")
        if not (same | near).all():
            undecided = f"{name} is not decided"
    return Verdict("undecided", undecided) if undecided else EQUAL
