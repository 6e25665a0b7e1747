"""What is measured: programs at sizes, the schedules that ship for them, and what bounds each."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import prod
from pathlib import Path

from bench.cases import ROOT, Work, ccsdt_sizes, giles, linked, mnk


@dataclass(frozen=True, slots=True)
class Case(Work):
    """like: the plain kernel that moves as many bytes, `copy`
    or `read`; empty: arithmetic bounds the case.

    schedules: shipped ones; the fastest that fits is ours, and where none fits the derived one is. below:
    index arrays and the bound of their values. shared: arrays too large to have copies. touched: bytes that
    have to move, None: every array once. adds: to what the outputs hold. signed: floats from -1 to 1, else
    from 0. limit: seconds for the case in one process.
    """

    schedules: tuple[str, ...] = ()
    like: str = ""
    below: Mapping[str, int] = field(default_factory=dict)
    scalars: Mapping[str, float] = field(default_factory=dict)
    shared: frozenset[str] = frozenset()
    touched: int | None = None
    adds: bool = False
    signed: bool = True
    limit: float = 120.0


def schedule_path(name: str) -> Path:
    """Of a shipped schedule; a name that ends so is a path itself."""
    return ROOT / name if name.endswith(".mdh") else ROOT / "schedules" / f"{name}.mdh"


def cases() -> tuple[Case, ...]:
    """The fixed ones."""
    return (*_products(), *_batches(), *_convolutions(), *_contractions(), *_moving(), *_together())


_SQUARES = tuple(f"matmul/h200/{tile}" for tile in ("base", "middle", "square", "large", "wide"))
_SHAPES = (
    "middle", "square", "wide", "tall", "slices", "deep", "pairs", "columns", "pillars", "strips", "thirds",
    "parts", "low", "narrow", "rows",
)  # fmt: skip
SINGLE = tuple(f"matmul/h200/{shape}" for shape in _SHAPES)
DOUBLE = tuple(f"matmul_double/h200/{n}" for n in ("base", "tensor", "tensor_small"))
_RUNGS = (
    "tensor", "tensor_small", "group", "group_wide", "roles", "persistent", "boxes", "turns", "stream",
    "cluster", "thirds", "one_wave", "halves",
)  # fmt: skip
_HALF = tuple(f"matmul_bf16/h200/{rung}" for rung in _RUNGS)
_HALF_OUT = _HALF[_RUNGS.index("boxes") :]
_BYTES = tuple(f"matmul_int8_t/h200/{n}" for n in ("tensor", "group", "group_small"))
_TF32 = tuple(f"matmul_tf32/h200/{n}" for n in ("tensor", "tensor_small", "registers", "registers_small"))
_TF32_T = tuple(f"matmul_tf32_t/h200/{n}" for n in ("boxes", "one_wave"))
TF32 = frozenset({"matmul_tf32", "matmul_tf32_t"})
"""Programs whose factors of fp32 may be rounded to tf32, by libraries too."""
_EIGHTHS = tuple(f"matmul_fp8/h200/{n}" for n in ("promoted", "square", "fast"))
_ROWS = ("matmul/h200/cluster", "matmul/h200/split_k", "matmul/h200/rows")
_TURNED = tuple(f"batched_matmul_t/h200/{n}" for n in ("split_k", "straight", "atomic", "large"))
LAYER = ("matmul_bias_relu/h200/base", "matmul_bias_relu/h200/square", "matmul_bias_relu/h200/split_k")


def _product(name: str, program: str, sizes: Mapping[str, int], *schedules: str, like: str = "") -> Case:
    return Case(name, program, sizes, 2.0 * prod(sizes.values()), schedules, like)


def _products() -> list[Case]:
    def single(m: int, n: int, k: int, *schedules: str) -> Case:
        return _product(f"matmul {m}x{n}x{k}", "matmul_init", mnk(m, n, k), *schedules)

    def double(n: int) -> Case:
        return _product(f"matmul fp64 {n}", "matmul_double", mnk(n, n, n), *DOUBLE)

    def half(n: int) -> Case:
        return _product(f"matmul bf16 {n}", "matmul_bf16", mnk(n, n, n), *_HALF)

    def half_out(m: int, n: int, k: int) -> Case:
        return _product(f"matmul f16 {m}x{n}x{k}", "matmul_half", mnk(m, n, k), *_HALF_OUT)

    def rounded(n: int) -> Case:
        return _product(f"matmul tf32 {n}", "matmul_tf32", mnk(n, n, n), *_TF32)

    def rounded_t(n: int) -> Case:
        return _product(f"matmul tf32 t {n}", "matmul_tf32_t", mnk(n, n, n), *_TF32_T)

    def whole(n: int) -> Case:
        below = {"A": 128, "B": 128}
        case = _product(f"matmul int8 {n}", "matmul_int8_t", mnk(n, n, n), *_BYTES)
        return replace(case, below=below)

    def eighths(n: int, program: str = "matmul_fp8") -> Case:
        kind = program.removeprefix("matmul_").replace("_", " ")
        return _product(f"matmul {kind} {n}", program, mnk(n, n, n), *_EIGHTHS)

    def transposed(name: str, m: int, k: int, n: int) -> Case:
        return _product(f"{name} {m},{k},{n}", "batched_matmul_t", {"BATCH": 1, **mnk(m, n, k)}, *_TURNED)

    def layer(m: int, n: int, k: int) -> Case:
        name = f"matmul bias relu {m}x{n}x{k}"
        return _product(name, "matmul_bias_relu", mnk(m, n, k), *LAYER)

    cube = mnk(3072, 3072, 3072)
    scaled = Case(
        "gemm alpha beta 3072", "matmul_scaled", cube, 2.0 * 3072**3, _SQUARES[::2], adds=True,
        scalars={"alpha": 1.5, "beta": 0.5},
    )  # fmt: skip
    return [
        single(1, 1000, 2048, "matmul/h200/row"), single(16, 1000, 2048, *_ROWS),
        single(10, 500, 64, "matmul/h200/small_tile", "matmul/h200/tiny"),
        *(single(n, n, n, *_SQUARES) for n in (1024, 3072, 4096, 8192)),
        *(kind(n) for kind in (double, half, whole, eighths, rounded, rounded_t) for n in (1024, 4096)),
        eighths(4096, "matmul_fp8_bf16"), eighths(8192, "matmul_fp8_bf16"),
        *(half(n) for n in (2048, 3072, 8192)), *(half_out(n, n, n) for n in (1024, 2048, 3072, 4096, 8192)),
        half_out(4096, 4096, 512), half_out(64, 4096, 4096), half_out(4840, 8168, 5344),
        scaled, transposed("tmm", 128, 32, 256),
        transposed("tmm", 128, 1024, 1024), transposed("tmm", 128, 4096, 16384),
        transposed("C3", 128, 1000, 1024), layer(1024, 1024, 1024), layer(128, 1024, 1024),
    ]  # fmt: skip


def _batches() -> list[Case]:
    sizes = {"BATCH": 500, **mnk(26, 26, 72)}
    columns = ("batched_matmul_t/h200/base", "batched_matmul_t/h200/column")
    bags, length, rows, width = 128, 50, 10_000_000, 64
    moved = bags * length * (4 * width + 4) + bags * 4 * width
    gather = Case(
        "1LUT 10^7x64", "gather_sum", {"BAGS": bags, "LENGTH": length, "ROWS": rows, "D": width}, 0.0,
        ("gather_sum/h200/base", "gather_sum/h200/bag"), "read", {"I": rows}, shared=frozenset({"E"}),
        touched=moved,
    )  # fmt: skip
    return [
        _product("tbmm 500,72,26,26", "batched_matmul_t", sizes, *columns, like="read"),
        _product("tbmm bf16 500,72,26,26", "batched_matmul_t_bf16", sizes, like="read"),
        gather,
    ]


def _grouped(features: int, channels: int, side: int) -> Case:
    """side: of the image; the results lie inside of it."""
    inner = side - 2
    sizes = {"N": 32, "G": 32, "C": channels, "F": features, "H": inner, "W": inner, "R": 3, "S": 3}
    flops = 2.0 * 32 * 32 * features * inner * inner * channels * 9
    name = f"gconv 32,32,{features},{channels},{side},{side}"
    return Case(
        name, "grouped_conv", sizes, flops, ("grouped_conv/h200/base", f"grouped_conv/h200/c{channels}")
    )


def _grouped_half(channels: int, side: int) -> Case:
    """The same layer in f16, channels last."""
    inner = side - 2
    sizes = {"N": 32, "G": 32, "C": channels, "F": channels, "H": inner, "W": inner, "R": 3, "S": 3}
    flops = 2.0 * 32 * 32 * channels**2 * inner**2 * 9
    shipped = (f"grouped_conv_half/h200/c{channels}",)
    name = f"gconv f16 32,32,{channels},{channels},{side},{side}"
    return Case(name, "grouped_conv_half", sizes, flops, shipped)


def _convolutions() -> list[Case]:
    def first(batch: int) -> Case:
        sizes = {"N": batch, "H": 112, "W": 112, "C": 3, "K": 64, "R": 7, "S": 7, "STRIDE": 2}
        flops = 2.0 * batch * 112 * 112 * 64 * 147
        shipped = ("conv2d/h200/base", "conv2d/h200/image", "conv2d/h200/images")
        return Case(f"conv first layer batch {batch}", "conv2d", sizes, flops, shipped)

    inner = {"N": 1, "H": 56, "W": 56, "C": 64, "K": 64, "R": 3, "S": 3}
    return [
        _grouped(16, 16, 14), _grouped(32, 32, 7), _grouped(4, 4, 56), _grouped(8, 8, 28),
        *(_grouped_half(c, side) for c, side in ((16, 14), (32, 7), (4, 56), (8, 28))),
        first(1), first(16), *_half_convolutions(),
        Case(
            "conv 56x56x64x64x3x3", "conv2d_56", inner, 2.0 * 56 * 56 * 64 * 576,
            ("conv2d_56/h200/base", "conv2d_56/h200/strips"), adds=True,
        ),
    ]  # fmt: skip


def _half_convolutions() -> list[Case]:
    """Layers of ResNet-50 in f16."""
    layers = ((112, 3, 64, 7, 2), (56, 64, 64, 3, 1), (28, 128, 128, 3, 1), (14, 1024, 256, 1, 1))
    first = ("conv2d_half/h200/first_one", "conv2d_half/h200/first_few", "conv2d_half/h200/first_many")
    rungs = ("conv2d_half/h200/boxes", "conv2d_half/h200/turns")
    shipped = {(56, 64): ("conv2d_half/h200/halo",), (28, 16): rungs, (28, 64): rungs}

    def layer(batch: int, side: int, channels: int, features: int, window: int, stride: int) -> Case:
        sizes = {"N": batch, "H": side, "W": side, "C": channels, "K": features, "R": window, "S": window}
        name = f"conv f16 {side}x{side}x{channels} to {features} {window}x{window} batch {batch}"
        flops = 2.0 * batch * side**2 * channels * features * window**2
        schedules = first if channels == 3 else shipped.get((side, batch), ())
        return Case(name, "conv2d_half", {**sizes, "STRIDE": stride}, flops, schedules)

    return [layer(batch, *one) for batch in (1, 16, 64) for one in layers]


def _contractions() -> list[Case]:
    single = [
        _product(
            f"ccsdt {n}", f"ccsdt_{n}", ccsdt_sizes(n), "ccsdt_1/h200/all",
            f"ccsdt_{n}/h200/base",
        )
        for n in range(1, 9)
    ]  # fmt: skip
    sparse = [Case(**giles(1 << 20, rows=rows)) for rows in (False, True)]
    return [*single, *sparse, _product("ccsdt 1 fp64", "ccsdt_1_double", ccsdt_sizes(1))]


def _moving() -> list[Case]:
    many = 1 << 24
    dots = ("atomic", "cluster", "cluster_atomic", "kernel", "shuffle", "threads", "ticket", "wide")
    square = {"M": 8192, "N": 8192}
    return [
        Case(
            "jacobi3d 512", "jacobi3d", {"N": 512}, 7.0 * 512**3,
            ("jacobi3d/h200/base", "jacobi3d/h200/direct", "jacobi3d/h200/window"), "copy",
        ),
        Case(
            "filter 5x5 4096", "filter5x5", {"H": 4096, "W": 4096, "R": 5, "S": 5}, 50.0 * 4096**2,
            ("filter5x5/h200/base", "filter5x5/h200/window"), "copy",
        ),
        Case(
            "dot 2^24", "dot", {"K": many}, 2.0 * many, tuple(f"dot/h200/{d}" for d in dots), "read",
            signed=False,
        ),
        Case(
            "matvec 8192", "matvec", {"M": 8192, "K": 8192}, 2.0 * 8192**2,
            ("matvec/h200/base", "matvec/h200/wide"), "read",
        ),
        Case(
            "scan 2^24", "prefix_sum", {"N": many}, 0.0,
            tuple(f"prefix_sum/h200/{variant}" for variant in ("base", "kernel", "stream")), "copy",
            signed=False,
        ),
        Case(
            "histogram 2^24 1024", "histogram", {"N": many, "BINS": 1024}, 0.0,
            ("histogram/h200/base", "histogram/h200/wide"), "read", {"B": 1024}, adds=True,
        ),
        Case(
            "prl 2^17", "prl", {"I": 1 << 17, "J": 1 << 17}, 0.0, ("prl/h200/base",),
            below=linked(),
        ),
        Case(
            "row argmax 8192", "row_argmax", square, 0.0,
            ("row_argmax/h200/base", "row_argmax/h200/wide"), "read",
        ),
        Case("row maximum 8192", "row_max", square, 0.0, ("row_max/h200/base",), "read"),
        Case(
            "transpose 8192", "transpose", square, 0.0, ("transpose/h200/base", "transpose/h200/wide"),
            "copy",
        ),
    ]  # fmt: skip


def _together() -> list[Case]:
    """Programs of several stages, which are one kernel."""

    def rows(program: str, title: str, columns: int, variant: str) -> Case:
        sizes = {"M": 4096, "N": columns}
        return Case(f"{title} 4096x{columns}", program, sizes, 0.0, (f"{program}/h100/{variant}",), "copy")

    def attention(places: int) -> Case:
        sizes = {"H": 64, "N": places, "D": 64}
        work = 4.0 * 64 * places**2 * 64
        return Case(f"attention 64x{places}x64", "attention", sizes, work, ("attention/h100/online",))

    layers = {"B": 128, "M": 128, "N": 64, "O": 32, "P": 2}
    return [
        rows("softmax", "softmax", 1024, "in"),
        rows("softmax", "softmax", 4096, "in_4096"),
        rows("softmax", "softmax", 16384, "in_16384"),
        rows("layer_norm", "layer norm", 1024, "in"),
        rows("layer_norm", "layer norm", 4096, "in_4096"),
        rows("layer_norm", "layer norm", 16384, "in_16384"),
        rows("softmax_bf16", "softmax bf16", 1024, "in"),
        rows("softmax_bf16", "softmax bf16", 4096, "in_4096"),
        rows("softmax_bf16", "softmax bf16", 16384, "in_16384"),
        rows("layer_norm_bf16", "layer norm bf16", 1024, "in"),
        rows("layer_norm_bf16", "layer norm bf16", 4096, "in_4096"),
        rows("layer_norm_bf16", "layer norm bf16", 16384, "in_16384"),
        *(attention(n) for n in (1024, 2048, 4096)),
        Case("MLP3 128", "mlp3", layers, 2.0 * 128 * (128 * 64 + 64 * 32 + 32 * 2), ("mlp3/h100/in",)),
    ]
