"""What is done to a function's names, whatever scope they are in."""

from mdh.ir.syntax import Assignment, Declaration, Element, ForStatement, Function, Name, walked


def assignments(function: Function) -> dict[str, int]:
    """How many places of the text give a scalar of this name a value; parameters and constants have none."""
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
    """Names that loops count with and do not declare."""
    found = set()
    for s in walked(function.body):
        match s:
            case ForStatement(first=Assignment(Name(name))):
                found.add(name)
            case _:
                pass
    return frozenset(found)


def written_arrays(function: Function) -> frozenset[str]:
    """Names of arrays that the text assigns elements of."""
    return frozenset(
        s.target.array
        for s in walked(function.body)
        if isinstance(s, Assignment) and isinstance(s.target, Element)
    )
