"""Diesel, 2018: figures 11 to 13, products of a hundred sizes."""

from mdh.reproduce.papers import DIESEL, PASCAL, PRODUCT, VOLTA
from mdh.reproduce.sizes import diesel_sizes
from mdh.results.comparison import Peer
from mdh.results.experiment import Case, Experiment, Total
from mdh.results.reproduction import HIGHEST, LEAST, WINS

_DRAWN = (
    "The paper draws 100 sizes from 32 to 16384 and does not list them: these are 100 others that were drawn "
    "and rounded likewise.",
    "All by the schedules that mdh derives: nothing is tuned.",
)
_LAYER = (
    Peer("numpy, apart", "numpy", "apart"),
    Peer("apart", "torch", "apart"),
    Peer("fused", "torch", "fused"),
)
"""A call for each of the product, the bias and the ramp, as the paper compares; and torch's one call of them
all."""


def _cases(program: str, peers: tuple[Peer, ...]) -> tuple[Case, ...]:
    return tuple(
        Case(f"{m}x{n}x{k}", program, (("M", m), ("N", n), ("K", k)), peers) for m, n, k in diesel_sizes()
    )


def _totals(pascal: dict[str, str], volta: dict[str, str], peers: tuple[Peer, ...]) -> tuple[Total, ...]:
    return tuple(
        Total(machine, what, value, peer.name)
        for machine, found in ((PASCAL, pascal), (VOLTA, volta))
        for what, value in found.items()
        for peer in peers
    )


SGEMM = Experiment(
    "diesel-sgemm", DIESEL, "figure 11",
    "single-precision products beside cuBLAS: most sizes at least as fast, none below 0.8",
    _cases("matmul_init.diesel", PRODUCT), ("gpu",), 25.0,
    _totals(
        {WINS: "52 of 100", LEAST: "0.8", HIGHEST: "1.73"}, {WINS: "56 of 100", HIGHEST: "3.1"}, PRODUCT
    ),
    _DRAWN, seconds=0.6,
)  # fmt: skip
DGEMM = Experiment(
    "diesel-dgemm", DIESEL, "figure 12",
    "double-precision products beside cuBLAS: about half of the sizes at least as fast",
    _cases("matmul_double.diesel", PRODUCT), ("gpu",), 30.0,
    _totals(
        {WINS: "47 of 100", LEAST: "0.8", HIGHEST: "2.59"},
        {WINS: "38 of 100", HIGHEST: "3.5"}, PRODUCT,
    ),
    (*_DRAWN, "On Volta 96 of the paper's ratios are above 0.75."), seconds=0.6,
)  # fmt: skip
LAYER = Experiment(
    "diesel-layer", DIESEL, "figure 13",
    "a product with bias and ReLU in one kernel beside calls apart: more than 90 of 100 sizes faster",
    _cases("matmul_bias_relu.diesel", _LAYER), ("gpu",), 30.0,
    _totals({WINS: "more than 90 of 100"}, {}, _LAYER[:2]),
    (
        *_DRAWN,
        "The paper's three calls are cublasSgemm, cudnnAddTensor and cudnnActivationForward; here they are "
        "torch's.",
    ),
    seconds=0.6,
)  # fmt: skip
EXPERIMENTS = (SGEMM, DGEMM, LAYER)
