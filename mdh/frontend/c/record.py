"""Notes assignments to elements, and what they do to locals."""

from mdh.frontend.c.scope import Local, NameScope
from mdh.frontend.limits import check_size
from mdh.frontend.statements import Assign, may_meet
from mdh.frontend.typing_rules import convert
from mdh.ir.expr import Expr, Load, loads
from mdh.source import Span


def record(scope: NameScope, load: Load, value: Expr, span: Span) -> None:
    """Records one assignment to an array element (or to a local that lives across loops)."""
    scope.accesses(load, span, write=True)
    value = convert(value, load.dtype)
    check_size(value, span)
    scope.written.add(load.buffer)
    uses = (*scope.cond_uses, *scope.gathered)
    scope.statements.append(Assign(load, value, scope.conds, scope.loops, span, uses))
    forget(scope, load)


def forget(scope: NameScope, target: Load) -> None:
    """Drops the locals that read the element which is written: they stand for expressions, whose values have
    changed."""
    for name, local in scope.locals.items():
        if local.value is not None and any(may_meet(x, target) for x in loads(local.value)):
            scope.locals[name] = Local(local.dtype, None, local.lost or target.buffer)
