"""`s += a; … s += b;` in one nest: joins several updates of a reduction by one operator into one."""

from dataclasses import replace

from mdh.frontend.pieces import update
from mdh.frontend.statements import Assign, Buffers, Statement, buffers_of, conflicting, gathers
from mdh.frontend.typing_rules import binary, convert
from mdh.frontend.updates import COMMUTING, Update


def fused_updates(statements: list[Statement]) -> tuple[list[Statement], dict[int, int]]:
    """The statements with such updates joined at the first one's place, and old numbers -> new numbers."""
    out: list[Statement] = []
    touched: list[Buffers] = []
    places: dict[int, int] = {}
    for n, s in enumerate(statements):
        mine = buffers_of(s)
        at, whole = _joined(out, touched, s, mine)
        if whole is None:
            places[n] = len(out)
            out.append(s)
            touched.append(mine)
        else:
            places[n] = at
            out[at], touched[at] = whole, buffers_of(whole)
    return out, places


def _joined(
    before: list[Statement], touched: list[Buffers], s: Statement, buffers: Buffers
) -> tuple[int, Statement | None]:
    """The place of the statement that `s` may be joined to, and both joined; None if there is none. touched:
    the buffers of the statements before."""
    mine = _update(s)
    if mine is None or not isinstance(s, Assign):
        return 0, None
    for at in range(len(before) - 1, -1, -1):
        p = before[at]
        if isinstance(p, Assign) and (p.target, p.loops, p.held) == (s.target, s.loops, s.held):
            theirs = _update(p)
            if theirs is None or theirs.op != mine.op:
                return 0, None
            value = binary(mine.op.name, binary(mine.op.name, p.target, theirs.value), mine.value)
            value = convert(value, p.value.dtype)
            return at, replace(p, value=value, conds=(), uses=(*p.uses, *s.uses))
        if conflicting(touched[at], buffers):
            break
    return 0, None


def _update(s: Statement) -> Update | None:
    """The update by a commutative operator that `s` makes over loops that its element does not depend on;
    None if it is none."""
    if not isinstance(s, Assign):
        return None
    if not gathers(s.target.index) and not s.free:
        return None
    found = update(s)
    return found if found is not None and found.op.name in COMMUTING else None
