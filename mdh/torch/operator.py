"""Registers programs as custom operators of PyTorch.

torch sees what an operator takes and returns, and its gradients. So functions that call it are compiled as a
whole (`torch.compile(fullgraph=True)`), exported, captured in CUDA graphs and trained. Tensors are passed as
they are: a kernel works on their memory, on the stream that torch works on.
"""

from collections.abc import Callable, Sequence
from typing import Any

from mdh.api.explained import explained
from mdh.api.kernel import Kernel
from mdh.api.options import of_type
from mdh.api.texts import Text
from mdh.diagnostics import fail
from mdh.operators.form import CODE, Form
from mdh.operators.operator import RegisteredOperator
from mdh.torch.gradients import Gradients
from mdh.torch.running import Running, torch

UserBackward = Callable[[tuple[Any, ...], tuple[Any, ...], tuple[Any, ...]], Sequence[Any]]
"""Of inputs, results and the gradients of results: the gradients of the inputs, in their order."""


class Op:
    """An operator, `op(A, B)`. Arguments are the arrays and numbers of the program in its order. Results are
    new tensors where the first array lies. Sizes follow from shapes.

    overload: what torch calls, `torch.ops.NAMESPACE.NAME.default`; for `torch.library.opcheck`. form: which
    parameter of the program is what.
    """

    def __init__(self, name: str, operator: RegisteredOperator, overload: Any) -> None:
        self.name, self.form, self.overload = name, operator.form, overload
        self._operator = operator

    def __repr__(self) -> str:
        """`<mdh.torch.Op mine::layer(A, B, bias) -> C>`"""
        results = ", ".join(self.form.results) or "()"
        return f"<mdh.torch.Op {self.name}({', '.join(self.form.arguments)}) -> {results}>"

    def __call__(self, *args: Any, **named: Any) -> Any:
        """The result, or a tuple of several. Raises Failed as a call of the kernel does, and A114 where
        gradients are wanted of an operator that changes arrays in place."""
        if self.form.mutated and torch.is_grad_enabled():
            tensors = (a for a in (*args, *named.values()) if isinstance(a, torch.Tensor))
            if any(t.requires_grad for t in tensors):
                what = f"`{self.name}` changes arrays in place, and has no gradients"
                raise fail(
                    "A114", what, help="give tensor.detach(), or call inside of `with torch.no_grad()`"
                )
        return self.overload(*args, **named)

    def kernel(self, device: str = "cpu") -> Kernel:
        """The kernel that serves tensors on `device`: `cpu`, `cuda:0`."""
        with explained():
            return self._operator.kernel(device)

    def backward_text(self, /, **sizes: int) -> str:
        """The backward program that mdh derives, in C, for these values of the sizes that calls bind. Raises
        Failed A120."""
        with explained():
            wanted = self._operator.differentiable(sizes)
            return self._operator.derived(sizes, wanted).text


def op(
    name: str,
    program: Text | Kernel,
    *,
    backward: Text | Kernel | UserBackward | None = None,
    mutates: Sequence[str] = (),
    **options: Any,
) -> Op:
    """Registers a program as the operator `namespace::name` of torch.

        layer = mdh.torch.op("mine::layer", "layer.c")
        y = layer(x, w, bias)               # or torch.ops.mine.layer(x, w, bias)
        y.sum().backward()

    `program` is a path, an mdh.Source, or a kernel. A kernel serves tensors on its own device. A program is
    compiled for each device: `c` for tensors in host memory unless `device="opencl:0"` says otherwise, and
    the GPU of CUDA tensors. options: those of `mdh.compile`.

    Arrays that the program writes are results: the operator allocates them. What it also reads before it
    writes it has to be named in `mutates`; such arrays are arguments that are changed in place, and such an
    operator has no gradients.

    `backward` is None, and mdh derives the program of the gradients at the first backward pass. Or it is a
    program or kernel: its parameters are some of the program's, `C_grad` for the gradient of the result C,
    and `A_grad`, which it writes, for that of the input A. Or it is a function of the tuples of inputs,
    results and gradients of results; it returns the gradients of the inputs.

    To register a name again replaces the operator. Raises Failed A121 for a program that is no operator, and
    TypeError for an option of a wrong Python type.
    """
    with explained():
        of_type("name", name, str, "`namespace::name`")
        if len([part for part in name.split("::") if part.isidentifier()]) != 2 or name.count("::") != 1:
            raise fail(CODE, f"`{name}` is no name of an operator", help='write "namespace::name"')
        own = backward if callable(backward) and not isinstance(backward, Kernel) else None
        by = None if own is not None else backward
        operator = RegisteredOperator(program, mutates, by, options)  # type: ignore[arg-type]
        return Op(name, operator, _registered(name, operator, own))


def _registered(name: str, operator: RegisteredOperator, own: UserBackward | None) -> Any:
    running = Running(operator)
    defined = torch.library.custom_op(
        name, running.run, mutates_args=operator.form.mutated, schema=_schema(operator.form)
    )
    defined.register_fake(running.fake)
    if not operator.form.mutated:
        gradients = Gradients(name, operator, own)
        defined.register_autograd(gradients.backward, setup_context=gradients.save)
    return defined._opoverload


def _schema(form: Form) -> str:
    def argument(number: int, name: str) -> str:
        if name in form.mutated:
            return f"Tensor(a{number}!) {name}"
        kind = "Tensor" if name in form.inputs else "Scalar" if name in form.numbers else "SymInt"
        return f"{kind} {name}"

    arguments = ", ".join(argument(k, n) for k, n in enumerate(form.arguments))
    results = ", ".join("Tensor" for _ in form.results)
    return f"({arguments}) -> {results if len(form.results) == 1 else f'({results})'}"
