"""Checks pieces against the dependences of the text. If one is not kept, pieces are not merged, or the
program is refused."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from graphlib import CycleError, TopologicalSorter

from mdh.diagnostics import Diagnostic, Failed, Label
from mdh.frontend.pieces import KNOWN, Piece, PieceMember, carried, meeting_text
from mdh.frontend.statements import Assign, Best, Statement, Use, text_loops, turns_around
from mdh.frontend.updates import guarded, operators_of
from mdh.ir.affine import Affine, from_expr
from mdh.ir.clauses import clauses_of
from mdh.ir.expr import Expr, Load, Select, loads, walk
from mdh.ir.program import DimKind
from mdh.ir.statement import LoopVar, Phase, PlacedStatement, Placement, TextAccess
from mdh.ir.statement import Statement as Accesses
from mdh.poly.legality import Broken, broken_dependences

MOST_SORTED = 24
"""Pieces of a nest that another order is looked for. Each pair of them is asked."""
Groups = Sequence[Sequence[Piece]]
"""The pieces of each stage."""


@dataclass(frozen=True, slots=True)
class Written:
    """A statement of the text with its accesses. elements: each access as an expression."""

    statement: Statement
    accesses: Accesses
    elements: tuple[Load, ...]


def written(s: Statement) -> Written:
    """The remaining accesses of a statement; a branch that is never taken reads nothing."""
    read = set(_loads(s))
    # each branch of a condition repeats its reads
    once = {id(u): u for u in s.uses}.values()
    uses = [u for u in once if u.write or u.load in read]
    accesses = tuple(_access(u, s) for u in uses)
    blocks = tuple(h.turns for h in s.held if h.block > 1)
    return Written(s, Accesses((*text_loops(s), *blocks), accesses, s.span), tuple(u.load for u in uses))


def _access(u: Use, s: Statement) -> TextAccess:
    """A read is made where its conditions hold, and a write where the statement's hold."""
    conds = s.conds if u.write and isinstance(s, Assign) else u.conds
    ranges = {v.name: v.extent for v in (*u.loops, *s.loops, *turns_around(s))}
    number = _numbers(s)
    bounds = tuple(f for h in s.held for f in h.bounds)
    domain = tuple((*(f.substitute(number) for f in c), *bounds) for c in clauses_of(conds, ranges))
    index = tuple(None if f is None else f.substitute(number) for f in map(from_expr, u.load.index))
    return TextAccess(u.load.buffer, index, u.write, u.loops, u.position, u.span, domain)


def _numbers(s: Statement) -> dict[str, Affine]:
    """What loops and turns that the text does not have are in terms of those that it has, and of blocks."""
    out = {h.turns.name: h.number for h in s.held}
    return out | {h.inner: h.within for h in s.held if h.block > 1}


def turns_of(s: Statement) -> tuple[tuple[str, Affine], ...]:
    """The turns in which the statement runs, as `Placement` has them."""
    number = _numbers(s)
    return tuple((h.turns.name, number[h.turns.name]) for h in s.held)


def check_dependences(groups: Groups, text: Sequence[Written]) -> tuple[PlacedStatement, ...]:
    """Where the statements are carried out. Raises C150 if a dependence of the text is not kept."""
    found = tuple(
        _placed(stage, result, piece, member, text[member.number])
        for stage, group in enumerate(groups)
        for result, piece in enumerate(group)
        for member in piece.members
    )
    for broken in broken_dependences(found):
        raise Failed(_refusal(broken, text))
    return found


def in_order(pieces: Sequence[Piece], text: Sequence[Written]) -> Sequence[Piece]:
    """The pieces, each a stage, in an order that keeps the dependences of the text: that of the text if it
    does. Raises C150 if there is none."""
    try:
        check_dependences([[p] for p in pieces], text)
    except Failed as failed:
        try:
            found = [p for nest in _nests(pieces, text) for p in _sorted(nest, text)]
            check_dependences([[p] for p in found], text)
        except (CycleError, Failed):
            raise failed from None
        return found
    return pieces


def _nests(pieces: Sequence[Piece], text: Sequence[Written]) -> Iterator[list[Piece]]:
    """Neighbours in one loop. Nests follow one another as they do in the text."""
    nest: list[Piece] = []
    for p in pieces:
        s = text[p.accumulator].statement
        first = text[nest[0].accumulator].statement if nest else s
        if nest and not (s.loops and _nest_of(s) == _nest_of(first)):
            yield nest
            nest = []
        nest.append(p)
    if nest:
        yield nest


def _nest_of(s: Statement) -> tuple[LoopVar, ...]:
    return (*turns_around(s), *s.loops[:1])


def _sorted(nest: list[Piece], text: Sequence[Written]) -> list[Piece]:
    """The pieces of a nest in an order of their dependences. Raises CycleError if there is none."""
    if not 1 < len(nest) <= MOST_SORTED:
        return nest
    numbers = range(len(nest))
    sooner = {n: [m for m in numbers if m != n and _follows(nest[m], nest[n], text)] for n in numbers}
    return [nest[n] for n in TopologicalSorter(sooner).static_order()]


def _follows(first: Piece, then: Piece, text: Sequence[Written]) -> bool:
    """Whether an instance in `then` depends on one in `first`, which comes before it in the text."""
    if not _share(first, then):
        return False
    a = [_placed(1, 0, first, m, text[m.number]) for m in first.members]
    b = [_placed(0, 0, then, m, text[m.number]) for m in then.members]
    return next(broken_dependences(a, b), None) is not None


def keeps(pieces: Sequence[Piece], changed: Piece, text: Sequence[Written]) -> bool:
    """Whether `changed`, one of the pieces, carries out all its statements and keeps their dependences."""
    if len({turns_around(text[m.number].statement) for m in changed.members}) > 1:
        # what is done once is not done in each turn
        return False
    if not all(_covers(changed, m, text[m.number].statement.loops) for m in changed.members):
        return False
    near = [p is changed or _share(p, changed) for p in pieces]
    own: list[PlacedStatement] = []
    others: list[PlacedStatement] = []
    for stage, p in enumerate(pieces):
        if near[stage]:
            into = own if p is changed else others
            into.extend(_placed(stage, 0, p, m, text[m.number]) for m in p.members)
    return next(_between(own, others), None) is None


def _covers(piece: Piece, member: PieceMember, loops: Sequence[LoopVar]) -> bool:
    """Whether instances of a start or an epilogue and points of the piece correspond one to one."""
    if member.phase == Phase.UPDATE or member.again:
        return True
    kept = [(v, k) for v, k in zip(piece.loops, piece.kinds, strict=True) if k is not DimKind.PW]
    points = [(f, v) for f, (v, k) in zip(member.point, kept, strict=True) if k is DimKind.CC]
    pairs = {f.terms: v.extent for f, v in points if f.const == 0}
    return len(pairs) == len(points) and pairs == {((v.name, 1),): v.extent for v in loops}


def _carried(w: Written, elements: frozenset[Load]) -> frozenset[int]:
    """Numbers of the accesses to `elements` in all loops of the statement.

    A local that was set outside of some of these loops holds an older value, so its access goes to memory.
    """
    pairs = enumerate(zip(w.accesses.accesses, w.elements, strict=True))
    whole = text_loops(w.statement)
    return frozenset(k for k, (a, x) in pairs if x in elements and a.loops == whole)


def _reads_alone(w: Written, carried: frozenset[Load]) -> Written:
    """The statement without what it writes, and without what the accumulator holds."""
    held = _carried(w, carried)
    pairs = enumerate(zip(w.accesses.accesses, w.elements, strict=True))
    kept = [(a, x) for k, (a, x) in pairs if not a.write and k not in held]
    accesses = replace(w.accesses, accesses=tuple(a for a, _ in kept))
    return replace(w, accesses=accesses, elements=tuple(x for _, x in kept))


def _share(p: Piece, q: Piece) -> bool:
    """Whether one of them writes an array that the other one uses too."""
    a, b = p.writes, q.writes
    return bool(a & (b | q.reads) or b & p.reads)


def _between(own: list[PlacedStatement], others: list[PlacedStatement]) -> Iterator[Broken]:
    yield from broken_dependences(own)
    yield from broken_dependences(own, others)
    yield from broken_dependences(others, own)


def _placed(stage: int, result: int, piece: Piece, member: PieceMember, w: Written) -> PlacedStatement:
    kept = [k for k in piece.kinds if k is not DimKind.PW]
    if member.again:
        w = _reads_alone(w, member.carried)
    return PlacedStatement(
        member.number,
        w.accesses,
        Placement(
            stage,
            result,
            member.phase,
            member.point,
            tuple(k is DimKind.PS for k in kept),
            _carried(w, member.carried),
            piece.accumulator,
            member.last,
            turns_of(w.statement),
        ),
    )


def _loads(s: Statement) -> Iterator[Load]:
    """The loads of the statement as it was lifted, without those of branches that are never taken."""
    whole: tuple[Expr, ...] = (
        (*s.targets, *s.values) if isinstance(s, Best) else (s.value, *s.target.index, *s.conds)
    )
    for e in whole:
        yield from loads(e)


def _refusal(b: Broken, text: Sequence[Written]) -> Diagnostic:
    first, second = text[b.first.number].statement, text[b.second.number].statement
    if b.first.number != b.second.number:
        where = meeting_text((b.at, b.then), first.loops, second.loops)
        what = f"`{b.access.buffer}` carries values from one iteration to later ones"
        if first.loops == second.loops and b.at == b.then:
            verbs = ["overwrites" if a.write else "reads" for a in (b.access, b.other)]
            what = f"one of these statements {verbs[0]} `{b.access.buffer}` and the other {verbs[1]} it"
            what += ", and no order of two loops keeps that"
        return carried(what, first.span, where, more=(Label(second.span, "and this statement"),))
    where = meeting_text((b.at, b.then), first.loops, first.loops)
    if b.access.index == b.other.index and isinstance(first, Assign):
        headline, help_ = _twice(first)
        return carried(headline, first.span, where, help_)
    read = b.other if b.access.write else b.access
    more = (Label(read.span, "read here"),) if read.span.start > first.span.start else ()
    what = f"`{read.buffer}`: this statement reads an element that another iteration writes"
    return carried(what, first.span, where, more=more)


def _twice(s: Assign) -> tuple[str, str]:
    """Why several writes of one element are no reduction, and what would work."""
    me, name = s.target, s.target.buffer
    ops = operators_of(me, guarded(me, s.value, s.conds))
    if len(ops) > 1:
        by = [f"by `{op}`" for op in ops if op != "="] + ["assigned anew"] * ("=" in ops)
        return (
            f"`{name}` is updated in several ways: {', '.join(by)}",
            "a reduction has one operator: use it in all branches, or give each its own array",
        )
    if ops == ("=",):
        return f"`{name}`: this statement writes the same element twice", ""
    conds = [*s.conds, *(e.cond for e in walk(s.value) if isinstance(e, Select))]
    own = any(x == me for c in conds for x in loads(c))
    how = "where a condition on its own running value holds" if own else f"by a value that reads `{name}`"
    return f"`{name}` is updated {how}", KNOWN
