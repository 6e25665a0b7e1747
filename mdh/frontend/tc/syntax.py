"""The abstract syntax of Tensor Comprehensions (the paper's figure 14)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import assert_never

from mdh.frontend.token_stream import Word
from mdh.source import Span


@dataclass(frozen=True, slots=True)
class Literal:
    """A number as C writes it: `2`, `0.5f`, `0x10`."""

    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class NameUse:
    """A name alone: an index, a scalar or a size."""

    name: str
    span: Span


@dataclass(frozen=True, slots=True)
class ExtentOf:
    """`A.0`, the extent of a tensor along a position."""

    tensor: str
    position: int
    span: Span


@dataclass(frozen=True, slots=True)
class Application:
    """`A(i, k)` or `fmaxf(x, 0)`. span: of the name; whole: with the arguments."""

    name: str
    arguments: tuple["Expression", ...]
    span: Span
    whole: Span


@dataclass(frozen=True, slots=True)
class Negation:
    """`-x`, `+x`, `!x`, `~x`."""

    op: str
    operand: "Expression"
    span: Span


@dataclass(frozen=True, slots=True)
class BinaryOperation:
    """A binary operator of C. span: of the operator."""

    op: str
    left: "Expression"
    right: "Expression"
    span: Span


@dataclass(frozen=True, slots=True)
class Ternary:
    """`cond ? then : other`."""

    cond: "Expression"
    then: "Expression"
    other: "Expression"
    span: Span


Expression = Literal | NameUse | ExtentOf | Application | Negation | BinaryOperation | Ternary


@dataclass(frozen=True, slots=True)
class Range:
    """`where i in first:end`."""

    index: Word
    first: Expression
    end: Expression


@dataclass(frozen=True, slots=True)
class Definition:
    """`target(indices) op value where ranges`. reduction: + * min max, or empty for `=`. fresh: with `!`, it
    starts from the operator's identity. span: of the target and its indices."""

    target: Word
    indices: tuple[Word, ...]
    reduction: str
    fresh: bool
    value: Expression
    ranges: tuple[Range, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class CallStatement:
    """`(A, B) = function(C, D)`."""

    targets: tuple[Word, ...]
    function: Word
    arguments: tuple[Word, ...]
    span: Span


Statement = Definition | CallStatement


@dataclass(frozen=True, slots=True)
class TcParameter:
    """`type(extents) name`; a scalar has no extents. kind: the type's name. const: its elements are known
    when the text is read."""

    kind: Word
    extents: tuple[Word | Literal, ...]
    name: Word
    const: bool = False


@dataclass(frozen=True, slots=True)
class TcFunction:
    """`def name(parameters) -> (results) { body }`."""

    name: Word
    parameters: tuple[TcParameter, ...]
    results: tuple[Word, ...]
    body: tuple[Statement, ...]


def operands(e: Expression) -> tuple[Expression, ...]:
    """The expressions directly inside of `e`."""
    match e:
        case Literal() | NameUse() | ExtentOf():
            return ()
        case Application():
            return e.arguments
        case Negation():
            return (e.operand,)
        case BinaryOperation():
            return (e.left, e.right)
        case Ternary():
            return (e.cond, e.then, e.other)
        case _:
            assert_never(e)


def walk(e: Expression) -> Iterator[Expression]:
    """`e` and all expressions inside of it, in the order of the text."""
    yield e
    for part in operands(e):
        yield from walk(part)
