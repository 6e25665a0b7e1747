"""Arrays of the function's own: in its block, or in a loop, where each iteration has its own one."""

from math import prod

from pycparser import c_ast

from mdh.diagnostics import fail
from mdh.frontend.c.ctypes_of import dimensions, is_const
from mdh.frontend.c.declared_tables import first_extent, flattened, is_written, read_table
from mdh.frontend.c.lift_expr import lift, lift_as
from mdh.frontend.c.record import record
from mdh.frontend.c.scope import NameScope, Rows
from mdh.frontend.statements import Array, gathers
from mdh.frontend.typing_rules import convert
from mdh.ir.dtype import I32, DType
from mdh.ir.expr import Const, Expr, Load, Var, walk
from mdh.ir.names import fresh
from mdh.ir.statement import LoopVar
from mdh.source import Span

MOST_FILLED = 16
"""Initial values of an array that is written later; each different one is an assignment."""


def declare_array(node: c_ast.Decl, rest: list[c_ast.Node], dtype: DType, scope: NameScope) -> None:
    """Declares a local array. rest: the statements after it that name it.

    In loops it is a part of a larger array, which has one for each iteration: the next iteration cannot see
    what this one has left in it.
    """
    constant = is_const(node) or not any(is_written(r, node.name) for r in rest)
    if node.init is not None and constant and not _reads_arrays(node, scope):
        read_table(node, scope)
        return
    span = scope.places.of(node, node.name)
    shape = _array_shape(node, scope)
    name, before = node.name, tuple(v.extent for v in scope.loops)
    if scope.loops:
        scope.declare(node.name)
        name = fresh(node.name, scope.taken)
        scope.held.add(name)
        scope.rows[node.name] = Rows(name, tuple(Var(v.name) for v in scope.loops))
    scope.taken.add(name)
    scope.arrays[name] = Array(name, dtype, (*before, *shape), False, True, span)
    if node.init is not None:
        _fill(node, name, shape, dtype, span, scope)


def _reads_arrays(node: c_ast.Decl, scope: NameScope) -> bool:
    """Whether an initial value reads an array."""
    items = node.init.exprs if isinstance(node.init, c_ast.InitList) else ()
    known = len(scope.uses)
    found = any(_reads(e, scope) for e in items)
    del scope.uses[known:]
    return found


def _reads(item: c_ast.Node, scope: NameScope) -> bool:
    if isinstance(item, c_ast.InitList):
        return any(_reads(e, scope) for e in item.exprs)
    return not isinstance(item, c_ast.NamedInitializer) and gathers((lift(item, scope),))


def _fill(
    node: c_ast.Decl, name: str, shape: tuple[int, ...], dtype: DType, span: Span, scope: NameScope
) -> None:
    """Assigns the initial values: in loops if they are one constant, else each by itself."""
    zero = convert(Const(0, I32), dtype)
    items = flattened(node.init, shape, node.name, scope.places)
    known = len(scope.uses)
    values = {zero if e is None else lift_as(e, dtype, scope) for e in items}
    del scope.uses[known:]
    around, before = scope.loops, tuple(Var(v.name) for v in scope.loops)
    (first, *others) = values
    if not others and isinstance(first, Const):
        scope.begin()
        loops = tuple(
            LoopVar(fresh(f"e{k}", scope.taken), f"e{k}", 0, 1, n, span) for k, n in enumerate(shape)
        )
        scope.loops = (*around, *loops)
        record(scope, Load(name, (*before, *(Var(v.name) for v in loops)), dtype), first, span)
        scope.loops = around
        return
    if len(items) > MOST_FILLED:
        what = f"`{node.name}` is written later, and has {len(items):,} initial values that differ"
        raise fail("C113", what, span, help="fill it in a loop")
    for k, e in enumerate(items):
        scope.begin()
        value = zero if e is None else lift_as(e, dtype, scope)
        record(scope, Load(name, (*before, *_place(k, shape)), dtype), value, span)


def _place(k: int, shape: tuple[int, ...]) -> tuple[Expr, ...]:
    """The subscripts of element k in row-major order."""
    strides = [prod(shape[d + 1 :]) for d in range(len(shape))]
    return tuple(Const(k // s % n, I32) for s, n in zip(strides, shape, strict=True))


def _array_shape(decl: c_ast.Decl, scope: NameScope) -> tuple[int, ...]:
    """The extents of an array, all constant. Initial values say the first one if it is not given."""
    dims, _ = dimensions(decl.type)
    if dims[0] is None and decl.init is not None:
        inner = tuple(_extent(d, decl, scope) for d in dims[1:])
        return first_extent(decl.init, inner), *inner
    return tuple(_extent(d, decl, scope) for d in dims)


def _extent(dim: c_ast.Node | None, decl: c_ast.Decl, scope: NameScope) -> int:
    if dim is None:
        raise fail("C117", "an array needs its extents", scope.places.of(decl.type), help="write A[M][K]")
    e = lift(dim, scope)
    if not isinstance(e, Const) or not isinstance(e.value, int):
        names = [n.name for n in walk(e) if isinstance(n, Var)]
        loops = {v.name: v.cname for v in scope.loops}
        code = "C136" if names and names[0] not in loops else "C117"
        what = (
            f"the size `{names[0]}` is not bound" if code == "C136" else "an array extent must be a constant"
        )
        help_ = f"bind it: -D {names[0]}=1024" if code == "C136" else ""
        raise fail(code, what, scope.places.of(dim), help=help_)
    if e.value <= 0:
        raise fail("C117", f"an array extent of {e.value} is not positive", scope.places.of(decl.type))
    return e.value
