"""`for` headers to normalised loops."""

from pycparser import c_ast

from mdh.diagnostics import fail
from mdh.frontend.ctypes_of import scalar_type
from mdh.frontend.lift_expr import lift
from mdh.frontend.scope import Scope
from mdh.frontend.typing_rules import convert
from mdh.ir.dtype import I32, U32, DType
from mdh.ir.expr import Const, Expr, Load, walk
from mdh.ir.statement import LoopVar
from mdh.source import Span

MOST_TRIPS = 2**31 - 1
FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "!=": "!="}
FORM = "write for (int i = START; i < END; i += STEP) with constant START, END and STEP"


def loop_of(node: c_ast.For, scope: Scope) -> LoopVar:
    """The loop of a `for` header: constant start, bound and step, at least one trip."""
    name, first = _init(node, scope)
    span = scope.places.of(node.init, name) if node.init is not None else scope.places.of(node)
    start = constant(first, scope, f"the start of loop `{name}`")
    op, bound_node = _condition(node, name, scope)
    bound = constant(bound_node, scope, f"the bound of loop `{name}`")
    step = _step(node, name, scope)
    trips = _trips(start, op, bound, step)
    if trips is None:
        runs = f"it starts at {start}, steps by {step}, runs while {name} {op} {bound}"
        raise fail(
            "C132",
            f"the loop over `{name}` never ends: {runs}",
            scope.places.of(node.cond, name),
            help="step towards the bound",
        )
    if trips == 0:
        runs = f"it starts at {start} and runs while {name} {op} {bound}"
        raise fail("C132", f"the loop over `{name}` is empty: {runs}",
                   scope.places.of(node.cond, name), help="give it at least one iteration")  # fmt: skip
    if trips > MOST_TRIPS:
        raise fail("C132", f"the loop over `{name}` has {trips:,} iterations, more than {MOST_TRIPS:,}",
                   scope.places.of(node.cond, name),
                   help="split it into two loops, one inside the other")  # fmt: skip
    return LoopVar(scope.fresh(name), name, start, step, trips, span)


def _init(node: c_ast.For, scope: Scope) -> tuple[str, c_ast.Node]:
    match node.init:
        case c_ast.DeclList(decls=[c_ast.Decl(name=name, init=init)]) if init is not None:
            return name, init
        case c_ast.Assignment(op="=", lvalue=c_ast.ID(name=name), rvalue=value):
            return name, value
        case _:
            raise fail("C130", "this loop has no single start", scope.places.of(node), help=FORM)


def counter_type(node: c_ast.For, scope: Scope) -> DType:
    """The type that the header declares its variable with."""
    match node.init:
        case c_ast.DeclList(decls=[decl]):
            return scalar_type(decl, scope.places)
        case _:
            return I32


def counter(value: Expr, declared: DType) -> Expr:
    """The variable's value in arithmetic: types narrower than int are promoted to it."""
    return convert(value, declared) if declared.bits == 64 or declared == U32 else value


def _condition(node: c_ast.For, name: str, scope: Scope) -> tuple[str, c_ast.Node]:
    match node.cond:
        case c_ast.BinaryOp(op=op, left=c_ast.ID(name=left), right=bound) if left == name and op in FLIPPED:
            return op, bound
        case c_ast.BinaryOp(op=op, left=bound, right=c_ast.ID(name=right)) if right == name and op in FLIPPED:
            return FLIPPED[op], bound
        case _:
            raise fail("C130", f"the condition of this loop does not compare `{name}` with a bound",
                       scope.places.of(node.cond or node), help=FORM)  # fmt: skip


def _step(node: c_ast.For, name: str, scope: Scope) -> int:
    match node.next:
        case c_ast.UnaryOp(op="++" | "p++", expr=c_ast.ID(name=n)) if n == name:
            return 1
        case c_ast.UnaryOp(op="--" | "p--", expr=c_ast.ID(name=n)) if n == name:
            return -1
        case c_ast.Assignment(op="+=" | "-=" as op, lvalue=c_ast.ID(name=n), rvalue=by) if n == name:
            return constant(by, scope, "the step") * (1 if op == "+=" else -1)
        case c_ast.Assignment(
            op="=",
            lvalue=c_ast.ID(name=n),
            rvalue=c_ast.BinaryOp(op="+" | "-" as op, left=c_ast.ID(name=m), right=by),
        ) if n == m == name:
            return constant(by, scope, "the step") * (1 if op == "+" else -1)
        case _:
            raise fail("C130", f"the step of the loop over `{name}` is not a constant added to it",
                       scope.places.of(node.next or node), help=FORM)  # fmt: skip


def constant(node: c_ast.Node, scope: Scope, what: str) -> int:
    """The integer value of an expression known at compile time."""
    e = lift(node, scope)
    if isinstance(e, Const) and isinstance(e.value, int):
        return e.value
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


def _trips(start: int, op: str, bound: int, step: int) -> int | None:
    """How often the body runs; None: without end."""
    holds = {
        "<": start < bound,
        "<=": start <= bound,
        ">": start > bound,
        ">=": start >= bound,
        "!=": start != bound,
    }
    if not holds[op]:
        return 0
    match op:
        case "<" | "<=":
            last = bound - 1 if op == "<" else bound
            return None if step <= 0 else (last - start) // step + 1
        case ">" | ">=":
            last = bound + 1 if op == ">" else bound
            return None if step >= 0 else (start - last) // -step + 1
        case _:
            if step == 0 or (bound - start) % step or (bound - start) // step < 0:
                return None
            return (bound - start) // step
