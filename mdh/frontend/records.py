"""Records, `if (x > m) { m = x; at = j; }`, whose values come from the arrays that they write.

Such a record is a reduction where turns of loops of the program tell the elements apart. If no loop is left
that it reduces, it is a branch: one comparison, and assignments under it.
"""

from collections.abc import Sequence

from mdh.frontend.statements import Assign, Best, Statement, used_names
from mdh.frontend.typing_rules import binary, truth
from mdh.ir.expr import Expr, Load, loads

_COMPARED = {("argmax", "first"): ">", ("argmax", "last"): ">=",
             ("argmin", "first"): "<", ("argmin", "last"): "<="}  # fmt: skip


def reads_own(targets: Sequence[Load], values: Sequence[Expr]) -> bool:
    """Whether values read the arrays of the targets."""
    written = {t.buffer for t in targets}
    return any(x.buffer in written for v in values for x in loads(v))


def without_records(statements: Sequence[Statement]) -> list[Statement]:
    """The statements with branches in place of records that read what they write and reduce no loop."""
    return [p for s in statements for p in _branch(s)]


def _branch(s: Statement) -> Sequence[Statement]:
    if not isinstance(s, Best) or not reads_own(s.targets, s.values):
        return [s]
    if any(v.name not in used_names(t.index) for v in s.loops for t in s.targets):
        return [s]
    if len({t.buffer for t in s.targets}) < len(s.targets):
        # what is read and written at one place of the text has no order there
        return [s]
    cond = truth(binary(_COMPARED[s.op, s.tie], s.values[0], s.targets[0]))
    out: list[Statement] = []
    for n in (*range(1, len(s.targets)), 0):
        # the key is compared last: the condition reads it
        uses = tuple(u for u in s.uses if not u.write or u.load == s.targets[n])
        out.append(Assign(s.targets[n], s.values[n], (cond,), s.loops, s.span, uses, s.held, s.origin))
    return out
