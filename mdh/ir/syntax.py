"""A C function as it is written: its abstract syntax after the preprocessor.

Names are not resolved, expressions have no types, and loops have no trip counts. The interpreter
(`reference/interpreter`) gives these nodes C's meaning on its own. So a result that it judges shares no step
with the compiler but the parser. A front end for another language makes the same nodes.

Source of the meaning: ISO C11. The interpreter cites the section of each rule.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import assert_never

from mdh.source import Span


@dataclass(frozen=True, slots=True)
class CType:
    """A scalar type by its specifier words: `("unsigned", "long")`, `("int8_t",)`, `("float",)`."""

    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Number:
    """A literal as it is written: `0x10u`, `1e-3f`, `'a'`."""

    text: str


@dataclass(frozen=True, slots=True)
class Name:
    """A scalar: a parameter, a local, a loop variable, a constant of a standard header."""

    name: str
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Element:
    """`array[subscripts…]`; `*p` is `p[0]`."""

    array: str
    subscripts: tuple["Expression", ...]
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Prefix:
    """`-x`, `+x`, `~x`, `!x`."""

    op: str
    operand: "Expression"


@dataclass(frozen=True, slots=True)
class Infix:
    """A binary operator of C other than assignments and the comma."""

    op: str
    left: "Expression"
    right: "Expression"


@dataclass(frozen=True, slots=True)
class Conditional:
    """`cond ? then : other`."""

    cond: "Expression"
    then: "Expression"
    other: "Expression"


@dataclass(frozen=True, slots=True)
class Conversion:
    """`(type)operand`."""

    type: CType
    operand: "Expression"


@dataclass(frozen=True, slots=True)
class Invocation:
    """`function(arguments…)`."""

    function: str
    arguments: tuple["Expression", ...]


BINARY = (
    ("||",), ("&&",), ("|",), ("^",), ("&",), ("==", "!="), ("<", "<=", ">", ">="), ("<<", ">>"), ("+", "-"),
    ("*", "/", "%"),
)  # fmt: skip
"""The binary operators, those that bind least tightly first (C11 6.5)."""

Expression = Number | Name | Element | Prefix | Infix | Conditional | Conversion | Invocation


@dataclass(frozen=True, slots=True)
class Values:
    """`{a, b, …}`, the initialiser of an array. Items may be such lists themselves. cropped: in a small
    version of a program, items that its smaller array has no room for are left out."""

    items: tuple["Expression | Values", ...]
    cropped: bool = False

    def kept(self, count: int) -> tuple["Expression | Values", ...]:
        """The items of an array, or of a row of it, with `count` elements or rows."""
        return self.items[:count] if self.cropped else self.items


@dataclass(frozen=True, slots=True)
class Declaration:
    """`type name[extents…] = initial;`. `extents` is empty for a scalar.

    The first extent of a parameter may be None: `float A[][K]`. pointer: a parameter declared as `type
    *name`, which has no extents.
    """

    name: str
    type: CType
    extents: tuple[Expression | None, ...] = ()
    initial: Expression | Values | None = None
    pointer: bool = False
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Assignment:
    """`target op value`, where op is `=`, `+=`, …. `x++` is `x += 1`."""

    target: Name | Element
    op: str
    value: Expression
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Block:
    """Statements in order; names that are declared in it end with it."""

    body: tuple["Statement", ...]


@dataclass(frozen=True, slots=True)
class ForStatement:
    """`for (first; cond; next) body` (C11 6.8.5.3)."""

    first: Declaration | Assignment | None
    cond: Expression | None
    next: Assignment | None
    body: "Statement"
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class IfStatement:
    cond: Expression
    then: "Statement"
    other: "Statement | None"
    span: Span | None = field(default=None, compare=False, repr=False)


Statement = Declaration | Assignment | Block | ForStatement | IfStatement


@dataclass(frozen=True, slots=True)
class Function:
    """A function that returns void: parameters in order, the file's constants, the body."""

    name: str
    parameters: tuple[Declaration, ...]
    constants: tuple[Declaration, ...]
    body: Block


def operands(e: Expression) -> tuple[Expression, ...]:
    """The expressions directly inside of `e`, in the order of the text."""
    match e:
        case Number() | Name():
            return ()
        case Element(_, parts) | Invocation(_, parts):
            return parts
        case Prefix(_, operand) | Conversion(_, operand):
            return (operand,)
        case Infix(_, left, right):
            return left, right
        case Conditional(cond, then, other):
            return cond, then, other
        case _:
            assert_never(e)


def walked(s: Statement | None) -> Iterator[Statement]:
    """The statement and all statements in it, those of loop headers included."""
    parts: tuple[Statement | None, ...]
    match s:
        case None:
            return
        case Declaration() | Assignment():
            parts = ()
        case Block(body):
            parts = body
        case ForStatement(first, _, next_, body):
            parts = first, next_, body
        case IfStatement(_, then, other):
            parts = then, other
        case _:
            assert_never(s)
    yield s
    for part in parts:
        yield from walked(part)
