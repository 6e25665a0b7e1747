"""Pieces against the dependences of the text: what is not kept is not merged, or refused."""

from collections.abc import Iterator, Sequence

from mdh.diagnostics import Diagnostic, Failed, Label
from mdh.frontend.pieces import KNOWN, Member, Piece, carried, element_of, meeting_text
from mdh.frontend.scope import Assign, Statement
from mdh.frontend.updates import guarded, operators_of
from mdh.ir.affine import from_expr
from mdh.ir.expr import Expr, Load, loads
from mdh.ir.program import DimKind
from mdh.ir.statement import Access, PlacedStatement, Placement
from mdh.ir.statement import Statement as Accesses
from mdh.poly.legality import Broken, broken_dependences

Groups = Sequence[Sequence[Piece]]
"""The pieces of each stage."""


def placed(groups: Groups, statements: Sequence[Statement]) -> tuple[PlacedStatement, ...]:
    """Where stages made of `groups` carry out the statements."""
    return tuple(
        _placed(stage, result, piece, member, statements[member.number])
        for stage, group in enumerate(groups)
        for result, piece in enumerate(group)
        for member in piece.members
    )


def check_dependences(groups: Groups, statements: Sequence[Statement]) -> tuple[PlacedStatement, ...]:
    """Where the statements are carried out; fails with C150 where a dependence of the text is not kept."""
    found = placed(groups, statements)
    for broken in broken_dependences(found):
        raise Failed(_refusal(broken, statements))
    return found


def keeps(pieces: Sequence[Piece], changed: Piece, statements: Sequence[Statement]) -> bool:
    """The pieces keep the dependences of `changed`, one of them, on all and of all on it."""
    all_ = placed([[p] for p in pieces], statements)
    mine = pieces.index(changed)
    own = [s for s in all_ if s.placement.stage == mine]
    others = [s for s in all_ if s.placement.stage != mine]
    return next(_between(own, others), None) is None


def _between(own: list[PlacedStatement], others: list[PlacedStatement]) -> Iterator[Broken]:
    yield from broken_dependences(own)
    yield from broken_dependences(own, others)
    yield from broken_dependences(others, own)


def _placed(stage: int, result: int, piece: Piece, member: Member, s: Statement) -> PlacedStatement:
    read = set(_loads(s))
    uses = [u for u in s.uses if u.write or u.load in read]
    accesses = tuple(
        Access(u.load.buffer, tuple(map(from_expr, u.load.index)), u.write, u.loops, u.position, u.span)
        for u in uses
    )
    kept = [k for k in piece.kinds if k is not DimKind.PW]
    return PlacedStatement(
        member.number,
        Accesses(s.loops, accesses, s.span),
        Placement(
            stage,
            result,
            member.phase,
            member.point,
            tuple(k is DimKind.PS for k in kept),
            frozenset(k for k, u in enumerate(uses) if u.load in member.carried),
            piece.accumulator,
            member.last,
        ),
    )


def _loads(s: Statement) -> Iterator[Load]:
    """What the statement reads as it was lifted; what a branch not taken reads is none of it."""
    if isinstance(s, Assign):
        whole: tuple[Expr, ...] = (s.value, *s.index, *s.conds)
    else:
        whole = (*s.values, *(e for _, index in s.targets for e in index))
        yield from (Load(b, index, v.dtype) for (b, index), v in zip(s.targets, s.values, strict=True))
    for e in whole:
        yield from loads(e)


def _refusal(b: Broken, statements: Sequence[Statement]) -> Diagnostic:
    first, second = statements[b.first.number], statements[b.second.number]
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
        headline, help_ = _twice(first, element_of(first))
        return carried(headline, first.span, where, help_)
    read = b.other if b.access.write else b.access
    more = (Label(read.span, "read here"),) if read.span.start > first.span.start else ()
    what = f"`{read.buffer}`: this statement reads an element that another iteration writes"
    return carried(what, first.span, where, more=more)


def _twice(s: Assign, me: Load) -> tuple[str, str]:
    """Why several writes of one element are no reduction; what would work."""
    name = s.target
    ops = operators_of(me, guarded(me, s.value, s.conds))
    if len(ops) > 1:
        by = [f"by `{op}`" for op in ops if op != "="] + ["assigned anew"] * ("=" in ops)
        return (
            f"`{name}` is updated in several ways: {', '.join(by)}",
            "a reduction has one operator: use it in all branches, or give each its own array",
        )
    if ops == ("=",):
        return f"`{name}`: this statement writes the same element twice", ""
    if any(x == me for c in s.conds for x in loads(c)):
        return f"`{name}` is updated where a condition on its own running value holds", KNOWN
    return f"`{name}` is updated by no operator that mdh can combine", KNOWN
