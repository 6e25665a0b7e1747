"""`static const float w[3] = {1, 2, 1};`: arrays whose values the text gives, as choices by the subscript."""

from dataclasses import dataclass
from math import prod

from pycparser import c_ast

from mdh.diagnostics import fail
from mdh.frontend.places import Places
from mdh.frontend.typing_rules import binary, select
from mdh.ir.affine import from_expr
from mdh.ir.dtype import I32, DType
from mdh.ir.expr import Const, Expr
from mdh.source import Span

MOST_VALUES = 256
"""Each use is a tree of choices: more of them belong in an array."""


@dataclass(frozen=True, slots=True)
class Table:
    """An array that nothing writes; its values in row-major order."""

    name: str
    dtype: DType
    shape: tuple[int, ...]
    values: tuple[Expr, ...]
    span: Span


def element_of_table(table: Table, index: tuple[Expr, ...]) -> Expr:
    """The value at `index`, which is inside."""
    return _choice(table.shape, index, table.values)


def _choice(shape: tuple[int, ...], index: tuple[Expr, ...], values: tuple[Expr, ...]) -> Expr:
    if not shape:
        return values[0]
    whole = from_expr(index[0])
    rows = len(values) // shape[0]
    if whole is not None and not whole.terms:
        at = min(max(whole.const, 0), shape[0] - 1) * rows
        return _choice(shape[1:], index[1:], values[at : at + rows])
    return _halves(index[0], 0, shape[0], [
        _choice(shape[1:], index[1:], values[k * rows : (k + 1) * rows]) for k in range(shape[0])
    ])  # fmt: skip


def _halves(at: Expr, low: int, high: int, values: list[Expr]) -> Expr:
    """values[at], where low <= at < high is known."""
    if all(v == values[low] for v in values[low:high]):
        return values[low]
    middle = (low + high) // 2
    below = binary("<", at, Const(middle, I32))
    return select(below, _halves(at, low, middle, values), _halves(at, middle, high, values))


def flattened(init: c_ast.Node, shape: tuple[int, ...], name: str, places: Places) -> list[c_ast.Node | None]:
    """The initialisers of all elements in order, None where the list has none (C11 6.7.9)."""
    if not isinstance(init, c_ast.InitList):
        raise fail("C113", f"the initialiser of `{name}` is no list of values", places.of(init))
    size, inner = prod(shape), prod(shape[1:])
    out: list[c_ast.Node | None] = []
    for e in init.exprs:
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
