"""Each program by torch: cuBLAS, cuDNN, CUB and its own kernels; on doubles the judge of all contestants."""

import time
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from typing import Any

from bench.calling import Call, Kept, finish_of
from bench.cases import Contraction
from bench.cpu.by_numpy import WEIGHTS
from bench.gpu.cases import Case
from bench.gpu.clock import Made, made, quick
from bench.gpu.gpu import PLACE, Tensors, functional, torch
from bench.torch_calls import (
    CALLS,
    LAYERS,
    conv_parts,
    grouped_last_parts,
    grouped_parts,
    layer,
    mlp3,
    neighbours,
    normalised,
)

Make = Callable[[Tensors], Call]
Convolution = tuple[Any, Any, Callable[[Any], Any], dict[str, int]]
"""Image, filters, what puts the result into the arrays, options."""
Form = Callable[[Tensors], Convolution]
_CHUNK = 1024
_SEARCHES, _PLANS, _PATIENCE = 4, (10, 20), 4.0
"""Searches among cuDNN's algorithms, which time each one once and so may miss the best; algorithms of
the first ones and of the others; seconds after which no other one begins."""


def version() -> str:
    return str(torch.__version__)


def prepare(case: Case, sets: Sequence[Tensors]) -> Made | None:
    make = _make(case)
    if case.program in _FORMS:
        return _searched(_FORMS[case.program][0], sets)
    return None if make is None else made([make(t) for t in sets], case.program != "histogram")


def other(case: Case, sets: Sequence[Tensors]) -> Made | None:
    """By another way than the obvious one: the other layout for convolutions, convolution for a stencil; a
    contraction whose result stays in whatever layout the product leaves it; 8-bit floats with fast sums."""
    if case.program.startswith("giles"):
        return made([_outer(case.program == "giles_rows", t) for t in sets])
    if c := case.contraction:
        # a sum over one array may be a view of it, where nothing is computed
        return made([_einsum(c, t, ordered=False) for t in sets]) if len(c.factors) > 1 else None
    if case.program in _FORMS:
        return _searched(_FORMS[case.program][1], sets)
    make = _OTHERS.get(case.path.name, _OTHERS.get(case.program))
    return None if make is None else made([make(t) for t in sets])


def compute(case: Case, tensors: Tensors) -> None:
    """The program's results into these tensors."""
    make = _make(case)
    assert make is not None, case.program
    call = make(tensors)
    call()
    finish_of(call)()


def _make(case: Case) -> Make | None:
    if c := case.contraction:
        return partial(_einsum, c)
    if case.program == "matmul_scaled":
        factors = {n: case.scalars[n] for n in ("alpha", "beta")}
        return lambda t: lambda: t["C"].addmm_(t["A"], t["B"], **factors)
    if case.program in _FORMS:
        form = _FORMS[case.program][0]
        return lambda t: _convolution(form, t)
    return _CALLS.get(case.program)


def _einsum(c: Contraction, t: Tensors, *, ordered: bool = True) -> Call:
    """ordered: the result lies in memory as the program asks for."""
    given = [t[name] for name in c.factors]
    plain = partial(torch.einsum, c.letters, *given)
    return Kept((lambda: plain().contiguous()) if ordered else plain, t[c.result].copy_)


def _outer(rows: bool, t: Tensors) -> Call:
    """All products of two inputs, then a matrix product with the constants."""
    flat = t["C"].flatten(1)
    if rows:
        turned = flat.T.contiguous()
        return lambda: torch.mm((t["A"][:, :, None] * t["B"][:, None, :]).flatten(1), turned, out=t["O"])
    return lambda: torch.mm(flat, (t["A"][:, None, :] * t["B"][None, :, :]).flatten(0, 1), out=t["O"])


def _product(t: Tensors) -> Call:
    return lambda: torch.mm(t["A"], t["B"], out=t["C"])


def _rounded(left: Any, right: Any, out: Any) -> None:
    """A product of factors that are rounded to tf32."""
    torch.backends.cuda.matmul.allow_tf32 = True
    torch.mm(left, right, out=out)
    torch.backends.cuda.matmul.allow_tf32 = False


def _wide_product(t: Tensors) -> Call:
    """Of 16-bit factors in fp32; the judge's arrays are doubles."""
    if t["A"].dtype == torch.float64:
        return _product(t)
    kind = t["C"].dtype
    return Kept(lambda: torch.mm(t["A"], t["B"], out_dtype=kind), t["C"].copy_)


def _bytes_t(t: Tensors) -> Call:
    turned = t["B"].T
    return Kept(lambda: torch._int_mm(t["A"], turned), t["C"].copy_)


def _eighths_t(t: Tensors, *, fast: bool = False) -> Call:
    """fast: tensor cores add all; else a second accumulator takes over now and then."""
    turned = t["B"].T
    if t["A"].dtype == torch.float64:
        return lambda: torch.mm(t["A"], turned, out=t["C"])
    one, kind = torch.ones((), device=PLACE), t["C"].dtype
    return Kept(
        lambda: torch._scaled_mm(
            t["A"], turned, scale_a=one, scale_b=one, out_dtype=kind, use_fast_accum=fast
        ),
        t["C"].copy_,
    )


def _batched_t(t: Tensors) -> Call:
    if t["A"].shape[0] == 1:
        left, right, out = t["A"][0], t["B"][0].T, t["C"][0]
        return lambda: torch.mm(left, right, out=out)
    turned = t["B"].transpose(1, 2)
    return lambda: torch.bmm(t["A"], turned, out=t["C"])


def _dense(t: Tensors) -> Call:
    """torch's fused form, which is cuBLASLt's epilogue."""
    bias = t["bias"].flatten()
    return Kept(lambda: torch._addmm_activation(bias, t["A"], t["B"]), t["C"].copy_)


def _apart(t: Tensors) -> Call:
    """A product, a sum and a ramp, each by a call that writes its results to memory."""

    def call() -> None:
        torch.mm(t["A"], t["B"], out=t["C"])
        t["C"].add_(t["bias"])
        t["C"].relu_()

    return call


def _mlp1(t: Tensors) -> Call:
    """As `_dense`, the weights transposed."""
    turned = t["W1"].T
    return Kept(lambda: torch._addmm_activation(t["B1"], t["I"], turned), t["O1"].copy_)


def _mlp1_layer(t: Tensors) -> Call:
    turned = t["W1"].T

    def call() -> None:
        torch.addmm(t["B1"], t["I"], turned, out=t["O1"])
        t["O1"].relu_()

    return call


def _lookups(t: Tensors) -> Call:
    """Two tables, one after the other."""
    bag = partial(functional.embedding_bag, mode="sum")

    def put(found: Any) -> None:
        t["O1"].copy_(found[0])
        t["O2"].copy_(found[1])

    return Kept(lambda: (bag(t["I1"], t["LUT1"]), bag(t["I2"], t["LUT2"])), put)


def _dot(t: Tensors) -> Call:
    return Kept(lambda: torch.dot(t["A"], t["B"]), t["C"].fill_)


def _searched(form: Form, sets: Sequence[Tensors]) -> Made:
    """The fastest of what several searches of cuDNN's find."""
    end = time.perf_counter() + _PATIENCE
    best: tuple[float, Made] | None = None
    for search in range(_SEARCHES):
        if best is not None and time.perf_counter() > end:
            break
        found = made([_convolution(form, t, search) for t in sets])
        took = quick(found.calls[:1]) + quick(found.calls)
        if best is None or took < best[0]:
            best = took, found
    assert best is not None
    return best[1]


def _convolution(form: Form, t: Tensors, search: int = 0) -> Call:
    """cuDNN is asked again where the filters are aligned otherwise, or only some algorithms are allowed."""
    image, filters, put, options = form(t)
    moved = torch.empty(filters.numel() + 4, dtype=filters.dtype, device=PLACE)[4 * (search % 2) :]
    filters = moved[: filters.numel()].as_strided(filters.shape, filters.stride()).copy_(filters)

    late = search >= _SEARCHES // 2

    def call() -> Any:
        torch.backends.cudnn.deterministic, torch.backends.cudnn.benchmark_limit = late, _PLANS[late]
        return functional.conv2d(image, filters, **options)

    return Kept(call, put)


def _conv(t: Tensors) -> Convolution:
    """Channels last as in C, the filters laid out once before."""
    image, filters, out, options = conv_parts(t)
    return image, filters.contiguous(memory_format=torch.channels_last), out.copy_, options


def _conv_planes(t: Tensors) -> Convolution:
    """Channel by channel, image and filters laid out so once before."""
    image, filters, out, options = conv_parts(t)
    return image.contiguous(), filters.contiguous(), out.copy_, options


def _grouped_last(t: Tensors) -> Convolution:
    image, filters, put, options = grouped_parts(t)
    image, filters = (x.contiguous(memory_format=torch.channels_last) for x in (image, filters))
    return image, filters, put, options


def _grouped_planes(t: Tensors) -> Convolution:
    image, filters, put, options = grouped_last_parts(t)
    return image.contiguous(), filters.contiguous(), put, options


def _jacobi_conv(t: Tensors) -> Call:
    weights = torch.zeros((1, 1, 3, 3, 3), dtype=t["A"].dtype, device=PLACE)
    for view in neighbours(torch.arange(27, device=PLACE).view(3, 3, 3)):
        weights.view(-1)[view.item()] = 1 / 7
    image = t["A"][None, None]
    return Kept(lambda: functional.conv3d(image, weights), lambda r: t["B"].copy_(r[0, 0]))


def _histogram_added(t: Tensors) -> Call:
    ones = torch.ones_like(t["B"])
    return lambda: t["H"].index_add_(0, t["B"], ones)


def _linkage(t: Tensors) -> Call:
    def call() -> None:
        for low in range(0, t["score"].numel(), _CHUNK):
            part = slice(low, low + _CHUNK)
            weight = None
            for field, (same, different) in WEIGHTS.items():
                equal = t[f"new_{field}"][part, None] == t[field][None, :]
                term = torch.where(equal, same, different)
                weight = term if weight is None else weight.add_(term)
            best, place = torch.max(weight, dim=1)
            t["score"][part].copy_(best)
            t["match"][part].copy_(place)

    return call


def _softmax(t: Tensors) -> Call:
    return partial(torch.softmax, t["A"], 1, out=t["B"])


def _attention(backend: str, t: Tensors) -> Call:
    """By one of torch's kernels, which want batches of heads. Scaled as in the program."""
    q, k, v = (t[n].view(4, -1, *t[n].shape[1:]) for n in "QKV")
    kernels = import_module("torch.nn.attention")
    chosen = getattr(kernels.SDPBackend, "MATH" if q.dtype == torch.float64 else backend)

    def call() -> Any:
        with kernels.sdpa_kernel(chosen):
            return functional.scaled_dot_product_attention(q, k, v, scale=0.125)

    return Kept(call, lambda r: t["O"].copy_(r.reshape(t["O"].shape)))


def _normalised(t: Tensors) -> Kept:
    return Kept(lambda: normalised(t["X"], t["gain"], t["bias"]), t["Y"].copy_)


_CALLS: dict[str, Make] = {
    **CALLS, "matmul_bf16": _wide_product, "matmul_int8_t": _bytes_t,
    "matmul_fp8": _eighths_t, "matmul_fp8_bf16": _eighths_t, "matmul_init": _product,
    "matmul_double": _product, "matmul_half": _product, "batched_matmul_t": _batched_t,
    "batched_matmul_t_bf16": _batched_t, "dot": _dot,
    "matmul_bias_relu": _dense, "prl": _linkage,
    "matmul_tf32": lambda t: partial(_rounded, t["A"], t["B"], t["C"]),
    "matmul_tf32_t": lambda t: partial(_rounded, t["A"], t["B"].T, t["C"]),
    "matvec": lambda t: lambda: torch.mv(t["A"], t["B"], out=t["C"]),
    "transpose": lambda t: lambda: t["B"].copy_(t["A"].T),
    "tmm": lambda t: partial(torch.mm, t["A"], t["B"].T, out=t["C"]), "MLP1": _mlp1, "2LUT": _lookups,
    "softmax": _softmax, "softmax_bf16": _softmax, "layer_norm": _normalised, "layer_norm_bf16": _normalised,
    "attention": partial(_attention, "EFFICIENT_ATTENTION"),
    "mlp3": lambda t: Kept(lambda: mlp3(*(t[n] for n in LAYERS)), t["Y"].copy_),
}  # fmt: skip
_FORMS: dict[str, tuple[Form, Form]] = {
    "conv2d": (_conv, _conv_planes), "conv2d_56": (_conv, _conv_planes),
    "conv2d_half": (_conv, _conv_planes), "grouped_conv": (grouped_parts, _grouped_last),
    "grouped_conv_half": (grouped_last_parts, _grouped_planes),
}  # fmt: skip
"""Convolutions in the layout of the program's arrays, and in the other one."""
_OTHERS: dict[str, Make] = {
    "matmul_fp8": partial(_eighths_t, fast=True), "matmul_fp8_bf16": partial(_eighths_t, fast=True),
    "matmul_bias_relu": layer, "jacobi3d": _jacobi_conv, "histogram": _histogram_added,
    "attention": partial(_attention, "MATH"), "matmul_bias_relu.diesel": _apart, "MLP1": _mlp1_layer,
}  # fmt: skip
"""By the program, or by the text of a language."""
