"""Declarations of arrays with initial values, at the top of a file or in a function."""

from math import prod

from pycparser import c_ast

from mdh.diagnostics import fail
from mdh.frontend.ctypes_of import is_const, scalar_type
from mdh.frontend.lift_expr import lift
from mdh.frontend.loops import constant
from mdh.frontend.scope import Scope
from mdh.frontend.tables import MOST_VALUES, Table, first_extent, flattened
from mdh.frontend.typing_rules import convert
from mdh.ir.expr import Const, Expr, loads


def read_table(node: c_ast.Decl, rest: list[c_ast.Node], scope: Scope) -> None:
    """`const float w[3] = {1, 2, 1};` as a table; `rest`: what follows it in its block.

    Without const it may stand as well, where nothing writes to it.
    """
    span = scope.places.of(node, node.name)
    if not is_const(node) and any(_written(n, node.name) for n in rest):
        raise fail("C113", f"the initialiser of `{node.name}`, which is written to later, is not supported",
                   span, help="fill it in a loop")  # fmt: skip
    dims: list[c_ast.Node | None] = []
    inner = node.type
    while isinstance(inner, c_ast.ArrayDecl):
        dims.append(inner.dim)
        inner = inner.type
    known = tuple(constant(d, scope, f"an extent of `{node.name}`") for d in dims if d is not None)
    if len(known) < len(dims) - 1 or None in dims[1:]:
        raise fail("C117", f"the extents of `{node.name}` are missing", span, help="only the first may be")
    shape = known if dims[0] is not None else (first_extent(node.init, known), *known)
    if min(shape) <= 0:
        raise fail("C117", f"an extent of `{node.name}` is {min(shape):,}", span, help="extents are positive")
    if prod(shape) > MOST_VALUES:
        what = f"`{node.name}` has {prod(shape):,} initial values, more than {MOST_VALUES}"
        raise fail("C113", what, span, help="make it a parameter of the function: const float table[N]")
    dtype = scalar_type(node, scope.places)
    values: list[Expr] = []
    for item in flattened(node.init, shape, node.name, scope.places):
        value = (
            Const(0.0 if dtype.is_float else 0, dtype) if item is None else convert(lift(item, scope), dtype)
        )
        if any(True for _ in loads(value)):
            raise fail("C113", f"an initial value of `{node.name}` is read from an array",
                       scope.places.of(item or node), help="fill the array in a loop")  # fmt: skip
        values.append(value)
    scope.tables[node.name] = Table(node.name, dtype, shape, tuple(values), span)


def _written(node: c_ast.Node, name: str) -> bool:
    """Something in `node` stores to an element of the array."""
    match node:
        case c_ast.Assignment(lvalue=target) if _base(target) == name:
            return True
        case c_ast.UnaryOp(op="++" | "p++" | "--" | "p--", expr=target) if _base(target) == name:
            return True
    return any(_written(c, name) for _, c in node.children())


def _base(node: c_ast.Node) -> str:
    while isinstance(node, c_ast.ArrayRef) or (isinstance(node, c_ast.UnaryOp) and node.op == "*"):
        node = node.name if isinstance(node, c_ast.ArrayRef) else node.expr
    return getattr(node, "name", "") if isinstance(node, c_ast.ID) else ""
