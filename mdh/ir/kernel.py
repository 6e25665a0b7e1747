"""Kernel IR: one structured language for CUDA C++, OpenCL C and C.

A Module is what one C function becomes: kernels, launched in order, over the function's arrays and
workspaces. Kernel code is SPMD: units read their coordinates by intrinsics (ir/intrinsic.py). On OpenCL CPUs
a kernel has one work-item a work-group, and no kernel reads the coordinate of a thread.

Index arithmetic: an operation of type I64 may have an I32 operand, which C converts. An I32 Let or index may
have an I64 value that fits.

Vectors: a Load with lanes > 1 is a vector, and scalars mixed with vectors are broadcast. Vector accesses to
DM and SM must be aligned to their size, at most 16 bytes. OpenCL kernels with one work-item a work-group are
exempt.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from math import prod
from typing import Any

from mdh.hardware import CacheHint, Engine, Space, SyncScope
from mdh.ir.affine import Affine
from mdh.ir.copy_engine import CopyEngineStmt, TensorMap
from mdh.ir.dtype import I32, DType
from mdh.ir.expr import Binary, Call, Const, Expr, Var
from mdh.ir.intrinsic import Intrinsic
from mdh.ir.library_call import MatrixCall
from mdh.ir.matrix import MatrixStmt
from mdh.ir.numerics import ByStage
from mdh.ir.open_size import OpenExtent
from mdh.ir.turns import Turns


@dataclass(frozen=True, slots=True)
class Buf:
    """A kernel buffer. `strides` are in elements, one per logical dimension; layout and padding are in them.

    slots: copies of an SM buffer that a pipeline rotates through. Index 0 of every Load and Store is then the
    slot, with `shape[0]` and `strides[0]`. lanes: if > 1 (RM only), this is an array of vectors and the last
    index counts vectors. restrict, readonly: how a DM parameter is declared. align: bytes of proven
    alignment. swizzle: bytes of the XOR swizzle span of an SM buffer, whose rows are whole spans; 0 for none.
    volatile (DM only): other blocks write it while the kernel runs, so a load must not use an incoherent
    cache. slack (SM only): elements behind the last one that may be read too. open (DM only): the extents
    that open sizes give at the call; `shape` has their largest values. A stride with such a factor is then
    not its value, but a number with those divisors alone that it has at every size.
    """

    name: str
    space: Space
    dtype: DType
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    lanes: int = 1
    readonly: bool = False
    align: int = 0
    swizzle: int = 0
    volatile: bool = False
    slack: int = 0
    open: tuple[OpenExtent | None, ...] = ()
    values: tuple[int | float, ...] | None = field(default=None, compare=False, repr=False)
    """The elements of a constant array (DM only), which stand in the text."""

    @property
    def least_shape(self) -> tuple[int, ...]:
        """The extents at the least open sizes."""
        if not self.open:
            return self.shape
        return tuple(n if o is None else o.least for n, o in zip(self.shape, self.open, strict=True))

    @property
    def elements(self) -> int:
        """Elements that the allocation holds, padding included; vectors if lanes > 1."""
        if self.open:
            # arrays have no gaps, and `strides` need not be those of the largest sizes
            return prod(self.shape)
        last = sum((n - 1) * s for n, s in zip(self.shape, self.strides, strict=True))
        return 1 + last + self.slack

    @property
    def bytes(self) -> int:
        return self.elements * self.lanes * self.dtype.bytes


SWIZZLE_LINE = 128
"""Bytes of one row of all banks of shared memory. A swizzle moves 16-byte chunks inside such a line. So a
swizzled buffer starts at a whole line and consists of whole lines."""


def swizzle_row(buf: Buf) -> int:
    """The number of elements after which the number that a swizzle XORs into chunk positions grows by one.
    This is a row of the fastest dimension if it fills whole lines, else a line. It is the pattern of TMA's
    32, 64 and 128-byte modes."""
    line = SWIZZLE_LINE // buf.dtype.bytes
    pitch = min((s for s in buf.strides if s > 1), default=line)
    return pitch if pitch % line == 0 else line


class ForKind(StrEnum):
    SEQ = "seq"
    UNROLL = "unroll"
    """Unrolled fully, or by `factor` if that is > 1."""
    VEC = "vec"
    """The lanes of a vector. The vectorise pass replaces this kind, so targets never see it."""


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment in the kernel text. wrapped: the lines to print if `text` does not fit on one."""

    text: str
    wrapped: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Alloc:
    """Declares an SM or RM buffer for the rest of the enclosing body. Targets move SM buffers to the top of
    the kernel. Those of the two sides of an If lie in the same place: all threads of a block take one side.
    init: the first value of every RM element."""

    buf: Buf
    init: Expr | None = None


@dataclass(frozen=True, slots=True)
class Let:
    """An immutable scalar for the rest of the enclosing body. below: if > 0, its value is in 0 … below-1."""

    name: str
    value: Expr
    dtype: DType = I32
    below: int = 0


@dataclass(frozen=True, slots=True)
class Store:
    """buf[index] = value; with lanes > 1, a vector of contiguous elements is stored.

    vec: elements an access, as the schedule states them; None lets the widen pass choose what it can prove.
    """

    buffer: str
    index: tuple[Expr, ...]
    value: Expr
    lanes: int = 1
    cache: CacheHint = CacheHint.DEFAULT
    vec: int | None = None


@dataclass(frozen=True, slots=True)
class Move:
    """dst[dst_index …] = src[src_index …]: copies `lanes` contiguous elements without arithmetic.

    engine: `async` is cp.async from DM to SM, which Commit and Wait complete. pred: where it is false, zeros
    (or `fill`) are stored and nothing is read. exact: the schedule states `lanes`, so no pass changes it.
    """

    dst: str
    dst_index: tuple[Expr, ...]
    src: str
    src_index: tuple[Expr, ...]
    lanes: int = 1
    engine: Engine = Engine.PLAIN
    cache: CacheHint = CacheHint.DEFAULT
    pred: Expr | None = None
    fill: Expr | None = None
    exact: bool = False


@dataclass(frozen=True, slots=True)
class Atomic:
    """An atomic buf[index] = op(buf[index], value), where op is + min max & | ^. Float + may need CAS.

    result: the name that receives the old value (integers only). scope: `block` for SM, `device` for DM.
    lanes: if > 1, that many contiguous f32 elements of DM, each updated atomically; `value` loads as many
    from registers.
    """

    op: str
    buffer: str
    index: tuple[Expr, ...]
    value: Expr
    result: str | None = None
    lanes: int = 1


@dataclass(frozen=True, slots=True)
class For:
    """for (var = start; var < stop; var += step) body; kind UNROLL with factor 0 unrolls fully."""

    var: str
    start: Expr
    stop: Expr
    step: Expr
    body: tuple["Stmt", ...]
    kind: ForKind = ForKind.SEQ
    factor: int = 0


@dataclass(frozen=True, slots=True)
class While:
    """Repeats until `cond` is false, as look-back does; `cond` may use volatile loads."""

    cond: Expr
    body: tuple["Stmt", ...]


@dataclass(frozen=True, slots=True)
class If:
    cond: Expr
    then: tuple["Stmt", ...]
    orelse: tuple["Stmt", ...] = ()


@dataclass(frozen=True, slots=True)
class Barrier:
    """A barrier for all units of `scope`. It also makes writes visible: to SM for block and cluster, to DM
    for device, which is a fence only."""

    scope: SyncScope = SyncScope.BLOCK
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Fence:
    """Device-wide memory fence of one thread (ticket, look-back)."""


@dataclass(frozen=True, slots=True)
class Commit:
    """Closes a group of async moves."""


@dataclass(frozen=True, slots=True)
class Wait:
    """Waits until at most `pending` groups of asynchronous moves are in flight."""

    pending: int


@dataclass(frozen=True, slots=True)
class AwaitKernels:
    """Waits until the kernels in front have ended (lower/dependent_launch.py)."""


Stmt = (
    Comment | Alloc | Let | Store | Move | Atomic | For | While | If | Barrier | Fence | Commit | Wait
    | AwaitKernels | MatrixStmt | CopyEngineStmt | MatrixCall
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Launch:
    """grid and block: counts along x, y, z; cluster: blocks. OpenCL's global size is grid * block.

    counts: the grid where open sizes give it, None where they do not; `grid` then has the largest counts.
    sizes: the open sizes and the turns of the program, which the kernel may name, with their least and
    largest values. where: functions of turns that are >= 0 in each launch.
    """

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    cluster: tuple[int, int, int] = (1, 1, 1)
    min_blocks: int = 0
    """From @occupancy: the blocks a multiprocessor that the compiler must leave room for; 0 if not stated."""
    early: bool = False
    """The kernel may be launched before the kernels in front have ended; its body has an AwaitKernels."""
    counts: tuple[Expr | None, ...] = ()
    sizes: tuple[tuple[str, int, int], ...] = ()
    where: tuple[Affine, ...] = field(default=(), compare=False, repr=False)

    def count(self, axis: int) -> Expr:
        """Blocks along an axis, of the open sizes where they give it."""
        known = self.counts[axis] if self.counts else None
        return Const(self.grid[axis], I32) if known is None else known

    def at(self, sizes: Mapping[str, Any]) -> "Launch":
        """The launch at values of the open sizes."""
        if not self.counts:
            return self
        x, y, z = (count_at(self.count(a), sizes) for a in range(3))
        return replace(self, grid=(x, y, z), counts=())


def count_at(e: Expr, sizes: Mapping[str, Any]) -> int:
    """The value of a count: sums, products and quotients of open sizes."""
    match e:
        case Const(int() as n):
            return n
        case Var(name):
            return int(sizes[name])
        case Binary(op, left, right):
            a, b = count_at(left, sizes), count_at(right, sizes)
            return {"+": a + b, "-": a - b, "*": a * b, "/": a // b}[op]
        case Call(Intrinsic.IMIN, (left, right)):
            return min(count_at(left, sizes), count_at(right, sizes))
    raise AssertionError(f"no count: {e}")


@dataclass(frozen=True, slots=True)
class Kernel:
    """params: DM buffers, scalars as (name, dtype), and tensor maps, in argument order. constants: arrays
    whose elements stand in the text. twin: the name of another kernel of the module which is the same but for
    the names of arrays, so that its text serves both."""

    name: str
    stage: str
    buffers: tuple[Buf, ...]
    scalars: tuple[tuple[str, DType], ...]
    launch: Launch
    body: tuple[Stmt, ...]
    comment: str = ""
    maps: tuple[TensorMap, ...] = ()
    constants: tuple[Buf, ...] = ()
    twin: str = ""


@dataclass(frozen=True, slots=True)
class Workspace:
    """A DM buffer that exists for one call: partial results, look-back states, C temporaries.

    zero: its bytes must be zero before the first kernel of each call.
    """

    buf: Buf
    zero: bool = False


@dataclass(frozen=True)
class Module:
    """All kernels of a program, in launch order, for one target (`cuda`, `opencl`, `c`) and machine kind.

    params: the C function's parameters in order. poison: whether tests may fill workspaces that need no zeros
    with garbage before a call. numerics: of the stages, for the judge of results. loops: around the kernels.
    """

    name: str
    target: str
    machine: str
    kernels: tuple[Kernel, ...]
    workspaces: tuple[Workspace, ...]
    params: tuple[str, ...]
    notes: tuple[str, ...] = field(default=())
    numerics: ByStage = ()
    loops: tuple[Turns, ...] = ()
    libraries: tuple[str, ...] = ()
    """What kernels call."""
