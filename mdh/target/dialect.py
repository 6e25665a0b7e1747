"""What CUDA C++ and OpenCL C spell differently; everything else is `clike`'s."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Protocol

from mdh.ir.copy_engine import CopyEngineStmt
from mdh.ir.dtype import DType
from mdh.ir.expr import Call, Cast, Expr
from mdh.ir.kernel import Atomic, Barrier, Buf, For, Kernel, Move, Stmt, Store
from mdh.ir.library_call import MatrixCall
from mdh.ir.matrix import MatrixStmt
from mdh.ir.ranges import Known


@dataclass(frozen=True, slots=True)
class ExprText:
    """Text of an expression and how tightly its outermost operator binds (a row of clike's table)."""

    text: str
    rank: int


@dataclass(frozen=True, slots=True)
class PrintScope:
    """What names mean while one kernel is printed: `names` maps IR names to target names."""

    kernel: Kernel
    buffers: Mapping[str, Buf]
    names: Mapping[str, str]
    known: Known
    """Ranges of the variables in reach, from which offsets learn their width."""
    lanes: Mapping[str, int]
    """Of each buffer that is accessed, the most lanes at once."""
    spun: frozenset[str] = frozenset()
    """DM buffers that a While waits on: their loads are volatile."""
    grouped: bool = False
    """Warp groups multiply (wgmma)."""
    handed: bool = False
    """A thread may write an element of DM that another one has read before a barrier."""
    depth: int = 1
    """Braces around the statement that is printed."""

    def name(self, name: str) -> str:
        return self.names.get(name, name)

    def inner(self) -> "PrintScope":
        """The scope of a loop's or a branch's body."""
        return replace(self, depth=self.depth + 1)

    def with_buffers(self, *bufs: Buf) -> "PrintScope":
        return replace(self, buffers={**self.buffers, **{b.name: b for b in bufs}})


class Dialect(Protocol):
    """One target language. Lines are without indentation; expressions are Pieces."""

    language: str
    long_suffix: str

    def value_type(self, dtype: DType, lanes: int = 1) -> str:
        """The type that values of `dtype` are computed in (16-bit floats: float)."""

    def element_type(self, buf: Buf) -> str:
        """The type a buffer's elements are declared with; a vector type where it holds vectors."""

    def aligned(self, n: int) -> str:
        """The prefix of a declaration whose address is a multiple of n bytes."""

    def packed(self, buf: Buf, scope: PrintScope) -> list[str]:
        """What stands where an SM buffer is declared; nothing where the head of the kernel declares it."""

    def zeros(self, buf: Buf) -> str:
        """An initialiser that zeroes an array; empty where a loop serves better."""

    def stored(self, buf: Buf, value: Expr, scope: PrintScope) -> str:
        """`value` as an element of `buf`: rounded where the buffer holds 16-bit floats."""

    def unroll(self, factor: int, trips: int | None) -> str:
        """The line before a loop of so many turns (None: not known here) that is to be unrolled by `factor`,
        0: as a whole."""

    def opening(self, loop: For, scope: PrintScope) -> list[str]:
        """Lines that the body of a loop begins with."""

    def subscript(self, buf: Buf, e: Expr, scope: PrintScope) -> Expr:
        """An offset in `buf` in the width that the target's compiler handles best."""

    def coordinate(self, call: Call, scope: PrintScope) -> str:
        """block_id, thread_id, cluster_rank as an int."""

    def cast(self, e: Cast, scope: PrintScope) -> ExprText:
        """A conversion that changes the value type, or rounds to a 16-bit float."""

    def call(self, e: Call, scope: PrintScope) -> ExprText:
        """A function by its C name and precision."""

    def vector(self, e: Expr, scope: PrintScope) -> ExprText | None:
        """Text of a vector-valued comparison or selection where it is not the scalar's; else None."""

    def load(self, buf: Buf, place: str, lanes: int, *, scope: PrintScope) -> ExprText:
        """The value at lvalue `place` (`A[i]`), converted to its value type."""

    def store(self, s: Store, scope: PrintScope) -> list[str]: ...

    def move(self, s: Move, scope: PrintScope) -> list[str]: ...

    def atomic(self, s: Atomic, scope: PrintScope) -> list[str]: ...

    def barrier(self, s: Barrier, scope: PrintScope) -> list[str]: ...

    def fence(self) -> str: ...

    def commit(self) -> list[str]: ...

    def wait(self, pending: int) -> list[str]: ...

    def await_kernels(self) -> list[str]: ...

    def instruction(self, s: MatrixStmt | CopyEngineStmt | MatrixCall, scope: PrintScope) -> list[str]:
        """What tensor cores, the copy engine and libraries do."""


Body = tuple[Stmt, ...]
