"""Products of matrices as calls of a library, on the arrays as they lie in memory.

Neighbouring loops become one side of a matrix if their elements follow one another in both arrays that they
run over. Other loops run around the call.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from math import prod

from mdh.decompose.contraction import MatrixProduct, OperandView
from mdh.ir.dtype import I32, integer_range
from mdh.ir.expr import Const, Expr, substitute
from mdh.ir.library_call import CallOperand, LibraryCall, MatrixCall


@dataclass(frozen=True, slots=True)
class _Side:
    """Loops that are one side of a matrix. steps: elements between neighbours in each of the two arrays."""

    loops: tuple[str, ...]
    size: int
    steps: tuple[int, int]


@dataclass(frozen=True, slots=True)
class _Laid:
    """How a matrix lies: elements between its lines, which are rows or, if turned, columns."""

    step: int
    turned: bool


def matrix_call(product: MatrixProduct, library: str) -> LibraryCall | str:
    """The calls of most work each, or in words why no call takes the arrays as they lie."""
    sizes = dict(product.sizes)
    groups = product.groups
    telling = [n for n in groups.summed if sizes[n] > 1]
    summed = _side(telling, product.left, product.right, sizes)
    if summed is None:
        named = ", ".join(f"`{n}`" for n in telling)
        return f"the elements that {named} run over are not one row of both `{product.left.buffer}` and " \
            f"`{product.right.buffer}`"  # fmt: skip
    found: LibraryCall | None = None
    most = 0
    for rows in _sides(groups.rows, product.left, product.out, sizes):
        for columns in _sides(groups.columns, product.right, product.out, sizes):
            if rows.size * columns.size > most:
                made = _call(product, library, rows, columns, summed)
                found, most = (found, most) if made is None else (made, rows.size * columns.size)
    return found or _unfit(product, sizes)


def _unfit(product: MatrixProduct, sizes: dict[str, int]) -> str:
    """Which array no call can take."""
    matrices = [product.left, product.right, product.out]
    if not all(any(sizes[n] > 1 for n in side) for side in (product.groups.rows, product.groups.columns)):
        # a vector may have gaps
        matrices = [v for v in matrices if len([n for n in v.loops if sizes[n] > 1]) > 1]
    for view in matrices:
        near = [n for n in view.loops if view.stride(n) == 1 and sizes[n] > 1]
        if not near:
            return f"no loop runs over neighbours of `{view.buffer}`"
        if near[0] in product.groups.batch:
            return f"the neighbours of `{view.buffer}` belong to different products, by loop `{near[0]}`"
    return "loops along one side of a matrix do not follow one another in memory, or its lines overlap"


def _sides(
    loops: Sequence[str], first: OperandView, second: OperandView, sizes: dict[str, int]
) -> Iterator[_Side]:
    """Sides of the loops, or of some of them. A product of matrices is none of vectors, so one is left."""
    telling = [n for n in loops if sizes[n] > 1]
    for count in range(len(telling), min(1, len(telling)) - 1, -1):
        for some in combinations(telling, count):
            side = _side(some, first, second, sizes)
            if side is not None:
                yield side


def _side(
    loops: Sequence[str], first: OperandView, second: OperandView, sizes: dict[str, int]
) -> _Side | None:
    """The loops as one side of matrices in both arrays; None if their elements do not follow one another."""
    order = sorted(loops, key=lambda n: -first.stride(n))
    for outer, inner in pairwise(order):
        if any(v.stride(outer) != v.stride(inner) * sizes[inner] for v in (first, second)):
            return None
    steps = (first.stride(order[-1]), second.stride(order[-1])) if order else (1, 1)
    if min(steps) < 1:
        return None
    return _Side(tuple(order), prod(sizes[n] for n in order), steps)


def _laid(rows: int, columns: int, row: int, column: int) -> _Laid | None:
    """How a matrix lies with these elements between its rows and its columns; None if no call takes it."""
    if (column == 1 or columns == 1) and (rows == 1 or row >= columns):
        return _Laid(row if rows > 1 else columns, turned=False)
    if (row == 1 or rows == 1) and (columns == 1 or column >= rows):
        return _Laid(column if columns > 1 else rows, turned=True)
    return None


def _call(
    product: MatrixProduct, library: str, rows: _Side, columns: _Side, summed: _Side
) -> LibraryCall | None:
    """The call on these sides; None if an array lies otherwise than it takes them."""
    left, right, out = product.left, product.right, product.out
    m, n, k = rows.size, columns.size, summed.size
    (left_row, out_row), (right_column, out_column) = rows.steps, columns.steps
    left_summed, right_summed = summed.steps
    result = _laid(m, n, out_row, out_column)
    if n == 1 or m == 1:
        if n > 1:
            left, right, m, n = right, left, n, m
            left_row, out_row, left_summed, right_summed = right_column, out_column, right_summed, left_summed
        matrix = _laid(m, k, left_row, left_summed)
        if matrix is None:
            return None
        laid = (matrix, _Laid(right_summed, turned=False), _Laid(out_row, turned=False))
    elif result is not None and result.turned:
        # the turned product has its factors in the other order
        one, other = _laid(n, k, right_column, right_summed), _laid(k, m, left_summed, left_row)
        left, right, m, n = right, left, n, m
        if one is None or other is None:
            return None
        laid = (one, other, _Laid(result.step, turned=False))
    else:
        one, other = _laid(m, k, left_row, left_summed), _laid(k, n, right_summed, right_column)
        if one is None or other is None or result is None:
            return None
        laid = (one, other, result)
    inside = {*rows.loops, *columns.loops, *summed.loops}
    fixed: dict[str, Expr] = {
        loop: Const(0, I32) for loop, size in product.sizes if loop in inside or size == 1
    }
    a, b, c = (
        CallOperand(v.buffer, tuple(substitute(e, fixed) for e in v.index), x.step, x.turned)
        for v, x in zip((left, right, out), laid, strict=True)
    )
    if max(m, n, k, *(x.step for x in laid)) > integer_range(I32)[1]:
        return None
    t = product.dtype
    alpha, beta = product.alpha or Const(1.0, t), product.beta or Const(0.0, t)
    made = MatrixCall(m, n, k, a, b, c, alpha, beta, t, vector=n == 1)
    around = tuple(loop for loop, _ in product.sizes if loop not in fixed)
    return LibraryCall(library, around, made, product.rest)
