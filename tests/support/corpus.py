"""The shipped workloads and schedules as data: what there is, at which sizes it is tested, on what arrays."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from mdh.schedule.parser import parse_schedule
from mdh.source import Source
from tests.support.source_tree import ROOT

INPUTS = ROOT / "inputs_c"
SCHEDULES = ROOT / "schedules"
PUBLISHED = "published"
"""The folder of the papers' programs, which stand as printed and so carry no header lines."""
POLYBENCH = "polybench"
"""The folder of schedules for `inputs_c/polybench`, which has tests of its own."""
HOLES = {
    ("matmul/h200/open", "for"): {"bm": 128, "bn": 128, "bk": 16, "slots": 2, "group": 8, "wm": 64, "wn": 32},
    ("matmul/h200/open", "small"): {"bm": 64, "bn": 64, "bk": 16, "slots": 2, "group": 2, "wm": 64, "wn": 32},
}
"""Values of the named holes of a schedule at the sizes of its `for` and of its `small` lines."""

Sizes = tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Workload:
    """One C file. full: its sizes as it stands; small: sizes of the same structure, the last does not divide.

    below: index arrays and the size that their elements stay below. scalars: values of scalar parameters.
    """

    name: str
    full: Sizes
    small: tuple[Sizes, ...]
    below: Mapping[str, str] = field(default_factory=dict)
    scalars: Mapping[str, float] = field(default_factory=dict)

    @property
    def path(self) -> Path:
        return INPUTS / f"{self.name}.c"

    @property
    def source(self) -> Source:
        return Source(f"inputs_c/{self.name}.c", self.path.read_text(encoding="utf-8"))


@dataclass(frozen=True, slots=True)
class Use:
    """A line of a schedule's header: a program at sizes, its holes bound, the machines (none: `small`)."""

    program: str
    sizes: Sizes
    sets: tuple[tuple[str, int | str], ...] = ()
    machines: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        return " ".join([self.program, *(f"{k}={v}" for k, v in (*self.sizes, *self.sets))])


@dataclass(frozen=True, slots=True)
class Shipped:
    """A file of `schedules/`, called by its path there without the suffix, and what its headers say."""

    name: str
    uses: tuple[Use, ...]
    small: tuple[Use, ...]

    @property
    def path(self) -> Path:
        return SCHEDULES / f"{self.name}.mdh"

    @property
    def source(self) -> Source:
        return Source(f"schedules/{self.name}.mdh", self.path.read_text(encoding="utf-8"))

    @property
    def machine(self) -> str:
        return self.uses[0].machines[0]

    @property
    def cpu(self) -> bool:
        return all(m == "generic-cpu" for u in self.uses for m in u.machines)


def _shipped(path: Path) -> Shipped:
    name = path.relative_to(SCHEDULES).as_posix().removesuffix(".mdh")
    headers = parse_schedule(Source(str(path), path.read_text(encoding="utf-8"))).sizes

    def uses(word: str) -> tuple[Use, ...]:
        sets = tuple(HOLES.get((name, word), {}).items())
        return tuple(Use(h.program or "", h.sizes, sets, h.machines) for h in headers if h.word == word)

    return Shipped(name, uses("for"), uses("small"))


@cache
def schedules() -> tuple[Shipped, ...]:
    """Every schedule that ships with headers, by name."""
    apart = {PUBLISHED, POLYBENCH}
    return tuple(_shipped(p) for p in sorted(SCHEDULES.rglob("*.mdh")) if apart.isdisjoint(p.parts))


def _sizes(names: str, *rows: str) -> tuple[Sizes, ...]:
    """`_sizes("M N", "4 5", "6 7")` is ((("M", 4), ("N", 5)), (("M", 6), ("N", 7)))."""
    keys = names.split()
    return tuple(tuple(zip(keys, map(int, row.split()), strict=True)) for row in rows)


def _work(
    name: str, names: str, full: str, *small: str, **more: Mapping[str, float] | Mapping[str, str]
) -> Workload:
    return Workload(name, _sizes(names, full)[0], _sizes(names, *small), **more)  # type: ignore[arg-type]


_MNK = ("M N K", "1024 1024 1024", "32 48 16", "37 29 41", "1 50 67")
_CCSDT_GD = ("A B C D E F G", "24 16 16 16 24 16 24", "4 4 2 4 2 8 4", "3 2 5 2 3 7 5")
_CCSDT_GE = ("A B C D E F G", "24 16 16 24 16 16 24", "4 4 2 4 2 8 4", "3 2 5 2 3 7 5")

WORKLOADS: Mapping[str, Workload] = {
    w.name: w
    for w in (
        _work("matmul", *_MNK),
        _work("matmul_init", *_MNK),
        _work("matmul_double", *_MNK),
        _work("matmul_bias_relu", "M N K", "128 1024 1024", "16 32 24", "13 37 29"),
        _work("matmul_t", "M N K", "10 500 64", "16 32 24", "10 37 29"),
        _work("matmul_scaled", *_MNK, scalars={"alpha": 2.0, "beta": -3.0}),
        _work("matmul_flat", *_MNK),
        _work("matmul_half", *_MNK),
        _work("matmul_bf16", *_MNK),
        _work("matmul_tf32", *_MNK),
        _work("matmul_tf32_t", *_MNK),
        _work("matmul_int8_t", *_MNK),
        _work("matmul_fp8", *_MNK),
        _work("matmul_fp8_bf16", *_MNK),
        _work("batched_matmul", "BATCH M N K", "16 10 500 64", "4 8 16 8", "3 10 37 13"),
        _work("batched_matmul_t", "BATCH M N K", "500 72 26 26", "4 8 16 8", "5 18 13 26"),
        _work("batched_matmul_t_bf16", "BATCH M N K", "500 72 26 26", "4 16 16 16", "5 18 13 26"),
        _work("dot", "K", "16777216", "4096", "1", "10007"),
        _work("dot_int8", "K", "16777216", "4096", "10007"),
        _work("matvec", "M K", "4096 4096", "32 64", "37 131"),
        _work(
            "conv2d", "N H W C K R S STRIDE", "1 112 112 3 64 7 7 2", "1 4 8 4 8 3 3 2", "2 5 7 3 11 3 2 2"
        ),
        _work("conv2d_56", "N H W C K R S", "1 56 56 64 64 3 3", "1 4 8 4 8 3 3", "2 5 7 3 11 3 2"),
        _work(
            "conv2d_half",
            "N H W C K R S STRIDE",
            "1 28 28 128 128 3 3 1",
            "1 4 8 16 8 3 3 1",
            "2 5 7 8 11 3 2 2",
        ),
        _work("filter5x5", "H W R S", "4096 4096 5 5", "16 32 5 5", "13 37 5 5"),
        _work(
            "grouped_conv", "N G C F H W R S", "32 32 16 16 14 14 3 3", "2 2 4 4 4 8 3 3", "2 3 5 3 5 7 3 2"
        ),
        _work(
            "grouped_conv_half",
            "N G C F H W R S",
            "32 32 16 16 14 14 3 3",
            "2 2 8 8 4 8 3 3",
            "2 3 5 3 5 7 3 2",
        ),
        _work("ccsdt_1_double", *_CCSDT_GD),
        _work("giles", "D N", "25 1048576", "4 64", "5 77"),
        _work("giles_rows", "D N", "25 1048576", "4 64", "5 77"),
        _work("jacobi1d", "N", "16777216", "256", "1009"),
        _work("jacobi2d", "N M", "4096 4096", "16 32", "17 41"),
        _work("jacobi3d", "N M L", "256 256 256", "8 8 16", "5 7 19"),
        *(_work(f"ccsdt_{n}", *_CCSDT_GD) for n in (1, 2, 3)),
        *(_work(f"ccsdt_{n}", *_CCSDT_GE) for n in (4, 5, 6, 7, 8)),
        _work("prefix_sum", "N", "16777216", "1024", "2", "10007"),
        _work("prefix_sum_exclusive", "N", "16777216", "1024", "10007"),
        _work("mbbs", "N M", "4096 4096", "64 32", "101 37"),
        _work("histogram", "N BINS", "16777216 256", "1024 16", "5003 19", below={"B": "BINS"}),
        _work(
            "gather_sum",
            "BAGS LENGTH ROWS D",
            "2048 50 100000 64",
            "8 4 16 32",
            "7 5 23 37",
            below={"I": "ROWS"},
        ),
        _work(
            "gather_two",
            "BAGS LENGTH ROWS D",
            "128 50 100000 64",
            "8 4 16 32",
            "7 5 23 37",
            below={"I1": "ROWS", "I2": "ROWS"},
        ),
        _work("row_max", "M N", "4096 4096", "16 32", "13 101"),
        _work("row_argmax", "M N", "4096 4096", "16 32", "13 101"),
        _work("prl", "I J", "32768 32768", "32 64", "37 53"),
        _work("transpose", "M N", "4096 4096", "32 64", "37 53"),
        _work("softmax", "M N", "4096 1024", "16 32", "13 101"),
        _work("layer_norm", "M N", "4096 1024", "4 64", "13 50"),
        _work("softmax_bf16", "M N", "4096 1024", "16 32", "13 101"),
        _work("layer_norm_bf16", "M N", "4096 1024", "4 64", "13 50"),
        _work("attention", "H N D", "64 1024 64", "1 64 16", "2 13 5"),
        _work("mlp3", "B M N O P", "128 128 64 32 2", "4 8 16 8 2", "5 24 13 7 3"),
        _work("lstm", "T B D H", "100 64 512 512", "3 4 8 16", "5 3 7 11"),
    )
}
