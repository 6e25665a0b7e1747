"""Each program by torch on the CPU: oneDNN where torch hands the work to it, else its own kernels."""

from collections.abc import Callable
from importlib import import_module
from typing import Any

from bench.cpu.by_numpy import contraction
from bench.cpu.data import Arrays

torch: Any = import_module("torch")
functional: Any = import_module("torch.nn.functional")

Call = Callable[[], Any]
Tensors = dict[str, torch.Tensor]


def version() -> str:
    return f"torch {torch.__version__}"


def prepare(program: str, arrays: Arrays, threads: int) -> Call | None:
    torch.set_num_threads(threads)
    torch.set_grad_enabled(False)
    t = {k: torch.from_numpy(v) for k, v in arrays.items()}
    if program.startswith("ccsdt"):
        spec = contraction(program)
        return lambda: t["X"].copy_(torch.einsum(spec, t["lhs"], t["rhs"]))
    make = _CALLS.get(program)
    return None if make is None else make(t)


def _product(t: Tensors) -> Call:
    return lambda: torch.matmul(t["A"], t["B"], out=t["C"])


def _batched_t(t: Tensors) -> Call:
    right = t["B"].transpose(1, 2)
    return lambda: torch.bmm(t["A"], right, out=t["C"])


def _dense(t: Tensors) -> Call:
    def call() -> None:
        torch.addmm(t["bias"], t["A"], t["B"], out=t["C"])
        t["C"].relu_()

    return call


def _conv(t: Tensors) -> Call:
    """Channels last as in C, the filters laid out once before."""
    stride = (t["I"].shape[1] - t["F"].shape[1] + 1) // t["O"].shape[1]
    image = t["I"].permute(0, 3, 1, 2)
    filters = t["F"].permute(0, 3, 1, 2).contiguous(memory_format=torch.channels_last)
    out = t["O"].permute(0, 3, 1, 2)
    kept: list[torch.Tensor] = []

    def call() -> None:
        kept[:] = [functional.conv2d(image, filters, stride=stride)]

    call.__dict__["finish"] = lambda: out.copy_(kept[0])
    return call


def _grouped(t: Tensors) -> Call:
    n, g, c, h, w = t["I"].shape
    f = t["O"].shape[2]
    image, filters = t["I"].view(n, g * c, h, w), t["weight"].view(g * f, c, *t["weight"].shape[3:])
    kept: list[torch.Tensor] = []

    def call() -> None:
        kept[:] = [functional.conv2d(image, filters, groups=g)]

    call.__dict__["finish"] = lambda: t["O"].copy_(kept[0].view(t["O"].shape))
    return call


def _filter(t: Tensors) -> Call:
    kept: list[torch.Tensor] = []

    def call() -> None:
        kept[:] = [functional.conv2d(t["I"][None, None], t["F"][None, None])]

    call.__dict__["finish"] = lambda: t["O"].copy_(kept[0][0, 0])
    return call


def _jacobi(t: Tensors) -> Call:
    x, out = t["A"], t["B"]
    parts = [
        x[1:-1, 1:-1, 1:-1], x[:-2, 1:-1, 1:-1], x[2:, 1:-1, 1:-1], x[1:-1, :-2, 1:-1], x[1:-1, 2:, 1:-1],
        x[1:-1, 1:-1, :-2], x[1:-1, 1:-1, 2:],
    ]  # fmt: skip

    def call() -> None:
        torch.add(parts[0], parts[1], out=out)
        for part in parts[2:]:
            out.add_(part)
        out.mul_(1 / 7)

    return call


def _histogram(t: Tensors) -> Call:
    return lambda: t["H"].add_(torch.bincount(t["B"], minlength=t["H"].numel()))


def _gather(t: Tensors) -> Call:
    kept: list[torch.Tensor] = []

    def call() -> None:
        kept[:] = [functional.embedding_bag(t["I"], t["E"], mode="sum")]

    call.__dict__["finish"] = lambda: t["O"].copy_(kept[0])
    return call


def _dot(t: Tensors) -> Call:
    return lambda: t["C"].copy_(torch.dot(t["A"], t["B"]))


def _argmax(t: Tensors) -> Call:
    def call() -> None:
        best, place = torch.max(t["A"], dim=1)
        t["best"].copy_(best)
        t["place"].copy_(place)

    return call


_CALLS: dict[str, Callable[[Tensors], Call]] = {
    "matmul_init": _product, "matmul_double": _product, "batched_matmul": _product, "matvec": _product,
    "matmul_t": lambda t: lambda: torch.mm(t["B"], t["A"], out=t["C"]), "batched_matmul_t": _batched_t,
    "dot": _dot, "matmul_bias_relu": _dense, "conv2d": _conv, "conv2d_56": _conv, "grouped_conv": _grouped,
    "filter5x5": _filter, "jacobi3d": _jacobi,
    "prefix_sum": lambda t: lambda: torch.cumsum(t["A"], 0, out=t["S"]),
    "histogram": _histogram, "gather_sum": _gather, "row_argmax": _argmax,
    "row_max": lambda t: lambda: torch.amax(t["A"], dim=1, out=t["best"]),
}  # fmt: skip
