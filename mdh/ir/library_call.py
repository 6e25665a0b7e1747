"""Calls of linear-algebra libraries: what one computes, and the loops around it."""

from dataclasses import dataclass

from mdh.ir.dtype import DType
from mdh.ir.expr import Expr
from mdh.ir.program import Output


@dataclass(frozen=True, slots=True)
class CallOperand:
    """A matrix, or a vector, that begins at an element of an array.

    step: elements between its lines, which are its rows, or with `turned` its columns; elements of a line are
    neighbours. Of a vector: elements between neighbours.
    """

    buffer: str
    index: tuple[Expr, ...]
    step: int
    turned: bool = False


@dataclass(frozen=True, slots=True)
class MatrixCall:
    """out = alpha * left * right + beta * out, where left is m x k, right is k x n and out is m x n.

    vector: n is 1, and right and out are vectors. beta: with 0, the old values of `out` are not read. dtype:
    of all arrays and numbers.
    """

    m: int
    n: int
    k: int
    left: CallOperand
    right: CallOperand
    out: CallOperand
    alpha: Expr
    beta: Expr
    dtype: DType
    vector: bool = False

    @property
    def operands(self) -> tuple[CallOperand, CallOperand, CallOperand]:
        return self.left, self.right, self.out

    @property
    def function(self) -> str:
        """The name in C's interface to BLAS: `cblas_sgemm`."""
        letter = "d" if self.dtype.bits == 64 else "s"
        return f"cblas_{letter}{'gemv' if self.vector else 'gemm'}"


@dataclass(frozen=True, slots=True)
class LibraryCall:
    """A stage as calls of a library. around: the loops of the stage that run the call, from outside in; the
    call's indices name them, and turns of loops around the stage. rest: what else the stage writes, which
    kernels compute of the finished product."""

    library: str
    around: tuple[str, ...]
    call: MatrixCall
    rest: tuple[Output, ...] = ()
