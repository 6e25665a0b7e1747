"""Faults planted in how records, guarded writes, and arrays local to loops are read. Programs from
NATURAL_FROM on find them."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from mdh.frontend import repair, turning, widening
from mdh.frontend.c import best, branches, declared_arrays
from mdh.frontend.c.scope import Rows
from mdh.frontend.statements import Assign
from mdh.ir.dtype import I32
from mdh.ir.expr import Const

Patch = tuple[Any, str, Any]


def _one_row(name: str, index: Any) -> Rows:
    """All iterations of the innermost loop share an array."""
    return Rows(name, (*index[:-1], Const(0, I32)))


def _nothing_before() -> list[Patch]:
    old = widening._begin

    def new(array: Any, *rest: Any) -> Assign:
        return old(replace(array, temp=True), *rest)

    return [(widening, "_begin", new)]


def _moved_back() -> list[Patch]:
    """What lies in front of an array is taken for its first element."""
    old = widening._shifted
    return [(widening, "_shifted", lambda e, by: old(e, max(0, by - 1)))]


def _without_middle() -> list[Patch]:
    old = turning._at_rows
    return [(turning, "_at_rows", lambda s, rows: [p for n, p in enumerate(old(s, rows)) if n != 1])]


NATURAL_FAULTS: dict[str, Callable[[], list[Patch]]] = {
    "iterations share what is local to them": lambda: [(declared_arrays, "Rows", _one_row)],
    "a wider array begins empty": _nothing_before,
    "a wider array is moved by one": _moved_back,
    "a record's values are read before it stores any": lambda: [
        (best, "_reads_new", lambda targets, values: False)
    ],
    "assignments of a branch move past what they depend on": lambda: [
        (branches, "conflict", lambda a, b: False)
    ],
    "the row at a counter is left out": _without_middle,
    "locals may hold what turns have changed": lambda: [
        (repair, "_may_be_held", lambda inside, turns, *, points: True)
    ],
}
