"""What an operator does with tensors, and with fake ones, which have shapes and no values."""

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

from mdh.operators.extents import Shape
from mdh.operators.operator import Operator

torch: Any = import_module("torch")
"""Imported as a value, because a type checker takes longer for its types than for all of mdh."""
Tensor = Any
MOST_KNOWN = 256
"""Shapes of arguments whose results' shapes are kept."""


class Running:
    """The calls of one operator."""

    def __init__(self, operator: Operator) -> None:
        self.operator, self.form = operator, operator.form
        self._known: dict[Any, tuple[dict[str, Any], list[tuple[Shape, Any]]]] = {}

    def run(self, *args: Any) -> Any:
        """The results of a call."""
        form = self.form
        values = dict(zip(form.arguments, args, strict=True))
        first = values[form.arrays[0]]
        for n in form.inputs:
            values[n] = readable(values[n])
        sizes, types = self._types(values)
        made = [torch.empty(shape, dtype=t, device=first.device) for shape, t in types]
        values |= sizes
        values |= dict(zip(form.results, made, strict=True))
        for n in form.mutated:
            values[n] = values[n].detach()
        kernel = self.operator.kernel(device_of(first))
        if kernel.takes_all:
            fixed = self.operator.fixed
            kernel(*[values[n] if n in values else fixed[n] for n in kernel.parameters])
        else:
            kernel(**values)
        return made[0] if len(made) == 1 else tuple(made) or None

    def fake(self, *args: Any) -> Any:
        """Tensors of the results' shapes and types."""
        values = dict(zip(self.form.arguments, args, strict=True))
        first = values[self.form.arrays[0]]
        made = [first.new_empty(shape, dtype=t) for shape, t in self._fake_types(values)]
        return made[0] if len(made) == 1 else tuple(made) or None

    def _types(self, values: Mapping[str, Any]) -> tuple[dict[str, Any], list[tuple[Shape, Any]]]:
        """The sizes of a call, and the shapes and types of its results."""
        form = self.form
        key = (*[values[n].shape for n in form.arrays], *[values[n] for n in form.given])
        known = self._known.get(key)
        if known is None:
            sizes = self._sizes(values)
            types = [(t.shape, torch_type(t.dtype.name)) for t in self.operator.types(sizes)]
            while len(self._known) >= MOST_KNOWN:
                del self._known[next(iter(self._known))]
            known = self._known[key] = (sizes, types)
        return known

    def _sizes(self, values: Mapping[str, Any]) -> dict[str, Any]:
        shapes = {n: values[n].shape for n in self.form.arrays}
        return self.operator.sizes(shapes, {n: values[n] for n in self.form.given})

    def _fake_types(self, values: Mapping[str, Any]) -> list[tuple[Shape, Any]]:
        """Shapes stay symbols where the text says them as sums and products of sizes. Else the sizes are
        what they are in this call, and torch compiles anew for others."""
        sizes = self._sizes(values)
        if all(type(n) is int for n in sizes.values()):
            return [(t.shape, torch_type(t.dtype.name)) for t in self.operator.types(sizes)]
        shapes = self.operator.symbolic(sizes)
        if shapes is None:
            sizes = {n: int(value) for n, value in sizes.items()}
            return [(t.shape, torch_type(t.dtype.name)) for t in self.operator.types(sizes)]
        types = self.operator.types({n: hint(value) for n, value in sizes.items()})
        return [(shape, torch_type(t.dtype.name)) for shape, t in zip(shapes, types, strict=True)]


def hint(size: Any) -> int:
    """The value of a symbol in the call that is traced. One without such a value becomes a number."""
    node = getattr(size, "node", None)
    known = getattr(node, "hint", None)
    return int(size) if known is None else int(known)


def torch_type(name: str) -> Any:
    return getattr(torch, name)


def readable(tensor: Tensor) -> Tensor:
    """The tensor as kernels read it: row major. Only one that is not is copied."""
    if tensor.is_contiguous() and not tensor.requires_grad and not tensor.is_neg():
        return tensor
    return tensor.detach().resolve_neg().contiguous()


def device_of(tensor: Tensor) -> str:
    where = tensor.device
    return where.type if where.type == "cpu" else f"{where.type}:{where.index or 0}"


def shapes_of(names: Sequence[str], tensors: Sequence[Tensor]) -> dict[str, Any]:
    return {n: t.shape for n, t in zip(names, tensors, strict=True)}
