"""Each program by torch on the CPU: oneDNN where torch hands the work to it, else its own kernels."""

from collections.abc import Callable

from bench.cases import ccsdt_letters
from bench.cpu.data import Arrays
from bench.torch_calls import CALLS, Call, Kept, Tensors, conv_parts, functional, grouped_parts, layer, torch


def version() -> str:
    return f"torch {torch.__version__}"


def prepare(program: str, arrays: Arrays, threads: int) -> Call | None:
    torch.set_num_threads(threads)
    torch.set_grad_enabled(False)
    t = {k: torch.from_numpy(v) for k, v in arrays.items()}
    if program.startswith("ccsdt"):
        spec = ccsdt_letters(program)
        return lambda: t["X"].copy_(torch.einsum(spec, t["lhs"], t["rhs"]))
    make = _CALLS.get(program)
    return None if make is None else make(t)


def _product(t: Tensors) -> Call:
    return lambda: torch.matmul(t["A"], t["B"], out=t["C"])


def _batched_t(t: Tensors) -> Call:
    right = t["B"].transpose(1, 2)
    return lambda: torch.bmm(t["A"], right, out=t["C"])


def _conv(t: Tensors) -> Call:
    """Channels last as in C, the filters laid out once before."""
    image, filters, out, options = conv_parts(t)
    filters = filters.contiguous(memory_format=torch.channels_last)
    return Kept(lambda: functional.conv2d(image, filters, **options), out.copy_)


def _grouped(t: Tensors) -> Call:
    image, filters, put, options = grouped_parts(t)
    return Kept(lambda: functional.conv2d(image, filters, **options), put)


_CALLS: dict[str, Callable[[Tensors], Call]] = {
    **CALLS, "matmul_init": _product, "matmul_double": _product, "batched_matmul": _product,
    "matvec": _product, "matmul_t": lambda t: lambda: torch.mm(t["B"], t["A"], out=t["C"]),
    "batched_matmul_t": _batched_t, "dot": lambda t: lambda: t["C"].copy_(torch.dot(t["A"], t["B"])),
    "matmul_bias_relu": layer, "conv2d": _conv, "conv2d_56": _conv, "grouped_conv": _grouped,
}  # fmt: skip
