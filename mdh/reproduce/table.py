"""Every table and figure that mdh runs again, and those that it does not, with the reason."""

from mdh.reproduce import diesel, mdh_papers, others, tc
from mdh.reproduce.papers import CC23, DIESEL, PACT19, SC, TC, TIRAMISU, TOPLAS
from mdh.results.experiment import Experiment, LeftOut

EXPERIMENTS: tuple[Experiment, ...] = (
    tc.TABLE,
    *diesel.EXPERIMENTS,
    *mdh_papers.EXPERIMENTS,
    *others.EXPERIMENTS,
)
LEFT_OUT = (
    LeftOut("tc-speedups", TC, "figure 7", "its bars are ratios of figures 5 and 6, which tc-table has"),
    LeftOut("tc-model", TC, "figure 15", "a model in pseudo-code; no time of the whole is printed"),
    LeftOut("diesel-code", DIESEL, "figures 8 to 10", "they show code and no measurement"),
    LeftOut(
        "tiramisu-lstm", TIRAMISU, "the table of section 3.2.2",
        "no experiment does it yet; `mdh run lstm` computes one layer of such a network",
    ),
    LeftOut(
        "toplas-capsules", TOPLAS, "the capsule networks of figures 21 and 22",
        "no library has the operation, and the paper at hand prints no sizes",
    ),
    LeftOut(
        "toplas-portability", TOPLAS, "the portability figures",
        "they need two GPUs and two CPUs at once; `mdh compare` computes the same metric over devices",
    ),
    LeftOut(
        "pact19", PACT19, "its figures", "later papers of its authors measure the programs again"
    ),
    LeftOut(
        "cc23-figure3", CC23, "figure 3",
        "its networks are those of toplas-networks; TVM by LLVM, which it adds, is no peer here",
    ),
    LeftOut("sc25-directives", SC, "MDH as directives", "no more than the abstract was at hand"),
    LeftOut("sc21-bert", SC, "parts of BERT", "the sizes are not printed in what was at hand"),
)  # fmt: skip


def experiment_called(name: str) -> Experiment | None:
    return next((e for e in EXPERIMENTS if e.name == name), None)


def left_out_called(name: str) -> LeftOut | None:
    return next((e for e in LEFT_OUT if e.name == name), None)


def names() -> tuple[str, ...]:
    return tuple(e.name for e in EXPERIMENTS)
