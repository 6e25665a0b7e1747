"""How a function uses its names, whatever their scope."""

from collections.abc import Iterator
from itertools import chain
from typing import assert_never

from mdh.ir.syntax import Assignment, Block, Declaration, Element, For, Function, If, Name, Statement


def walked(statement: Statement | None) -> Iterator[Statement]:
    """The statement and everything inside it, with the parts of loop headers."""
    if statement is None:
        return
    yield statement
    match statement:
        case Declaration() | Assignment():
            pass
        case Block(body):
            yield from chain.from_iterable(walked(s) for s in body)
        case For(first, _, next_, body):
            yield from chain(walked(first), walked(next_), walked(body))
        case If(_, then, other):
            yield from chain(walked(then), walked(other))
        case _:
            assert_never(statement)


def assignments(function: Function) -> dict[str, int]:
    """The number of places that assign a scalar of this name; parameters and constants have none."""
    counts: dict[str, int] = {}
    for s in (*function.constants, *walked(function.body)):
        match s:
            case Assignment(Name(name), op):
                counts[name] = counts.get(name, 0) + (1 if op == "=" else 2)
            case Declaration(name, initial=initial) if initial is not None:
                counts[name] = counts.get(name, 0) + 1
            case _:
                pass
    return counts


def outer_counters(function: Function) -> frozenset[str]:
    """Names that are counters of loops which do not declare them."""
    found = set()
    for s in walked(function.body):
        match s:
            case For(first=Assignment(Name(name))):
                found.add(name)
            case _:
                pass
    return frozenset(found)


def written_arrays(function: Function) -> frozenset[str]:
    """Names of arrays whose elements the text assigns."""
    return frozenset(
        s.target.array
        for s in walked(function.body)
        if isinstance(s, Assignment) and isinstance(s.target, Element)
    )
