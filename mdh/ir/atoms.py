"""Atoms: the products of small matrices that tensor cores compute in one instruction, as data.

A warp issues an atom: its 32 lanes together hold the factors A (m x k) and B (k x n) and the accumulator C
(m x n) in registers. Or a warp group does (`wgmma`): its 128 lanes hold C, and A and B lie in shared memory.
Source: PTX ISA, "Matrix Fragments for mma" and "Register Fragments and Shared Memory Matrix Layouts".
"""

from collections.abc import Container
from dataclasses import dataclass, replace

from mdh.ir.dtype import BF16, EIGHTHS, F16, F32, F64, I8, I32, TF32, U8, DType

LANES = 32
GROUP_LANES = 128
"""Of a warp group."""
WGMMA = "wgmma"
WORD = 4
"""Bytes of a register."""
WARP_ROWS = 16
"""The most rows of an atom that a warp has."""


@dataclass(frozen=True, slots=True)
class LaneDigit:
    """((x / div) mod count) * weight, of a lane's number x or of the number x of one of its elements."""

    div: int
    count: int
    weight: int

    def of(self, x: int) -> int:
        return x // self.div % self.count * self.weight


@dataclass(frozen=True, slots=True)
class FragmentPlace:
    """One coordinate of an element: the sum of digits of the lane that holds it, and of its number there."""

    lane: tuple[LaneDigit, ...]
    element: tuple[LaneDigit, ...]

    def of(self, lane: int, element: int) -> int:
        return sum(d.of(lane) for d in self.lane) + sum(d.of(element) for d in self.element)


@dataclass(frozen=True, slots=True)
class Fragment:
    """What of a matrix lies where: element number 0 … count-1 of lane 0 … 31 is the one at (row, column)."""

    count: int
    row: FragmentPlace
    column: FragmentPlace

    def at(self, lane: int, element: int) -> tuple[int, int]:
        return self.row.of(lane, element), self.column.of(lane, element)


@dataclass(frozen=True, slots=True)
class Atom:
    """C += A B. word: its name in schedules. since, until: the first and the last compute capability that
    have it, times ten."""

    word: str
    m: int
    n: int
    k: int
    left: DType
    right: DType
    acc: DType
    since: int
    until: int = 1000

    @property
    def grouped(self) -> bool:
        """A warp group issues it."""
        return self.word == WGMMA

    @property
    def transposes(self) -> bool:
        """A group's atom may read a factor whose rows run along m or n."""
        return self.grouped and self.left.bits == 16

    @property
    def coarse(self) -> bool:
        """It keeps fewer bits of a sum than the accumulator's type has."""
        return self.left in EIGHTHS

    @property
    def shape(self) -> tuple[int, int, int]:
        return self.m, self.n, self.k

    @property
    def name(self) -> str:
        """As kernels call it: `m16n8k16_f32_bf16_bf16`."""
        return f"m{self.m}n{self.n}k{self.k}_{self.acc}_{self.left}_{self.right}"

    @property
    def packed(self) -> int:
        """Neighbours along k that share a register; 1 for f64, where an element takes two, and for tf32."""
        return max(1, WORD // self.left.bytes)

    @property
    def a(self) -> Fragment:
        """Rows m, columns k. Of a warp group's atom: where registers and not shared memory hold it."""
        lanes, warps = (GROUP_LANES, (_WARP,)) if self.grouped else (LANES, ())
        halves = min(self.m, WARP_ROWS) // 8
        row = FragmentPlace((_GROUP, *warps), (LaneDigit(self.packed, halves, 8),))
        return Fragment(self.m * self.k // lanes, row, self._along_k(self.packed * halves))

    @property
    def b(self) -> Fragment:
        """Rows k, columns n."""
        return Fragment(self.k * self.n // LANES, self._along_k(self.packed), FragmentPlace((_GROUP,), ()))

    @property
    def c(self) -> Fragment:
        """Rows m, columns n."""
        pairs, pair = LaneDigit(1, 4, 2), LaneDigit(1, 2, 1)
        if self.grouped:
            row = FragmentPlace((_GROUP, _WARP), (LaneDigit(2, 2, 8),))
            column = FragmentPlace((pairs,), (pair, LaneDigit(4, self.n // 8, 8)))
            return Fragment(self.m * self.n // GROUP_LANES, row, column)
        row = FragmentPlace((_GROUP,), (LaneDigit(2, self.m // 8, 8),))
        return Fragment(self.m * self.n // LANES, row, FragmentPlace((pairs,), (pair,)))

    def _along_k(self, block: int) -> FragmentPlace:
        """block: elements of a lane before its next ones along k, four lanes further."""
        pack = self.packed
        inner = (LaneDigit(1, pack, 1),) if pack > 1 else ()
        return FragmentPlace(
            (LaneDigit(1, 4, pack),), (*inner, LaneDigit(block, self.k // (4 * pack), 4 * pack))
        )


_GROUP = LaneDigit(4, 8, 1)
"""Four lanes after one another share a row of C."""
_WARP = LaneDigit(32, 4, 16)
"""Each warp of a group has 16 rows of C."""

_SPREAD = (LaneDigit(4, 2, 2), LaneDigit(8, 2, 16), LaneDigit(16, 4, 4), LaneDigit(64, 2, 32))


def spread(fragment: Fragment) -> Fragment:
    """A or C of a warp group's atom whose rows have other numbers. So a thread has rows 2 y and 2 y + 1, and
    16 threads that read two neighbours of one row of shared memory each, of four rows one after another that
    are swizzled by 128 bytes, read from different banks."""
    halves = tuple(replace(d, weight=1) for d in fragment.row.element)
    return replace(fragment, row=FragmentPlace(_SPREAD, halves))


_BYTES = (I8, U8)
_COLUMNS, _INTEGER_COLUMNS = range(256, 0, -8), (*range(256, 32, -16), 32, 24, 16, 8)
"""Of wgmma's results: of floats, of integers."""
ATOMS = (
    *(Atom("mma", 16, 8, k, t, t, F32, 80) for t in (BF16, F16) for k in (16, 8)),
    *(Atom("mma", 16, 8, k, a, b, I32, 80) for a in _BYTES for b in _BYTES for k in (32, 16)),
    *(Atom("mma", 16, 8, 32, a, b, F32, 89) for a in EIGHTHS for b in EIGHTHS),
    *(Atom("mma", 16, 8, k, TF32, TF32, F32, 80) for k in (8, 4)),
    Atom("dmma", 8, 8, 4, F64, F64, F64, 80),
    *(Atom("dmma", 16, 8, k, F64, F64, F64, 90) for k in (4, 8, 16)),
    *(Atom(WGMMA, 64, n, 16, t, t, F32, 90, 90) for t in (BF16, F16) for n in _COLUMNS),
    *(Atom(WGMMA, 64, n, 8, TF32, TF32, F32, 90, 90) for n in _COLUMNS),
    *(Atom(WGMMA, 64, n, 32, a, b, I32, 90, 90) for a in _BYTES for b in _BYTES for n in _INTEGER_COLUMNS),
    *(Atom(WGMMA, 64, n, 32, a, b, F32, 90, 90) for a in EIGHTHS for b in EIGHTHS for n in _COLUMNS),
)
"""All that are lowered."""


def factor_type(t: DType, said: Container[str]) -> DType:
    """The type in which atoms read factors of the type t. said: the words of `@as`, or what may be said."""
    return TF32 if t == F32 and TF32.name in said else t


def atoms_of(capability: int | None) -> tuple[Atom, ...]:
    """Those of a device by its compute capability times ten; none of what is no NVIDIA GPU."""
    return tuple(a for a in ATOMS if capability is not None and a.since <= capability <= a.until)
