"""Two further texts: a thesis on Tiramisu, and slides on generated code of a sparse form."""

from mdh.reproduce.papers import GILES, K80, P4, TIRAMISU, called
from mdh.results.experiment import Case, Constant, Experiment, Figure

_D, _SHARE = 25, 0.25

GEMM = Experiment(
    "tiramisu-gemm", TIRAMISU, "table 3.1", "a product of 3072 squared with alpha and beta beside cuBLAS",
    (
        Case(
            "gemm 3072", "matmul_scaled", (("M", 3072), ("N", 3072), ("K", 3072)), called("scaled"),
            {
                "gpu": tuple(f"matmul/h200/{s}" for s in ("base", "square", "wide")),
                "cpu": ("matmul/generic-cpu/large", "matmul/generic-cpu/large.avx512"),
            },
            (
                Figure.of_times(K80, "cuBLAS", 17e-3, 42e-3), Figure.of_times(P4, "cuBLAS", 11e-3, 15e-3),
            ),
        ),
    ),
    ("gpu",), 1.5,
)  # fmt: skip
SPARSE = Experiment(
    "giles-sparse", GILES, "the whole",
    "products with a tensor of constants of which three quarters are zero, unrolled into one kernel",
    (
        Case(
            "N = 2^20, D = 25, a quarter not zero", "giles", (("N", 1 << 20), ("D", _D)), called("giles"),
            constants=(Constant("C", (_D, _D, _D), _SHARE),),
        ),
    ),
    ("gpu",), 3.0,
    notes=(
        "The slides print no times. The peers compute all products of two inputs and multiply them by the "
        "whole tensor.",
    ),
)  # fmt: skip
EXPERIMENTS = (GEMM, SPARSE)
