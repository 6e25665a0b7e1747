"""Loops, assignments and declarations of a backward program, as `ir.syntax`."""

from collections.abc import Iterable, Sequence

from mdh.gradient.assignments import GradientArray, GradientAssignment
from mdh.gradient.c_expression import c_expression, c_number, c_type
from mdh.gradient.nests import GradientLoop, GradientNest
from mdh.ir import syntax as c
from mdh.ir.affine import to_expr
from mdh.ir.dtype import NARROW, DType, accumulator
from mdh.ir.expr import Const, Expr, Load, Var
from mdh.ir.open_size import OpenExtent
from mdh.ir.program import Buffer, Condition, Dim, Operator

INT = c.CType(("int",))


def extent(size: int, opened: OpenExtent | None) -> c.Expression:
    return c.Number(str(size)) if opened is None else c_expression(to_expr(opened.form))


def declaration(a: GradientArray, *, const: bool = False) -> c.Declaration:
    """An array, as a parameter or as one of the function's own."""
    opened = a.open or (None,) * len(a.shape)
    words = ("const", *c_type(a.dtype).words) if const else c_type(a.dtype).words
    extents = tuple(extent(n, o) for n, o in zip(a.shape, opened, strict=True))
    return c.Declaration(a.name, c.CType(words), extents)


def constant(b: Buffer) -> c.Declaration:
    """An array of constants with its values."""
    assert b.values is not None
    items: list[c.Expression | c.Values] = [c_number(v, b.dtype) for v in b.values]
    for n in reversed(b.shape[1:]):
        items = [c.Values(tuple(items[i : i + n])) for i in range(0, len(items), n)]
    words = ("static", "const", *c_type(b.dtype).words)
    return c.Declaration(
        b.name, c.CType(words), tuple(map(c.Number, map(str, b.shape))), c.Values(tuple(items))
    )


def loops(ranges: Sequence[GradientLoop], body: Sequence[c.Statement]) -> c.Statement:
    """`body` in loops, the first one outermost."""
    inner: c.Statement = c.Block(tuple(body))
    for r in reversed(ranges):
        first = c.Declaration(r.name, INT, initial=c.Number("0"))
        cond = c.Infix("<", c.Name(r.name), extent(r.extent, r.open))
        inner = c.ForStatement(first, cond, c.Assignment(c.Name(r.name), "+=", c.Number("1")), inner)
    return inner


def elements(a: GradientArray, stem: str) -> tuple[tuple[GradientLoop, ...], tuple[Expr, ...]]:
    """Loops over the elements of an array, and their subscripts. stem: of the names of counters."""
    opened = a.open or (None,) * len(a.shape)
    ranges = tuple(
        GradientLoop(f"{stem}{k}", n, o) for k, (n, o) in enumerate(zip(a.shape, opened, strict=True))
    )
    return ranges, tuple(Var(r.name) for r in ranges)


def box(dims: Iterable[Dim]) -> tuple[GradientLoop, ...]:
    return tuple(GradientLoop(d.name, d.extent, d.open) for d in dims)


def store(target: Load | Var, value: Expr, op: str = "=") -> c.Assignment:
    place = c_expression(target)
    assert isinstance(place, c.Element | c.Name)
    return c.Assignment(place, op, c_expression(value))


def where(conds: Sequence[Condition], body: c.Statement) -> c.Statement:
    """`body` where all of the conditions hold."""
    test: c.Expression | None = None
    for cond, holds in conds:
        one = c_expression(cond) if holds else c.Prefix("!", c_expression(cond))
        test = one if test is None else c.Infix("&&", test, one)
    return body if test is None else c.IfStatement(test, body, None)


def computed(a: GradientAssignment, array: GradientArray, local: str) -> list[c.Statement]:
    """The statements that carry out an assignment. local: an unused name."""
    if not a.op:
        return [loops(box(a.kept), [store(a.target, a.value)])]
    if a.scattered:
        return [loops(box((*a.kept, *a.reduced)), [store(a.target, a.value, "+=")])]
    start = Operator(a.op).identity(a.type) if a.start is None else a.start
    head: list[c.Statement] = [store(a.target, start)]
    tail: list[c.Statement] = []
    sums: Load | Var = a.target
    if array.dtype != a.type:
        sums = Var(local, a.type)
        head = [c.Declaration(local, c_type(a.type), initial=c_expression(start))]
        tail = [store(a.target, sums)]
    return [loops(box(a.kept), [*head, loops(box(a.reduced), [joined(sums, a)]), *tail])]


def joined(sums: Load | Var, a: GradientAssignment) -> c.Statement:
    """The state with one more value."""
    state, value = c_expression(sums), c_expression(a.value)
    assert isinstance(state, c.Element | c.Name)
    if a.op in ("+", "*", "&", "|", "^"):
        return c.Assignment(state, f"{a.op}=", value)
    if a.op in ("&&", "||"):
        return c.Assignment(state, "=", c.Infix(a.op, state, value))
    if a.type.is_float:
        name = f"f{a.op}f" if a.type.bits == 32 else f"f{a.op}"
        return c.Assignment(state, "=", c.Invocation(name, (state, value)))
    sign = ">" if a.op == "max" else "<"
    return c.Assignment(state, "=", c.Conditional(c.Infix(sign, value, state), value, state))


def added(array: str, dtype: DType, nest: GradientNest, *, begins: bool, local: str = "") -> c.Statement:
    """The statements that add the sums of a nest to the elements of an array. begins: the elements have no
    values yet, and the nest names each of them. local: a name for a sum that is stored in a narrower type."""
    target = Load(array, nest.index, dtype)
    t = accumulator(dtype)
    zero = Const(0.0, t)
    if begins and dtype in NARROW:
        sums: Load | Var = Var(local, t)
        head: list[c.Statement] = [c.Declaration(local, c_type(t), initial=c_expression(zero))]
        tail: list[c.Statement] = [store(target, sums)]
    else:
        sums, tail = target, []
        head = [store(target, Const(0.0, dtype))] if begins else []
    if begins and not nest.inner and not nest.conds:
        return loops(nest.outer, [store(target, nest.value)])
    add = where(nest.conds, store(sums, nest.value, "+="))
    return loops(nest.outer, [*head, loops(nest.inner, [add]), *tail])
