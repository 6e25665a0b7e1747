"""Shapes of Diesel expressions (the paper's table 1), with transposes moved to the matrices."""

from collections.abc import Mapping
from dataclasses import dataclass

from mdh.diagnostics import Diagnostic, Failed, Label, fail
from mdh.frontend.diesel.syntax import Expression, Matrix, MatrixOperation, Pointwise, Transpose
from mdh.source import Span
from mdh.wording import meant

NAME, SHAPE = "L102", "L103"


@dataclass(frozen=True, slots=True)
class Extent:
    """A number of rows or columns: its value, and the parameter that it is; None if it is a number."""

    value: int
    name: str | None = None


Shape = tuple[Extent, Extent]


@dataclass(frozen=True, slots=True)
class Leaf:
    """The elements of a matrix, transposed or not."""

    name: str
    transposed: bool
    shape: Shape
    span: Span


@dataclass(frozen=True, slots=True)
class Each:
    """RELU, SIGMOID or TANH of each element."""

    function: str
    operand: "Shaped"
    shape: Shape
    span: Span


@dataclass(frozen=True, slots=True)
class Both:
    """`+` or `-`. An operand with one row or one column is repeated."""

    op: str
    left: "Shaped"
    right: "Shaped"
    shape: Shape
    span: Span


@dataclass(frozen=True, slots=True)
class ShapedProduct:
    """A product of matrices."""

    left: "Shaped"
    right: "Shaped"
    shape: Shape
    span: Span


Shaped = Leaf | Each | Both | ShapedProduct


def shaped(e: Expression, known: Mapping[str, Shape], *, transposed: bool = False) -> Shaped:
    """The expression with shapes. known: those of matrices. Raises Failed L102, L103."""
    match e:
        case Matrix(name, span):
            if name not in known:
                hint = meant(name, known, cutoff=0.5, otherwise=f"matrices up to here: {', '.join(known)}")
                raise fail(NAME, f"`{name}` is not defined here", span, help=hint)
            rows, columns = known[name]
            return Leaf(name, transposed, (columns, rows) if transposed else (rows, columns), span)
        case Transpose(operand):
            return shaped(operand, known, transposed=not transposed)
        case Pointwise(function, operand, span):
            inner = shaped(operand, known, transposed=transposed)
            return Each(function, inner, inner.shape, span)
        case MatrixOperation("*", left, right, span):
            # (A B)^T = B^T A^T
            sides = (right, left) if transposed else (left, right)
            a, b = (shaped(side, known, transposed=transposed) for side in sides)
            if a.shape[1].value != b.shape[0].value:
                raise _mismatch(
                    "multiplied", span, a, b, "the left one needs as many columns as the right one rows"
                )
            return ShapedProduct(a, b, (a.shape[0], b.shape[1]), span)
        case MatrixOperation(op, left, right, span):
            a, b = (shaped(side, known, transposed=transposed) for side in (left, right))
            sides_ = [_larger(x, y) for x, y in zip(a.shape, b.shape, strict=True)]
            rows_, columns_ = sides_
            if rows_ is None or columns_ is None:
                raise _mismatch(
                    "added" if op == "+" else "subtracted", span, a, b, "sides are equal, or one of them is 1"
                )
            return Both(op, a, b, (rows_, columns_), span)


def _larger(a: Extent, b: Extent) -> Extent | None:
    """The side of a sum; None if the operands do not fit. One row or column is repeated."""
    if a.value == b.value:
        return a if a.name is not None else b
    return b if a.value == 1 else a if b.value == 1 else None


def _mismatch(what: str, span: Span, a: Shaped, b: Shaped, rule: str) -> Failed:
    headline = f"matrices of {_text(a.shape)} and {_text(b.shape)} cannot be {what}"
    labels = (Label(span), Label(a.span, _text(a.shape)), Label(b.span, _text(b.shape)))
    return Failed(Diagnostic(SHAPE, headline, labels, help=rule))


def _text(shape: Shape) -> str:
    return "×".join(f"{n.value:,}" for n in shape)
