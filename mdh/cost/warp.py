"""What the lanes of a warp ask of memory with one instruction: sectors of global memory, turns of shared
memory."""

from mdh.cost.nest import Nest, View

SECTOR, CACHED, BANKS, WORD = 32, 128, 32, 4


def lane_offsets(nest: Nest, view: View, warp: int) -> list[int] | None:
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


def turns(offsets: list[int] | None, width: int, warp: int) -> float:
    """Cycles that shared memory takes: most different words of one bank.

    Wide accesses are served in groups of lanes (all for 4 bytes, halves for 8, quarters for 16), and groups
    that ask for the same words at once: how many do is not documented, so this is the mean of none and all.
    """
    if offsets is None:
        return warp / 4
    apart = 0
    size = max(1, warp * WORD // max(WORD, width))
    for start in range(0, len(offsets), size):
        apart += _most(offsets[start : start + size], width)
    return (apart + _most(offsets, width)) / 2.0


def _most(offsets: list[int], width: int) -> int:
    banks: dict[int, set[int]] = {}
    for a in set(offsets):
        for word in range(a // WORD, (a + max(width, 1) - 1) // WORD + 1):
            banks.setdefault(word % BANKS, set()).add(word)
    return max(len(words) for words in banks.values())
