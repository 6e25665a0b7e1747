"""How torch computes the programs that come with mdh, by the same calls on a CPU and on a GPU."""

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

from mdh.compare.calling import Call, Kept
from mdh.compare.numpy_calls import WEIGHTS

torch: Any = import_module("torch")
functional: Any = import_module("torch.nn.functional")

Tensors = dict[str, Any]
_CHUNK = 1024
"""Rows of the record linkage at a time."""


def conv_parts(t: Tensors) -> tuple[Any, Any, Any, dict[str, int]]:
    """Image, filters and output channel by channel, as they lie; options."""
    image, filters, out = (t[n].permute(0, 3, 1, 2) for n in "IFO")
    return image, filters, out, {"stride": int((t["I"].shape[1] - t["F"].shape[1] + 1) // t["O"].shape[1])}


def grouped_parts(t: Tensors) -> tuple[Any, Any, Callable[[Any], Any], dict[str, int]]:
    """Image, filters, what puts the result into the output, options."""
    n, g, c, h, w = t["I"].shape
    f = t["O"].shape[2]
    image = t["I"].view(n, g * c, h, w)
    filters = t["weight"].view(g * f, c, *t["weight"].shape[3:])
    return image, filters, lambda r: t["O"].copy_(r.reshape(t["O"].shape)), {"groups": g}


def grouped_last_parts(t: Tensors) -> tuple[Any, Any, Callable[[Any], Any], dict[str, int]]:
    """The same of arrays whose channels lie next to each other."""
    image = t["I"].flatten(3).permute(0, 3, 1, 2)
    filters = t["weight"].flatten(0, 1).permute(0, 3, 1, 2)
    out = t["O"].flatten(3).permute(0, 3, 1, 2)
    return image, filters, out.copy_, {"groups": t["O"].shape[3]}


def layer(t: Tensors) -> Call:
    """A product, then its bias and relu."""

    def call() -> None:
        torch.addmm(t["bias"], t["A"], t["B"], out=t["C"])
        t["C"].relu_()

    return call


def normalised(x: Any, gain: Any, bias: Any) -> Any:
    """Layer normalisation of rows."""
    return functional.layer_norm(x, (x.shape[1],), gain, bias)


LAYERS = ("X", "W1", "b1", "W2", "b2", "W3", "b3")
"""What three layers of a perceptron read."""


def mlp3(x: Any, *layers: Any) -> Any:
    """layers: weights and bias of each."""
    for weights, bias in zip(layers[::2], layers[1::2], strict=True):
        x = torch.relu(torch.addmm(bias, x, weights))
    return x


def _filter(t: Tensors) -> Call:
    image, weights = t["I"][None, None], t["F"][None, None]
    return Kept(lambda: functional.conv2d(image, weights), lambda r: t["O"].copy_(r[0, 0]))


def neighbours(x: Any) -> list[Any]:
    """The seven shifted views of a stencil's grid."""
    return [
        x[1:-1, 1:-1, 1:-1], x[:-2, 1:-1, 1:-1], x[2:, 1:-1, 1:-1], x[1:-1, :-2, 1:-1], x[1:-1, 2:, 1:-1],
        x[1:-1, 1:-1, :-2], x[1:-1, 1:-1, 2:],
    ]  # fmt: skip


def _jacobi(t: Tensors) -> Call:
    parts, out = neighbours(t["A"]), t["B"]

    def call() -> None:
        torch.add(parts[0], parts[1], out=out)
        for part in parts[2:]:
            out.add_(part)
        out.mul_(1 / 7)

    return call


def _histogram(t: Tensors) -> Call:
    return lambda: t["H"].add_(torch.bincount(t["B"], minlength=t["H"].numel()))


def _gather(t: Tensors) -> Call:
    return Kept(lambda: functional.embedding_bag(t["I"], t["E"], mode="sum"), t["O"].copy_)


def _argmax(t: Tensors) -> Call:
    def put(found: Any) -> None:
        t["best"].copy_(found[0])
        t["place"].copy_(found[1])

    return Kept(lambda: torch.max(t["A"], dim=1), put)


def outer(rows: bool, t: Tensors) -> Call:
    """All products of two inputs, then a matrix product with the constants."""
    flat = t["C"].flatten(1)
    if rows:
        turned = flat.T.contiguous()
        return lambda: torch.mm((t["A"][:, :, None] * t["B"][:, None, :]).flatten(1), turned, out=t["O"])
    return lambda: torch.mm(flat, (t["A"][:, None, :] * t["B"][None, :, :]).flatten(0, 1), out=t["O"])


def fused(t: Tensors) -> Call:
    """torch's fused form, which is cuBLASLt's epilogue."""
    bias = t["bias"].flatten()
    return Kept(lambda: torch._addmm_activation(bias, t["A"], t["B"]), t["C"].copy_)


def apart(t: Tensors) -> Call:
    """A product, a sum and a ramp, each by a call that writes its results to memory."""

    def call() -> None:
        torch.mm(t["A"], t["B"], out=t["C"])
        t["C"].add_(t["bias"])
        t["C"].relu_()

    return call


def mlp1(t: Tensors) -> Call:
    """As `fused`, the weights transposed."""
    turned = t["W1"].T
    return Kept(lambda: torch._addmm_activation(t["B1"], t["I"], turned), t["O1"].copy_)


def mlp1_apart(t: Tensors) -> Call:
    """As `layer`, the weights transposed."""
    turned = t["W1"].T

    def call() -> None:
        torch.addmm(t["B1"], t["I"], turned, out=t["O1"])
        t["O1"].relu_()

    return call


def lookups(t: Tensors) -> Call:
    """Two tables, one after the other."""
    bag = partial(functional.embedding_bag, mode="sum")

    def put(found: Any) -> None:
        t["O1"].copy_(found[0])
        t["O2"].copy_(found[1])

    return Kept(lambda: (bag(t["I1"], t["LUT1"]), bag(t["I2"], t["LUT2"])), put)


def _perceptron(t: Tensors) -> Call:
    return Kept(lambda: mlp3(*(t[n] for n in LAYERS)), t["Y"].copy_)


def _scaled(t: Tensors) -> Call:
    """With the program's scalars."""
    factors = {name: float(t[name]) for name in ("alpha", "beta")}
    return lambda: t["C"].addmm_(t["A"], t["B"], **factors)


def dot(t: Tensors) -> Call:
    """The sum stays on the device."""
    return Kept(lambda: torch.dot(t["A"], t["B"]), t["C"].fill_)


def linkage(t: Tensors) -> Call:
    """The best match of each record, some records at a time."""

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


def conv(t: Tensors) -> Call:
    """Channels last as in C, the filters laid out once before."""
    image, filters, out, options = conv_parts(t)
    filters = filters.contiguous(memory_format=torch.channels_last)
    return Kept(lambda: functional.conv2d(image, filters, **options), out.copy_)


def grouped(t: Tensors) -> Call:
    """As the arrays lie, a group after the other."""
    image, filters, put, options = grouped_parts(t)
    return Kept(lambda: functional.conv2d(image, filters, **options), put)


CALLS: dict[str, Callable[[Tensors], Call]] = {
    "filter5x5": _filter, "jacobi3d": _jacobi, "histogram": _histogram, "gather_sum": _gather,
    "row_argmax": _argmax,
    "prefix_sum": lambda t: lambda: torch.cumsum(t["A"], 0, out=t["S"]),
    "row_max": lambda t: lambda: torch.amax(t["A"], dim=1, out=t["best"]),
}  # fmt: skip

PEERS: dict[str, Callable[[Tensors], Call]] = {
    **CALLS, "conv2d": conv, "grouped_conv": grouped, "dot": dot, "fused": fused, "apart": apart,
    "MLP1 fused": mlp1, "MLP1 apart": mlp1_apart, "mlp3": _perceptron, "2LUT": lookups, "prl": linkage,
    "scaled": _scaled, "giles": partial(outer, False),
}  # fmt: skip
"""By the names that experiments call them."""
