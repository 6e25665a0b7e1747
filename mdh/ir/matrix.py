"""Statements of tensor cores: loads of fragments, and products of small matrices."""

from dataclasses import dataclass

from mdh.ir.atoms import Atom
from mdh.ir.expr import Expr, Load


@dataclass(frozen=True, slots=True)
class LoadMatrix:
    """`ldmatrix`: the lanes of a warp load 8 x 8 matrices of 16-bit elements, one into each of `dst`.

    dst: registers of type U32. Lanes 8 r … 8 r + 7 say by `index` where the rows of matrix number r begin: 16
    aligned bytes of an SM buffer. Lane number 4 y + x receives the elements 2 x and 2 x + 1 of row y.
    transposed: it receives those of column y.
    """

    dst: tuple[Load, ...]
    src: str
    index: tuple[Expr, ...]
    transposed: bool = False


@dataclass(frozen=True, slots=True)
class LoadWord:
    """Each lane fills its register `dst`, of type U32, with elements of an SM buffer, the first one lowest.

    places: of the elements; or one place, where all that a register has room for lie side by side, from a
    multiple of 4 bytes on. conditions: of the places; where one is false there is zero, and nothing is read.
    """

    dst: Load
    src: str
    places: tuple[tuple[Expr, ...], ...]
    conditions: tuple[Expr | None, ...]


@dataclass(frozen=True, slots=True)
class StoreMatrix:
    """`stmatrix`: the lanes of a warp store 8 x 8 matrices of 16-bit elements.

    src: two registers for each matrix, which follow one another. Lane number 4 y + x gives the elements 2 x
    and 2 x + 1 of row y. Lanes 8 r … 8 r + 7 say by `index` where the rows of matrix number r begin: 16
    aligned bytes of an SM buffer.
    """

    src: Load
    dst: str
    index: tuple[Expr, ...]

    @property
    def count(self) -> int:
        return self.src.lanes // 2


@dataclass(frozen=True, slots=True)
class Mma:
    """A warp's acc += a b: each lane gives its elements of the three matrices, which lie in registers as the
    atom says. Factors lie in registers of type U32, which several share that are shorter; those of f64
    in their own."""

    atom: Atom
    acc: tuple[Load, ...]
    a: tuple[Load, ...]
    b: tuple[Load, ...]


@dataclass(frozen=True, slots=True)
class SharedMatrix:
    """A factor of a GroupMma in shared memory, by the descriptor of PTX ("Matrix Descriptor").

    index: its first element in the buffer, at the start of a row of the swizzle. The matrix lies in groups of
    8 rows of `swizzle` bytes each; `group`: bytes from one group to the next. along_k: rows run along k.
    Else they run along m or n; `block`: bytes from the `swizzle` bytes of each row to the next ones.
    """

    buffer: str
    index: tuple[Expr, ...]
    swizzle: int
    group: int
    block: int
    along_k: bool


@dataclass(frozen=True, slots=True)
class GroupMma:
    """`wgmma`: a warp group's acc += a b, which runs on after the statement.

    acc: the thread's first element of the result. row, column: elements of the register array from a row of
    its to the one 8 further down, and from a column to the next one. a: in shared memory, or the thread's
    registers of it, as in Mma. keep: where it is 0, acc = a b, and what the registers held does not count;
    None: it always counts.
    """

    atom: Atom
    acc: Load
    row: int
    column: int
    a: SharedMatrix | tuple[Load, ...]
    b: SharedMatrix
    keep: Expr | None = None

    @property
    def shared(self) -> tuple[SharedMatrix, ...]:
        return (self.b,) if isinstance(self.a, tuple) else (self.a, self.b)

    @property
    def held(self) -> tuple[Load, ...]:
        return self.a if isinstance(self.a, tuple) else ()


@dataclass(frozen=True, slots=True)
class MmaFence:
    """Accesses to registers come before the GroupMma that follow. settled: an RM buffer whose elements are in
    their registers by then. A compiler that is not told so may fill some of them between two GroupMma."""

    settled: str | None = None


@dataclass(frozen=True, slots=True)
class MmaCommit:
    """Closes a group of GroupMma."""


@dataclass(frozen=True, slots=True)
class MmaWait:
    """Waits until at most `pending` of the warp group's groups of GroupMma still run."""

    pending: int


MatrixStmt = LoadMatrix | LoadWord | StoreMatrix | Mma | GroupMma | MmaFence | MmaCommit | MmaWait
