"""`static const float w[3] = {1, 2, 1};`: arrays with constant values, as selections by the subscript."""

from dataclasses import dataclass

from mdh.frontend.statements import Array
from mdh.frontend.typing_rules import binary, select
from mdh.ir.affine import from_expr
from mdh.ir.dtype import F32, I32, NARROW, DType
from mdh.ir.expr import Const, Expr
from mdh.source import Span

MOST_SELECTED = 16
"""The most constants that each use selects from. A table with more is a constant array of the program."""
MOST_VALUES = 256
"""The most values that are no constants, which each use selects from."""
MOST_CONSTANTS = 65_536
"""The most values of a constant array, since kernels hold them in their text."""


@dataclass(frozen=True, slots=True)
class ConstantTable:
    """An array that nothing writes; its values in row-major order. array_name: of the constant array of the
    program, if the table has become one."""

    name: str
    dtype: DType
    shape: tuple[int, ...]
    values: tuple[Expr, ...]
    span: Span
    array_name: str | None = None

    @property
    def array(self) -> Array:
        return Array(self.name, self.dtype, self.shape, True, True, self.span)

    @property
    def constants(self) -> tuple[int | float, ...] | None:
        """The values, if all of them are constants."""
        known = tuple(v.value for v in self.values if isinstance(v, Const))
        return known if len(known) == len(self.values) else None


def held_as(dtype: DType) -> DType:
    """The type of a constant array's elements: f32 for narrow floats, which no language has literals of."""
    return F32 if dtype in NARROW else dtype


def is_literal(index: tuple[Expr, ...]) -> bool:
    """Whether every subscript is a number."""
    return all((form := from_expr(e)) is not None and not form.terms for e in index)


def element_of_table(shape: tuple[int, ...], index: tuple[Expr, ...], values: tuple[Expr, ...]) -> Expr:
    """The value at `index`, which is inside."""
    if not shape:
        return values[0]
    whole = from_expr(index[0])
    rows = len(values) // shape[0]
    if whole is not None and not whole.terms:
        at = min(max(whole.const, 0), shape[0] - 1) * rows
        return element_of_table(shape[1:], index[1:], values[at : at + rows])
    return _halves(index[0], 0, shape[0], [
        element_of_table(shape[1:], index[1:], values[k * rows : (k + 1) * rows]) for k in range(shape[0])
    ])  # fmt: skip


def _halves(at: Expr, low: int, high: int, values: list[Expr]) -> Expr:
    """values[at], where low <= at < high is known."""
    if all(v == values[low] for v in values[low:high]):
        return values[low]
    middle = (low + high) // 2
    below = binary("<", at, Const(middle, I32))
    return select(below, _halves(at, low, middle, values), _halves(at, middle, high, values))
