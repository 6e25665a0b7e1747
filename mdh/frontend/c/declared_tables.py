"""Declarations of arrays with initial values, at the top of a file or in a function."""

from dataclasses import replace
from math import prod

from pycparser import c_ast

from mdh.diagnostics import fail
from mdh.frontend.c.ctypes_of import dimensions, scalar_type
from mdh.frontend.c.initialisers import TakenOut
from mdh.frontend.c.lift_expr import lift
from mdh.frontend.c.loops import constant
from mdh.frontend.c.places import Places, assigned, base_of, nodes_in
from mdh.frontend.c.scope import NameScope
from mdh.frontend.constant_arrays import AT, THERE, check_shape
from mdh.frontend.statements import Array, gathers
from mdh.frontend.tables import MOST_CONSTANTS, MOST_SELECTED, MOST_VALUES, ConstantTable, held_as
from mdh.frontend.typing_rules import convert
from mdh.ir.dtype import EIGHTHS
from mdh.ir.expr import Const, Expr
from mdh.ir.names import fresh
from mdh.source import Span


def read_table(node: c_ast.Decl, scope: NameScope) -> None:
    """`const float w[3] = {1, 2, 1};` as a table. Without const it is one too, if nothing writes to it."""
    span = scope.places.of(node, node.name)
    dims, _ = dimensions(node.type)
    known = tuple(constant(d, scope, f"an extent of `{node.name}`") for d in dims if d is not None)
    if len(known) < len(dims) - 1 or None in dims[1:]:
        raise fail("C117", f"the extents of `{node.name}` are missing", span, help="only the first may be")
    shape = known if dims[0] is not None else (first_extent(node.init, known), *known)
    if min(shape) <= 0:
        raise fail("C117", f"an extent of `{node.name}` is {min(shape):,}", span, help="extents are positive")
    if isinstance(node.init, TakenOut) and node.init.given is not None and not node.init.cropped:
        name = node.name.removesuffix(THERE).removesuffix(AT)
        check_shape(name, node.init.given, shape, span)
    _check_count(node, prod(shape), MOST_CONSTANTS, span)
    dtype = scalar_type(node, scope.places)
    if dtype in EIGHTHS:
        what = f"the initialiser of `{node.name}`, an array of structs, is not supported"
        raise fail("C113", what, span, help="make it an array of float, and convert its elements")
    values: list[Expr] = []
    for item in flattened(node.init, shape, node.name, scope.places):
        value = (
            Const(0.0 if dtype.is_float else 0, dtype) if item is None else convert(lift(item, scope), dtype)
        )
        if gathers((value,)):
            raise fail("C113", f"an initial value of `{node.name}` is read from an array",
                       scope.places.of(item or node), help="fill the array in a loop")  # fmt: skip
        values.append(value)
    table = ConstantTable(node.name, dtype, shape, tuple(values), span)
    given = isinstance(node.init, TakenOut) and node.init.given is not None
    if table.constants is not None and (given or len(values) > MOST_SELECTED):
        name = fresh(node.name, scope.taken)
        scope.arrays[name] = Array(name, held_as(dtype), shape, True, False, span, table.constants)
        table = replace(table, array_name=name)
    else:
        _check_count(node, len(values), MOST_VALUES, span)
    scope.tables[node.name] = table


def _check_count(node: c_ast.Decl, count: int, most: int, span: Span) -> None:
    if count > most:
        what = f"`{node.name}` has {count:,} initial values, more than {most:,}"
        raise fail("C113", what, span, help="make it a parameter of the function: const float table[N]")


def is_written(node: c_ast.Node, name: str) -> bool:
    """Whether something in `node` stores to an element of the array."""
    return any(base_of(assigned(n)) == name for n in nodes_in(node))


def flattened(init: c_ast.Node, shape: tuple[int, ...], name: str, places: Places) -> list[c_ast.Node | None]:
    """The initialisers of all elements in order; None for elements that the list leaves out (C11 6.7.9)."""
    if not isinstance(init, c_ast.InitList):
        raise fail("C113", f"the initialiser of `{name}` is no list of values", places.of(init))
    size, inner = prod(shape), prod(shape[1:])
    out: list[c_ast.Node | None] = []
    cropped = isinstance(init, TakenOut) and init.cropped
    for e in init.exprs[: shape[0]] if cropped else init.exprs:
        if isinstance(e, c_ast.NamedInitializer):
            raise fail("C113", f"the initialiser of `{name}` names its elements, which is not supported",
                       places.of(init), help="give all values in order")  # fmt: skip
        if isinstance(e, c_ast.InitList) and len(out) % inner:
            raise fail("C113", f"the initialiser of `{name}` has braces behind values without them",
                       places.of(e), help="give each row its own braces, or none")  # fmt: skip
        if isinstance(e, c_ast.InitList) and len(shape) > 1:
            out += [None] * (-len(out) % inner)
            out += flattened(e, shape[1:], name, places)
        elif isinstance(e, c_ast.InitList):
            out.append(e.exprs[0] if e.exprs else None)
        else:
            out.append(e)
    if cropped:
        out = out[:size]
    if len(out) > size:
        raise fail("C117", f"`{name}` has {size} elements and {len(out)} initial values", places.of(init),
                   help="give as many values as there are elements")  # fmt: skip
    return [*out, *[None] * (size - len(out))]


def first_extent(init: c_ast.Node, inner: tuple[int, ...]) -> int:
    """The extent of `w[] = {…}`."""
    size, at = prod(inner), 0
    for e in getattr(init, "exprs", None) or []:
        at = -(-at // size) * size + size if isinstance(e, c_ast.InitList) else at + 1
    return max(1, -(-at // size))
