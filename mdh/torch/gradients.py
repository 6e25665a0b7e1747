"""The backward pass of an operator: an operator of its own, `namespace::name_backward`.

torch traces what it does with gradients. A kernel cannot be traced, so its call is an operator, too.
"""

from collections.abc import Callable, Sequence
from typing import Any

from mdh.operators.operator import RegisteredOperator
from mdh.torch.running import Tensor, device_of, readable, shapes_of, torch

_SCHEMA = (
    "(Tensor[] arrays, Tensor[] results, Tensor[] grads, SymInt[] sizes, Scalar[] numbers, int[] wanted)"
    " -> Tensor[]"
)


class Gradients:
    """own: the user's function; None: kernels compute the gradients."""

    def __init__(
        self, name: str, operator: RegisteredOperator, own: Callable[..., Sequence[Any]] | None
    ) -> None:
        self.operator, self.form, self.own = operator, operator.form, own
        if own is None:
            defined = torch.library.custom_op(f"{name}_backward", self.run, mutates_args=(), schema=_SCHEMA)
            defined.register_fake(_fake)
            self._call = defined._opoverload

    def save(self, ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        values = dict(zip(self.form.arguments, inputs, strict=True))
        results = output if isinstance(output, tuple) else (output,)
        ctx.save_for_backward(*(values[n] for n in self.form.inputs), *results)
        ctx.sizes = [values[n] for n in self.form.given]
        ctx.numbers = [values[n] for n in self.form.numbers]

    def backward(self, ctx: Any, *grads: Any) -> tuple[Any, ...]:
        """The gradients of all arguments."""
        form, saved = self.form, ctx.saved_tensors
        inputs, results = saved[: len(form.inputs)], saved[len(form.inputs) :]
        needs = dict(zip(form.arguments, ctx.needs_input_grad, strict=True))
        if self.own is not None:
            found = dict(zip(form.inputs, self.own(inputs, results, grads), strict=True))
            return tuple(found.get(n) if needs[n] else None for n in form.arguments)
        wanted = [k for k, n in enumerate(form.inputs) if needs[n]]
        made = self._call(list(inputs), list(results), list(grads), ctx.sizes, ctx.numbers, wanted)
        found = {form.inputs[k]: g for k, g in zip(wanted, made, strict=True)}
        return tuple(found.get(n) for n in form.arguments)

    def run(
        self,
        arrays: Sequence[Tensor],
        results: Sequence[Tensor],
        grads: Sequence[Tensor],
        sizes: Sequence[int],
        numbers: Sequence[float],
        wanted: Sequence[int],
    ) -> list[Tensor]:
        form = self.form
        told = dict(zip(form.given, sizes, strict=True))
        bound = self.operator.sizes(shapes_of(form.inputs, arrays), told)
        kernel = self.operator.backward(device_of(arrays[0]), bound, [form.inputs[k] for k in wanted])
        values: dict[str, Any] = {**self.operator.fixed, **bound}
        values |= zip(form.numbers, numbers, strict=True)
        values |= {n: readable(t) for n, t in zip(form.inputs, arrays, strict=True)}
        values |= {n: readable(t) for n, t in zip(form.results, results, strict=True)}
        given = {n: readable(t) for n, t in zip(form.results, grads, strict=True)}
        made = {form.inputs[k]: torch.empty_like(values[form.inputs[k]]) for k in wanted}
        others = {n: torch.empty_like(values[n]) for n in kernel.results.values() if n not in made}
        kernel.run(values, given, {**made, **others})
        return list(made.values())


def _fake(
    arrays: Sequence[Tensor],
    results: Sequence[Tensor],
    grads: Sequence[Tensor],
    sizes: Sequence[int],
    numbers: Sequence[float],
    wanted: Sequence[int],
) -> list[Tensor]:
    return [arrays[k].new_empty(arrays[k].shape) for k in wanted]
