"""Cases whose programs are texts of other languages than C: einsums, the kernels of Tensor Comprehensions,
and Diesel's products at its hundred sizes.

A text that has a twin in C is called like it, with the same names inside: the kernels are the same.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import prod

from bench.cases import mnk
from bench.einsums import einsums
from bench.gpu.cases import Case, cases
from mdh.reproduce.sizes import diesel_sizes

_ARITHMETIC = 4.0
"""Operations a byte from which on arithmetic bounds an einsum."""
_TABLE = {"D": 64}
_ROWS, _BAGS, _LENGTH = 10_000_000, 128, 50


def einsum_cases() -> tuple[Case, ...]:
    """Those that compute little are measured beside a plain copy, or a read where the result is small."""
    return tuple(replace(case, like=_like(case), signed=False) for case in einsums(Case))


def _like(case: Case) -> str:
    result = prod(case.sizes[x] for x in case.text.partition("->")[2])
    touched = case.touched or 0
    if case.flops >= _ARITHMETIC * touched:
        return ""
    return "copy" if 4 * result >= touched / 4 else "read"


def tc_cases() -> tuple[Case, ...]:
    """The kernels of figures 5 and 6 that are one function, at their sizes."""
    return (*_transposed(), _batched(), *_grouped(), *_lookups(), _layer())


def _tc(name: str, program: str, sizes: Mapping[str, int], flops: float, schedules: Sequence[str]) -> Case:
    return Case(f"TC {name}", program, sizes, flops, tuple(schedules), language="tc")


def _own(program: str, *names: str) -> list[str]:
    """Schedules of programs that have no twin in C."""
    return [f"mdh/reproduce/schedules/{program}/{name}.mdh" for name in names]


def _transposed() -> list[Case]:
    def product(name: str, m: int, k: int, n: int) -> Case:
        schedules = _own("tmm", "atomic", "straight", "split_k", "large")
        return _tc(f"{name} {m},{k},{n}", "tmm", mnk(m, n, k), 2.0 * m * n * k, schedules)

    tmm = ((128, 32, 256), (128, 1024, 1024), (128, 4096, 16384))
    return [*(product("tmm", *sizes) for sizes in tmm), product("C3", 128, 1000, 1024)]


def _batched() -> Case:
    sizes = {"BATCH": 500, **mnk(26, 26, 72)}
    shipped = ("batched_matmul_t/h200/base", "batched_matmul_t/h200/column")
    case = _tc("tbmm 500,72,26,26", "batched_matmul_t", sizes, 2.0 * prod(sizes.values()), shipped)
    return replace(case, like="read")


def _grouped() -> list[Case]:
    def layer(features: int, channels: int, side: int) -> Case:
        sizes = {"N": 32, "G": 32, "C": channels, "F": features, "H": side, "W": side, "R": 3, "S": 3}
        flops = 2.0 * 32 * 32 * features * (side - 2) ** 2 * channels * 9
        shipped = ("grouped_conv/h200/base", f"grouped_conv/h200/c{channels}")
        return _tc(f"gconv 32,32,{features},{channels},{side},{side}", "grouped_conv", sizes, flops, shipped)

    return [layer(16, 16, 14), layer(32, 32, 7), layer(4, 4, 56), layer(8, 8, 28)]


def _lookups() -> list[Case]:
    """Sums of rows of large tables."""
    touched = _BAGS * _LENGTH * (4 * _TABLE["D"] + 4) + _BAGS * 4 * _TABLE["D"]
    one = {"BAGS": _BAGS, "LENGTH": _LENGTH, "ROWS": _ROWS, **_TABLE}
    two = {"E1": _ROWS, "E2": _ROWS, "B": _BAGS, "L1": _LENGTH, "L2": _LENGTH, **_TABLE}
    shipped = ("gather_sum/h200/base", "gather_sum/h200/bag")
    single = replace(
        _tc("1LUT 10^7x64", "gather_sum", one, 0.0, shipped),
        like="read", below={"I": _ROWS}, shared=frozenset({"E"}), touched=touched,
    )  # fmt: skip
    double = replace(
        _tc("2LUT 10^7x64", "2LUT", two, 0.0, _own("2LUT", "bag", "beside")),
        like="read", below={"I1": _ROWS, "I2": _ROWS}, shared=frozenset({"LUT1", "LUT2"}),
        touched=2 * touched,
    )  # fmt: skip
    return [single, double]


def _layer() -> Case:
    sizes = {"B": 128, "M": 2000, "O": 128}
    return _tc(
        "MLP1 128,2000,128", "MLP1", sizes, 2.0 * prod(sizes.values()), _own("MLP1", "split_k", "wide")
    )


def diesel_cases() -> tuple[Case, ...]:
    """The products of figures 11 to 13, all by the derived schedule."""
    out = list[Case]()
    for program, name in (
        ("matmul_init", "sgemm"), ("matmul_double", "dgemm"), ("matmul_bias_relu", "layer"),
    ):  # fmt: skip
        for number, (m, n, k) in enumerate(diesel_sizes()):
            label, flops = f"Diesel {name} {number:02} {m}x{n}x{k}", 2.0 * m * n * k
            out.append(Case(label, program, mnk(m, n, k), flops, language="diesel", limit=60.0))
    return tuple(out)


SETS: Mapping[str, Callable[[], tuple[Case, ...]]] = {
    "fixed": cases, "einsum": einsum_cases, "tc": tc_cases, "diesel": diesel_cases,
}  # fmt: skip
"""The cases of `--set`."""
