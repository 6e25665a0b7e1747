"""How torch computes the programs, by the same calls on a CPU and on a GPU."""

from collections.abc import Callable
from importlib import import_module
from typing import Any

from bench.calling import Call, Kept

torch: Any = import_module("torch")
functional: Any = import_module("torch.nn.functional")

Tensors = dict[str, Any]


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


CALLS: dict[str, Callable[[Tensors], Call]] = {
    "filter5x5": _filter, "jacobi3d": _jacobi, "histogram": _histogram, "gather_sum": _gather,
    "row_argmax": _argmax,
    "prefix_sum": lambda t: lambda: torch.cumsum(t["A"], 0, out=t["S"]),
    "row_max": lambda t: lambda: torch.amax(t["A"], dim=1, out=t["best"]),
}  # fmt: skip
