"""Each program by torch on the CPU: oneDNN where torch hands the work to it, else its own kernels."""

from collections.abc import Callable

from bench.cases import Contraction, contraction_of
from bench.cpu.data import Arrays
from mdh.compare.calling import Call, Kept
from mdh.compare.torch_calls import CALLS, Tensors, conv, grouped, layer, torch


def version() -> str:
    return f"torch {torch.__version__}"


def prepare(program: str, arrays: Arrays, threads: int) -> Call | None:
    torch.set_num_threads(threads)
    torch.set_grad_enabled(False)
    t = {k: torch.from_numpy(v) for k, v in arrays.items()}
    if contraction := contraction_of(program):
        return _einsum(contraction, t)
    make = _CALLS.get(program)
    return None if make is None else make(t)


def _einsum(c: Contraction, t: Tensors) -> Call:
    """A sum over one array may be a view of it, and is copied. Other results stay as torch makes them, save
    those of CCSD(T), which are in the order of the program."""
    given = [t[name] for name in c.factors]
    if len(given) == 1 or c.result == "X":
        return lambda: t[c.result].copy_(torch.einsum(c.letters, *given))
    return Kept(lambda: torch.einsum(c.letters, *given), t[c.result].copy_)


def _product(t: Tensors) -> Call:
    return lambda: torch.matmul(t["A"], t["B"], out=t["C"])


def _batched_t(t: Tensors) -> Call:
    right = t["B"].transpose(1, 2)
    return lambda: torch.bmm(t["A"], right, out=t["C"])


_CALLS: dict[str, Callable[[Tensors], Call]] = {
    **CALLS, "matmul_init": _product, "matmul_double": _product, "batched_matmul": _product,
    "matvec": _product, "matmul_t": lambda t: lambda: torch.mm(t["B"], t["A"], out=t["C"]),
    "batched_matmul_t": _batched_t, "dot": lambda t: lambda: t["C"].copy_(torch.dot(t["A"], t["B"])),
    "matmul_bias_relu": layer, "conv2d": conv, "conv2d_56": conv, "grouped_conv": grouped,
}  # fmt: skip
