"""Proves by isl that the stages keep every dependence of the text, or finds two statement instances.

Two instances depend on each other if they access one element and at least one writes it (flow, anti and
output dependences). The text orders them. Stages keep that order if

- the earlier one belongs to an earlier stage, or
- both belong to one point of one result, the phases are in that order, and the value goes through the
  accumulator if the later one reads what the earlier one writes (an epilogue may not write what updates read
  even then, since the units that share a reduction have no common time), or
- both are updates of one accumulator, whose operator takes them in any order (in C's order for a prefix sum).

All other dependent instances have no order in the program, or the wrong one, because points of a stage run in
parallel.

Turns of a loop of the program (`Placement.turns`) run one after the other, and in each of them the stages
inside in order. So stages keep the order of two instances in different turns if the earlier one is in the
earlier turn, and instances of one turn are compared as above. A loop of the program that is an outer loop of
the text for both keeps that order by itself. Others, as after an interchange of loops, are asked.

Accesses are made in their domains alone. But where the condition of a write is false, the stage writes the
old value. Nobody sees that unless another instance of the same stage writes the element meanwhile. So two
writes of one stage count everywhere.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

from mdh.ir.affine import Affine
from mdh.ir.statement import Phase, PlacedStatement, Placement, TextAccess
from mdh.poly.sets import Names, Point, affine_text, before, domain_text, least_pair
from mdh.poly.touching import never_meet

Need = tuple[tuple[Affine, Affine], ...]
"""Pairs of coordinates of two instances: of the earlier one and of the later one."""


@dataclass(frozen=True, slots=True)
class Broken:
    """A lost dependence. In the text, the instance `at` of the statement `first` comes before `then` of
    `second`, but not in the stages, although `access` and `other` touch one element."""

    first: PlacedStatement
    access: TextAccess
    at: Point
    second: PlacedStatement
    other: TextAccess
    then: Point


def broken_dependences(
    first: Sequence[PlacedStatement], second: Sequence[PlacedStatement] | None = None
) -> Iterator[Broken]:
    """Every pair of accesses whose order is lost, with one pair of instances each. If there is none, the
    order is proven.

    second: the statements that come later in the text, if not all pairs of `first` are to be checked.
    """
    one = [_sorted(s) for s in first]
    other = one if second is None else [_sorted(s) for s in second]
    users: dict[str, list[int]] = {}
    for n, b in enumerate(other):
        for buffer in b.kinds:
            users.setdefault(buffer, []).append(n)
    for a in one:
        # only statements that share an array depend on each other
        for n in sorted({n for buffer in a.kinds for n in users.get(buffer, ())}):
            if _in_question(a.statement.placement, other[n].statement.placement) and _any_lost(a, other[n]):
                yield from _between(a.statement, other[n].statement)


def _in_question(p: Placement, q: Placement) -> bool:
    """Whether something of q may run before something of p: in an earlier stage, or in an earlier turn."""
    return p.stage >= q.stage or bool(_shared(p, q))


def _shared(p: Placement, q: Placement) -> Need:
    """For each loop of the program around both, the number of its turn for an instance of each."""
    pairs = zip(p.turns, q.turns, strict=False)
    return tuple((f, g) for (_, f), (_, g) in takewhile(lambda each: each[0][0] == each[1][0], pairs))


@dataclass(frozen=True, slots=True)
class _Kind:
    """Accesses of a statement that differ only in their places, from `least` to `most`."""

    access: TextAccess
    carried: bool
    least: int
    most: int


@dataclass(frozen=True, slots=True)
class _Sorted:
    """A statement with its accesses grouped by kind: buffer -> kinds."""

    statement: PlacedStatement
    kinds: dict[str, tuple[_Kind, ...]]


def _sorted(s: PlacedStatement) -> _Sorted:
    """Groups accesses into kinds. A condition before many branches is read once in each; these accesses are
    one kind."""
    found: dict[tuple[object, ...], list[TextAccess]] = {}
    for n, x in enumerate(s.statement.accesses):
        key = (x.buffer, x.index, x.write, x.loops, x.domain, n in s.placement.carried)
        found.setdefault(key, []).append(x)
    kinds: dict[str, list[_Kind]] = {}
    for (*_, carried), like in found.items():
        places = [x.position for x in like]
        kind = _Kind(like[0], carried is True, min(places), max(places))
        kinds.setdefault(like[0].buffer, []).append(kind)
    return _Sorted(s, {buffer: tuple(of) for buffer, of in kinds.items()})


def _any_lost(a: _Sorted, b: _Sorted) -> bool:
    """Whether a dependence of b on a is lost. Asked once for two kinds and each order of their places."""
    p, q = a.statement.placement, b.statement.placement
    for buffer in a.kinds.keys() & b.kinds.keys():
        for k in a.kinds[buffer]:
            for m in b.kinds[buffer]:
                if not (k.access.write or m.access.write) or never_meet(k.access.index, m.access.index):
                    continue
                both = k.carried and m.carried and p.accumulator == q.accumulator
                joins = m.carried and not k.carried
                need = _kept_at_one_point(p, q, k.access, m.access, carried=both, joins=joins)
                for ordered in _orders(k, m):
                    if _lost(a.statement, b.statement, k.access, m.access, need, ordered=ordered):
                        return True
    return False


def _orders(k: _Kind, m: _Kind) -> Iterator[bool]:
    """Whether an access of one kind stands before one of the other in the text: True, False or both."""
    if (k.least, k.access.write) < (m.most, m.access.write):
        yield True
    if (k.most, k.access.write) >= (m.least, m.access.write):
        yield False


def _between(a: PlacedStatement, b: PlacedStatement) -> Iterator[Broken]:
    """The dependences of b on a that are lost."""
    for m, x in enumerate(a.statement.accesses):
        for n, y in enumerate(b.statement.accesses):
            if x.buffer != y.buffer or not (x.write or y.write):
                continue
            p, q = a.placement, b.placement
            both = m in p.carried and n in q.carried and p.accumulator == q.accumulator
            ordered = (x.position, x.write) < (y.position, y.write)
            joins = n in q.carried and m not in p.carried
            need = _kept_at_one_point(p, q, x, y, carried=both, joins=joins)
            found = _lost(a, b, x, y, need, ordered=ordered)
            if found is not None:
                yield Broken(a, x, found[0], b, y, found[1])


def _kept_at_one_point(
    p: Placement, q: Placement, x: TextAccess, y: TextAccess, *, carried: bool, joins: bool
) -> Need | None:
    """What must be equal for two instances so that the order of x before y is kept; None if it never is.
    joins: y goes to an accumulator, and x to memory."""
    if p.stage != q.stage:
        # a statement that two stages carry out has an accumulator in each
        return () if carried else None
    if p.result != q.result:
        return None
    if carried:
        return _coordinates(p, q, scanned=False) if p.phase <= q.phase or p.last else None
    if x.write or p.phase > q.phase:
        return None
    if joins and p.phase == Phase.UPDATE == q.phase:
        # units that share a sum may add to its element while others still read
        return None
    if p.phase == Phase.START < q.phase and any(p.scanned):
        # points of a prefix sum run in any order, and any of them may read the start
        return None
    if p.phase == Phase.UPDATE < q.phase:
        # each unit that shares the reduction of a point reads at its own time, and one of them writes
        return None
    return _coordinates(p, q, scanned=True)


def _coordinates(p: Placement, q: Placement, *, scanned: bool) -> Need:
    pairs = zip(p.point, q.point, p.scanned, strict=True)
    return tuple((f, g) for f, g, along in pairs if scanned or not along)


def _lost(
    a: PlacedStatement, b: PlacedStatement, x: TextAccess, y: TextAccess, need: Need | None, *, ordered: bool
) -> tuple[Point, Point] | None:
    """Points of a and b whose accesses x and y touch the same element, x first in time, and which `need`
    separates; None if there are none.

    ordered: x stands before y in the text.
    """
    common = [v.name for v, w in zip(x.loops, y.loops, strict=False) if v == w]
    turns = _shared(a.placement, b.placement)
    outer = zip(turns, common, strict=False)
    if len(common) < len(turns) or not all(f == g == Affine.var(n) for (f, g), n in outer):
        found = _pair(a, b, x, y, [_later_turn(turns)], common, ordered=ordered, everywhere=False)
        if found is not None:
            return found
    if a.placement.stage < b.placement.stage:
        return None
    equal = [(f.terms[0][0], g.terms[0][0]) for f, g in turns if _alike(f, g)]
    pinned = {*_pinned(x, y), *equal}
    if not ordered and all((name, name) in pinned for name in common):
        return None
    if need is not None and all(_holds(f, g, pinned) for f, g in need):
        return None
    apart = [] if need is None else [lambda u, v: _differs(need, u, v)]
    everywhere = x.write and y.write and a.placement.stage == b.placement.stage
    same = [] if not turns else [lambda u, v: _equal(turns, u, v)]
    return _pair(a, b, x, y, [*same, *apart], common, ordered=ordered, everywhere=everywhere)


Term = Callable[[Names, Names], str]
"""A constraint in isl's text, for the variables of two instances."""


def _pair(
    a: PlacedStatement, b: PlacedStatement, x: TextAccess, y: TextAccess, more: Sequence[Term],
    common: Sequence[str], *, ordered: bool, everywhere: bool,
) -> tuple[Point, Point] | None:  # fmt: skip
    """Instances of a and b with `more` whose accesses touch the same element, x first in the text.

    common: the loops of the text around both accesses. everywhere: accesses count outside of their domains.
    """
    first = {v.name: f"a{k}" for k, v in enumerate(a.statement.loops)}
    second = {v.name: f"b{k}" for k, v in enumerate(b.statement.loops)}
    terms = [f"0 <= {first[v.name]} < {v.extent}" for v in a.statement.loops]
    terms += [f"0 <= {second[v.name]} < {v.extent}" for v in b.statement.loops]
    terms += [
        f"{affine_text(f, first)} = {affine_text(g, second)}"
        for f, g in zip(x.index, y.index, strict=True)
        if f is not None and g is not None
    ]
    terms.append(before([first[n] for n in common], [second[n] for n in common], equal=ordered))
    if not everywhere:
        free = sorted({n for d in (x.domain, y.domain) for c in d for f in c for n in f.names})
        fixed = {n: f"n{k}" for k, n in enumerate(free)}
        kept = [domain_text(z.domain, {**fixed, **names}) for z, names in ((x, first), (y, second))]
        others = [fixed[n] for n in free if n not in first and n not in second]
        whole = " and ".join(f"({t})" for t in kept)
        terms.append(f"exists {', '.join(others)} : {whole}" if others else whole)
    if a.number == b.number:
        pairs = zip(first.values(), second.values(), strict=True)
        terms.append(" or ".join(f"{p} != {q}" for p, q in pairs) or "1 = 0")
    terms += [term(first, second) for term in more]
    return least_pair(first, second, terms)


def _differs(pairs: Need, first: Names, second: Names) -> str:
    return " or ".join(f"{affine_text(f, first)} != {affine_text(g, second)}" for f, g in pairs) or "1 = 0"


def _equal(pairs: Need, first: Names, second: Names) -> str:
    return " and ".join(f"{affine_text(f, first)} = {affine_text(g, second)}" for f, g in pairs)


def _later_turn(turns: Need) -> Term:
    """The instance that comes first in the text runs in a later turn."""

    def term(first: Names, second: Names) -> str:
        now = [affine_text(f, first) for f, _ in turns]
        then = [affine_text(g, second) for _, g in turns]
        return before(then, now, equal=False)

    return term


def _alike(f: Affine, g: Affine) -> bool:
    """Whether equal values of both functions mean equal values of their only variables."""
    return f.const == g.const and len(f.terms) == len(g.terms) == 1 and f.terms[0][1] == g.terms[0][1]


def _pinned(x: TextAccess, y: TextAccess) -> Iterator[tuple[str, str]]:
    """Loop variables of the two instances that are equal wherever the accesses touch the same element."""
    for f, g in zip(x.index, y.index, strict=True):
        if f is not None and g is not None and _alike(f, g):
            yield f.terms[0][0], g.terms[0][0]


def _holds(f: Affine, g: Affine, pinned: set[tuple[str, str]]) -> bool:
    """Whether f of one instance equals g of the other, because their variables are equal."""
    if f.const != g.const or len(f.terms) != len(g.terms):
        return False
    return all(c == d and (v, w) in pinned for (v, c), (w, d) in zip(f.terms, g.terms, strict=True))
