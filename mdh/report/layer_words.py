"""Plain words for the core layers."""

from mdh.hardware import Layer

LAYER_WORDS: dict[str, str] = {
    Layer.NOD: "nodes",
    Layer.DEV: "devices",
    Layer.CLU: "clusters",
    Layer.BLK: "blocks",
    Layer.WGP: "warp groups",
    Layer.WRP: "warps",
    Layer.THR: "threads",
    Layer.VEC: "vector lanes",
    Layer.MMA: "tensor cores",
}
