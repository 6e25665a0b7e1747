"""The abstract syntax of Diesel (the paper's figure 3)."""

from dataclasses import dataclass

from mdh.frontend.token_stream import Word
from mdh.source import Span


@dataclass(frozen=True, slots=True)
class Matrix:
    """A matrix by its name."""

    name: str
    span: Span


@dataclass(frozen=True, slots=True)
class Transpose:
    operand: "Expression"
    span: Span


@dataclass(frozen=True, slots=True)
class Pointwise:
    """RELU, SIGMOID or TANH of each element."""

    function: str
    operand: "Expression"
    span: Span


@dataclass(frozen=True, slots=True)
class MatrixOperation:
    """`+` and `-` of elements, `*` of matrices. span: of the operator."""

    op: str
    left: "Expression"
    right: "Expression"
    span: Span


Expression = Matrix | Transpose | Pointwise | MatrixOperation


@dataclass(frozen=True, slots=True)
class MatrixDeclaration:
    """`Matrix A(M,K);`: an extent is a parameter or a number."""

    name: Word
    extents: tuple[Word, Word]


@dataclass(frozen=True, slots=True)
class MatrixAssignment:
    """`C = A * B;`"""

    target: Word
    value: Expression


@dataclass(frozen=True, slots=True)
class DieselProgram:
    """kind: the type in CodeGen, None without it. results: its matrices."""

    parameters: tuple[Word, ...]
    inputs: tuple[MatrixDeclaration, ...]
    statements: tuple[MatrixAssignment, ...]
    kind: Word | None
    results: tuple[Word, ...]
