"""What the lanes of a warp ask of memory with one instruction: sectors of global memory, banks of shared
memory. Source: CUDA C++ Programming Guide, compute capability 5.0 on."""

from collections import Counter

from mdh.cost.gpu import WORD
from mdh.cost.nest import AccessView, CostNest

SECTOR, CACHED = 32, 128
"""Bytes of global memory that come together, and of a line of the first-level cache."""
BANKS = 32
"""Of shared memory, each as wide as a word."""


def lane_offsets(nest: CostNest, view: AccessView, warp: int) -> list[int] | None:
    """Bytes from lane 0's address to each lane's; None where data decides. The last thread level is
    fastest."""
    out = [0]
    for v in reversed(nest.threads):
        if len(out) >= warp:
            break
        stride = view.stride(v)
        if stride is None:
            return None
        out = [k * stride + a for k in range(v.parts) for a in out]
    return out[:warp]


def global_cycles(offsets: list[int] | None, width: int, warp: int) -> float:
    """Cycles that the first-level cache is busy with a warp's access. width: bytes a lane.

    A cycle serves a line of 128 bytes if it is used as a whole; lines of which little is used cost half a
    cycle and an eighth of one for each sector.
    """
    if offsets is None:
        return warp * 0.625
    lines, found = set(), set()
    for a in offsets:
        for end in (a, a + width - 1):
            lines.add(end // CACHED)
            found.add(end // SECTOR)
    return max(1.0, len(lines) / 2.0 + len(found) / 8.0)


def shared_cycles(offsets: list[int] | None, width: int, warp: int) -> float:
    """Cycles that shared memory takes: most different words of one bank.

    Groups that ask for the same words are served at once. How many groups that holds for is not documented,
    so this is the mean of none and all.
    """
    if offsets is None:
        return warp / 4
    apart = sum(_most([offsets[lane] for lane in group], width) for group in served(len(offsets), width))
    return (apart + _most(offsets, width)) / 2.0


def served(lanes: int, width: int) -> tuple[range, ...]:
    """Groups of lanes that shared memory serves together: all for 4 bytes a lane, halves for 8, quarters for
    16."""
    size = max(1, BANKS * WORD // max(WORD, width))
    return tuple(range(n, min(n + size, lanes)) for n in range(0, lanes, size))


def words_of(offset: int, width: int) -> range:
    """The words of shared memory that a lane asks for. Word n lies in bank n modulo BANKS."""
    return range(offset // WORD, (offset + max(width, 1) - 1) // WORD + 1)


def _most(offsets: list[int], width: int) -> int:
    words = {word for offset in offsets for word in words_of(offset, width)}
    return max(Counter(word % BANKS for word in words).values())
