"""The papers, their machines, and the libraries that stand beside most programs here."""

from mdh.results.comparison import Peer
from mdh.results.experiment import Paper, PaperMachine

TC = Paper(
    "Tensor Comprehensions",
    "Vasilache, Zinenko, Theodoridis et al., Tensor Comprehensions, arXiv:1802.04730, 2018",
)
DIESEL = Paper(
    "Diesel",
    "Elango, Rubin, Ravishankar et al., Diesel, MAPL 2018, doi:10.1145/3211346.3211354",
)
HIPAR = Paper(
    "MDH-based schedules, HiPar",
    "Rasch, Schulze, Gorlatch, Expressing Hierarchical Code Optimizations via MDH-Based Schedules, "
    "HiPar 2022",
)
CC23 = Paper(
    "MDH-based schedules, CC",
    "Rasch, Schulze, Shabalin et al., (De/Re)-Compositions Expressed Systematically via MDH-Based Schedules, "
    "CC 2023, doi:10.1145/3578360.3580269",
)
TOPLAS = Paper(
    "MDH, TOPLAS",
    "Rasch, (De/Re)-Composition of Data-Parallel Computations via Multi-Dimensional Homomorphisms, "
    "TOPLAS 46(3), 2024, doi:10.1145/3665643",
)
TIRAMISU = Paper(
    "Tiramisu on GPUs",
    "Akkas, Efficient Memory and GPU Operations for Tiramisu Compiler, thesis, MIT, 2019",
)
GILES = Paper("CUDA code generation", "Giles, CUDA code generation, slides, University of Oxford")
PACT19 = Paper(
    "MDH, PACT", "Rasch, Schulze, Gorlatch, Generating Portable High-Performance Code via MDH, PACT 2019"
)
SC = Paper("MDH, SC", "Schulze, Gorlatch, Rasch: MDH for deep learning (2021) and as directives (2025)")

M40 = PaperMachine("Tesla M40", "NVIDIA Tesla M40 (Maxwell)", "gpu")
P100 = PaperMachine("Tesla P100", "NVIDIA Tesla P100-SXM2 (Pascal)", "gpu")
PASCAL = PaperMachine("Pascal", "an NVIDIA Pascal GPU (sm_60)", "gpu")
VOLTA = PaperMachine("Volta", "an NVIDIA Volta GPU (sm_70)", "gpu")
K80 = PaperMachine("Tesla K80", "NVIDIA Tesla K80 (Kepler)", "gpu")
P4 = PaperMachine("Tesla P4", "NVIDIA Tesla P4 (Pascal)", "gpu")
A100 = PaperMachine("A100 PCIe", "NVIDIA A100-PCIE-40GB", "gpu")
V100 = PaperMachine("V100 SXM2", "NVIDIA V100-SXM2-16GB", "gpu")
SKYLAKE = PaperMachine("Skylake", "Intel Xeon Gold 6140 (Skylake)", "cpu")
BROADWELL = PaperMachine("Broadwell", "Intel Xeon E5-2683 v4 (Broadwell)", "cpu")

PRODUCT = tuple(map(Peer.product, ("numpy", "mkl", "torch", "cublas")))
"""The libraries that compute the product that a program is."""


def called(call: str, *libraries: str) -> tuple[Peer, ...]:
    """A computation that numpy and torch, or other libraries, are asked for by name."""
    return tuple(Peer(library, library, call) for library in libraries or ("numpy", "torch"))
