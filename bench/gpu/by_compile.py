"""Each program by torch.compile, which searches among kernels that it generates and the libraries'."""

import logging
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from bench.calling import Call, Kept
from bench.gpu.cases import Case
from bench.gpu.clock import Made, made
from bench.gpu.gpu import Tensors, functional, torch
from bench.torch_calls import LAYERS, mlp3, normalised

Form = tuple[Callable[..., Any], tuple[str, ...], tuple[str, ...]]
"""A function of arrays, their names, and those of its results."""


_OWN = frozenset(
    (
        "2LUT",
        "dot",
        "filter5x5",
        "gather_sum",
        "jacobi3d",
        "layer_norm",
        "layer_norm_bf16",
        "matvec",
        "prefix_sum",
        "row_argmax",
        "row_max",
        "softmax",
        "softmax_bf16",
        "transpose",
    )
)
"""Programs that it writes kernels for, which takes seconds. For the others it tries many, and libraries."""


def prepare(case: Case, sets: Sequence[Tensors], patient: bool) -> Made | None:
    """patient: whatever the program."""
    if not patient and case.program not in _OWN:
        return None
    form = _form(case, sets[0])
    if form is None:
        return None
    function, inputs, outputs = form
    # candidates that do not fit are its own matter
    torch._logging.set_logs(inductor=logging.CRITICAL)
    if not patient:
        # starting helpers takes longer than the few kernels do
        inductor: Any = import_module("torch._inductor.config")
        inductor.compile_threads = 1
    # the graphs are ours, for all contestants alike
    fast = torch.compile(function, mode="max-autotune-no-cudagraphs", dynamic=False)
    return made([_call(fast, t, inputs, outputs) for t in sets])


def _call(fast: Callable[..., Any], t: Tensors, inputs: Sequence[str], outputs: Sequence[str]) -> Call:
    given = [t[n] for n in inputs]

    def put(found: Any) -> None:
        for name, value in zip(outputs, found if isinstance(found, tuple) else (found,), strict=True):
            t[name].copy_(value.reshape(t[name].shape))

    return Kept(lambda: fast(*given), put)


def _form(case: Case, t: Tensors) -> Form | None:
    if c := case.contraction:
        return lambda *given: torch.einsum(c.letters, *given).contiguous(), c.factors, (c.result,)
    if case.program == "matmul_scaled":
        alpha, beta = case.scalars["alpha"], case.scalars["beta"]
        return lambda a, b, c: torch.addmm(c, a, b, alpha=alpha, beta=beta), ("A", "B", "C"), ("C",)
    if case.program in ("conv2d", "conv2d_56"):
        stride = int((t["I"].shape[1] - t["F"].shape[1] + 1) // t["O"].shape[1])
        return lambda i, f: _conv(i, f, stride), ("I", "F"), ("O",)
    return _FORMS.get(case.program)


def _conv(image: Any, filters: Any, stride: int) -> Any:
    found = functional.conv2d(image.permute(0, 3, 1, 2), filters.permute(0, 3, 1, 2), stride=stride)
    return found.permute(0, 2, 3, 1).contiguous()


def _grouped(image: Any, weight: Any) -> Any:
    n, g, c, h, w = image.shape
    filters = weight.view(-1, c, *weight.shape[3:])
    return functional.conv2d(image.view(n, g * c, h, w), filters, groups=g)


def _filter(image: Any, weights: Any) -> Any:
    h, w = (i - f + 1 for i, f in zip(image.shape, weights.shape, strict=True))
    shifts = ((r, s) for r in range(weights.shape[0]) for s in range(weights.shape[1]))
    return sum(image[r : r + h, s : s + w] * weights[r, s] for r, s in shifts)


def _jacobi(x: Any) -> Any:
    inner = x[1:-1, 1:-1, 1:-1] + x[:-2, 1:-1, 1:-1] + x[2:, 1:-1, 1:-1] + x[1:-1, :-2, 1:-1]
    return (inner + x[1:-1, 2:, 1:-1] + x[1:-1, 1:-1, :-2] + x[1:-1, 1:-1, 2:]) * (1 / 7)


_FORMS: dict[str, Form] = {
    "matmul_init": (lambda a, b: a @ b, ("A", "B"), ("C",)),
    "matmul_double": (lambda a, b: a @ b, ("A", "B"), ("C",)),
    "batched_matmul_t": (lambda a, b: a @ b.transpose(1, 2), ("A", "B"), ("C",)),
    "matmul_bias_relu": (lambda a, b, c: torch.relu(a @ b + c), ("A", "B", "bias"), ("C",)),
    "matvec": (lambda a, b: a @ b, ("A", "B"), ("C",)),
    "dot": (lambda a, b: (a * b).sum(), ("A", "B"), ("C",)),
    "grouped_conv": (_grouped, ("I", "weight"), ("O",)),
    "filter5x5": (_filter, ("I", "F"), ("O",)),
    "jacobi3d": (_jacobi, ("A",), ("B",)),
    "gather_sum": (lambda i, e: e[i].sum(dim=1), ("I", "E"), ("O",)),
    "prefix_sum": (lambda a: torch.cumsum(a, 0), ("A",), ("S",)),
    "row_argmax": (lambda a: torch.max(a, dim=1), ("A",), ("best", "place")),
    "row_max": (lambda a: torch.amax(a, dim=1), ("A",), ("best",)),
    "transpose": (lambda a: a.T.contiguous(), ("A",), ("B",)),
    **dict.fromkeys(("softmax", "softmax_bf16"), (lambda a: torch.softmax(a, 1), ("A",), ("B",))),
    **dict.fromkeys(("layer_norm", "layer_norm_bf16"), (normalised, ("X", "gain", "bias"), ("Y",))),
    "attention": (
        lambda q, k, v: torch.softmax(q @ k.transpose(1, 2) * 0.125, 2) @ v,
        ("Q", "K", "V"),
        ("O",),
    ),
    "mlp3": (mlp3, LAYERS, ("Y",)),
    "tmm": (lambda a, b: a @ b.T, ("A", "B"), ("C",)),
    "MLP1": (lambda i, w, b: torch.relu(functional.linear(i, w, b)), ("I", "W1", "B1"), ("O1",)),
    "2LUT": (
        lambda i, e, j, f: (e[i].sum(dim=1), f[j].sum(dim=1)),
        ("I1", "LUT1", "I2", "LUT2"),
        ("O1", "O2"),
    ),
}
