"""Array elements: checks subscripts and computes the flat index. Common forms have faster closures."""

from collections.abc import Callable, Sequence
from typing import Protocol

from mdh.diagnostics import Failed, fail
from mdh.reference.interpreter.arithmetic import Value
from mdh.reference.interpreter.memory import ArrayObject
from mdh.reference.interpreter.scope import UnknownMeaning
from mdh.source import Span


class Subscript(Protocol):
    """The parts of `expressions.Code` that a subscript needs."""

    @property
    def run(self) -> Callable[[], Value]: ...

    @property
    def slot(self) -> int | None: ...


def outside(memory: ArrayObject, subscripts: Sequence[int], span: Span | None) -> Failed:
    """The diagnostic for the first subscript that leaves its dimension."""
    pairs = enumerate(zip(subscripts, memory.extents, strict=True), 1)
    axis, (bad, n) = next((a, (k, n)) for a, (k, n) in pairs if not 0 <= k < n)
    return fail(
        "A130",
        f"index {bad} lies outside dimension {axis} of `{memory.name}`, which has {n} elements",
        span,
        help="give index arrays whose values lie inside the array that they index",
    )


def element_index(
    memory: ArrayObject, subscripts: Sequence[Subscript], frame: list[Value], span: Span | None
) -> Callable[[], int]:
    """The flat index. The closure raises Failed A130 if a subscript leaves its dimension."""
    if len(subscripts) != len(memory.extents):
        raise UnknownMeaning(f"{len(subscripts)} subscripts of {memory.name}")
    if len(subscripts) == 1:
        return _one(memory, subscripts[0], frame, span)
    if len(subscripts) == 2:
        return _two(memory, subscripts[0], subscripts[1], frame, span)
    runs, extents = tuple(s.run for s in subscripts), memory.extents
    if len(subscripts) == 3:
        return _three(memory, runs, span)
    if len(subscripts) == 4:
        return _four(memory, runs, span)

    def many() -> int:
        at = 0
        for run, n in zip(runs, extents, strict=True):
            k = run()
            if not 0 <= k < n:
                raise outside(memory, [r() for r in runs], span)
            at = at * n + k
        return at

    return many


def _one(memory: ArrayObject, a: Subscript, frame: list[Value], span: Span | None) -> Callable[[], int]:
    n, run, slot = memory.extents[0], a.run, a.slot

    def of_slot() -> int:
        k: int = frame[slot]  # type: ignore[index]
        if 0 <= k < n:
            return k
        raise outside(memory, [k], span)

    def of_any() -> int:
        k: int = run()
        if 0 <= k < n:
            return k
        raise outside(memory, [k], span)

    return of_any if slot is None else of_slot


def _two(
    memory: ArrayObject, a: Subscript, b: Subscript, frame: list[Value], span: Span | None
) -> Callable[[], int]:
    (n, m), x, y = memory.extents, a.run, b.run
    first, second = a.slot, b.slot

    def of_slots() -> int:
        j, k = frame[first], frame[second]  # type: ignore[index]
        if 0 <= j < n and 0 <= k < m:
            return j * m + k  # type: ignore[no-any-return]
        raise outside(memory, [j, k], span)

    def of_any() -> int:
        j, k = x(), y()
        if 0 <= j < n and 0 <= k < m:
            return j * m + k  # type: ignore[no-any-return]
        raise outside(memory, [j, k], span)

    return of_any if first is None or second is None else of_slots


def _three(
    memory: ArrayObject, runs: tuple[Callable[[], Value], ...], span: Span | None
) -> Callable[[], int]:
    (x, y, z), (n, m, o) = runs, memory.extents

    def at() -> int:
        i, j, k = x(), y(), z()
        if 0 <= i < n and 0 <= j < m and 0 <= k < o:
            return (i * m + j) * o + k  # type: ignore[no-any-return]
        raise outside(memory, [i, j, k], span)

    return at


def _four(memory: ArrayObject, runs: tuple[Callable[[], Value], ...], span: Span | None) -> Callable[[], int]:
    (x, y, z, w), (n, m, o, p) = runs, memory.extents

    def at() -> int:
        i, j, k, q = x(), y(), z(), w()
        if 0 <= i < n and 0 <= j < m and 0 <= k < o and 0 <= q < p:
            return ((i * m + j) * o + k) * p + q  # type: ignore[no-any-return]
        raise outside(memory, [i, j, k, q], span)

    return at


def element_load(
    memory: ArrayObject, subscripts: Sequence[Subscript], frame: list[Value], span: Span | None
) -> Callable[[], Value]:
    """The element's value."""
    data = memory.data
    slots = [s.slot for s in subscripts]
    if any(s is None for s in slots) or len(slots) != len(memory.extents) or len(slots) > 2:
        at = element_index(memory, subscripts, frame, span)
        return lambda: data[at()]
    if len(slots) == 1:
        (n,), (slot,) = memory.extents, slots

        def one() -> Value:
            k = frame[slot]  # type: ignore[index]
            if 0 <= k < n:
                return data[k]
            raise outside(memory, [k], span)

        return one
    (n, m), (first, second) = memory.extents, slots

    def two() -> Value:
        j, k = frame[first], frame[second]  # type: ignore[index]
        if 0 <= j < n and 0 <= k < m:
            return data[j * m + k]
        raise outside(memory, [j, k], span)

    return two
