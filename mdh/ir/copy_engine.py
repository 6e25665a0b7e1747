"""Statements of the copy engine of a GPU (TMA), and of the tokens that say when its copies have landed.

A token is what PTX calls an mbarrier: a 64-bit word of shared memory that runs through phases. A phase ends
when as many threads have arrived, and as many bytes have landed, as it waits for. Phases have parities 0, 1,
0, 1 …; a wait names the parity of the phase whose end it waits for.
"""

from dataclasses import dataclass

from mdh.ir.dtype import DType
from mdh.ir.expr import Expr
from mdh.ir.program import Buffer

MOST_BOX = 256
"""Elements of a box along one dimension."""
MOST_STEP = 8
"""Elements from one of a box to the next along a dimension; those of the last one lie side by side."""
MOST_RANK = 5
"""Dimensions of an array that the copy engine can see."""
UNIT = 16
"""Bytes: arrays begin, and their rows and the rows of boxes are, at multiples of it."""


def unmapped(array: Buffer) -> str | None:
    """Why no tensor map describes an array, or None."""
    shape = array.shape
    if array.values is not None:
        return "it is a constant, whose elements stand in the kernel's text"
    if not 1 <= len(shape) <= MOST_RANK:
        return f"it has {len(shape)} dimensions, a tensor map has 1 to {MOST_RANK}"
    row = shape[-1] * array.dtype.bytes
    if len(shape) > 1 and row % UNIT:
        return f"its rows have {row} bytes, which is no multiple of {UNIT}"
    return None


@dataclass(frozen=True, slots=True)
class TensorMap:
    """How the copy engine sees an array: a parameter of a kernel.

    buffer: the array. shape: its extents, the slowest dimension first. box: the elements that one copy moves
    along each. swizzle: bytes of the span in which it moves chunks of 16 bytes; 0 for none. written: whether
    boxes are stored to the array. steps: from one element of a box to the next along each dimension; empty:
    1 along all.
    """

    name: str
    buffer: str
    dtype: DType
    shape: tuple[int, ...]
    box: tuple[int, ...]
    swizzle: int = 0
    written: bool = False
    steps: tuple[int, ...] = ()

    @property
    def passed(self) -> tuple[int, ...]:
        """Elements of the array that a box passes along each dimension, as the driver counts them."""
        return tuple(n * step for n, step in zip(self.box, self.steps or (1,) * len(self.box), strict=True))


@dataclass(frozen=True, slots=True)
class FetchMap:
    """The copy engine reads a tensor map before the first box that needs it."""

    map: str


@dataclass(frozen=True, slots=True)
class InitTokens:
    """One thread begins the first phase of all tokens of a buffer. arrivals: that each phase waits for."""

    buffer: str
    arrivals: int


@dataclass(frozen=True, slots=True)
class TokensReady:
    """What InitTokens wrote becomes visible to the copy engine."""


@dataclass(frozen=True, slots=True)
class Expect:
    """The current phase of a token also waits for `bytes`; the thread arrives."""

    buffer: str
    index: tuple[Expr, ...]
    bytes: int


@dataclass(frozen=True, slots=True)
class Arrive:
    """The thread arrives at a token. rank: of the block of the cluster whose token it is, None: its own."""

    buffer: str
    index: tuple[Expr, ...]
    rank: Expr | None = None


@dataclass(frozen=True, slots=True)
class Await:
    """The thread waits until the phase of this parity has ended. A phase before the first one has."""

    buffer: str
    index: tuple[Expr, ...]
    parity: Expr


@dataclass(frozen=True, slots=True)
class BoxCopy:
    """One thread asks the copy engine for a box of an array, which lands in shared memory, row-major.

    map: the TensorMap's name. start: the box's first element in the array, by dimension; elements outside of
    the array are zeros. token, slot: whose phase counts the bytes. peers: a mask of the blocks of the cluster
    that receive the box, each at the same place and with its own token; None: this block alone.
    """

    map: str
    start: tuple[Expr, ...]
    dst: str
    index: tuple[Expr, ...]
    token: str
    slot: tuple[Expr, ...]
    peers: Expr | None = None


@dataclass(frozen=True, slots=True)
class BoxStore:
    """One thread asks the copy engine to store a box of shared memory, row-major, to an array.

    map: the TensorMap's name. start: the box's first element in the array; elements outside are not stored.
    """

    map: str
    start: tuple[Expr, ...]
    src: str
    index: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class StoreFence:
    """What the thread wrote to shared memory becomes visible to the copy engine."""


@dataclass(frozen=True, slots=True)
class StoreCommit:
    """Closes a group of the thread's BoxStores."""


@dataclass(frozen=True, slots=True)
class StoreWait:
    """The thread waits until at most `pending` of its groups still read shared memory. stored: until their
    results are in the arrays, too."""

    pending: int
    stored: bool = False


@dataclass(frozen=True, slots=True)
class SetRegisters:
    """The warps of a group give registers back to the block, or ask for more: `count` for each thread."""

    count: int
    more: bool


CopyEngineStmt = (
    FetchMap | InitTokens | TokensReady | Expect | Arrive | Await | BoxCopy | BoxStore | StoreFence
    | StoreCommit | StoreWait | SetRegisters
)  # fmt: skip
