"""Tensor Comprehensions, 2018: the medians of its figures 5 and 6."""

from mdh.reproduce.papers import M40, P100, PRODUCT, TC, called
from mdh.results.comparison import Peer
from mdh.results.experiment import Case, Experiment, Figure, Sizes

_US = 1e-6
_ROWS, _BAGS, _LENGTH, _WIDTH = 10_000_000, 128, 50, 64
_TURNED = tuple(f"tmm/{name}" for name in ("atomic", "straight", "split_k", "large"))
_SHARED = 128
"""The least sum that blocks share in these."""
_WIDE = 8
"""The least results of a group that the schedule for CPUs is for."""
_LAYER = (
    Peer("numpy", "numpy", "MLP1 apart"),
    Peer("torch", "torch", "MLP1 fused"),
    Peer("torch, two calls", "torch", "MLP1 apart"),
)


def _figures(maxwell: tuple[int, int], pascal: tuple[int, int]) -> tuple[Figure, ...]:
    """Microseconds of Caffe2 and of TC, with its autotuner."""
    return tuple(
        Figure.of_times(machine, "Caffe2", peer * _US, own * _US)
        for machine, (peer, own) in ((M40, maxwell), (P100, pascal))
    )


def _product(name: str, m: int, k: int, n: int, maxwell: tuple[int, int], pascal: tuple[int, int]) -> Case:
    sizes = (("M", m), ("N", n), ("K", k))
    figures = _figures(maxwell, pascal)
    schedules = {"gpu": _TURNED} if k >= _SHARED else {}
    return Case(f"{name} {m},{k},{n}", "tmm", sizes, PRODUCT, schedules, figures)


def _grouped(f: int, c: int, side: int, maxwell: tuple[int, int], pascal: tuple[int, int]) -> Case:
    sizes = (("N", 32), ("G", 32), ("C", c), ("F", f), ("H", side), ("W", side), ("R", 3), ("S", 3))
    schedules = {
        "gpu": ("grouped_conv/h200/base", f"grouped_conv/h200/c{c}"),
        "cpu": ("grouped_conv/generic-cpu/base",) if f >= _WIDE else (),
    }
    return Case(
        f"gconv 32,32,{f},{c},{side},{side}", "grouped_conv.tc", sizes, called("grouped_conv"), schedules,
        _figures(maxwell, pascal),
    )  # fmt: skip


def _lookups() -> tuple[Case, ...]:
    one: Sizes = (("BAGS", _BAGS), ("LENGTH", _LENGTH), ("ROWS", _ROWS), ("D", _WIDTH))
    two: Sizes = (
        ("E1", _ROWS), ("E2", _ROWS), ("B", _BAGS), ("L1", _LENGTH), ("L2", _LENGTH), ("D", _WIDTH),
    )  # fmt: skip
    bags = {
        "gpu": ("gather_sum/h200/base", "gather_sum/h200/bag"), "cpu": ("gather_sum/generic-cpu/base",),
    }  # fmt: skip
    return (
        Case(
            "1LUT 10^7x64", "gather_sum.tc", one, called("gather_sum"), bags,
            _figures((80, 39), (64, 22)),
        ),
        Case(
            "2LUT 10^7x64", "2LUT", two, called("2LUT"), {"gpu": ("2LUT/bag", "2LUT/beside")},
            _figures((193, 49), (125, 30)),
        ),
    )  # fmt: skip


def _layers() -> tuple[Case, ...]:
    return (
        Case(
            "MLP1 128,2000,128", "MLP1", (("B", 128), ("M", 2000), ("O", 128)), _LAYER,
            {"gpu": ("MLP1/split_k", "MLP1/wide")}, _figures((125, 125), (133, 80)),
        ),
        Case(
            "MLP3 128-64-32-2", "mlp3", (("B", 128), ("M", 128), ("N", 64), ("O", 32), ("P", 2)),
            called("mlp3"), {"gpu": ("mlp3/h100/in",)}, _figures((128, 57), (131, 46)),
        ),
    )  # fmt: skip


TABLE = Experiment(
    "tc-table", TC, "figures 5 and 6",
    "all kernels of the tables, each as fast as the libraries or faster but for the largest product",
    (
        _product("tmm", 128, 32, 256, (35, 29), (30, 25)),
        _product("tmm", 128, 1024, 1024, (134, 313), (108, 110)),
        _product("tmm", 128, 4096, 16384, (3578, 14750), (2431, 8177)),
        _product("C3", 128, 1000, 1024, (159, 224), (113, 128)),
        Case(
            "tbmm 500,72,26,26", "batched_matmul_t.tc",
            (("BATCH", 500), ("M", 26), ("N", 26), ("K", 72)), PRODUCT,
            {
                "gpu": ("batched_matmul_t/h200/base", "batched_matmul_t/h200/column"),
                "cpu": ("batched_matmul_t/generic-cpu/base",),
            },
            _figures((347, 101), (192, 53)),
        ),
        _grouped(16, 16, 14, (1734, 670), (1343, 321)),
        _grouped(32, 32, 7, (1777, 1215), (1338, 705)),
        _grouped(4, 4, 56, (4179, 1144), (4106, 481)),
        _grouped(8, 8, 28, (3051, 863), (2021, 377)),
        *_layers(),
        *_lookups(),
    ),
    ("gpu",), 8.0,
    notes=(
        "The paper's times are of calls with the processor's part; here the device's own clock counts where "
        "it has one.",
        "Caffe2 calls cuBLAS for products, and cuDNN for gconv.",
        "gconv is without its bias: the index of that stands nowhere else in the paper's listing.",
        "Of C3 the paper prints the size of the weights, 1000 and 1024; the 1000 are summed here.",
        "The paper prints no sizes of MLP1 and MLP3: these are likely ones.",
        "The tables of 1LUT and 2LUT take 2.6 GB each.",
    ),
)  # fmt: skip
