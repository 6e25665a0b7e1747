"""Translates `for` headers to normalised loops."""

from dataclasses import dataclass

from pycparser import c_ast

from mdh.diagnostics import Failed, fail
from mdh.frontend.c.ctypes_of import scalar_type
from mdh.frontend.c.lift_expr import lift
from mdh.frontend.c.places import nodes_in
from mdh.frontend.c.scope import NameScope
from mdh.frontend.c.sink import assigns, mentions, names_in
from mdh.frontend.c.varying import Box, VaryingHeader, fits_int, varying_loop
from mdh.frontend.counters import CounterRun, LoopHeader, counter_value, header, run
from mdh.frontend.limits import MOST_TRIPS
from mdh.frontend.typing_rules import convert, wrap
from mdh.ir.affine import Affine, exact_form, from_expr, to_expr
from mdh.ir.dtype import I32, U32, DType, common, integer_range, promote_integer
from mdh.ir.expr import Cast, Const, Expr, Load, Var, walk
from mdh.ir.names import fresh
from mdh.ir.statement import LoopVar
from mdh.source import Span

MOST_LOOPS = 16
"""The most nested loops. Tensor contractions of chemistry have ten. Proofs about a nest of 16 take most of a
second, and each further loop a third more."""
FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "!=": "!="}
FORM = "write for (int i = START; i < END; i += STEP) with constant STEP, and START and END of outer counters"


@dataclass(frozen=True, slots=True)
class ReadLoop:
    """A loop with the value of its counter in its body. conds: the conditions under which the body runs,
    besides those of the box. after: the counter behind the loop; None if it varies."""

    loop: LoopVar
    counter: Expr
    conds: tuple[Expr, ...]
    after: int | None


def loop_of(node: c_ast.For, scope: NameScope, declared: DType) -> ReadLoop:
    """The loop of a `for` header with a counter of type `declared`.

    The step must be a constant. Start and bound must be constants, or sums of outer counters. By C's
    comparison the body must run at least once.
    """
    name, first = _init(node, scope)
    span = scope.places.of(node.init, name) if node.init is not None else scope.places.of(node)
    if declared.is_float:
        raise fail("C130", f"the loop variable `{name}` is not an integer", span, help=FORM)
    if isinstance(node.init, c_ast.DeclList):
        _check_own(first, name, scope, f"the start of loop `{name}`")
    start = _end(first, scope, f"the start of loop `{name}`")
    op, bound_node = _condition(node, name, scope)
    _check_own(bound_node, name, scope, f"the bound of loop `{name}`")
    bound = _end(bound_node, scope, f"the bound of loop `{name}`")
    _check_fixed(node, name, scope)
    step = _step(node, name, scope)
    if not isinstance(start, Const) or not isinstance(bound, Const):
        ends = (scope.places.of(first), scope.places.of(bound_node))
        return _varying(name, start, op, bound, step, declared, ends, span, scope)
    h = header(start, op, bound, step, declared)
    found = run(h)
    trips = _checked(name, h, found, int(bound.value), scope.places.of(node.cond, name))
    loop = LoopVar(fresh(name, scope.taken), name, h.start, h.step, trips, span)
    return ReadLoop(loop, counter_value(loop.name, h.start, h.step, trips, declared), (), found.after)


def _varying(
    name: str, start: Expr, op: str, bound: Expr, step: int, declared: DType, ends: tuple[Span, Span],
    span: Span, scope: NameScope,
) -> ReadLoop:  # fmt: skip
    """The loop whose start or bound is a function of outer loops. ends: the places of the two."""
    box = {v.name: (0, v.extent - 1) for v in scope.loops}
    compared = common(promote_integer(declared), bound.dtype)
    # types shorter than int hold the start if they hold all values of the counter, which is checked
    given = start if declared.bits < 32 else convert(start, declared)
    first = _exact(given, box, ends[0], scope, f"the start of loop `{name}`")
    last = _exact(convert(bound, compared), box, ends[1], scope, f"the bound of loop `{name}`")
    h = VaryingHeader(name, first, op, last, step, declared, compared, *ends)
    loop, conds = varying_loop(h, box, scope.taken, span)
    value = loop.moved + Affine.of({loop.name: loop.step}, loop.start)
    box = {**box, loop.name: (0, loop.extent - 1)}
    if not fits_int(value, box):
        raise fail("C131", f"the loop over `{name}` leaves int", ends[1], help="give it smaller bounds")
    counter = to_expr(value, I32)
    wide = declared.bits == 64 or declared == U32
    return ReadLoop(loop, Cast(counter, declared) if wide else counter, conds, None)


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
    e = lift(node, scope)
    if isinstance(e, Const) and isinstance(e.value, int):
        return e.value
    raise _not_constant(e, scope.places.of(node), scope, what)


def _end(node: c_ast.Node, scope: NameScope, what: str) -> Expr:
    """A start or bound: an integer constant, or an expression of the loops around."""
    e = lift(node, scope)
    loops = {v.name for v in scope.loops}
    names = {n.name for n in walk(e) if isinstance(n, Var)}
    data = e.dtype.is_float or any(isinstance(n, Load) for n in walk(e))
    if data or (not isinstance(e, Const) and (not names or not names <= loops)):
        raise _not_constant(e, scope.places.of(node), scope, what)
    return e


def _exact(e: Expr, box: Box, span: Span, scope: NameScope, what: str) -> Affine:
    """The function that an expression of outer loops is. Raises C131 if it is not affine or wraps."""
    found = exact_form(e, box)
    if found is None or not fits_int(found, box):
        raise _not_constant(e, span, scope, what)
    return found


def _not_constant(e: Expr, span: Span, scope: NameScope, what: str) -> Failed:
    if any(isinstance(n, Load) for n in walk(e)):
        return fail("C131", f"{what} depends on data", span,
                    help="bounds are constants: use the largest and a condition")  # fmt: skip
    loops = {v.name: v.cname for v in scope.loops}
    names = [n.name for n in walk(e) if isinstance(n, Var)]
    free = next((n for n in names if n not in loops), None)
    if free is not None and not e.dtype.is_float:
        return fail("C136", f"{what} is the size `{free}`, which has no value", span,
                    help=f"bind it: -D {free}=1024")  # fmt: skip
    if names and free is None and from_expr(e) is not None:
        return fail("C131", f"{what} leaves its type for some outer counters", span,
                    help="compute it in a signed type: convert the counter, `(int)i`")  # fmt: skip
    if names and free is None:
        what = f"{what} is no sum of constants and multiples of `{loops[names[0]]}`"
        return fail("C131", what, span, help="use the largest bound and a condition in the body")
    return fail("C131", f"{what} is not an integer constant", span)
