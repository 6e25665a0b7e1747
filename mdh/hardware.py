"""Enumerations of the parts of a machine that schedules, plans and kernels name, spelled as in texts."""

from enum import StrEnum


class Layer(StrEnum):
    """Core layers, outer to inner (docs/language.md section 3)."""

    NOD = "NOD"
    DEV = "DEV"
    CLU = "CLU"
    BLK = "BLK"
    WGP = "WGP"
    WRP = "WRP"
    THR = "THR"
    VEC = "VEC"
    MMA = "MMA"

    @classmethod
    def named(cls, word: str) -> "Layer | None":
        """The layer of this name; None if there is none."""
        return _LAYERS.get(word)

    @property
    def depth(self) -> int:
        """0 for the outermost layer."""
        return _DEPTHS[self]


BLOCKED = (Layer.CLU, Layer.BLK)
"""Layers whose units are blocks of the grid."""
THREADED = (Layer.WGP, Layer.WRP, Layer.THR)
"""Layers whose units share a block."""
UNIT_AXES = "xyzuv"
"""Axes of units, the fastest first. Schedules name the first three. Lanes that share an atom along several
dimensions take one for each."""
GRID_AXES = 3
"""How many of them grids and blocks have."""


class Space(StrEnum):
    """Memory layers, outer to inner: host, device, shared memory, registers."""

    HM = "HM"
    DM = "DM"
    SM = "SM"
    RM = "RM"

    @property
    def depth(self) -> int:
        """0 for the outermost one."""
        return _DEPTHS[self]


class Engine(StrEnum):
    """Who copies: a thread through its registers, `cp.async`, or the tensor memory accelerator."""

    PLAIN = "plain"
    ASYNC = "async"
    TMA = "tma"


class CacheHint(StrEnum):
    """What a cache is told of an access: nothing, that it is the last one, or that there will be more."""

    DEFAULT = "default"
    STREAM = "stream"
    KEEP = "keep"


class Combine(StrEnum):
    """How the parts of a reduction are combined (docs/language.md section 5), from the inside out: among
    lanes of a warp, threads of a block, blocks of a cluster; across the grid by one of the next three. With
    the last one, the blocks of a persistent grid share a loop that is not split."""

    SHUFFLE = "shuffle"
    SHARED = "shared"
    CLUSTER = "cluster"
    ATOMIC = "atomic"
    TICKET = "ticket"
    KERNEL = "kernel"
    STREAM = "stream"


class SyncScope(StrEnum):
    """The units that a barrier synchronises."""

    GROUP = "group"
    BLOCK = "block"
    CLUSTER = "cluster"
    DEVICE = "device"


class Launching(StrEnum):
    """How the kernels of the turns of a loop around stages are launched: one by one, as a graph that is
    recorded once, or by a kernel that goes through all turns."""

    HOST = "host"
    GRAPH = "graph"
    PERSISTENT = "persistent"


class BlockOrder(StrEnum):
    """The order in which the blocks of a grid take its tiles."""

    ROWS = "rows"
    GROUPED = "grouped"
    HILBERT = "hilbert"


_LAYERS = {layer.value: layer for layer in Layer}
_DEPTHS: dict[str, int] = {word: n for kind in (Layer, Space) for n, word in enumerate(kind)}
