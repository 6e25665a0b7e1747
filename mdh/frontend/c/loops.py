"""Translates `for` headers to normalised loops."""

from pycparser import c_ast

from mdh.diagnostics import fail
from mdh.frontend.c.ctypes_of import scalar_type
from mdh.frontend.c.lift_expr import lift
from mdh.frontend.c.places import nodes_in
from mdh.frontend.c.scope import NameScope
from mdh.frontend.c.sink import assigns, mentions, names_in
from mdh.frontend.counters import CounterRun, LoopHeader, header, run
from mdh.frontend.limits import MOST_TRIPS
from mdh.frontend.typing_rules import wrap
from mdh.ir.dtype import I32, DType, integer_range
from mdh.ir.expr import Const, Load, walk
from mdh.ir.names import fresh
from mdh.ir.statement import LoopVar
from mdh.source import Span

MOST_LOOPS = 16
"""The most nested loops. Tensor contractions of chemistry have ten. Proofs about a nest of 16 take most of a
second, and each further loop a third more."""
FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "!=": "!="}
FORM = "write for (int i = START; i < END; i += STEP) with constant START, END and STEP"


def loop_of(node: c_ast.For, scope: NameScope, declared: DType) -> tuple[LoopVar, int]:
    """The loop of a `for` header with a counter of type `declared`, and what the counter is behind it.

    Start, bound and step must be constants, and by C's comparison the body must run at least once.
    """
    name, first = _init(node, scope)
    span = scope.places.of(node.init, name) if node.init is not None else scope.places.of(node)
    if declared.is_float:
        raise fail("C130", f"the loop variable `{name}` is not an integer", span, help=FORM)
    if isinstance(node.init, c_ast.DeclList):
        _check_own(first, name, scope, f"the start of loop `{name}`")
    start = _constant(first, scope, f"the start of loop `{name}`")
    op, bound_node = _condition(node, name, scope)
    _check_own(bound_node, name, scope, f"the bound of loop `{name}`")
    bound = _constant(bound_node, scope, f"the bound of loop `{name}`")
    _check_fixed(node, name, scope)
    h = header(start, op, bound, _step(node, name, scope), declared)
    found = run(h)
    trips = _checked(name, h, found, int(bound.value), scope.places.of(node.cond, name))
    return LoopVar(fresh(name, scope.taken), name, h.start, h.step, trips, span), found.after


def _checked(name: str, h: LoopHeader, found: CounterRun, bound: int, span: Span) -> int:
    """The number of iterations. Raises if there are none, too many, or no end."""
    while_ = f"{name} {h.op} {bound:,}"
    unsigned, help_ = _unsigned(h, bound)
    low, high = integer_range(h.counter)
    left = found.trips is None and not low <= found.last + h.step <= high
    if left and (h.counter.kind == "uint" or h.counter.bits < 32 or h.op[0] == "<>"[h.step < 0]):
        what = f"`{name}` wraps to {found.after:,} after {found.last:,}, where {while_} holds still"
        if h.counter.kind == "int":
            what = f"{while_} still holds after {found.last:,}, where `{name}` overflows"
        raise fail("C132", f"the loop over `{name}` does not end: {what}", span,
                   label=f"its type holds {low:,} to {high:,}{unsigned}",
                   help=help_ or _wider(h, bound))  # fmt: skip
    if found.trips is None:
        runs = f"it starts at {h.start:,}, steps by {h.step:,}, runs while {while_}"
        raise fail("C132", f"the loop over `{name}` never ends: {runs}", span, help="step towards the bound")
    if found.trips == 0:
        runs = f"it starts at {h.start:,} and runs while {while_}"
        raise fail("C132", f"the loop over `{name}` is empty: {runs}{unsigned}", span,
                   help=help_ or "give it at least one iteration")  # fmt: skip
    if found.trips > MOST_TRIPS:
        raise fail("C132", f"the loop over `{name}` has {found.trips:,} iterations, more than {MOST_TRIPS:,}"
                   + unsigned,
                   span, help="split it into two loops, one inside the other")  # fmt: skip
    return found.trips


def _unsigned(h: LoopHeader, bound: int) -> tuple[str, str]:
    """What an unsigned comparison makes of a negative start or bound, and the help for it."""
    if h.compared.kind != "uint" or (h.start >= 0 and bound >= 0):
        return "", ""
    seen = h.start if h.start < 0 else bound
    said = f"; the comparison is unsigned, and takes {seen:,} as {wrap(seen, h.compared):,}"
    if h.start < 0:
        return said, "compare signed numbers: convert the bound, `(int)(BOUND)`"
    return said, "declare the loop variable as int, or give a bound that is not negative"


def _wider(h: LoopHeader, bound: int) -> str:
    """The help for the most likely intention."""
    low, high = integer_range(h.counter)
    if bound > high or bound < low or h.counter.kind == "int":
        return "declare it with a wider type"
    if h.step < 0:
        return "declare it as int: unsigned numbers are never less than 0"
    return "compare with a bound that it does not pass"


def _init(node: c_ast.For, scope: NameScope) -> tuple[str, c_ast.Node]:
    match node.init:
        case c_ast.DeclList(decls=[c_ast.Decl(name=name, init=init)]) if init is not None:
            return name, init
        case c_ast.Assignment(op="=", lvalue=c_ast.ID(name=name), rvalue=value):
            return name, value
        case _:
            raise fail("C130", "this loop has no single start", scope.places.of(node), help=FORM)


def counter_of(node: c_ast.For, scope: NameScope) -> tuple[str, bool]:
    """The loop variable's name, and whether the header declares it."""
    return _init(node, scope)[0], isinstance(node.init, c_ast.DeclList)


def counters_inside(node: c_ast.Node | None) -> frozenset[str]:
    """Variables of an outer block that are counters of loops inside `node`."""
    loops = (n for n in nodes_in(node) if isinstance(n, c_ast.For)) if node is not None else ()
    return frozenset(
        getattr(n.init.lvalue, "name", "") for n in loops if isinstance(n.init, c_ast.Assignment)
    )


def counter_type(node: c_ast.For, scope: NameScope) -> DType:
    """The type with which the header declares its variable."""
    match node.init:
        case c_ast.DeclList(decls=[decl]):
            return scalar_type(decl, scope.places)
        case _:
            return I32


def _condition(node: c_ast.For, name: str, scope: NameScope) -> tuple[str, c_ast.Node]:
    match node.cond:
        case c_ast.BinaryOp(op=op, left=c_ast.ID(name=left), right=bound) if left == name and op in FLIPPED:
            return op, bound
        case c_ast.BinaryOp(op=op, left=bound, right=c_ast.ID(name=right)) if right == name and op in FLIPPED:
            return FLIPPED[op], bound
        case _:
            raise fail("C130", f"the condition of this loop does not compare `{name}` with a bound",
                       scope.places.of(node.cond or node), help=FORM)  # fmt: skip


def _step(node: c_ast.For, name: str, scope: NameScope) -> int:
    match node.next:
        case c_ast.UnaryOp(op="++" | "p++", expr=c_ast.ID(name=n)) if n == name:
            return 1
        case c_ast.UnaryOp(op="--" | "p--", expr=c_ast.ID(name=n)) if n == name:
            return -1
        case c_ast.Assignment(op="+=" | "-=" as op, lvalue=c_ast.ID(name=n), rvalue=by) if n == name:
            pass
        case c_ast.Assignment(
            op="=",
            lvalue=c_ast.ID(name=n),
            rvalue=c_ast.BinaryOp(op="+" | "-" as op, left=c_ast.ID(name=m), right=by),
        ) if n == m == name:
            pass
        case _:
            raise fail("C130", f"the step of the loop over `{name}` is not a constant added to it",
                       scope.places.of(node.next or node), help=FORM)  # fmt: skip
    _check_own(by, name, scope, "the step")
    return constant(by, scope, "the step") * (1 if op[0] == "+" else -1)


def _check_own(node: c_ast.Node, name: str, scope: NameScope, what: str) -> None:
    """Raises C131 if a part of a header mentions the loop's own variable."""
    if mentions(node, name):
        raise fail("C131", f"{what} depends on the loop variable `{name}`", scope.places.of(node), help=FORM)


def _check_fixed(node: c_ast.For, name: str, scope: NameScope) -> None:
    """Raises C131 if the loop assigns a variable of its bound or step, because C evaluates both each time."""
    for part in (node.cond, node.next):
        for other in names_in(part) - {name}:
            if assigns(node.stmt, other):
                raise fail("C131", f"the loop over `{name}` assigns `{other}`, which its header depends on",
                           scope.places.of(part, other), help=FORM)  # fmt: skip


def constant(node: c_ast.Node, scope: NameScope, what: str) -> int:
    """The integer value of an expression known at compile time."""
    return int(_constant(node, scope, what).value)


def _constant(node: c_ast.Node, scope: NameScope, what: str) -> Const:
    e = lift(node, scope)
    if isinstance(e, Const) and isinstance(e.value, int):
        return e
    span: Span = scope.places.of(node)
    if any(isinstance(n, Load) for n in walk(e)):
        raise fail(
            "C131",
            f"{what} depends on data",
            span,
            help="bounds are constants: use the largest and a condition",
        )
    loops = {v.name: v.cname for v in scope.loops}
    names = [n.name for n in walk(e) if hasattr(n, "name")]
    used = next((n for n in names if n in loops), None)
    if used is not None:
        raise fail(
            "C131",
            f"{what} depends on the loop variable `{loops[used]}`",
            span,
            help="nests are rectangular: use the largest bound and a condition in the body",
        )
    if names and not e.dtype.is_float:
        raise fail("C136", f"{what} is the size `{names[0]}`, which has no value", span,
                   help=f"bind it: -D {names[0]}=1024")  # fmt: skip
    raise fail("C131", f"{what} is not an integer constant", span)
