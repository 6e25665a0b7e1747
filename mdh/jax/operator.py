"""Programs as functions of JAX, with `jit`, `vmap` and `grad`."""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from numbers import Real
from typing import Any

import numpy as np

from mdh.api.explained import explained
from mdh.api.kernel import Kernel
from mdh.api.texts import Text
from mdh.diagnostics import fail
from mdh.jax.calls import ArrayType, Launch, called, jax, launched, numbered
from mdh.operators.form import CODE, Form
from mdh.operators.operator import RegisteredOperator
from mdh.reference.numbers import numpy_dtype

UserBackward = Callable[[tuple[Any, ...], tuple[Any, ...], tuple[Any, ...]], Sequence[Any]]
"""Of inputs, results and the gradients of results: the gradients of the inputs, in their order."""
_KEPT = 256
"""Functions for values of numbers and sizes that are kept."""


class Op:
    """An operator, `op(A, B)`. Arguments are the arrays and numbers of the program in its order. Results are
    new arrays. Sizes follow from shapes. form: which parameter of the program is what."""

    def __init__(self, operator: RegisteredOperator, own: UserBackward | None) -> None:
        self.name, self.form = operator.name, operator.form
        self._operator, self._own = operator, own
        self._function = lru_cache(_KEPT)(self._made)

    def __repr__(self) -> str:
        """`<mdh.jax.Op layer(A, B, bias) -> C>`"""
        results = ", ".join(self.form.results)
        return f"<mdh.jax.Op {self.name}({', '.join(self.form.arguments)}) -> {results}>"

    def __call__(self, *args: Any) -> Any:
        """The result, or a tuple of several. Numbers and sizes are values of Python: XLA compiles for them.
        Raises Failed A121, and as a call of the kernel does."""
        with explained():
            form = self.form
            if len(args) != len(form.arguments):
                what = f"`{self.name}` takes {', '.join(form.arguments)}; {len(args)} are given"
                raise fail("A101", what)
            values = dict(zip(form.arguments, args, strict=True))
            for n in (*form.numbers, *form.given):
                if not isinstance(values[n], Real):
                    kind = type(values[n]).__name__
                    what = f"`{n}` takes a number that is known when XLA compiles, not `{kind}`"
                    raise fail("A102", what, help="name it in static_argnums of jax.jit")
            numbers = tuple(values[n] for n in form.numbers)
            given = tuple(int(values[n]) for n in form.given)
            found = self._function(numbers, given)(*(values[n] for n in form.inputs))
            return found[0] if len(found) == 1 else found

    def _made(self, numbers: tuple[Any, ...], given: tuple[int, ...]) -> Any:
        """The function of the inputs, with the rule of its gradients."""
        known = {**dict(zip(self.form.numbers, numbers, strict=True)), **self._operator.fixed}
        sizes = dict(zip(self.form.given, given, strict=True))
        work = _Work(self._operator, self._own, known, sizes)
        function = jax.custom_vjp(work.forward)
        function.defvjp(work.saved, work.gradients)
        return function

    def kernel(self, device: str = "cpu") -> Kernel:
        """The kernel that serves arrays on `device`: `cpu`, `cuda:0`."""
        with explained():
            return self._operator.kernel(device)


class _Work:
    """What an operator does with arrays. known: values of numbers and bound sizes. given: sizes that no shape
    tells."""

    def __init__(
        self,
        operator: RegisteredOperator,
        own: UserBackward | None,
        known: Mapping[str, Any],
        given: Mapping[str, int],
    ) -> None:
        self.operator, self.own, self.known, self.given = operator, own, known, given
        self.form: Form = operator.form
        self._numbers: dict[Any, int] = {}

    def _called(
        self, kind: str, arguments: Sequence[Any], given: Sequence[ArrayType], made: Sequence[ArrayType],
        launch: Launch,
    ) -> list[Any]:  # fmt: skip
        """The results of a call. Calls on arrays of the same types are one call for XLA."""
        key = kind, *given, *made
        if key not in self._numbers:
            values = (kind, sorted(self.known.items()), sorted(self.given.items()))
            identity = f"{self.operator.identity}{values!r}"
            self._numbers[key] = numbered(identity, given, made, launch)
        return called(self._numbers[key], arguments)

    def _sizes(self, arrays: Sequence[Any]) -> dict[str, int]:
        shapes = {n: a.shape for n, a in zip(self.form.inputs, arrays, strict=True)}
        return self.operator.sizes(shapes, self.given)

    def _inputs(self, arrays: Sequence[Any], sizes: Mapping[str, int]) -> list[ArrayType]:
        """The arrays as the program declares them. Raises Failed A103, A104 for others."""
        buffers, found = self.operator.program(sizes).buffer_of, []
        for n, a in zip(self.form.inputs, arrays, strict=True):
            wanted = numpy_dtype(buffers[n].dtype)
            if a.dtype != wanted:
                hint = f"convert it: array.astype('{wanted}')"
                raise fail("A103", f"`{n}` holds {wanted}, the array {a.dtype}", buffers[n].span, help=hint)
            if not buffers[n].takes(tuple(a.shape)):
                what = f"`{n}` has shape {buffers[n].shape}, the array {tuple(a.shape)}"
                raise fail("A104", what, buffers[n].span, help="give another array")
            found.append(ArrayType(n, tuple(a.shape), wanted))
        return found

    def _results(self, sizes: Mapping[str, int]) -> list[ArrayType]:
        types = self.operator.types(sizes)
        return [ArrayType(n, t.shape, t.dtype) for n, t in zip(self.form.results, types, strict=True)]

    def forward(self, *arrays: Any) -> tuple[Any, ...]:
        sizes = self._sizes(arrays)
        known = {**self.known, **sizes}

        def launch(device: str, held: dict[str, Any]) -> None:
            launched(self.operator.kernel(device), {**known, **held})

        given, made = self._inputs(arrays, sizes), self._results(sizes)
        return tuple(self._called("forward", arrays, given, made, launch))

    def saved(self, *arrays: Any) -> tuple[tuple[Any, ...], tuple[tuple[Any, ...], tuple[Any, ...]]]:
        results = self.forward(*arrays)
        return results, (arrays, results)

    def gradients(
        self, saved: tuple[tuple[Any, ...], tuple[Any, ...]], grads: tuple[Any, ...]
    ) -> tuple[Any, ...]:
        arrays, results = saved
        if self.own is not None:
            found = dict(zip(self.form.inputs, self.own(arrays, results, grads), strict=True))
        else:
            found = self._computed(arrays, results, grads)
        # what is no float has gradients of a type of their own
        none = {
            n: np.zeros(a.shape, jax.dtypes.float0)
            for n, a in zip(self.form.inputs, arrays, strict=True)
            if not jax.numpy.issubdtype(a.dtype, jax.numpy.floating)
        }
        return tuple(none[n] if n in none else found[n] for n in self.form.inputs)

    def _computed(
        self, arrays: Sequence[Any], results: Sequence[Any], grads: Sequence[Any]
    ) -> dict[str, Any]:
        """The gradients that a kernel computes."""
        sizes = self._sizes(arrays)
        wanted = self.operator.differentiable(sizes)
        inputs, made = self._inputs(arrays, sizes), self._results(sizes)
        floats = [t for t in made if t.dtype.kind not in "iub"]
        given = [*inputs, *made, *(ArrayType(f"grad {t.name}", t.shape, t.dtype) for t in floats)]
        outgoing = [g for g, t in zip(grads, made, strict=True) if t in floats]
        known, of = {**self.known, **sizes}, {t.name: t for t in inputs}
        news = [ArrayType(f"new {n}", of[n].shape, of[n].dtype) for n in wanted]

        def launch(device: str, held: dict[str, Any]) -> None:
            kernel = self.operator.backward(device, sizes, wanted)
            coming = {t.name: held[f"grad {t.name}"] for t in floats}
            kernel.run({**known, **held}, coming, {n: held[f"new {n}"] for n in wanted})

        found = self._called("backward", [*arrays, *results, *outgoing], given, news, launch)
        return dict(zip(wanted, found, strict=True))


def op(program: Text | Kernel, *, backward: Text | Kernel | UserBackward | None = None, **options: Any) -> Op:
    """A program as a function of JAX.

        layer = mdh.jax.op("layer.c")
        y = jax.jit(layer)(x, w, bias)
        dw = jax.grad(lambda w: layer(x, w, bias).sum())(w)

    XLA calls the kernel by its foreign function interface, with the addresses of its arrays: nothing is
    copied. A program is compiled for the device `c` (or `device=`, as `opencl:0`), and for GPUs that XLA
    computes on. `vmap` launches the kernel once for each element of the mapped dimension. Kernels compute
    gradients, as of `mdh.torch.op`, whose `backward` and `options` these are. Results depend on inputs alone;
    no array is changed in place.

    Raises Failed A121 for a program that is no operator.
    """
    with explained():
        own = backward if callable(backward) and not isinstance(backward, Kernel) else None
        operator = RegisteredOperator(program, (), None if own is not None else backward, options)  # type: ignore[arg-type]
        if operator.form.mutated:
            what = f"`{operator.name}` changes `{operator.form.mutated[0]}` in place, and arrays of JAX stay"
            raise fail(CODE, what, help="write all of it before it is read")
        return Op(operator, own)
