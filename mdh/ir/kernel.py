"""Kernel IR: one structured language for CUDA C++ and OpenCL C.

A Module is what one C function becomes: kernels launched in order over the function's arrays and workspaces.
Kernel code is SPMD: units read their coordinates by intrinsics (ir/intrinsic.py). On OpenCL CPUs a kernel has
one work-item a work-group, and none reads the coordinate of a thread.

Index arithmetic: an operation of type I64 may have an I32 operand (C converts it), an I32 Let or index an I64
value that fits.
Vectors: a Load with lanes > 1 is a vector; scalars mixed with vectors broadcast. Vector accesses to DM and SM
must be aligned to their size, at most 16 bytes, save in OpenCL kernels of one work-item a work-group.
"""

from dataclasses import dataclass, field
from enum import StrEnum

from mdh.hardware import CacheHint, Engine, Space, SyncScope
from mdh.ir.atoms import Atom
from mdh.ir.dtype import I32, DType
from mdh.ir.expr import Expr, Load


@dataclass(frozen=True, slots=True)
class Buf:
    """A kernel buffer. `strides` are in elements, one per logical dim (layout and padding are in them).

    slots: copies of an SM buffer that a pipeline rotates through; index 0 of every Load/Store is then the
    slot and `strides[0]`/`shape[0]` belong to it. lanes > 1 (RM only): an array of vectors; the last index
    counts vectors. restrict/readonly: how a DM parameter is declared. `align`: proven bytes.
    swizzle: bytes of the XOR swizzle span of an SM buffer, 0 = none; its rows are whole spans. volatile:
    other blocks write it while the kernel runs, so loads may not come from a cache that does not see them
    (DM only). slack: elements behind the last one, which may be read, too (SM only).
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

    @property
    def elements(self) -> int:
        """Elements (vectors where lanes > 1) the allocation holds, padding included."""
        last = sum((n - 1) * s for n, s in zip(self.shape, self.strides, strict=True))
        return 1 + last + self.slack

    @property
    def bytes(self) -> int:
        return self.elements * self.lanes * self.dtype.bytes


SWIZZLE_LINE = 128
"""Bytes of one turn through the banks of shared memory. A swizzle moves 16-byte chunks inside such lines, so
that swizzled buffers start at, and extend over, whole lines."""


def swizzle_row(buf: Buf) -> int:
    """Elements after which the number that a swizzle XORs into chunks grows by one: a row of the fastest dim
    where it fills whole lines, else a line (the pattern of TMA's 32, 64 and 128-byte modes)."""
    line = SWIZZLE_LINE // buf.dtype.bytes
    pitch = min((s for s in buf.strides if s > 1), default=line)
    return pitch if pitch % line == 0 else line


class ForKind(StrEnum):
    SEQ = "seq"
    UNROLL = "unroll"
    """Unrolled: fully, or by `factor` > 1."""
    VEC = "vec"
    """Lanes of a vector; the vectorise pass replaces it, targets never see it."""


@dataclass(frozen=True, slots=True)
class Comment:
    """`wrapped`: the lines to print where `text` does not fit on one."""

    text: str
    wrapped: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Alloc:
    """Declares an SM or RM buffer for the rest of the enclosing body. SM buffers may be declared anywhere;
    targets hoist them to the top of the kernel. `init`: every RM element's first value."""

    buf: Buf
    init: Expr | None = None


@dataclass(frozen=True, slots=True)
class Let:
    """An immutable scalar for the rest of the enclosing body. below > 0: it lies in 0 … below-1."""

    name: str
    value: Expr
    dtype: DType = I32
    below: int = 0


@dataclass(frozen=True, slots=True)
class Store:
    """buf[index] = value; lanes > 1 stores a vector of contiguous elements.

    vec: elements an access that the schedule states, for the pass that widens; None: as many as it proves.
    """

    buffer: str
    index: tuple[Expr, ...]
    value: Expr
    lanes: int = 1
    cache: CacheHint = CacheHint.DEFAULT
    vec: int | None = None


@dataclass(frozen=True, slots=True)
class Move:
    """dst[dst_index …] = src[src_index …], `lanes` contiguous elements on both sides, no arithmetic.

    engine `async` is cp.async (DM to SM), finished by Commit/Wait. `pred`: where it is false zeros (or
    `fill`) are stored and nothing is read. exact: the schedule states `lanes`, no pass changes them.
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
    """buf[index] = op(buf[index], value) in one piece: + min max & | ^ (float + by CAS where needed).

    result: name that receives the old value (integers only). `scope`: `block` for SM, `device` for DM.
    lanes > 1: that many contiguous f32 of DM, each in one piece; value loads as many from registers."""

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
    """Spins until `cond` is false (look-back); `cond` may use volatile loads."""

    cond: Expr
    body: tuple["Stmt", ...]


@dataclass(frozen=True, slots=True)
class If:
    cond: Expr
    then: tuple["Stmt", ...]
    orelse: tuple["Stmt", ...] = ()


@dataclass(frozen=True, slots=True)
class Barrier:
    """All units of `scope` meet, and their SM (block, cluster) or DM (fence: device) writes are seen."""

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
    """Waits until at most `pending` groups are in flight."""

    pending: int


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
class Mma:
    """A warp's acc += a b: each lane gives its elements of the three matrices, which lie in registers as the
    atom says; those shorter than a register share one of type U32."""

    atom: Atom
    acc: tuple[Load, ...]
    a: tuple[Load, ...]
    b: tuple[Load, ...]


Stmt = (
    Comment | Alloc | Let | Store | Move | Atomic | For | While | If | Barrier | Fence | Commit | Wait
    | LoadMatrix | Mma
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Launch:
    """grid and block in units of x, y, z; cluster in blocks. On OpenCL the global size is grid * block."""

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    cluster: tuple[int, int, int] = (1, 1, 1)
    min_blocks: int = 0
    """@occupancy: blocks a multiprocessor that the compiler must leave room for; 0 = not stated."""
    early: bool = False
    """The kernel may be launched before the one in front of it has ended, and awaits that itself before it
    touches memory (lower/dependent_launch.py)."""


@dataclass(frozen=True, slots=True)
class Kernel:
    """params: DM buffers and scalars in argument order; scalars are (name, dtype)."""

    name: str
    stage: str
    buffers: tuple[Buf, ...]
    scalars: tuple[tuple[str, DType], ...]
    launch: Launch
    body: tuple[Stmt, ...]
    comment: str = ""


@dataclass(frozen=True, slots=True)
class Workspace:
    """A DM buffer that exists for one call: partial results, look-back states, C temporaries.

    zero: must be zero bytes before the first kernel of each call.
    """

    buf: Buf
    zero: bool = False


@dataclass(frozen=True)
class Module:
    """All kernels of a program, in launch order, for one target (`cuda`, `opencl`, `c`) and machine kind.

    params: the C function's parameters in order. `poison`: fine to fill workspaces without `zero` with
    garbage before a call.
    """

    name: str
    target: str
    machine: str
    kernels: tuple[Kernel, ...]
    workspaces: tuple[Workspace, ...]
    params: tuple[str, ...]
    notes: tuple[str, ...] = field(default=())
