"""Calls of the kernel IR that math.h does not have."""

from enum import StrEnum


class Intrinsic(StrEnum):
    """What `Call.fn` may be beside the functions of math.h. Arguments of the integer functions have no side
    effects."""

    BLOCK_ID = "block_id"
    """(axis): the block's coordinate; axis 0, 1, 2 = x, y, z."""
    THREAD_ID = "thread_id"
    """(axis): the thread's coordinate in its block."""
    CLUSTER_RANK = "cluster_rank"
    """(): which block of its cluster this one is."""
    SHFL = "shfl"
    """(value, lane): the value of another lane of the warp; the lane counts modulo a warp."""
    SHFL_UP = "shfl_up"
    """(value, delta)"""
    SHFL_XOR = "shfl_xor"
    """(value, mask)"""
    FIRST_LANE = "first_lane"
    """(condition): the least lane of the warp where it holds, 32 where it holds nowhere."""
    PEER = "peer"
    """(load, rank): an element in the shared memory of another block of the cluster."""
    PACKED = "packed"
    """(number, value): a word of 64 bits, the number above a value of up to 32 bits."""
    UNPACKED = "unpacked"
    """(word): the value that `packed` put in."""
    IMIN = "imin"
    IMAX = "imax"
    LANE = "lane"
    """(vector, k): one element of a vector."""
    IOTA = "iota"
    """(n): the vector 0 … n - 1."""


OF_WARP = frozenset({Intrinsic.SHFL, Intrinsic.SHFL_UP, Intrinsic.SHFL_XOR, Intrinsic.FIRST_LANE})
"""All lanes of a warp take part."""
EXTREMA = frozenset({Intrinsic.IMIN, Intrinsic.IMAX})
COORDINATES = frozenset({Intrinsic.BLOCK_ID, Intrinsic.THREAD_ID})
