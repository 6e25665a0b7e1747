"""What is measured: programs at sizes, with the work that each does at least."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import prod
from pathlib import Path

from bench.cases import ROOT, Work, ccsdt_sizes, giles, linked, mnk
from mdh.machine import Machine

WIDE = 64
"""Bytes of the vector registers of which there are 32."""
ROW = 4 * 64
"""Bytes of a row of the gathered table."""


@dataclass(frozen=True, slots=True)
class Case(Work):
    """schedule: the shipped one, `program/variant`, empty where there is none. below: index arrays and the
    bound of their values. touched: bytes that have to move, None: every array once. large: only with
    `--large`.
    """

    schedule: str = ""
    below: Mapping[str, int] = field(default_factory=dict)
    touched: int | None = None
    large: bool = False

    def schedule_on(self, machine: Machine) -> Path | None:
        """The shipped schedule for a machine: by C on one with wide registers, the one for these if there is
        one."""
        if not self.schedule:
            return None
        program, variant = self.schedule.split("/")
        folder = ROOT / "schedules" / program / "generic-cpu"
        wide = folder / f"{variant}.avx512.mdh".removeprefix("base.")
        by_c = machine.targets == ("c",) and machine.vector_bytes >= WIDE
        return wide if by_c and wide.exists() else folder / f"{variant}.mdh"


def _product(name: str, program: str, sizes: Mapping[str, int], schedule: str, **more: bool) -> Case:
    return Case(name, program, sizes, 2.0 * prod(sizes.values()), schedule, **more)  # type: ignore[arg-type]


def _ccsdt() -> list[Case]:
    return [_product(f"ccsdt {n}", f"ccsdt_{n}", ccsdt_sizes(n), f"ccsdt_{n}/base") for n in range(1, 9)]


def _gather(rows: int) -> Case:
    bags, length = 128, 50
    sizes = {"BAGS": bags, "LENGTH": length, "ROWS": rows, "D": 64}
    moved = bags * length * (ROW + 4) + bags * ROW
    name, below = f"gather-sum {rows}x64", {"I": rows}
    return Case(name, "gather_sum", sizes, 0.0, "gather_sum/base", below, moved, rows > 2_000_000)


_FIRST = {"N": 1, "H": 112, "W": 112, "C": 3, "K": 64, "R": 7, "S": 7, "STRIDE": 2}
_INNER = {"N": 1, "H": 56, "W": 56, "C": 64, "K": 64, "R": 3, "S": 3}
_GROUPED = {"N": 32, "G": 32, "C": 16, "F": 16, "H": 14, "W": 14, "R": 3, "S": 3}


def cases(rows: int) -> tuple[Case, ...]:
    """Every case, the small and the `--large` ones. rows: of the large gathered table, as memory allows."""
    points = 112 * 112 * 64
    return (
        _product("matmul 1x1000x2048", "matmul_init", mnk(1, 1000, 2048), "matmul/row"),
        _product("matmul 16x1000x2048", "matmul_init", mnk(16, 1000, 2048), "matmul/rows"),
        _product("matmul 10x500x64", "matmul_init", mnk(10, 500, 64), "matmul/small"),
        _product("matmul 1024", "matmul_init", mnk(1024, 1024, 1024), "matmul/base"),
        _product("matmul 2048", "matmul_init", mnk(2048, 2048, 2048), "matmul/large", large=True),
        _product("matmul fp64 1024", "matmul_double", mnk(1024, 1024, 1024), "matmul_double/base"),
        _product("matmul transposed 512", "matmul_t", mnk(512, 512, 512), "matmul_t/large"),
        _product(
            "batched 16x10x500x64", "batched_matmul", {"BATCH": 16, **mnk(10, 500, 64)},
            "batched_matmul/base",
        ),
        _product(
            "batched transposed 500x26x72x26", "batched_matmul_t", {"BATCH": 500, **mnk(26, 26, 72)},
            "batched_matmul_t/base",
        ),
        Case("matvec 4096", "matvec", {"M": 4096, "K": 4096}, 2.0 * 4096**2, "matvec/base"),
        Case("matvec 8192", "matvec", {"M": 8192, "K": 8192}, 2.0 * 8192**2, "matvec/base", large=True),
        Case("dot 2^24", "dot", {"K": 1 << 24}, 2.0 * (1 << 24), "dot/base"),
        _product(
            "matmul bias relu 1024", "matmul_bias_relu", mnk(1024, 1024, 1024), "matmul_bias_relu/base",
        ),
        Case("conv first layer", "conv2d", _FIRST, 2.0 * points * 147, "conv2d/base"),
        Case("conv 56x56x64x64x3x3", "conv2d_56", _INNER, 2.0 * 56 * 56 * 64 * 576, "conv2d_56/large"),
        Case("conv grouped", "grouped_conv", _GROUPED, 2.0 * 32 * 32 * 16 * 196 * 144, "grouped_conv/base"),
        Case(
            "filter 5x5 4096", "filter5x5", {"H": 4096, "W": 4096, "R": 5, "S": 5}, 50.0 * 4096**2,
            "filter5x5/base",
        ),
        Case("jacobi3d 256", "jacobi3d", {"N": 256}, 7.0 * 256**3, "jacobi3d/base"),
        Case("jacobi3d 512", "jacobi3d", {"N": 512}, 7.0 * 512**3, "jacobi3d/base", large=True),
        *_ccsdt(),
        Case(**giles(1 << 18)),
        Case(**giles(1 << 18, rows=True)),
        Case("scan 2^24", "prefix_sum", {"N": 1 << 24}, 0.0, "prefix_sum/base"),
        Case("histogram 2^24", "histogram", {"N": 1 << 24, "BINS": 1024}, 0.0, "histogram/base", {"B": 1024}),
        _gather(1_000_000),
        *([_gather(rows)] if rows > 2_000_000 else []),
        Case("prl 2^15", "prl", {"I": 1 << 15, "J": 1 << 15}, 12.0 * (1 << 30), "prl/base", linked()),
        Case("row maximum 8192", "row_max", {"M": 8192, "N": 8192}, 0.0, "row_max/base"),
        Case("row argmax 8192", "row_argmax", {"M": 8192, "N": 8192}, 0.0, "row_argmax/base"),
    )  # fmt: skip
