"""Functions of the kernel IR that math.h does not have."""

from enum import StrEnum


class Intrinsic(StrEnum):
    """What `Call.fn` may be besides the functions of math.h."""

    BLOCK_ID = "block_id"
    """(axis): the block's coordinate; axis 0, 1, 2 = x, y, z."""
    THREAD_ID = "thread_id"
    """(axis): the thread's coordinate in its block."""
    CLUSTER_RANK = "cluster_rank"
    """(): which block of its cluster this one is."""
    SHFL = "shfl"
    """(value, lane): the value of lane `lane` modulo the warp size."""
    SHFL_UP = "shfl_up"
    """(value, delta): the value of the lane `delta` below this one."""
    SHFL_XOR = "shfl_xor"
    """(value, mask): the value of the lane whose number is this one's XOR `mask`."""
    FIRST_LANE = "first_lane"
    """(condition): the lowest lane of the warp for which it holds; 32 if there is none."""
    PEER = "peer"
    """(load, rank): an element in the shared memory of another block of the cluster."""
    PACKED = "packed"
    """(number, value): a 64-bit word with the number in its upper half and a value of up to 32 bits below."""
    UNPACKED = "unpacked"
    """(word): the value in a word that `packed` made."""
    IMIN = "imin"
    IMAX = "imax"
    TO_TF32 = "to_tf32"
    """(value): the bits of an f32 rounded to the nearest tf32, of two to the one that is larger in size."""
    DIVIDED = "divided"
    """(x, y, r, s): x / (y / s) by r, which is 1 / y correctly rounded; s is a power of two."""
    LANE = "lane"
    """(vector, k): one element of a vector."""
    IOTA = "iota"
    """(n): the vector 0 … n - 1."""


OF_WARP = frozenset({Intrinsic.SHFL, Intrinsic.SHFL_UP, Intrinsic.SHFL_XOR, Intrinsic.FIRST_LANE})
"""Intrinsics that all lanes of a warp must execute together."""
EXTREMA = frozenset({Intrinsic.IMIN, Intrinsic.IMAX})
COORDINATES = frozenset({Intrinsic.BLOCK_ID, Intrinsic.THREAD_ID})
