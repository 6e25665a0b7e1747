"""The papers on MDH: HiPar 2022, CC 2023 and the figures 17 to 22 of TOPLAS 2024.

Their ratios are the time of what is compared with over the time of their compiler. Of what they compare with,
the table here has the vendors' libraries and TVM with Ansor.
"""

from collections.abc import Mapping

from mdh.reproduce.papers import (
    A100,
    BROADWELL,
    CC23,
    HIPAR,
    PRODUCT,
    SKYLAKE,
    TOPLAS,
    V100,
    called,
)
from mdh.results.comparison import Peer
from mdh.results.experiment import Case, Experiment, Figure, PaperMachine, Sizes

_TVM, _CUBLAS, _CUDNN, _MKL, _DNN = "TVM + Ansor", "cuBLAS", "cuDNN", "oneMKL", "oneDNN"
_Column = Mapping[tuple[PaperMachine, str], tuple[float | None, ...]]
"""Ratios by machine and what is compared with, a case each; None where the paper has none."""
_RECONSTRUCTED = (
    "The paper prints no sizes of the networks' convolutions: these are reconstructed from the networks."
)
_OF_ALL = "Of the paper's ratios those to libraries and to TVM stand here; those to PPCG and Pluto do not."
_CPU_ROW = ("matmul/generic-cpu/row",)
_CPU_ROWS = ("matmul/generic-cpu/rows", "matmul/generic-cpu/rows.avx512")
_CONV = "conv2d/generic-cpu/base", "conv2d/generic-cpu/avx512"


def _with(cases: tuple[Case, ...], columns: _Column) -> tuple[Case, ...]:
    out = []
    for number, case in enumerate(cases):
        figures = tuple(
            Figure(machine, against, ratio)
            for (machine, against), ratios in columns.items()
            if (ratio := ratios[number]) is not None
        )
        out.append(Case(case.name, case.program, case.sizes, case.peers, case.schedules, figures))
    return tuple(out)


def _mnk(m: int, n: int, k: int) -> Sizes:
    return (("M", m), ("N", n), ("K", k))


def _product(m: int, n: int, k: int, gpu: tuple[str, ...] = (), cpu: tuple[str, ...] = ()) -> Case:
    shipped = {"gpu": tuple(f"matmul/h200/{s}" for s in gpu), "cpu": cpu}
    return Case(f"matmul {m}x{n}x{k}", "matmul_init", _mnk(m, n, k), PRODUCT, shipped)


def _conv(
    name: str, batch: int, side: int, channels: int, filters: int, window: int, stride: int,
    gpu: tuple[str, ...] = (), cpu: tuple[str, ...] = (),
) -> Case:  # fmt: skip
    sizes = (
        ("N", batch), ("H", side), ("W", side), ("C", channels), ("K", filters), ("R", window),
        ("S", window), ("STRIDE", stride),
    )  # fmt: skip
    shipped = {"gpu": tuple(f"conv2d/h200/{s}" for s in gpu), "cpu": cpu}
    return Case(name, "conv2d", sizes, called("conv2d"), shipped)


_FIRST = _conv("ResNet-50, first convolution, batch 1", 1, 112, 3, 64, 7, 2, ("base", "image"), _CONV)
_ROW = _product(1, 1000, 2048, ("row",), _CPU_ROW)
_ROWS = _product(16, 1000, 2048, ("cluster", "split_k", "rows"), _CPU_ROWS)

LISTING1 = Experiment(
    "hipar-listing1", HIPAR, "listing 1 and section IV",
    "the listing as written, and tuned with its tile sizes, regions and assignments open",
    (
        Case(
            _ROW.name, _ROW.program, _ROW.sizes, PRODUCT,
            dict.fromkeys(("gpu", "cpu"), ("matmul_init/listing1_open",)),
            (
                Figure(A100, "the listing", 2.22), Figure(A100, _CUBLAS, 2.67),
                Figure(V100, "the listing", 1.79), Figure(V100, _CUBLAS, 1.14),
            ),
            written=("published/hipar22_listing1",),
        ),
    ),
    ("gpu",), 5.0,
    notes=(
        "The paper tunes for 3 hours; here, for about half of the minutes.",
        "The paper's listing is TVM's schedule for an A100, written in MDH.",
    ),
    share=0.45,
)  # fmt: skip
HIPAR_CPU = Experiment(
    "hipar-cpu", HIPAR, "section IV", "the same product, and ResNet-50's first convolution, on a CPU",
    _with((_ROW, _FIRST), {(BROADWELL, _TVM): (1.53, 1.29), (BROADWELL, _MKL): (1.36, None)}),
    ("cpu",), 2.0,
    notes=(_RECONSTRUCTED, "TVM is no peer of this command: scripts/bench cpu has it."),
)  # fmt: skip
LISTING5 = Experiment(
    "cc23-listing5", CC23, "listing 5 and figure 3",
    "the listing as written beside the library; schedules by hand and derived ones beside both",
    (
        Case(
            _ROWS.name, _ROWS.program, _ROWS.sizes, PRODUCT, _ROWS.schedules,
            (Figure(A100, _TVM, 1.26), Figure(A100, _CUBLAS, 1.58)), written=("published/cc23_listing5",),
        ),
    ),
    ("gpu",), 1.5,
    notes=("The ratios are those of the tuned schedule of this product in figure 3.",),
)  # fmt: skip
FIGURE17 = Experiment(
    "toplas-linear-algebra", TOPLAS, "figure 17", "dot products, matrix-vector and matrix products",
    _with(
        (
            *(
                Case(
                    f"dot {name}", "dot", (("K", k),),
                    (Peer("numpy", "numpy", "dot"), Peer.product("mkl"), Peer("torch", "torch", "dot"),
                     Peer.product("cublas")),
                    {"gpu": tuple(f"dot/h200/{s}" for s in ("wide", "atomic", "ticket")),
                     "cpu": ("dot/generic-cpu/base",)},
                )
                for name, k in (("2^24", 1 << 24), ("10^7", 10**7))
            ),
            *(
                Case(
                    f"matvec {n}", "matvec", (("M", n), ("K", n)), PRODUCT,
                    {"gpu": ("matvec/h200/base", "matvec/h200/wide"), "cpu": ("matvec/generic-cpu/base",)},
                )
                for n in (4096, 8192)
            ),
            _product(
                10, 500, 64, ("small_tile", "tiny"),
                ("matmul/generic-cpu/small", "matmul/generic-cpu/small.avx512"),
            ),
            _product(
                1024, 1024, 1024, ("base", "middle", "square"),
                ("matmul/generic-cpu/base", "matmul/generic-cpu/avx512"),
            ),
            Case(
                "matmul transposed 10x500x64", "matmul_t", _mnk(10, 500, 64), PRODUCT,
                {"gpu": ("matmul_t/h200/base",), "cpu": ("matmul_t/generic-cpu/base",)},
            ),
            Case(
                "batched 16x10x500x64", "batched_matmul", (("BATCH", 16), *_mnk(10, 500, 64)), PRODUCT,
                {"gpu": ("batched_matmul/h200/base",),
                 "cpu": ("batched_matmul/generic-cpu/base", "batched_matmul/generic-cpu/avx512")},
            ),
        ),
        {
            (A100, _CUBLAS): (1.10, 1.11, 1.14, 1.01, 1.40, 0.92, 1.60, 1.50),
            (A100, _TVM): (172.48, 128.22, 1.74, 1.23, 1.00, 1.00, 1.00, 1.17),
            (V100, _CUBLAS): (1.06, 1.09, 1.10, 1.07, 2.60, 1.11, 1.80, 1.83),
            (SKYLAKE, _MKL): (0.64, 0.57, 0.42, 3.83, 6.27, 0.69, 3.42, 0.98),
            (SKYLAKE, _TVM): (5.07, 6.14, 1.03, 3.39, 1.06, 1.15, 1.02, 1.10),
            (BROADWELL, _MKL): (1.03, 0.41, 0.57, 0.59, 2.00, 0.66, 1.98, 0.84),
        },
    ),
    ("gpu", "cpu"), 5.0, notes=(_OF_ALL,),
)  # fmt: skip
FIGURE18 = Experiment(
    "toplas-stencils", TOPLAS, "figure 18", "stencils and convolutions",
    _with(
        (
            *(
                Case(
                    f"jacobi3d {n}", "jacobi3d", (("N", n),), called("jacobi3d"),
                    {"gpu": tuple(f"jacobi3d/h200/{s}" for s in ("base", "direct", "window")),
                     "cpu": ("jacobi3d/generic-cpu/base",)},
                )
                for n in (256, 512)
            ),
            *(
                Case(
                    f"filter 5x5 {n}", "filter5x5", (("H", n), ("W", n), ("R", 5), ("S", 5)),
                    called("filter5x5"),
                    {"gpu": ("filter5x5/h200/base", "filter5x5/h200/window"),
                     "cpu": ("filter5x5/generic-cpu/base",)},
                )
                for n in (224, 4096)
            ),
            _conv("convolution 7x7, 512 to 512 channels", 1, 7, 512, 512, 3, 1),
        ),
        {
            (A100, _CUDNN): (None, None, 2.20, 5.29, 2.44),
            (A100, _TVM): (1.93, 2.04, 1.00, 2.32, 1.63),
            (V100, _CUDNN): (None, None, 2.60, 3.58, 4.42),
            (SKYLAKE, _DNN): (3.92, 2.60, 6.47, 2.83, 3.91),
            (SKYLAKE, _TVM): (2.30, 1.64, 1.59, 2.46, 2.76),
            (BROADWELL, _DNN): (16.09, 15.02, 7.29, 16.42, 7.69),
        },
    ),
    ("gpu", "cpu"), 4.0,
    notes=(
        _OF_ALL,
        "In the paper the library of both stencils on a CPU is oneDNN; here they are numpy and torch.",
    ),
)  # fmt: skip


def _contraction(number: int) -> Case:
    extents = (24, 16, 16, 16, 24, 16, 24) if number <= 3 else (24, 16, 16, 24, 16, 16, 24)
    shipped = f"ccsdt_{number}/generic-cpu"
    return Case(
        f"contraction {number}", f"ccsdt_{number}", tuple(zip("ABCDEFG", extents, strict=True)), PRODUCT,
        {"gpu": ("ccsdt_1/h200/all", f"ccsdt_{number}/h200/base"),
         "cpu": (f"{shipped}/base", f"{shipped}/avx512")},
    )  # fmt: skip


FIGURE19 = Experiment(
    "toplas-ccsdt", TOPLAS, "figure 19", "eight contractions of coupled-cluster theory, CCSD(T)",
    _with(
        tuple(map(_contraction, range(1, 9))),
        {
            (A100, _TVM): (1.15, 1.07, 1.25, 1.00, 1.36, 1.05, 1.00, 1.15),
            (V100, _TVM): (1.09, 0.93, 1.04, 1.03, 1.01, 1.11, 1.01, 1.09),
            (SKYLAKE, _TVM): (1.60, 1.50, 2.06, 1.70, 1.20, 2.12, 1.56, 1.60),
            (BROADWELL, _TVM): (1.06, 1.28, 1.16, 1.15, 1.29, 1.13, 2.07, 1.06),
        },
    ),
    ("gpu", "cpu"), 6.0,
    notes=(
        "The paper's peers are code generators; here libraries compute each contraction as a product.",
        "The extents are those of the collection that the paper names.",
    ),
)  # fmt: skip
FIGURE20 = Experiment(
    "toplas-prl", TOPLAS, "figure 20", "probabilistic record linkage",
    _with(
        tuple(
            Case(
                f"2^{power} records", "prl", (("I", 1 << power), ("J", 1 << power)), called("prl"),
                {"gpu": ("prl/h200/base",), "cpu": ("prl/generic-cpu/base",)},
            )
            for power in range(15, 21)
        ),
        {
            (A100, "PPCG + ATF"): (1.40, 1.22, 1.50, 1.63, 1.83, 2.12),
            (V100, "PPCG + ATF"): (1.26, 1.37, 1.47, 1.77, 2.07, 2.48),
            (SKYLAKE, "EKR, Java"): (6.18, 5.39, 9.62, 19.87, 26.42, 24.78),
            (BROADWELL, "EKR, Java"): (8.01, 9.17, 23.58, 66.90, 119.33, 167.19),
        },
    ),
    ("gpu", "cpu"), 10.0,
    notes=("The paper's records are of a cancer registry; here they are random.",),
    seconds=1.0,
)  # fmt: skip
FIGURE21 = Experiment(
    "toplas-networks", TOPLAS, "figures 21 and 22",
    "the longest convolutions and products of three networks, in training (batch 16) and inference (batch 1)",
    _with(
        (
            _conv(
                "ResNet-50, first convolution, batch 16", 16, 112, 3, 64, 7, 2, ("base", "images"), _CONV[:1]
            ),
            _ROWS, _FIRST, _ROW,
            _conv(
                "VGG-16, second convolution, batch 16", 16, 224, 64, 64, 3, 1, ("base", "images"), _CONV[:1]
            ),
            _product(16, 4096, 25088, ("split_k", "rows"), _CPU_ROWS),
            _conv("VGG-16, second convolution, batch 1", 1, 224, 64, 64, 3, 1, ("base", "image"), _CONV),
            _product(1, 4096, 25088, ("row",), _CPU_ROW),
            _conv("MobileNet, first convolution, batch 16", 16, 112, 3, 32, 3, 2, ("images",), _CONV[:1]),
            _conv("MobileNet, first convolution, batch 1", 1, 112, 3, 32, 3, 2, ("image",), _CONV[:1]),
        ),
        {
            (A100, "cuDNN, cuBLAS"): (0.92, 1.58, 1.85, 2.67, 1.22, 0.93, 1.94, 1.04, 1.81, 2.14),
            (A100, _TVM): (1.00, 1.26, 1.05, 2.22, 0.93, 1.42, 0.88, 1.14, 0.94, 1.00),
            (V100, "cuDNN, cuBLAS"): (1.21, 1.33, 1.29, 1.14, 2.80, 1.09, 3.50, 1.04, 2.32, 3.14),
            (SKYLAKE, "oneDNN, oneMKL"): (0.39, 0.44, 5.07, 1.09, 1.22, 0.88, 9.01, 0.53, 1.05, 4.20),
            (BROADWELL, "oneDNN, oneMKL"): (1.30, 1.45, 1.81, 1.36, 2.94, 1.35, 2.85, 0.50, 1.83, 4.47),
        },
    ),
    ("gpu", "cpu"), 8.0, notes=(_OF_ALL, _RECONSTRUCTED),
)  # fmt: skip
EXPERIMENTS = (LISTING1, HIPAR_CPU, LISTING5, FIGURE17, FIGURE18, FIGURE19, FIGURE20, FIGURE21)
