"""Faults planted in renaming and in the domains of loops whose ends vary. Programs from VARYING_FROM on find
them."""

from collections.abc import Callable
from typing import Any

from mdh.frontend import dependences, program, renaming
from mdh.frontend.c import varying
from mdh.ir.statement import TextAccess

Patch = tuple[Any, str, Any]


def _reads_first(first: Any, then: Any) -> bool:
    """Every read comes before every write."""
    access: TextAccess = first[1]
    return not access.write


def _no_copy_back() -> list[Patch]:
    old = renaming.Renaming.copy

    def new(self: Any, target: str, source: str, box: Any, turn: Any, place: int, span: Any) -> None:
        if not turn:
            old(self, target, source, box, turn, place, span)

    return [(renaming.Renaming, "copy", new)]


def _smaller_domain() -> list[Patch]:
    old = dependences.clauses_of

    def new(conds: Any, ranges: Any) -> Any:
        return tuple(tuple(f.shift(-1) for f in c) for c in old(conds, ranges))

    return [(dependences, "clauses_of", new)]


def _backwards() -> list[Patch]:
    """Pieces in the opposite order, without a proof."""
    return [
        (program, "in_order", lambda pieces, text: list(reversed(pieces))),
        (dependences, "broken_dependences", lambda *_: iter(())),
    ]


def _one_more() -> list[Patch]:
    """A loop whose end varies runs once more."""
    old = varying._at_least_zero
    return [(varying, "_at_least_zero", lambda f: old(f.shift(1)))]


VARYING_FAULTS: dict[str, Callable[[], list[Patch]]] = {
    "a snapshot is taken of what the nest has written": lambda: [(renaming, "meets_before", _reads_first)],
    "turns get rows of their own that they share": lambda: [
        (renaming, "written_first", lambda read, writes, depth: True)
    ],
    "what the last turn leaves is lost": _no_copy_back,
    "accesses are made nowhere": lambda: [(dependences, "clauses_of", lambda conds, ranges: ())],
    "domains are one too small": _smaller_domain,
    "pieces run backwards": _backwards,
    "loops whose ends vary run once more": _one_more,
}
