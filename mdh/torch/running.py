"""What an operator does with tensors, and with fake ones, which have shapes and no values."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from mdh.api.kernel import Kernel
from mdh.operators.extents import Shape
from mdh.operators.operator import RegisteredOperator

torch: Any = import_module("torch")
"""Imported as a value, because a type checker takes longer for its types than for all of mdh."""
Tensor = Any
MOST_KNOWN = 256
"""Shapes of arguments whose results' shapes are kept."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """What calls on arrays of some shapes have in common. types: of the results. values: sizes and bound
    parameters. order: where the kernel's parameters are among the arguments, results and values. names: of
    these parameters, for a kernel that does not take them by place."""

    kernel: Kernel
    types: list[tuple[Shape, Any]]
    values: list[Any]
    order: list[int]
    names: list[str]


class Running:
    """The calls of one operator."""

    def __init__(self, operator: RegisteredOperator) -> None:
        self.operator, self.form = operator, operator.form
        self._known: dict[Any, Prepared] = {}
        place = self.form.arguments.index
        self._arrays = [place(n) for n in self.form.arrays]
        self._inputs = [place(n) for n in self.form.inputs]
        self._mutated = [place(n) for n in self.form.mutated]
        self._given = [place(n) for n in self.form.given]

    def run(self, *args: Any) -> Any:
        """The results of a call."""
        device = args[self._arrays[0]].device
        key = (device, *[args[i].shape for i in self._arrays], *[args[i] for i in self._given])
        known = self._known.get(key) or self._prepared(key, args)
        made = [torch.empty(shape, dtype=t, device=device) for shape, t in known.types]
        values = [*args, *made, *known.values]
        for i in self._inputs:
            values[i] = readable(values[i])
        for i in self._mutated:
            values[i] = values[i].detach()
        if known.names:
            known.kernel(**{n: values[i] for n, i in zip(known.names, known.order, strict=True)})
        else:
            known.kernel(*[values[i] for i in known.order])
        return made[0] if len(made) == 1 else tuple(made) or None

    def _prepared(self, key: Any, args: Sequence[Any]) -> Prepared:
        """Raises Failed A121, and what compiling the program finds."""
        form = self.form
        given = dict(zip(form.arguments, args, strict=True))
        sizes = self._sizes(given)
        types = [(t.shape, torch_type(t.dtype.name)) for t in self.operator.types(sizes)]
        kernel = self.operator.kernel(device_of(given[form.arrays[0]]))
        others = {n: v for n, v in {**self.operator.fixed, **sizes}.items() if n not in given}
        names = [*form.arguments, *form.results, *others]
        wanted = [n for n in kernel.parameters if n in names]
        order = [names.index(n) for n in wanted]
        found = Prepared(kernel, types, list(others.values()), order, [] if kernel.takes_all else wanted)
        while len(self._known) >= MOST_KNOWN:
            del self._known[next(iter(self._known))]
        self._known[key] = found
        return found

    def fake(self, *args: Any) -> Any:
        """Tensors of the results' shapes and types."""
        values = dict(zip(self.form.arguments, args, strict=True))
        first = values[self.form.arrays[0]]
        made = [first.new_empty(shape, dtype=t) for shape, t in self._fake_types(values)]
        return made[0] if len(made) == 1 else tuple(made) or None

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
