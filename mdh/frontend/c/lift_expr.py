"""Translates C expressions to typed scalar expressions."""

from dataclasses import replace

from pycparser import c_ast

from mdh.diagnostics import Diagnostic, Failed, Label, fail, labels_at
from mdh.frontend.c.ctypes_of import scalar_type
from mdh.frontend.c.eighths import CONVERSIONS, conversion, number, stored
from mdh.frontend.c.header_constants import CONSTANTS
from mdh.frontend.c.literals import literal
from mdh.frontend.c.scope import Local, NameScope
from mdh.frontend.guards import negation
from mdh.frontend.statements import Array, Use, is_gather
from mdh.frontend.tables import element_of_table, held_as, is_literal
from mdh.frontend.typing_rules import FUNCTIONS, binary, call, convert, select, unary
from mdh.ir.affine import from_expr, to_expr
from mdh.ir.dtype import EIGHTHS, DType, promote_integer
from mdh.ir.expr import Const, Expr, Load, Var, walk
from mdh.wording import meant

_CALLED: dict[type, str] = {
    c_ast.ExprList: "the comma operator",
    c_ast.InitList: "a list of initial values",
    c_ast.CompoundLiteral: "a compound literal",
    c_ast.Compound: "a block inside an expression",
    c_ast.StructRef: "a member of a struct",
    c_ast.Label: "a label",
    c_ast.Case: "`case`",
    c_ast.Default: "`default`",
    c_ast.Typename: "a type in place of a value",
    c_ast.StaticAssert: "`_Static_assert`",
    c_ast.Return: "`return` here",
    c_ast.FuncDef: "a function inside a function",
}


def called(node: c_ast.Node) -> str:
    """The construct in words: `the comma operator`."""
    return _CALLED.get(type(node), "this construct")


def operator(op: str) -> str:
    """An operator in C's spelling; the parser marks postfix ones."""
    return op.removeprefix("p") if op in ("p++", "p--") else op


_KNOWN = f"{', '.join(FUNCTIONS)} (each also with the suffix f), abs"


def lift(node: c_ast.Node, scope: NameScope) -> Expr:
    """The value of a C expression at the current place: a number."""
    return number(lift_any(node, scope), node, scope.places)


def lift_as(node: c_ast.Node, t: DType, scope: NameScope) -> Expr:
    """The value of a C expression as it is stored in an object of type `t`."""
    return stored(lift_any(node, scope), t, node, scope.places)


def lift_any(node: c_ast.Node, scope: NameScope) -> Expr:
    """A number, or a struct of mdh.h."""
    match node:
        case c_ast.Constant():
            return literal(node, scope.places)
        case c_ast.ID():
            return _name(node, scope)
        case c_ast.ArrayRef() | c_ast.UnaryOp(op="*"):
            return _element(node, scope)
        case c_ast.UnaryOp(op="-" | "+" | "~" | "!" as op):
            return unary(op, lift(node.expr, scope))
        case c_ast.UnaryOp(op="sizeof"):
            raise fail("C113", "`sizeof` is not supported", scope.places.of(node))
        case c_ast.UnaryOp(op="&"):
            raise fail("C113", "taking an address is not supported", scope.places.of(node))
        case c_ast.UnaryOp():
            what = f"`{operator(node.op)}` inside an expression is not supported"
            raise fail("C113", what, scope.places.of(node),
                       help="make it a statement of its own")  # fmt: skip
        case c_ast.BinaryOp():
            return _binary(node, scope)
        case c_ast.TernaryOp():
            cond = lift(node.cond, scope)
            then, other = _under(cond, node.iftrue, scope), _under(negation(cond), node.iffalse, scope)
            return select(cond, then, other)
        case c_ast.Cast():
            kind = scalar_type(node.to_type, scope.places)
            if kind in EIGHTHS:
                said = "call fp8_e4m3_from_float(x) or fp8_e5m2_from_float(x)"
                raise fail("C114", "no cast makes a struct of a number", scope.places.of(node), help=said)
            return convert(lift(node.expr, scope), kind)
        case c_ast.FuncCall():
            return _call(node, scope)
        case c_ast.Assignment():
            raise fail("C113", "an assignment inside an expression is not supported", scope.places.of(node),
                       help="make it a statement of its own")  # fmt: skip
        case c_ast.StructRef():
            said = "a struct of mdh.h is read by its function: fp8_e4m3_to_float(x)"
            raise fail("C113", f"{called(node)} is not supported", scope.places.of(node), help=said)
        case _:
            raise fail("C113", f"{called(node)} is not supported", scope.places.of(node))


def _under(cond: Expr, node: c_ast.Node, scope: NameScope) -> Expr:
    """The value of `node`, which is evaluated only if `cond` holds."""
    outer = scope.conds
    scope.conds = (*outer, cond)
    value = lift(node, scope)
    scope.conds = outer
    return value


def _binary(node: c_ast.BinaryOp, scope: NameScope) -> Expr:
    left = lift(node.left, scope)
    if node.op in ("&&", "||"):
        right = _under(left if node.op == "&&" else negation(left), node.right, scope)
    else:
        right = lift(node.right, scope)
    return operation(node.op, left, right, node, scope)


def operation(op: str, left: Expr, right: Expr, node: c_ast.Node, scope: NameScope) -> Expr:
    """C's `left op right`. Raises if C does not define it for the operands' types or constants."""
    if op in ("%", "&", "|", "^", "<<", ">>") and (left.dtype.is_float or right.dtype.is_float):
        raise fail("C114", f"`{op}` needs integers", scope.places.of(node), help="use fmod for floats")
    never = any(isinstance(c, Const) and not c.value for c in scope.conds)
    if isinstance(right, Const) and not right.dtype.is_float and not left.dtype.is_float and not never:
        bits = promote_integer(left.dtype).bits
        if op in ("/", "%") and right.value == 0:
            raise fail("C114", "integer division by zero", scope.places.of(node),
                       help="a quotient by a constant zero has no meaning in C")  # fmt: skip
        if op in ("<<", ">>") and not 0 <= right.value < bits:
            what = f"`{op}` shifts a {bits}-bit integer by {int(right.value):,}"
            raise fail("C114", what, scope.places.of(node),
                       help=f"shift by 0 to {bits - 1}" + _wider(left, bits, right.value))  # fmt: skip
    out = binary(op, left, right)
    if op in ("+", "-", "*") and isinstance(out, Const) and out.dtype.kind == "int" and not never:
        _check_overflow(op, left, right, out, node, scope)
    return out


def _check_overflow(op: str, left: Expr, right: Expr, out: Const, node: c_ast.Node, scope: NameScope) -> None:
    """Raises C114 if a constant of a signed type overflows, which C does not define."""
    assert isinstance(left, Const) and isinstance(right, Const)
    x, y = int(left.value), int(right.value)
    exact = {"+": x + y, "-": x - y, "*": x * y}[op]
    if exact != out.value:
        raise fail("C114", f"`{x:,} {op} {y:,}` is {exact:,}, more than {out.dtype.bits} bits hold",
                   scope.places.of(node),
                   help=f"convert first: `(int64_t)x {op} y`" if out.dtype.bits == 32 else "")  # fmt: skip


def _wider(left: Expr, bits: int, by: float) -> str:
    if not bits <= by < 64:
        return ""
    return f", or convert first: {f'{left.value}L' if isinstance(left, Const) else '(int64_t)x'} << {by}"


def _name(node: c_ast.ID, scope: NameScope) -> Expr:
    name = node.name
    if name in scope.cells:
        cell = scope.cells[name]
        has_value(cell.buffer, name, node, scope)
        scope.accesses(cell, scope.places.of(node, name))
        return cell
    if name in scope.locals:
        value = scope.locals[name].value
        if value is None:
            raise no_value(name, scope.locals[name], node, scope)
        scope.gathered.extend(scope.locals[name].uses)
        return value
    if name in scope.values:
        return scope.values[name]
    if name in CONSTANTS and name not in scope.arrays:
        return Const(*CONSTANTS[name])
    if name in scope.arrays or name in scope.tables or name in scope.rows:
        raise fail(
            "C113", f"`{name}` is an array; only its elements have values", scope.places.of(node, name)
        )
    raise _undefined(name, node, f"define it: -D {name}=1024", scope)


def _undefined(name: str, node: c_ast.Node, advice: str, scope: NameScope) -> Failed:
    known = [*scope.values, *scope.locals, *scope.cells, *scope.arrays, *scope.tables, *scope.rows]
    names = (n for n in known if n is not None and n.isidentifier())
    hint = meant(name, names, cutoff=0.6, otherwise=advice)
    place = labels_at(scope.places.of(node, name))
    return Failed(
        Diagnostic("C111", f"`{name}` is not defined", place, help=hint, witness=(("undefined", name),))
    )


def no_value(name: str, local: Local, node: c_ast.Node, scope: NameScope) -> Failed:
    """The error for a local that is read where its value is not known."""
    span = scope.places.of(node, name)
    if local.lost:
        return fail(
            "C115",
            f"`{name}` depends on `{local.lost}`, which has been written since",
            span,
            help=f"read `{local.lost}` again, or keep the old values in an array of their own",
        )
    if local.one_side is not None:
        labels = (Label(span, "read here"), Label(local.one_side, "one side of this branch gives it none"))
        what = f"`{name}` has a value on one side of a branch only"
        return Failed(Diagnostic("C115", what, labels, help="initialise it, or assign it on both sides"))
    if local.last_of is not None:
        labels = (Label(span, "read here"), Label(local.last_of, "how often this loop runs varies"))
        what = f"`{name}` has the value of a last iteration that is not known"
        return Failed(Diagnostic("C115", what, labels, help="store it in an array, and read the array"))
    return fail("C115", f"`{name}` has no value here", span, help="initialise it")


def has_value(buffer: str, name: str, node: c_ast.Node, scope: NameScope) -> None:
    """Raises if an array of the function's own is read before anything is stored in it. What stands in a loop
    may have been stored in an iteration before: then `check_unset` raises behind the loop."""
    if scope.arrays[buffer].temp and buffer not in scope.written:
        scope.unset.append((buffer, name, scope.places.of(node, name)))
        check_unset(scope)


def check_unset(scope: NameScope) -> None:
    """Raises for a read in the loops that have just ended of an array that nothing has been stored in."""
    if scope.loops:
        return
    noted, scope.unset = scope.unset, []
    for buffer, name, span in noted:
        if buffer not in scope.written:
            raise fail("C115", f"`{name}` has no value here", span, help="store something in it first")


def _call(node: c_ast.FuncCall, scope: NameScope) -> Expr:
    if not isinstance(node.name, c_ast.ID):
        raise fail(
            "C112", "what is called here has no name", scope.places.of(node), help="call a function of math.h"
        )
    name = node.name.name
    given = node.args.exprs if node.args else ()
    if name in CONVERSIONS:
        return conversion(name, tuple(lift_any(a, scope) for a in given), node, scope.places)
    args = tuple(lift(a, scope) for a in given)
    out = call(name, args)
    if out is None:
        count = FUNCTIONS.get(name, FUNCTIONS.get(name.removesuffix("f")))
        if count is not None:
            raise fail(
                "C112",
                f"`{name}` takes {count} argument{'s' if count > 1 else ''}, not {len(args)}",
                scope.places.of(node, name),
                help=f"write {name}({', '.join('xyz'[:count])})",
            )
        names = (*FUNCTIONS, *(f + "f" for f in FUNCTIONS))
        hint = meant(name, names, cutoff=0.8, otherwise=f"known: {_KNOWN}; write others as macros")
        raise fail("C112", f"the function `{name}` is not known", scope.places.of(node, name), help=hint)
    return out


def _element(node: c_ast.Node, scope: NameScope) -> Expr:
    load, array = element(node, scope)
    table = scope.tables.get(array.name)
    if table is not None:
        if table.array_name is not None and not is_literal(load.index):
            load = replace(load, buffer=table.array_name, dtype=held_as(table.dtype))
            scope.accesses(load, scope.places.of(node))
            return convert(load, table.dtype)
        use = Use(load, scope.loops, scope.places.of(node), scope.conds, False, scope.position)
        scope.looked_up.append((table, use))
        return element_of_table(table.shape, load.index, table.values)
    has_value(array.name, array.name, node, scope)
    scope.accesses(load, scope.places.of(node))
    return load


def element(node: c_ast.Node, scope: NameScope) -> tuple[Load, Array]:
    """The array element that `A[i][j]`, or `*A`, names."""
    if isinstance(node, c_ast.UnaryOp):
        node = c_ast.ArrayRef(node.expr, c_ast.Constant("int", "0"), node.coord)
    subscripts: list[c_ast.Node] = []
    base = node
    while isinstance(base, c_ast.ArrayRef):
        subscripts.insert(0, base.subscript)
        base = base.name
    found = scope.array(base.name) if isinstance(base, c_ast.ID) else None
    if found is None:
        name = getattr(base, "name", None)
        known = (scope.values, scope.locals, scope.cells)
        if isinstance(base, c_ast.ID) and not any(name in names for names in known):
            extents = "".join(f"[{'NMKL'[k % 4]}]" for k in range(len(subscripts)))
            advice = f"declare the array as a parameter: float {name}{extents}"
            raise _undefined(base.name, base, advice, scope)
        if isinstance(base, c_ast.UnaryOp) and operator(base.op) in ("++", "--"):
            pointer = getattr(base.expr, "name", "p")
            raise fail("C113", f"`{pointer}{operator(base.op)}` moves a pointer, which is not supported",
                       scope.places.of(base), help=f"subscript the array itself: {pointer}[i]")  # fmt: skip
        raise fail("C113", "only named arrays can be subscripted; pointer arithmetic is not supported",
                   scope.places.of(node), help="write A[i*N + j]")  # fmt: skip
    array, before = found
    rank = 1 if array.shape is None else len(array.shape) - len(before)
    span = scope.places.of(node, base.name)
    if len(subscripts) != rank:
        many = f"{rank} dimension{'s' if rank > 1 else ''}"
        raise fail("C116", f"`{base.name}` has {many}, not {len(subscripts)}", span,
                   help="write one subscript for each dimension")  # fmt: skip
    index = tuple(_subscript(s, array, scope) for s in subscripts)
    return Load(array.name, (*before, *index), array.dtype), array


def _subscript(node: c_ast.Node, array: Array, scope: NameScope) -> Expr:
    e = lift(node, scope)
    if e.dtype.is_float:
        raise fail("C120", f"a subscript of `{array.name}` is not an integer", scope.places.of(node))
    loops = {v.name for v in scope.loops}
    free = next((n.name for n in walk(e) if isinstance(n, Var) and n.name not in loops), None)
    if free is not None:
        raise fail("C136", f"a subscript of `{array.name}` uses the size `{free}`, which has no value",
                   scope.places.of(node), help=f"bind it: -D {free}=1024")  # fmt: skip
    affine = from_expr(e)
    if affine is None and not is_gather(e):
        raise fail("C120", f"this subscript of `{array.name}` is not affine in the loop variables",
                   scope.places.of(node),
                   label="sums of constants times loop variables are supported",
                   help="also an element of an index array: A[I[i]]")  # fmt: skip
    # the types of the C's loop variables do not change which element it is
    return e if affine is None else to_expr(affine)
