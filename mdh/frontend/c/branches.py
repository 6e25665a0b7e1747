"""Merges the two sides of an `if`: one value for each local, and one assignment for each element."""

from dataclasses import replace

from mdh.diagnostics import fail
from mdh.frontend.c.scope import Local, NameScope
from mdh.frontend.limits import check_size
from mdh.frontend.statements import Assign, Statement, Use, conflict, used_names
from mdh.frontend.typing_rules import convert, select
from mdh.ir.expr import Expr, loads
from mdh.source import Span


def joined_locals(
    cond: Expr,
    asked: tuple[Use, ...],
    then: dict[str, Local],
    other: dict[str, Local],
    written: set[str],
    span: Span,
) -> dict[str, Local]:
    """The value of each local after the branch, from its values at the end of both sides.

    asked: the accesses of the condition. written: buffers that either side has stored to. If the condition
    reads one of them, it cannot be evaluated again.
    """
    stale = next((x.buffer for x in loads(cond) if x.buffer in written), "")
    return {name: _joined(cond, asked, a, other[name], stale, span) for name, a in then.items()}


def _joined(cond: Expr, asked: tuple[Use, ...], a: Local, b: Local, stale: str, span: Span) -> Local:
    if a is b:
        return a
    uses = (*asked, *a.uses, *b.uses)
    if a.value is not None and a.value == b.value:
        return replace(a, uses=uses)
    if a.value is None or b.value is None:
        lost = a.lost or b.lost
        one_side = a.one_side or b.one_side or (span if (a.value is None) != (b.value is None) else None)
        return Local(a.dtype, None, lost, None if lost else one_side)
    if stale:
        return Local(a.dtype, None, stale)
    value = convert(select(cond, a.value, b.value), a.dtype)
    check_size(value, span)
    return Local(a.dtype, value, uses=uses)


def join_assignments(cond: Expr, first: int, middle: int, scope: NameScope) -> None:
    """Elements that both sides of an `if` assign are assigned once, `cond ? then : other`.

    scope.statements[first:middle] are the first side's, and those from `middle` on the second's. A merged
    assignment stands between what is left of both sides. So only statements on which nothing else of their
    own side depends are moved.
    """
    then, other = scope.statements[first:middle], scope.statements[middle:]
    pairs = _pairs(then, other, len(scope.conds))
    if not pairs:
        return
    mine, theirs = {k for k, _ in pairs}, {m for _, m in pairs}
    rest = [k for k in range(len(then)) if k not in mine]
    left = [m for m in range(len(other)) if m not in theirs]
    places = {first + k: first + n for n, k in enumerate(rest)}
    for n, (k, m) in enumerate(pairs):
        places[first + k] = places[middle + m] = first + len(rest) + n
    places |= {middle + m: first + len(rest) + len(pairs) + n for n, m in enumerate(left)}
    both = [_both(cond, then[k], other[m], scope.conds) for k, m in pairs]
    scope.statements[first:] = [*(then[k] for k in rest), *both, *(other[m] for m in left)]
    scope.renumber(places)


def _both(cond: Expr, a: Statement, b: Statement, conds: tuple[Expr, ...]) -> Assign:
    assert isinstance(a, Assign) and isinstance(b, Assign)
    depth = len(conds) + 1
    value = convert(select(cond, _under(a, depth), _under(b, depth)), a.value.dtype)
    check_size(value, a.span)
    # one write: a second one, in front of what the other side reads, would seem to give that its value
    uses = (*(u for u in a.uses if not u.write), *b.uses)
    return Assign(a.target, value, conds, a.loops, a.span, uses)


def _under(s: Assign, depth: int) -> Expr:
    """The element's value after `s`, if the first `depth` of its conditions hold."""
    value = s.value
    for c in reversed(s.conds[depth:]):
        value = convert(select(c, value, s.target), s.value.dtype)
    return value


def _pairs(then: list[Statement], other: list[Statement], depth: int) -> list[tuple[int, int]]:
    """Statements (one of each side) that assign one element and may move to where the sides meet."""
    found: list[tuple[int, int]] = []
    for k, a in enumerate(then):
        for m, b in enumerate(other):
            if _same_element(a, b) and m not in {y for _, y in found}:
                found.append((k, m))
                break
    while True:
        mine, theirs = {k for k, _ in found}, {m for _, m in found}
        kept = [
            (k, m)
            for k, m in found
            if not any(conflict(then[k], then[j]) for j in range(k + 1, len(then)) if j not in mine)
            and not any(conflict(other[m], other[j]) for j in range(m) if j not in theirs)
            and not any(x < k and y > m and conflict(other[m], other[y]) for x, y in found)
        ]
        if kept == found:
            return found
        found = kept


def _same_element(a: Statement, b: Statement) -> bool:
    if not (isinstance(a, Assign) and isinstance(b, Assign)):
        return False
    return (a.target, a.loops) == (b.target, b.loops)


def delay_writes(cond: Expr, first: int, scope: NameScope) -> None:
    """Moves what a branch stores in arrays that its condition reads behind the other assignments, if these do
    not depend on it. Each assignment asks the condition anew, and the last one may change it."""
    read = {x.buffer for x in loads(cond)}
    new = scope.statements[first:]
    depth = len(scope.conds) + 1
    inner = [replace(s, conds=s.conds[depth:]) if isinstance(s, Assign) else s for s in new]
    late = [n for n, s in enumerate(new) if any(t.buffer in read for t in s.targets)]
    if any(conflict(inner[n], s) for n in late for s in inner[n + 1 :]):
        return
    order = [*(n for n in range(len(new)) if n not in late), *late]
    scope.statements[first:] = [new[n] for n in order]
    scope.renumber({first + n: first + place for place, n in enumerate(order)})


def check_condition(cond: Expr, first: int, span: Span, scope: NameScope) -> None:
    """Raises if what a branch writes changes its condition for a later statement that depends on it."""
    read = {x.buffer for x in loads(cond)}
    new = scope.statements[first:]
    for n, s in enumerate(new):
        written = {t.buffer for t in s.targets}
        if written & read and (n + 1 < len(new) or s.loops != scope.loops):
            name = min(written & read)
            raise fail("C113", f"this branch overwrites `{name}`, which its condition reads", span,
                       help=_advice(s, name))  # fmt: skip


def _advice(s: Statement, name: str) -> str:
    used = used_names(s.targets[0].index)
    if any(v.name not in used for v in s.loops):
        known = "`if (x > m) m = x;` and `if (x > m) { m = x; at = j; }` are known forms"
        return f"`{name}` is a running value: {known}"
    return f"copy `{name}` into an array of its own first, and test the copy"
