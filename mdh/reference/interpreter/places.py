"""Array elements: checks subscripts and computes the flat index. Common forms have faster closures."""

from collections.abc import Callable, Sequence
from typing import Protocol

from mdh.diagnostics import Failed, fail
from mdh.reference.interpreter.arithmetic import Value
from mdh.reference.interpreter.memory import ArrayObject
from mdh.reference.interpreter.scope import UnknownMeaning
from mdh.source import Span


class SubscriptCode(Protocol):
    """The parts of `expressions.Code` that a subscript needs."""

    @property
    def run(self) -> Callable[[], Value]: ...

    @property
    def slot(self) -> int | None: ...


def outside(memory: ArrayObject, axis: int, bad: int, span: Span | None) -> Failed:
    """The diagnostic for a subscript that leaves its dimension, the `axis`-th from 0."""
    return fail(
        "A130",
        f"index {bad} lies outside dimension {axis + 1} of `{memory.name}`, which has"
        f" {memory.extents[axis]} elements",
        span,
        help="give index arrays whose values lie inside the array that they index",
    )


def element_index(
    memory: ArrayObject, subscripts: Sequence[SubscriptCode], frame: list[Value], span: Span | None
) -> Callable[[], int]:
    """The flat index. The closure raises Failed A130 if a subscript leaves its dimension."""
    if len(subscripts) != len(memory.extents):
        raise UnknownMeaning(f"{len(subscripts)} subscripts of {memory.name}")
    return _index(memory, subscripts, frame, span)


def _index(
    memory: ArrayObject, subscripts: Sequence[SubscriptCode], frame: list[Value], span: Span | None
) -> Callable[[], int]:
    """The flat index in the first dimensions, as many as there are subscripts."""
    *outer, last = subscripts
    axis, run, slot = len(outer), last.run, last.slot
    n = memory.extents[axis]
    if not outer:

        def at_first() -> int:
            k: int = run()
            if 0 <= k < n:
                return k
            raise outside(memory, 0, k, span)

        return at_first
    if slot is not None and axis == 1 and outer[0].slot is not None:
        return _of_slots(memory, outer[0].slot, slot, frame, span)
    row = _index(memory, outer, frame, span)

    def at() -> int:
        j: int = row()
        k: int = run()
        if 0 <= k < n:
            return j * n + k
        raise outside(memory, axis, k, span)

    return at


def _of_slots(
    memory: ArrayObject, first: int, second: int, frame: list[Value], span: Span | None
) -> Callable[[], int]:
    """Two scalars, the most frequent form."""
    n, m = memory.extents[:2]

    def at() -> int:
        j: int = frame[first]
        k: int = frame[second]
        if 0 <= j < n and 0 <= k < m:
            return j * m + k
        raise outside(memory, 1, k, span) if 0 <= j < n else outside(memory, 0, j, span)

    return at
