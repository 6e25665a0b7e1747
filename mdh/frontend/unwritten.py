"""Refuses reads of elements of a function's own array that no statement has stored anything in.

C leaves such a value undefined, so a program that reads it has no meaning that could be kept.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from mdh.diagnostics import Diagnostic, Failed, Label
from mdh.frontend.statements import Array, Assign, Statement, Use
from mdh.ir.affine import Affine, from_expr
from mdh.ir.clauses import EVERYWHERE, clauses_of, exact_clauses
from mdh.poly.sets import affine_text, domain_text, least_point
from mdh.poly.sets import before as earlier


def check_written(arrays: Mapping[str, Array], statements: Sequence[Statement], uses: Sequence[Use]) -> None:
    """Raises Failed C115 for the first read of each array that surely has no value: the read is made, and no
    statement that may run before it writes the element. Subscripts and conditions that are data may have any
    value, so a write of theirs may reach every element, and a read of theirs is taken to be right."""
    wrong = dict[str, Failed]()
    own = {n for n, a in arrays.items() if a.temp and a.values is None}
    written: dict[str, list[Use]] = {n: [] for n in own}
    for s in statements:
        # uses that write lack the conditions: where they do not hold, the statement keeps the old value
        conds = s.conds if isinstance(s, Assign) else ()
        for u in s.uses:
            if u.write and u.load.buffer in own:
                written[u.load.buffer].append(replace(u, conds=conds))
    for u in uses:
        name = u.load.buffer
        if not u.write and name in own - wrong.keys():
            before = [w for w in written[name] if _may_precede(w, u)]
            if not any(_whole(w, arrays[name]) and not _together(w, u) for w in before):
                try:
                    _check(u, before)
                except Failed as failed:
                    wrong[name] = failed
    if wrong:
        raise Failed(*(d for failed in wrong.values() for d in failed.diagnostics))


def _may_precede(write: Use, read: Use) -> bool:
    """A loop around both may run the write in an earlier iteration."""
    return write.position < read.position or _together(write, read)


def _together(write: Use, read: Use) -> bool:
    return bool(write.loops and read.loops) and write.loops[0] == read.loops[0]


def _whole(write: Use, array: Array) -> bool:
    """Whether the write surely reaches every element: each subscript is the counter of another loop, and that
    loop runs over the whole extent."""
    plain = {Affine.var(v.name): v.extent for v in write.loops}
    found = [from_expr(e) for e in write.load.index]
    alone = len({f for f in found if f is not None}) == len(found)
    return alone and not write.conds and tuple(plain.get(f) for f in found if f is not None) == array.shape


def _check(read: Use, before: Sequence[Use]) -> None:
    index = [from_expr(e) for e in read.load.index]
    extents = {v.name: v.extent for v in read.loops}
    domain = exact_clauses(read.conds, extents)
    functions = [f for f in index if f is not None]
    names = {n for f in [*functions, *(f for c in domain or () for f in c)] for n in f.names}
    if domain is None or len(functions) < len(index) or not names <= extents.keys():
        return
    place = {v.name: f"i{k}" for k, v in enumerate(read.loops)}
    terms = [f"0 <= {place[n]} < {extent}" for n, extent in extents.items()]
    terms += [f"({domain_text(domain, place)})"] if domain != EVERYWHERE else []
    element = [affine_text(f, place) for f in functions]
    terms += [f"not ({_reaches(w, element, read, place)})" for w in before]
    at = least_point(f"{{ [{', '.join(place.values())}] : {' and '.join(terms) or '1 = 1'} }}")
    if at is not None:
        raise Failed(_diagnostic(read, functions, dict(zip(extents, at, strict=True))))


def _reaches(write: Use, element: Sequence[str], read: Use, at: Mapping[str, str]) -> str:
    """That the write may reach an element before it is read: the condition in isl's text. at: the iteration
    that reads."""
    extents = {v.name: v.extent for v in write.loops}
    index = [from_expr(e) for e in write.load.index]
    domain = clauses_of(write.conds, extents)
    used = sorted({n for f in [*_known(index), *(f for c in domain for f in c)] for n in f.names})
    place = {n: f"w{k}" for k, n in enumerate(dict.fromkeys([*extents, *used]))}
    terms = [f"0 <= {place[n]} < {extent}" for n, extent in extents.items()]
    terms += [f"{affine_text(f, place)} = {e}" for f, e in zip(index, element, strict=True) if f is not None]
    terms.append(f"({domain_text(domain, place)})")
    common = [v.name for v, w in zip(write.loops, read.loops, strict=False) if v == w]
    now, then = [place[n] for n in common], [at[n] for n in common]
    terms.append(f"({earlier(now, then, equal=write.position < read.position)})")
    inner = " and ".join(terms)
    return f"exists {', '.join(place.values())} : {inner}" if place else inner


def _known(index: Sequence[Affine | None]) -> Iterator[Affine]:
    return (f for f in index if f is not None)


def _diagnostic(read: Use, index: Sequence[Affine], point: Mapping[str, int]) -> Diagnostic:
    element = read.load.buffer + "".join(f"[{f.evaluate(point)}]" for f in index)
    if read.span.source.text[read.span.end : read.span.end + 1] != "[":
        # a local that lives across loops
        element = read.span.text
    at = {v.cname: v.at(point) for v in read.loops}
    where = ", ".join(f"{n} = {v}" for n, v in at.items())
    return Diagnostic(
        "C115",
        f"`{element}` has no value here" + (f" at {where}" if where else ""),
        (Label(read.span, "read here"),),
        help="store something in every element that is read first",
        witness=(("element", element), ("iteration", at)),
    )
