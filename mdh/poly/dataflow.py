"""Which values an access may see: what runs before it, and what surely does in the same turn of outer loops.

Source: Feautrier, "Dataflow analysis of array and scalar references", IJPP 20(1), 1991. Here are only the
questions that renaming asks, and not the last write of each instance.
"""

from collections.abc import Iterable, Sequence

import islpy as isl

from mdh.ir.statement import Statement, TextAccess
from mdh.poly.sets import affine_text, before, domain_text, least_pair

Access = tuple[Statement, TextAccess]


def meets_before(first: Access, then: Access) -> bool:
    """Whether an instance of the first access runs before one of the other in the same turn of loops of the
    program, and touches its element."""
    one = {v.name: f"a{k}" for k, v in enumerate(first[0].loops)}
    two = {v.name: f"b{k}" for k, v in enumerate(then[0].loops)}
    return least_pair(one, two, _terms(first, then, one, two, 0)) is not None


def written_first(read: Access, writes: Sequence[Access], depth: int) -> bool:
    """Whether every instance of `read` comes after a write of its element in the same turn of the outermost
    `depth` loops. The domains of the writes must be exact, and not only limits."""
    b, y = read
    two = {v.name: f"b{k}" for k, v in enumerate(b.loops)}
    space = ", ".join(two.values())
    box = [f"0 <= {two[v.name]} < {v.extent}" for v in b.loops]
    left = isl.Set(f"{{ [{space}] : {' and '.join([*box, domain_text(y.domain, two)])} }}")
    for write in writes:
        if None in write[1].index or None in y.index:
            continue
        one = {v.name: f"a{k}" for k, v in enumerate(write[0].loops)}
        terms = " and ".join(f"({t})" for t in _terms(write, read, one, two, depth))
        hidden = f"exists {', '.join(one.values())} : " if one else ""
        left = left.subtract(isl.Set(f"{{ [{space}] : {hidden}{terms} }}"))
    return bool(left.is_empty())


def last_box(
    writes: Sequence[Access], exact: Sequence[Access], depth: int, shape: tuple[int, ...]
) -> tuple[tuple[int, int], ...] | None:
    """The box of elements that the last turn of the outermost `depth` loops writes; None if it is no box, or
    if other turns write more. exact: the writes whose domain is exact."""
    dims = [f"e{k}" for k in range(len(shape))]
    every = last = isl.Set(f"{{ [{', '.join(dims)}] : 1 = 0 }}")
    for a, x in writes:
        turns = {v.name for v in a.loops if v.held}
        if None in x.index or any(f.names & turns for c in x.domain for f in c):
            return None
        names = {v.name: f"a{k}" for k, v in enumerate(a.loops)}
        terms = [f"0 <= {names[v.name]} < {v.extent}" for v in a.loops]
        terms.append(domain_text(x.domain, names))
        terms += [
            f"{affine_text(f, names)} = {d}" for f, d in zip(x.index, dims, strict=True) if f is not None
        ]
        turn = [f"{names[v.name]} = {v.extent - 1}" for v in a.loops[:depth]]
        every = every.union(_elements(dims, names.values(), terms))
        if (a, x) in exact:
            last = last.union(_elements(dims, names.values(), [*terms, *turn]))
    if last.is_empty() or not every.is_subset(last):
        return None
    low, high = (
        tuple(int(f(k).to_python()) for k in range(len(dims))) for f in (last.dim_min_val, last.dim_max_val)
    )
    box = isl.Set(
        "{ ["
        + ", ".join(dims)
        + "] : "
        + " and ".join(f"{a} <= {d} <= {b}" for a, d, b in zip(low, dims, high, strict=True))
        + " }"
    )
    return tuple(zip(low, high, strict=True)) if box.is_subset(last) else None


def _elements(dims: Sequence[str], hidden: Iterable[str], terms: Sequence[str]) -> isl.Set:
    held = " and ".join(f"({t})" for t in terms)
    names = ", ".join(hidden)
    return isl.Set(f"{{ [{', '.join(dims)}] : {f'exists {names} : ' if names else ''}{held} }}")


def _terms(first: Access, then: Access, one: dict[str, str], two: dict[str, str], depth: int) -> list[str]:
    """The first access runs before the other one, touches its element, and is in the same turn of the
    outermost `depth` loops, and of loops of the program."""
    (a, x), (b, y) = first, then
    both = [v for v, w in zip(x.loops, y.loops, strict=False) if v == w]
    common = [v.name for v in both]
    terms = [f"0 <= {one[v.name]} < {v.extent}" for v in a.loops]
    terms += [f"0 <= {two[v.name]} < {v.extent}" for v in b.loops]
    terms += [domain_text(x.domain, one), domain_text(y.domain, two)]
    terms += [
        f"{affine_text(f, one)} = {affine_text(g, two)}"
        for f, g in zip(x.index, y.index, strict=True)
        if f is not None and g is not None
    ]
    terms += [f"{one[v.name]} = {two[v.name]}" for k, v in enumerate(both) if k < depth or v.held]
    ordered = (x.position, x.write) < (y.position, y.write)
    terms.append(before([one[n] for n in common], [two[n] for n in common], equal=ordered))
    return terms
